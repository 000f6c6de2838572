package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/report"
	"ferry/internal/testseed"
)

// partner is an ask of an integrator with a fee of one percent.
func (b *bench) partner(id integrator.ID, key integrator.KeyID, client string) order.Ask {
	a := b.ask()
	a.Quote.Integrator, a.Quote.USD = id, 1000*money.Dollar
	a.Quote.Fee = &quote.Fee{Percent: money.Whole / 100, PayTo: chain.CanonicalAddress(chain.EVM, "0xpartner")}
	a.Origin = order.Origin{Key: key, Kind: integrator.Server, Client: client, Reference: "ref-" + string(key)}
	a.Ceilings = []order.Ceiling{{Name: "company", Subject: string(id), Window: time.Hour}}
	return a
}

func (b *bench) madeBy(a order.Ask, at time.Time) order.Order {
	b.Helper()
	c := must[order.Change](b.T)(order.New(a, at))
	ok(b.T, b.db.Create(b.Context(), c))
	return c.Now
}

// tally finds one number.
func (b *bench) tally(subject, name string, bucket int64) int64 {
	b.Helper()
	for _, t := range must[[]report.Tally](b.T)(b.db.Tallies(b.Context(), subject, bucket, bucket)) {
		if t.Name == name {
			return t.N
		}
	}
	return 0
}

func tallies(t *testing.T, b *bench) {
	day := report.Day(start)
	var orders []order.Order
	for i, client := range []string{"x", "y", "x", ""} {
		orders = append(orders, b.madeBy(b.partner("int_a", integrator.KeyID(fmt.Sprint("key_", i%2)), client), start))
	}
	b.madeBy(b.partner("int_b", "key_b", "x"), start)
	same(t, b.tally("int_a", "made", 0), int64(4))
	same(t, b.tally("int_a", "made.day", day), int64(4))
	same(t, b.tally("int_a", "attributed.day", day), int64(3))
	same(t, b.tally("int_a", "clients.day", day), int64(2))
	same(t, b.tally("int_b", "clients.day", day), int64(1))
	same(t, b.tally("int_a", "fee.projected", 0), int64(40*money.Dollar))
	// The next day: x comes back and is counted there, once.
	for range 2 {
		b.madeBy(b.partner("int_a", "key_0", "x"), start.Add(24*time.Hour))
	}
	same(t, b.tally("int_a", "clients.day", day), int64(1))
	same(t, b.tally("int_a", "clients.day", day+1), int64(1))
	// An ending is counted once, and its fee is none.
	b.told(orders[0].ID, order.Cancelled{}, start)
	if _, err := b.tell(orders[0].ID, order.Cancelled{}, start); err == nil {
		t.Fatal("cancelled twice")
	}
	same(t, b.tally("int_a", "ended.expired", 0), int64(1))
	same(t, b.tally("int_a", "fee.projected", 0), int64(50*money.Dollar))
	same(t, b.tally("", "made", 0), int64(0))
}

func attributed(t *testing.T, b *bench) {
	var made []order.Order
	for i := range 9 {
		made = append(made, b.madeBy(b.partner("int_a", integrator.KeyID(fmt.Sprint("key_", i%3)), ""), start.Add(time.Duration(i/2)*time.Minute)))
	}
	b.madeBy(b.partner("int_b", "key_0", ""), start)
	b.create() // nobody's
	b.told(made[4].ID, order.Cancelled{}, start)
	walk := func(f report.Filter, n int) (ids []order.ID) {
		t.Helper()
		var last order.Order
		for place, pages := (order.Place{}), 0; ; pages++ {
			p := must[report.Page](t)(b.db.Attributed(t.Context(), "int_a", f, place, n))
			for _, o := range p.Orders {
				if last.ID != "" && o.CreatedAt.After(last.CreatedAt) {
					t.Fatal("not newest first")
				}
				ids, last = append(ids, o.ID), o
			}
			if place = p.Next; place == (order.Place{}) {
				return ids
			}
			if pages > 20 {
				t.Fatal("the list has no end")
			}
		}
	}
	for _, n := range []int{1, 2, 3, 9, 50} {
		same(t, len(walk(report.Filter{}, n)), 9)
	}
	same(t, len(walk(report.Filter{Key: "key_1"}, 2)), 3)
	same(t, len(walk(report.Filter{Key: "key_1", Reference: "ref-key_2"}, 2)), 0)
	same(t, walk(report.Filter{State: order.Expired}, 5), []order.ID{made[4].ID})
	same(t, len(walk(report.Filter{Fee: order.FeeProjected}, 2)), 8)
	same(t, len(walk(report.Filter{From: start.Add(time.Minute), To: start.Add(3 * time.Minute)}, 2)), 4)
	same(t, len(must[report.Page](t)(b.db.Attributed(t.Context(), "", report.Filter{}, order.Place{}, 5)).Orders), 0)
}

// updated: orders of one integrator change in a random order, some of them many times
// and several at the same time. Their list by that is as sorting all of them says, in
// pages of any size, with every order once.
func updated(t *testing.T, b *bench) {
	r := rand.New(rand.NewPCG(testseed.Of(t), 1))
	moved := 0
	var made []order.ID
	at := start
	for i := range 12 {
		at = at.Add(time.Duration(r.IntN(2)) * time.Minute)
		made = append(made, b.madeBy(b.partner("int_a", integrator.KeyID(fmt.Sprint("key_", i%3)), ""), at).ID)
		b.madeBy(b.partner("int_b", "key_0", ""), at)
		b.create() // nobody's
		for range r.IntN(6) {
			id := made[r.IntN(len(made))]
			o := must[order.Order](t)(b.db.Order(t.Context(), id))
			if _, err := b.tell(id, order.DepositSeen{Deposit: deposit(o, fmt.Sprint("d", o.Version), 1000), Sighting: 1, At: at}, at); err == nil {
				moved++
			}
			at = at.Add(time.Duration(r.IntN(2)) * time.Second)
		}
	}
	if moved < 6 {
		t.Fatalf("only %d changes", moved)
	}
	for f, n := range map[report.Filter]int{
		{Updated: true}: 1, {Updated: true, Key: "key_1"}: 2, {Updated: true, From: start.Add(2 * time.Minute), To: start.Add(4 * time.Minute)}: 3,
		{Updated: true, State: order.Awaiting}: 50,
	} {
		var want []order.Order
		for _, id := range made {
			o := must[order.Order](t)(b.db.Order(t.Context(), id))
			if (f.Key == "" || o.Origin.Key == f.Key) && (f.State == "" || o.State == f.State) && !o.UpdatedAt.Before(f.From) && (f.To.IsZero() || o.UpdatedAt.Before(f.To)) {
				want = append(want, o)
			}
		}
		slices.SortFunc(want, func(a, b order.Order) int { return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID)) })
		var got []order.ID
		for place, pages := (order.Place{}), 0; ; pages++ {
			p := must[report.Page](t)(b.db.Attributed(t.Context(), "int_a", f, place, n))
			for _, o := range p.Orders {
				got = append(got, o.ID)
			}
			if place = p.Next; place == (order.Place{}) {
				break
			}
			if pages > 50 {
				t.Fatal("the list has no end")
			}
		}
		var ids []order.ID
		for _, o := range want {
			ids = append(ids, o.ID)
		}
		same(t, got, ids)
	}
}
