package report

import (
	"context"
	"time"

	"ferry/internal/integrator"
	"ferry/internal/order"
)

// Store is where the facts and their tallies are.
type Store interface {
	// Tallies are those of a subject with a bucket from one to another.
	Tallies(ctx context.Context, subject string, from, to int64) ([]Tally, error)
	// OpenOrders is how many unfinished orders of a subject were made after a time.
	OpenOrders(ctx context.Context, subject string, after time.Time) (int64, error)
	// Attributed are orders of an integrator, newest or last changed first.
	Attributed(ctx context.Context, id integrator.ID, f Filter, from order.Place, n int) (Page, error)
	// Keys are all keys of an integrator, the newest first.
	Keys(ctx context.Context, id integrator.ID) ([]integrator.Key, error)
	Public
}

// Public is where what anybody may see is read.
type Public interface {
	// Points are what an account has, one for each season.
	Points(ctx context.Context, account string) ([]Account, error)
	// Ahead is how many accounts of a season have more points, at most as many as that.
	Ahead(ctx context.Context, season string, points int64, most int) (int64, error)
	// Board are the accounts of a season with the most points.
	Board(ctx context.Context, season string, n int) ([]Account, error)
	// Activity are items that are published by now, the newest first, from a place;
	// the zero place is the beginning.
	Activity(ctx context.Context, from ActivityPlace, now time.Time, n int) ([]Activity, error)
	// ActivityAfter are those behind a place, the oldest first.
	ActivityAfter(ctx context.Context, after ActivityPlace, now time.Time, n int) ([]Activity, error)
}

// Filter narrows a list and says how it is sorted; what is empty does not.
type Filter struct {
	State     order.State
	Fee       order.FeeStatus
	Key       integrator.KeyID
	Reference string
	From, To  time.Time // made from and before, or changed
	Updated   bool      // by when an order last changed, not by when it was made
}

// Narrows reports whether an order may be left out for anything but its time.
func (f Filter) Narrows() bool {
	return f.State != "" || f.Fee != "" || f.Key != "" || f.Reference != ""
}

// Page is a part of a list. A page with a next place may be short, even empty: a
// filter that few orders pass is not let search for ever.
type Page struct {
	Orders []order.Order
	Next   order.Place // zero: that was all; its time is the one that is sorted by
}
