package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ferry/internal/order"
)

// Recount counts everything that is kept beside the orders again, from the orders as
// they are and nothing else, and compares. It goes by what an order came to, not by how:
// a change that was counted wrongly is not counted wrongly again.
type Recount struct {
	Orders int64 // that were counted

	tallies  map[Tally]int64      // by a tally whose own number is zero
	accounts map[Account]*Account // by one without points and time
	clients  map[[2]string]int64  // the last day of each
	drift    []Drift
	activity []Repair
}

// Drift is a number that is kept and is not what was counted.
type Drift struct {
	What          string // tally, account, entries or activity
	Subject, Name string
	Bucket        int64
	Kept, Counted int64
	Why           string
}

func (d Drift) String() string {
	if d.Why != "" {
		return fmt.Sprintf("%s %s: %s", d.What, d.Subject, d.Why)
	}
	return fmt.Sprintf("%s %s %q of %d: %d is kept, %d were counted", d.What, d.Subject, d.Name, d.Bucket, d.Kept, d.Counted)
}

// Repair is how an order's activity is put right: what is there goes, and what belongs
// there, if anything, comes.
type Repair struct {
	Order  order.ID
	Belong bool
	Item   Activity
}

// Found is what came of a recount. With it everything but the ledger of points, which is
// only ever added to, can be put right.
type Found struct {
	Orders   int64
	Entries  map[string]int64 // how many there are in the ledger of points, by kind
	Drift    []Drift
	Tallies  []Tally   // what is to be added
	Accounts []Account // the same
	Activity []Repair
}

// Beside is what is kept beside an order of its own.
type Beside struct {
	Points   int64 // all that its entries add up to
	Company  int64 // of that the integrator's
	Activity *Activity
}

// NewRecount begins one.
func NewRecount() *Recount {
	return &Recount{tallies: map[Tally]int64{}, accounts: map[Account]*Account{}, clients: map[[2]string]int64{}}
}

func (r *Recount) add(subject, name string, bucket, n int64) {
	r.tallies[Tally{Subject: subject, Name: name, Bucket: bucket}] += n
}

// Order counts an order.
func (r *Recount) Order(o order.Order, b Beside) {
	r.Orders++
	if o.Integrator != "" {
		r.company(o)
	}
	r.points(o, b)
	var want Activity
	belongs := false
	if o.State.Finished() {
		for _, t := range publicOf(o, o.FinishedAt) {
			r.add(t.Subject, t.Name, t.Bucket, t.N)
		}
		if o.State == order.Completed {
			want, belongs = activityOf(o, o.FinishedAt)
		}
	}
	r.published(o, b.Activity, want, belongs)
}

// company counts an order for its integrator.
func (r *Recount) company(o order.Order) {
	who := string(o.Integrator)
	r.add(who, made, 0, 1)
	r.add(who, madeDay, Day(o.CreatedAt), 1)
	if client := o.Origin.Client; client != "" {
		r.add(who, attributedDay, Day(o.CreatedAt), 1)
		of := [2]string{who, client}
		r.clients[of] = max(r.clients[of], Day(o.CreatedAt))
	}
	if o.State.Finished() {
		r.add(who, ended+string(o.State), 0, 1)
	}
	if o.State == order.Completed {
		usd, from := int64(o.Quote.USD), family+string(o.DepositTo.Family())
		r.add(who, volume, 0, usd)
		r.add(who, volumeHour, Hour(o.FinishedAt), usd)
		r.add(who, took+tookBucket(o.FinishedAt.Sub(o.CreatedAt)), 0, 1)
		r.add(who, from+".orders", 0, 1)
		r.add(who, from+".volume", 0, usd)
	}
	if o.FeeStatus != order.FeeNone {
		r.add(who, fee+string(o.FeeStatus), 0, int64(FeeUSD(o)))
		r.add(who, feeOrders+string(o.FeeStatus), 0, 1)
	}
}

