package routes

import (
	"context"
	"errors"
	"time"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/report"
)

// Rooms are what is behind the door.
type Rooms struct {
	Desk   *desk.Desk
	Report Reporter
	Hooks  Hooks
	Log    Log
	Atlas  *desk.Atlas
	// Now is the deployment's clock. Limits go by the call's own, which is this
	// process's and never stepped.
	Now func() time.Time
	// Sign vouches for a quote.
	Sign func(o *market.Offer) (string, error)
	// Show writes an address of a chain as people know it, ShowOf one of a family.
	Show   func(id chain.ID, a chain.Address) string
	ShowOf func(f chain.Family, a chain.Address) string
	URI    func(x chain.Asset, to chain.Address, n money.Amount) string
	// Check reads an address and says its kind.
	Check func(id chain.ID, text string) (a chain.Address, kind string, err error)
	// Anyone reads an address of whatever family it is.
	Anyone func(text string) (chain.Address, error)
	// Price is what a whole unit of an asset is worth, and since when.
	Price func(x chain.Asset, now time.Time) (money.USD, time.Time, error)
	// Rates are indicative prices of every pair of the assets.
	Rates func(ctx context.Context, assets []chain.Asset, now time.Time) ([]market.Indication, error)
	// Health is how a chain is.
	Health func(ctx context.Context, id chain.ID) (Health, error)
	// Recheck spends a look at an order's chain, Failed a wrong proof; MayTry refuses
	// whoever has shown too many.
	Recheck func(id order.ID, now time.Time) error
	Failed  func(p *access.Principal, now time.Time)
	MayTry  func(p *access.Principal, now time.Time) error
}

// Health is how a chain is.
type Health struct {
	Paused bool
	Synced time.Time // up to when it was read; zero before the first time
}

// Reporter reads what an integrator sees of itself, and what anybody sees.
type Reporter interface {
	Me(ctx context.Context, i integrator.Integrator, now time.Time) (report.Me, error)
	Orders(ctx context.Context, id integrator.ID, f report.Filter, from order.Place, n int) (report.Page, error)
	Public
}

// Public reads what anybody sees of the service.
type Public interface {
	Stats(ctx context.Context, now time.Time) (report.Totals, error)
	Series(ctx context.Context, a report.SeriesAsk, now time.Time) (report.Series, error)
	Pairs(ctx context.Context, lastDays int, now time.Time) (report.Pairs, error)
	Activity(ctx context.Context, from report.ActivityPlace, now time.Time, n int) ([]report.Activity, error)
	ActivityAfter(ctx context.Context, after report.ActivityPlace, now time.Time, n int) ([]report.Activity, error)
	Program() report.Program
	PointsOf(ctx context.Context, account string, now time.Time) (report.Standing, error)
	Board(ctx context.Context, n int, now time.Time) ([]report.Rank, error)
}

// All are the rows.
func All(r Rooms) []api.Operation {
	rows := r.discovery()
	rows = append(rows, r.quotes()...)
	rows = append(rows, r.orders()...)
	rows = append(rows, r.actions()...)
	rows = append(rows, r.bridges()...)
	rows = append(rows, r.public()...)
	rows = append(rows, r.reports()...)
	return append(rows, r.webhooks()...)
}

// seeker is who asks for an order and what they show.
func seeker(c *api.Call) desk.Seeker {
	shown := c.Proof()
	return desk.Seeker{Who: &c.Who, Proof: access.Proof{Session: shown.Session, Verify: shown.Verify}}
}

// guarded runs what needs a proof: who has shown too many wrong ones is refused
// before anything is looked for, and a wrong one is counted.
func (r Rooms) guarded(c *api.Call, do func(desk.Seeker) (any, error)) (any, error) {
	if err := r.MayTry(&c.Who, c.Now); err != nil {
		return nil, err
	}
	out, err := do(seeker(c))
	if errors.Is(err, desk.ErrNoOrder) {
		r.Failed(&c.Who, c.Now)
		desk.EvenOut(c.Context(), c.Now)
	}
	return out, err
}

// whole is how one order is shown to whoever asks for it: its owner sees what pays it.
// Without nodes that can not be made: it is left out, and the rest is shown all the same.
func (r Rooms) whole(c *api.Call, o order.Order, right access.Right, depths map[chain.DepositID]uint64) wire.Order {
	v := r.how(right, depths)
	if right == access.Act {
		v.Funding, _ = r.Desk.Funding(c.Context(), o, r.Now())
	}
	return wire.OrderOf(o, v)
}

// view is how an order is shown, with how deep its payments are where that is known.
func (r Rooms) view(o order.Order, right access.Right, depths map[chain.DepositID]uint64) wire.Order {
	return wire.OrderOf(o, r.how(right, depths))
}

func (r Rooms) how(right access.Right, depths map[chain.DepositID]uint64) wire.View {
	return wire.View{Atlas: r.Atlas, Right: right, Now: r.Now(), Show: r.Show, URI: r.URI, Depths: depths}
}

// place reads where a page goes on.
func place(c *api.Call, by wire.Sort) (order.Place, error) {
	text, given := c.Query("cursor")
	if !given {
		return order.Place{}, nil
	}
	cur, err := wire.ParseCursor(text, by)
	if err != nil {
		return order.Place{}, err
	}
	return order.Place{At: cur.At, ID: order.ID(cur.ID)}, nil
}

// goOn links the next page, if there is one.
func goOn(c *api.Call, next order.Place, by wire.Sort) {
	if next != (order.Place{}) {
		c.Next(wire.Cursor{At: next.At, ID: string(next.ID), By: by}.String())
	}
}

// pageSize is how many entries a page has: usual, or as many as are asked for.
func pageSize(c *api.Call, usual, most int64) (int, error) {
	n := c.Whole("limit", usual)
	if n < 1 || n > most {
		return 0, wire.Invalid(wire.Problem{Pointer: "?limit", Code: "invalid_field", Message: "must be a whole number from 1 to " + itoa(most)})
	}
	return int(n), nil
}

func itoa(n int64) string { return money.FromUint64(uint64(n)).String() }

func notFound(code, text string, args ...any) error {
	return fault.New(fault.NotFound, code, text, args...)
}
