package report

import (
	"time"

	"ferry/internal/money"
	"ferry/internal/order"
)

// Program is what the service gives points for. A program without a season gives none.
type Program struct {
	Season           string // its id
	Name             string
	StartsAt, EndsAt time.Time // a zero end is none
	PerUSD           int64     // points for a dollar of the service's fee
	Times            money.Percent
	Share            money.Percent // of its users' points, for an integrator
	// Finality is how long points may still be taken back; whole hours.
	Finality time.Duration
}

// DefaultProgram is a season that is always on.
var DefaultProgram = Program{
	Season: "season-1", Name: "Season 1", StartsAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	PerUSD: 100, Times: money.Whole, Share: money.Whole / 4, Finality: 24 * time.Hour,
}

// Award are the terms for an order that is made now; zero while no season runs.
func (p Program) Award(now time.Time) order.Award {
	if p.Season == "" || now.Before(p.StartsAt) || (!p.EndsAt.IsZero() && !now.Before(p.EndsAt)) {
		return order.Award{}
	}
	return order.Award{Season: p.Season, PerUSD: p.PerUSD, Times: p.Times, Share: p.Share}
}

// Kinds of entries in the ledger of points.
const (
	Earned   = "earn"
	Reversed = "reversal"
)

// Entry is one row of the ledger of points, which is only ever added to.
type Entry struct {
	Account string // an address, or an integrator
	Order   order.ID
	Version int64 // of the order, by which it was earned
	Kind    string
	Season  string
	Points  int64 // below zero where they are taken back
	At      time.Time
	Hour    int64 // of the completion: pending and final are by it, also of a reversal
	Ranked  bool  // on the board, where addresses are and integrators are not
}

// Entries are what a change means for the ledger of points: what an order has earned
// after it beside what it had before. So what is lost with a deposit that a chain took
// back is taken back, and given again if the deposit comes back.
func Entries(was order.Order, c order.Change) (es []Entry) {
	now := c.Now
	if now.State != order.Completed || now.Origin.Award.Season == "" {
		return nil
	}
	address, company := now.Points()
	address0, company0 := was.Points()
	add := func(account string, n int64, ranked bool) {
		if n == 0 {
			return
		}
		e := Entry{
			Account: account, Order: now.ID, Version: now.Version, Kind: Earned, Season: now.Origin.Award.Season, Points: n,
			At: c.At, Hour: Hour(now.FinishedAt), Ranked: ranked,
		}
		if n < 0 {
			e.Kind = Reversed
		}
		es = append(es, e)
	}
	add(now.Origin.PointsTo, address-address0, true)
	add(string(now.Integrator), company-company0, false)
	return es
}

// pointsOf is where the points of an account are counted by the hour.
func pointsOf(account string) string { return "points/" + account }

// Tally is what an entry adds to the hours of its account.
func (e Entry) Tally() Tally {
	return Tally{Subject: pointsOf(e.Account), Name: e.Season, Bucket: e.Hour, N: e.Points}
}

// Account is what an account has in one season.
type Account struct {
	Name, Season string
	Points       int64
	Ranked       bool
	UpdatedAt    time.Time
}
