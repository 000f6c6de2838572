package watch

import (
	"errors"
	"fmt"

	"ferry/internal/money"
)

// Tier says how deep a payment must be buried, by its value.
type Tier struct {
	// UpTo is the highest value the tier serves; the last tier has none and
	// serves every value.
	UpTo money.USD
	// Confirmations is how many blocks must stand on and with the payment's own.
	Confirmations uint64
	// Finalized asks for the chain's own finality besides.
	Finalized bool
}

// ErrTiers is what a bad table of tiers gives.
var ErrTiers = errors.New("watch: bad confirmation tiers")

// CheckTiers refuses a table that would believe anything too early.
func CheckTiers(tiers []Tier) error {
	if len(tiers) == 0 {
		return fmt.Errorf("%w: none given; say how many confirmations a payment needs", ErrTiers)
	}
	for i, t := range tiers {
		last := i == len(tiers)-1
		switch {
		case t.Confirmations == 0:
			return fmt.Errorf("%w: tier %d has zero confirmations; an unconfirmed payment is never believed", ErrTiers, i+1)
		case last && t.UpTo != 0:
			return fmt.Errorf("%w: the last tier must serve every value; leave out its upper bound", ErrTiers)
		case !last && t.UpTo <= 0:
			return fmt.Errorf("%w: tier %d has no upper bound; only the last may", ErrTiers, i+1)
		case i > 0 && !last && t.UpTo <= tiers[i-1].UpTo:
			return fmt.Errorf("%w: tier %d is not above the one before", ErrTiers, i+1)
		case i > 0 && t.Confirmations < tiers[i-1].Confirmations:
			return fmt.Errorf("%w: tier %d asks for fewer confirmations than the one before", ErrTiers, i+1)
		}
	}
	return nil
}

// tierFor is the tier of a value; a value that is not known gets the strictest.
func tierFor(tiers []Tier, v money.USD, known bool) Tier {
	if known {
		for _, t := range tiers[:len(tiers)-1] {
			if v <= t.UpTo {
				return t
			}
		}
	}
	return tiers[len(tiers)-1]
}

// ripe reports whether a payment is buried deep enough. Blocks are counted, not
// heights: a chain may leave heights out.
func (t Tier) ripe(s Sight, final uint64) bool {
	b := s.Deposit.Block
	return !b.IsZero() && s.Depth >= t.Confirmations && (!t.Finalized || b.Height <= final)
}