// points counts what an order has earned.
func (r *Recount) points(o order.Order, b Beside) {
	address, company := o.Points()
	if b.Points != address+company || b.Company != company {
		r.drift = append(r.drift, Drift{What: "entries", Subject: string(o.ID), Name: "points", Kept: b.Points, Counted: address + company})
	}
	give := func(account string, n int64, ranked bool) {
		if n == 0 {
			return
		}
		e := Entry{Account: account, Season: o.Origin.Award.Season, Points: n, Hour: Hour(o.FinishedAt)}
		r.add(e.Tally().Subject, e.Tally().Name, e.Tally().Bucket, n)
		key := Account{Name: account, Season: e.Season, Ranked: ranked}
		if r.accounts[key] == nil {
			r.accounts[key] = &Account{Name: account, Season: e.Season, Ranked: ranked}
		}
		sum := r.accounts[key]
		sum.Points += n
		if o.FinishedAt.After(sum.UpdatedAt) {
			sum.UpdatedAt = o.FinishedAt
		}
	}
	give(o.Origin.PointsTo, address, true)
	give(string(o.Integrator), company, false)
}

// published compares what is published of an order with what belongs there.
func (r *Recount) published(o order.Order, kept *Activity, want Activity, belongs bool) {
	why := ""
	switch {
	case kept == nil && !belongs:
		return
	case kept == nil:
		why = "is missing"
	case !belongs:
		why = "is published and must not be"
	default:
		want.ID = kept.ID
		if sameActivity(*kept, want) {
			return
		}
		why = "says something else than the order"
	}
	r.drift = append(r.drift, Drift{What: "activity", Subject: string(o.ID), Why: why})
	r.activity = append(r.activity, Repair{Order: o.ID, Belong: belongs, Item: want})
}

func sameActivity(a, b Activity) bool {
	same := a.PublishAt.Equal(b.PublishAt) && a.CompletedAt.Equal(b.CompletedAt)
	a.PublishAt, a.CompletedAt, b.PublishAt, b.CompletedAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return same && a == b
}

// Stray is something that is kept for an order that is not there.
func (r *Recount) Stray(what, id string) {
	r.drift = append(r.drift, Drift{What: what, Subject: id, Why: "is of no order"})
}

// Compare is what came of it, beside the tallies and the accounts as they are kept.
func (r *Recount) Compare(kept []Tally, accounts []Account) Found {
	for of, day := range r.clients {
		r.add(of[0], clientsDay, day, 1)
	}
	f := Found{Orders: r.Orders, Activity: r.activity}
	for _, t := range kept {
		n := t.N
		t.N = 0
		r.tallies[t] -= n // what is left is what is missing
		if missing := r.tallies[t]; missing != 0 {
			r.drift = append(r.drift, Drift{What: "tally", Subject: t.Subject, Name: t.Name, Bucket: t.Bucket, Kept: n, Counted: n + missing})
			t.N = missing
			f.Tallies = append(f.Tallies, t)
		}
		t.N = 0
		delete(r.tallies, t)
	}
	for t, n := range r.tallies {
		if n != 0 {
			r.drift = append(r.drift, Drift{What: "tally", Subject: t.Subject, Name: t.Name, Bucket: t.Bucket, Counted: n})
			t.N = n
			f.Tallies = append(f.Tallies, t)
		}
	}
	f.Accounts = r.compareAccounts(accounts)
	slices.SortFunc(r.drift, func(a, b Drift) int {
		return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Bucket, b.Bucket))
	})
	f.Drift = r.drift
	return f
}

func (r *Recount) compareAccounts(kept []Account) (add []Account) {
	compare := func(a Account, counted int64) {
		if a.Points == counted {
			return
		}
		r.drift = append(r.drift, Drift{What: "account", Subject: a.Name, Name: a.Season, Kept: a.Points, Counted: counted})
		a.Points = counted - a.Points
		add = append(add, a)
	}
	for _, a := range kept {
		key := Account{Name: a.Name, Season: a.Season, Ranked: a.Ranked}
		counted := int64(0)
		if want := r.accounts[key]; want != nil {
			counted = want.Points
		}
		delete(r.accounts, key)
		compare(a, counted)
	}
	for _, want := range r.accounts {
		counted := want.Points
		want.Points = 0
		compare(*want, counted)
	}
	return add
}
