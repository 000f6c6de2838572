package prices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ferry/internal/fault"
	"ferry/internal/market"
)

// Board keeps the last good price of each symbol. Reading it takes no lock.
type Board struct {
	cfg     Config
	guards  map[string]Guard
	sources []Source

	mu    sync.Mutex // held by Step and Confirm
	told  map[string][]word
	lines map[string]*line
	shown atomic.Pointer[map[string]*Status] // which nobody writes into
}

// word is the last usable thing that one source said of a symbol; zero is nothing.
type word struct {
	price market.Price
	in    string // the symbol it is counted in; empty is dollars
	at    time.Time
	why   string // it is not usable
}

// line is what the board knows of a symbol.
type line struct {
	good    market.Price // the last good one: what a jump is measured against
	stopped bool
	// next is the price that would be believed if the symbol were not stopped, since
	// when it holds, and when it was last so; zero while there is none.
	next          market.Price
	since, nextAt time.Time
}

// Status is how a symbol stands.
type Status struct {
	Symbol  string
	Price   market.Price // zero: there is none that could be used
	At      time.Time    // of the oldest word that it is made from
	Sources int          // how many agree
	Stopped bool         // it jumped, and waits to be confirmed or to settle
	Next    market.Price // of a stopped one: what is to be confirmed; zero: nothing yet
	Guard   Guard
	Said    []Said
	Dropped []Drop
}

// Said is what a source said of a symbol that was used.
type Said struct {
	Source string
	Kind   Kind
	Price  market.Price // in dollars
	At     time.Time
}

// Drop is a source whose word does not count, and why.
type Drop struct {
	Source, Why string
	Kind        Kind
}

// New makes a board that knows nothing yet.
func New(cfg Config, sources ...Source) (*Board, error) {
	if err := cfg.check(sources); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, s := range sources {
		if s.Name() == "" || names[s.Name()] {
			return nil, fmt.Errorf("prices: source %q has no name or stands there twice", s.Name())
		}
		names[s.Name()] = true
	}
	b := &Board{cfg: cfg, guards: map[string]Guard{}, sources: sources, told: map[string][]word{}, lines: map[string]*line{}}
	for _, symbol := range cfg.Symbols {
		b.told[symbol], b.lines[symbol] = make([]word, len(sources)), &line{}
		b.guards[symbol] = cfg.guard(symbol)
	}
	b.shown.Store(&map[string]*Status{})
	return b, nil
}

// Price is the good price of a symbol now, or a fault that names it.
func (b *Board) Price(symbol string, now time.Time) (market.Price, error) {
	s, ok := (*b.shown.Load())[symbol]
	switch {
	case ok && s.Stopped:
		return market.Price{}, unavailable("The price of %s jumped and is being checked; try again later.", symbol, stoppedWait)
	case !ok || s.Price.IsZero() || b.old(symbol, s.At, now):
		return market.Price{}, unavailable("There is no trustworthy price of %s now; try again shortly.", symbol, b.cfg.Every)
	}
	return s.Price, nil
}

// Since is when the word was given that the price of a symbol is made from.
func (b *Board) Since(symbol string) time.Time {
	s, ok := (*b.shown.Load())[symbol]
	if !ok {
		return time.Time{}
	}
	return s.At
}

// unavailable refuses with when to come again: no price comes before the sources were
// asked once more, and of one that jumped nobody knows when it is confirmed.
func unavailable(text, symbol string, wait time.Duration) error {
	return fault.New(fault.Unavailable, "pair_unavailable", text, symbol).RetryAfter(wait)
}

func (b *Board) old(symbol string, at, now time.Time) bool {
	return now.Sub(at) > b.guards[symbol].MaxAge
}

// All is how every symbol stands, sorted by symbol.
func (b *Board) All() []Status {
	shown := *b.shown.Load()
	all := make([]Status, 0, len(shown))
	for _, s := range shown {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(x, y Status) int { return strings.Compare(x.Symbol, y.Symbol) })
	return all
}

// Run asks the sources every so often until ctx ends. Trouble is told and tried
// again; meanwhile prices grow old and are no longer used.
func (b *Board) Run(ctx context.Context, now func() time.Time, trouble func(error)) {
	tick := time.NewTicker(b.cfg.Every)
	defer tick.Stop()
	for {
		if err := b.Step(ctx, now()); err != nil && ctx.Err() == nil {
			trouble(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Step asks every source once and judges what they said. A source that fails counts
// with what it said before, until that is too old.
func (b *Board) Step(ctx context.Context, now time.Time) error {
	answers, err := b.ask(ctx, now)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, quotes := range answers {
		if quotes == nil {
			continue
		}
		for symbol, words := range b.told {
			words[i] = word{}
			if q, said := quotes[symbol]; said {
				words[i] = b.hear(q, now)
			}
		}
	}
	b.judge(now)
	return err
}

// ask asks all sources at once; those that are late are left behind. What a source
// could not say at all is nil.
func (b *Board) ask(ctx context.Context, now time.Time) ([]map[string]Quote, error) {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Timeout)
	defer cancel()
	type told struct {
		from   int
		quotes map[string]Quote
		err    error
	}
	heard := make(chan told, len(b.sources))
	for i, s := range b.sources {
		go func() {
			quotes, err := s.Prices(ctx, now)
			heard <- told{i, quotes, err}
		}()
	}
	answers, errs := make([]map[string]Quote, len(b.sources)), make([]error, len(b.sources))
	for i := range errs {
		errs[i] = fmt.Errorf("source %s: %w", b.sources[i].Name(), context.DeadlineExceeded)
	}
	for range b.sources {
		select {
		case t := <-heard:
			answers[t.from], errs[t.from] = t.quotes, nil
			if t.err != nil {
				errs[t.from] = fmt.Errorf("source %s: %w", b.sources[t.from].Name(), t.err)
			} else if t.quotes == nil {
				answers[t.from] = map[string]Quote{}
			}
		case <-ctx.Done():
			return answers, errors.Join(errs...)
		}
	}
	return answers, errors.Join(errs...)
}

// hear makes a word of what a source said. One that cannot be used replaces the one
// before all the same, and so does silence: the source no longer stands by it.
func (b *Board) hear(q Quote, now time.Time) word {
	if q.Why != "" {
		return word{why: q.Why}
	}
	p, err := market.ParsePrice(q.Price)
	_, priced := b.lines[q.In]
	switch {
	case err != nil:
		return word{why: err.Error()}
	case q.In != "" && !priced:
		return word{why: fmt.Sprintf("counts in %s, which nobody prices here", short(q.In))}
	case q.At.After(now.Add(maxSkew)):
		return word{why: "is from the future"}
	case q.At.After(now):
		q.At = now
	}
	return word{price: p, in: q.In, at: q.At}
}
