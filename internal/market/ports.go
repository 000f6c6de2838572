package market

import (
	"context"
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// Prices says what a whole unit of an asset is worth. One that is not good now is a
// fault that names the symbol, never an old price.
type Prices interface {
	Price(symbol string, now time.Time) (Price, error)
}

// Treasury says what of an asset is ours and neither paid out nor reserved.
type Treasury interface {
	Free(ctx context.Context, a chain.Asset) (money.Amount, error)
}

// Costs says what a call would cost now, in its chain's own coin.
type Costs interface {
	Cost(ctx context.Context, c chain.Call) (money.Amount, error)
}

// Secret is a text that does not show itself; the room's secrets come as one.
type Secret interface{ Reveal() string }

// Venue is a place that can turn one asset into another. It plans; it signs nothing
// and sends nothing. A refusal that a caller may read is a fault, an amount outside
// its limits is a *Bounds, and anything else is trouble that is not shown.
type Venue interface {
	Name() string
	Routes(ctx context.Context, in Intent) ([]Route, error)
}

// Near is a venue that answers out of memory, or asks somebody who minds the context:
// it is asked where the quote is made, without anybody who looks at a clock.
type Near interface {
	Venue
	Near()
}

// Intent is what a venue is asked for. The integrator's share is already taken.
type Intent struct {
	Give, Get chain.Asset
	Side      Side
	Amount    money.Amount // of Give where Side is From, of Get where it is To
	Mode      quote.RateMode
	To        chain.Address // who gets it; zero while nobody said
	// Over is how much more than the quoted amount is paid for without asking again;
	// what is reserved covers it.
	Over money.Percent
	// Slippage is how much less than quoted the recipient may get; a fixed rate has none.
	Slippage money.Percent
	At       time.Time
}

// Route is one way of a venue: In of the one asset becomes Out of the other.
type Route struct {
	Steps []quote.Step
	In    money.Amount // what the venue is given
	Out   money.Amount // what the recipient gets, after Service and Network
	// Service and Network are what was taken from the output, in the asset to get.
	Service, Network money.Amount
	// MinIn and MaxIn are what the venue takes.
	MinIn, MaxIn money.Amount
	Impact       money.Percent
	Takes        time.Duration // beside the deposit and the payout
	Toll         quote.Toll    // of a route with steps: what is kept of what the last one brings
}

// Pools exchange assets on one chain.
type Pools interface {
	// Name is of the venue that carries the steps out.
	Name() string
	// Best is the best way to exchange an amount; a refusal that a caller may read is a
	// fault. A pair that it does not know is ErrNoPool.
	Best(ctx context.Context, a PoolAsk) (PoolDeal, error)
}

// PoolAsk is what pools are asked for.
type PoolAsk struct {
	Give, Get chain.Asset
	Side      Side
	Amount    money.Amount
	At        time.Time
}

// PoolDeal is what pools offer: In becomes Out, as things stand.
type PoolDeal struct {
	In, Out money.Amount
	Plan    []byte // for the venue, when the step runs
	Impact  money.Percent
	Gas     uint64 // that the step's transactions use, about
}

// ErrNoPool: no pools lead from the one asset to the other.
var ErrNoPool = errors.New("market: no pools lead there")

// Bounds is a venue's refusal of an amount outside what it takes, in what it is given.
type Bounds struct {
	Min, Max money.Amount
	Low      bool // the amount is below Min; else it is above Max
}

func (b *Bounds) Error() string {
	if b.Low {
		return "below the minimum of " + b.Min.String()
	}
	return "above the maximum of " + b.Max.String()
}
