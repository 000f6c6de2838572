package prices

import (
	"fmt"
	"slices"
	"time"

	"ferry/internal/money"
)

// Config is what makes a price good.
type Config struct {
	// Symbols are what is priced; whatever else a source says is not listened to.
	Symbols []string
	Guard
	// Guards are those of single symbols; what is zero in one is as it is for all.
	Guards  map[string]Guard
	Settle  time.Duration // how long a stopped price must hold to be believed by itself
	Every   time.Duration // how often sources are asked
	Timeout time.Duration // in which they must answer
}

// Guard is what a price must withstand.
type Guard struct {
	Quorum       int           // how many sources must agree
	MinKinds     int           // of how many kinds they must be; zero is one
	MaxAge       time.Duration // past which a source's word counts for nothing
	MaxDeviation money.Percent // from the median, beyond which a source is dropped
	MaxJump      uint32        // the factor, up or down, beyond which a price is stopped
}

// Defaults are what most deployments want; Symbols and Quorum have none.
func Defaults() Config {
	return Config{
		Guard:  Guard{MinKinds: 1, MaxAge: 30 * time.Second, MaxDeviation: 2 * money.Whole / 100, MaxJump: 10},
		Settle: 10 * time.Minute, Every: 5 * time.Second, Timeout: 5 * time.Second,
	}
}

// stoppedWait is after what time a price that jumped is worth asking for again.
const stoppedWait = time.Minute

// maxSkew is how far ahead of ours a source's clock may be.
const maxSkew = 5 * time.Second

// guard is that of a symbol.
func (c Config) guard(symbol string) Guard {
	g, usual := c.Guards[symbol], c.Guard
	if g.Quorum == 0 {
		g.Quorum = usual.Quorum
	}
	if g.MinKinds == 0 {
		g.MinKinds = max(usual.MinKinds, 1)
	}
	if g.MaxAge == 0 {
		g.MaxAge = usual.MaxAge
	}
	if g.MaxDeviation == 0 {
		g.MaxDeviation = usual.MaxDeviation
	}
	if g.MaxJump == 0 {
		g.MaxJump = usual.MaxJump
	}
	return g
}

func (c Config) check(sources []Source) error {
	switch {
	case len(c.Symbols) == 0 || slices.Contains(c.Symbols, ""):
		return fmt.Errorf("prices: no symbols never means all of them; name each")
	case c.Settle <= 0 || c.Every <= 0 || c.Timeout <= 0:
		return fmt.Errorf("prices: the time to settle, the pace and the timeout must be above zero")
	}
	for symbol := range c.Guards {
		if !slices.Contains(c.Symbols, symbol) {
			return fmt.Errorf("prices: %q is guarded, and it is not priced", symbol)
		}
	}
	if err := c.Guard.check(c.Every, sources); err != nil {
		return err
	}
	for _, symbol := range c.Symbols {
		if err := c.guard(symbol).check(c.Every, sources); err != nil {
			return fmt.Errorf("%s: %w", symbol, err)
		}
	}
	return nil
}

func (g Guard) check(every time.Duration, sources []Source) error {
	kinds := map[Kind]bool{}
	for _, s := range sources {
		kinds[s.Kind()] = true
	}
	switch {
	case g.Quorum < 1 || g.Quorum > len(sources):
		return fmt.Errorf("prices: the quorum must be from 1 to the number of sources, which is %d", len(sources))
	case g.MinKinds < 0 || g.MinKinds > len(kinds):
		return fmt.Errorf("prices: sources of %d kinds can not agree where there are %d", g.MinKinds, len(kinds))
	case g.MaxAge <= 0:
		return fmt.Errorf("prices: the age must be above zero")
	case g.MaxDeviation <= 0 || g.MaxDeviation >= money.Whole:
		return fmt.Errorf("prices: the deviation must be above 0 and below 100 percent")
	case g.MaxJump < 2 || g.MaxJump > 1_000_000:
		return fmt.Errorf("prices: the jump must be a factor from 2 to 1000000")
	case every >= g.MaxAge:
		return fmt.Errorf("prices: sources must be asked more often than every %s, which is how old a price may be", g.MaxAge)
	}
	return nil
}
