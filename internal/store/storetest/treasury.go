package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/treasury"
	"ferry/internal/watch"
)

var treasuryCases = []kase{
	{"addresses are leased once and skipped", leases},
	{"what lies on deposit addresses is found largest first", unswept},
	{"a sweep marks its deposits and books what it brings home", sweepFinal},
	{"a sweep that does not land lets its deposits go", sweepDead},
	{"a sweep of what is not free is refused", sweepStale},
	{"racing sweeps of one deposit make one", sweepRace},
	{"a sweep that lands again is booked as it landed", sweepAgain},
	{"a swept deposit that vanishes stays exact in the books", sweepReorged},
	{"a payment that lands again in another way halts the chain", turnedHalts},
	{"what came straight home lies nowhere and is at home", cameHome},
}

func leases(t *testing.T, b *bench) {
	lease := func(on chain.ID, n uint32) uint32 { return must[uint32](t)(b.db.LeaseAddresses(t.Context(), on, n)) }
	same(t, lease(give, 3), uint32(0))
	same(t, lease(give, 2), uint32(3))
	same(t, lease(get, 2), uint32(0))
	same(t, must[uint32](t)(b.db.SkipAddresses(t.Context(), give, 1000)), uint32(1005))
	same(t, lease(give, 1), uint32(1005))
	for name, n := range map[string]uint32{"nothing": 0, "too many": 1 << 31} {
		if _, err := b.db.LeaseAddresses(t.Context(), give, n); err == nil {
			t.Errorf("%s was leased", name)
		}
	}
	ok(t, b.db.KeepAddresses(t.Context(), give, 3, []chain.Address{addr("three"), addr("four")}))
	for name, err := range map[string]error{
		"an index twice":          b.db.KeepAddresses(t.Context(), give, 4, []chain.Address{addr("other")}),
		"an address twice":        b.db.KeepAddresses(t.Context(), give, 2, []chain.Address{addr("three")}),
		"one nobody leased":       b.db.KeepAddresses(t.Context(), give, 5000, []chain.Address{addr("far")}),
		"no address":              b.db.KeepAddresses(t.Context(), give, 0, []chain.Address{{}}),
		"one with none behind it": b.db.KeepAddresses(t.Context(), give, 0, []chain.Address{addr("zero"), {}}),
	} {
		if err == nil {
			t.Errorf("%s was kept", name)
		}
	}
	for text, want := range map[string]uint32{"three": 3, "four": 4} {
		i, known, err := b.db.AddressIndex(t.Context(), give, addr(text))
		if err != nil || !known || i != want {
			t.Errorf("%s has index %d %t %v", text, i, known, err)
		}
	}
	for _, text := range []string{"zero", "other", "far"} {
		if _, known, err := b.db.AddressIndex(t.Context(), give, addr(text)); err != nil || known {
			t.Errorf("%s is ours (%v)", text, err)
		}
	}
	firsts := make([]uint32, racers)
	together(racers, func(i int) { firsts[i] = must[uint32](t)(b.db.LeaseAddresses(t.Context(), "sim:race", 10)) })
	seen := map[uint32]bool{}
	for _, f := range firsts {
		if seen[f] || f%10 != 0 {
			t.Fatalf("leased %v", firsts)
		}
		seen[f] = true
	}
}

// lying makes orders whose deposits are final, credited and lie on addresses of ours.
func (b *bench) lying(amounts ...uint64) []treasury.Lying {
	b.Helper()
	first := must[uint32](b.T)(b.db.LeaseAddresses(b.Context(), give, uint32(len(amounts))))
	var ds []chain.Deposit
	var of []order.ID
	var all []chain.Address
	for range amounts {
		o := b.create()
		of, all = append(of, o.ID), append(all, o.DepositTo)
	}
	for i, n := range amounts {
		o := must[order.Order](b.T)(b.db.Order(b.Context(), of[i]))
		ds = append(ds, deposit(o, "d", n))
	}
	ok(b.T, b.db.KeepAddresses(b.Context(), give, first, all))
	at := b.track().Cursor
	next := block(at.Height+1, "a")
	b.advance(at, next, ds...)
	ok(b.T, b.db.Ripen(b.Context(), give, next, b.unripe()))
	var found []treasury.Lying
	for i, d := range ds {
		d.Block = next
		b.told(of[i], order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: start}, start)
		ok(b.T, b.db.Told(b.Context(), d.ID, watch.Point{}, watch.Point{Sighting: 1, Stage: watch.Final}))
		found = append(found, treasury.Lying{ID: d.ID, Address: d.To, Index: first + uint32(i), Amount: d.Amount, Since: start})
	}
	ok(b.T, b.db.Caught(b.Context(), give, next.Height, start))
	return found
}

func (b *bench) unswept(now time.Time) []treasury.Lying {
	b.Helper()
	return must[[]treasury.Lying](b.T)(b.db.Unswept(b.Context(), giveAsset, 100, now))
}

// sweepOf is the transfer that brings deposits home, each from its own address.
func sweepOf(id send.ID, ls ...treasury.Lying) send.Transfer {
	w := send.Transfer{
		ID: id, Call: chain.Call{Chain: give, From: "hot", To: addr("hot"), Asset: giveAsset},
		MaxFee: amount(9), Deadline: start.Add(time.Hour), WishedAt: start,
	}
	for _, l := range ls {
		w.Call.Sources = append(w.Call.Sources, chain.Source{Address: l.Address, Index: l.Index, Amount: l.Amount, Deposits: []chain.DepositID{l.ID}})
		sum, _ := w.Call.Amount.Add(l.Amount)
		w.Call.Amount = sum
	}
	return w
}

func (b *bench) sweep(id send.ID, ls ...treasury.Lying) error {
	return b.db.Sweep(b.Context(), sweepOf(id, ls...), start)
}

// holds fails unless the books have that much of the given asset at home, on deposit
// addresses, and that much of the coin spent.
func (b *bench) holds(home, lying string, spent uint64) {
	b.Helper()
	same(b.T, b.balance(ledger.Hot(give), giveAsset).String(), home)
	same(b.T, b.balance(ledger.Deposits(give), giveAsset).String(), lying)
	same(b.T, b.balance(ledger.NetworkFee, give.Native()).String(), amount(spent).String())
	ok(b.T, b.db.Audit(b.Context()))
}

// noClosed fails if somebody was left work because a transfer ended.
func (b *bench) noClosed() {
	b.Helper()
	for _, w := range b.take(start, 100) {
		if w.Closed != nil {
			b.Errorf("work %s was left", w.ID)
		}
	}
}

func (b *bench) sweeping() int {
	b.Helper()
	return must[int](b.T)(b.db.Sweeping(b.Context(), giveAsset, "hot"))
}

func unswept(t *testing.T, b *bench) {
	ls := b.lying(900, 1000, 99, 4999)
	same(t, b.unswept(start), []treasury.Lying{ls[3], ls[1], ls[0], ls[2]})
	same(t, must[[]treasury.Lying](t)(b.db.Unswept(t.Context(), giveAsset, 2, start)), []treasury.Lying{ls[3], ls[1]})
	same(t, len(must[[]treasury.Lying](t)(b.db.Unswept(t.Context(), give.Native(), 9, start))), 0)
	at := func(x chain.Asset, on ...chain.Address) []treasury.Lying {
		return must[[]treasury.Lying](t)(b.db.UnsweptAt(t.Context(), x, on, start))
	}
	same(t, at(giveAsset, ls[2].Address, addr("nobody"), ls[0].Address), []treasury.Lying{ls[2], ls[0]})
	same(t, len(at(give.Native(), ls[2].Address)), 0)
	same(t, len(at(giveAsset)), 0)
	// Seen, final and not told, and told but not final for the chain itself: not yet.
	o := b.create()
	first := must[uint32](t)(b.db.LeaseAddresses(t.Context(), give, 1))
	ok(t, b.db.KeepAddresses(t.Context(), give, first, []chain.Address{o.DepositTo}))
	d := deposit(o, "late", 5000)
	cursor := b.track().Cursor
	next := block(cursor.Height+1, "a")
	b.advance(cursor, next, d)
	same(t, len(b.unswept(start)), 4)
	same(t, len(at(giveAsset, o.DepositTo)), 0)
	ok(t, b.db.Ripen(t.Context(), give, next, b.unripe()))
	same(t, len(b.unswept(start)), 4)
	ok(t, b.db.Told(t.Context(), d.ID, watch.Point{}, watch.Point{Sighting: 1, Stage: watch.Final}))
	same(t, len(b.unswept(start)), 4)
	ok(t, b.db.Caught(t.Context(), give, next.Height, start))
	same(t, b.unswept(start)[0].ID, d.ID)
	same(t, at(giveAsset, o.DepositTo), b.unswept(start)[:1])
}

func sweepFinal(t *testing.T, b *bench) {
	ls := b.lying(1000, 900, 800)
	b.holds("1000000000", "2700", 0)
	w := sweepOf("sweep/1", ls[0], ls[1])
	ok(t, b.db.Sweep(t.Context(), w, start))
	want(t, b.db.Sweep(t.Context(), w, start), send.ErrDiffers)
	same(t, b.unswept(start), ls[2:])
	same(t, b.sweeping(), 1)
	same(t, b.live(give), []send.Job{{Transfer: w}})
	// No cap counts it, and no order hears of it.
	ok(t, b.db.Wish(t.Context(), transfer("pays", give, 1), send.Cap{PerHour: transfer("", give, 1).USD}, start))
	ok(t, b.db.Keep(t.Context(), "sweep/1", attempt(1, "tx1", "n1")))
	b.holds("1000000000", "2700", 0)
	r := send.Result{Fate: chain.Final, Tx: "tx1", Cost: amount(4), Block: block(8, "g")}
	ok(t, b.db.End(t.Context(), "sweep/1", r, start))
	ok(t, b.db.End(t.Context(), "sweep/1", r, start))
	b.holds("1000001900", "800", 4)
	want(t, b.db.End(t.Context(), "sweep/1", send.Result{Fate: chain.Dead}, start), send.ErrDiffers)
	b.noClosed()
	same(t, b.sweeping(), 0)
	same(t, b.unswept(start), ls[2:])
	same(t, len(b.live(give)), 1)
}

func sweepDead(t *testing.T, b *bench) {
	ls := b.lying(1000, 900)
	ok(t, b.sweep("sweep/1", ls...))
	same(t, len(b.unswept(start)), 0)
	ok(t, b.db.End(t.Context(), "sweep/1", send.Result{Fate: chain.Dead, Why: "refused"}, start))
	b.holds("1000000000", "1900", 0)
	same(t, len(b.unswept(start.Add(time.Minute))), 0) // whatever it was is not over yet
	later := start.Add(time.Hour)
	same(t, b.unswept(later), paused(ls, start))
	same(t, len(b.unswept(start.Add(treasury.Pause-1))), 0)
	same(t, b.unswept(start.Add(treasury.Pause)), paused(ls, start))
	ok(t, b.sweep("sweep/2", ls...))
	ok(t, b.db.Keep(t.Context(), "sweep/2", attempt(1, "tx2", "n1")))
	ok(t, b.db.End(t.Context(), "sweep/2", send.Result{Fate: chain.Reverted, Tx: "tx2", Cost: amount(5), Block: block(8, "g")}, later))
	b.holds("1000000000", "1900", 5)
	same(t, b.unswept(later.Add(time.Hour)), paused(ls, later))
}

// paused are deposits that a transfer did not bring home.
func paused(ls []treasury.Lying, at time.Time) []treasury.Lying {
	ls = slices.Clone(ls)
	for i := range ls {
		ls[i].After = at.Add(treasury.Pause)
	}
	return ls
}

func sweepStale(t *testing.T, b *bench) {
	ls := b.lying(1000, 900)
	ok(t, b.sweep("sweep/1", ls[0]))
	want(t, b.sweep("sweep/2", ls...), treasury.ErrStale)
	want(t, b.sweep("sweep/2", ls[1], ls[1]), treasury.ErrStale)
	for name, spoil := range map[string]func(*send.Transfer){
		"another amount":  func(w *send.Transfer) { w.Call.Sources[0].Amount, w.Call.Amount = amount(899), amount(899) },
		"another sum":     func(w *send.Transfer) { w.Call.Amount = amount(901) },
		"another asset":   func(w *send.Transfer) { w.Call.Asset = give.Native() },
		"another address": func(w *send.Transfer) { w.Call.Sources[0].Address = addr("elsewhere") },
		"no deposits":     func(w *send.Transfer) { w.Call.Sources[0].Deposits = nil },
		"unknown":         func(w *send.Transfer) { w.Call.Sources[0].Deposits = []chain.DepositID{"none"} },
		"no sources":      func(w *send.Transfer) { w.Call.Sources = nil },
		"an order":        func(w *send.Transfer) { w.Order = "ord_x" },
		"to be given up":  func(w *send.Transfer) { w.GiveUp = start.Add(time.Hour) },
	} {
		w := sweepOf("sweep/3", ls[1])
		spoil(&w)
		if err := b.db.Sweep(t.Context(), w, start); err == nil {
			t.Errorf("%s: it was wished", name)
		}
	}
	// A wish that nobody marks is no way in.
	if err := b.db.Wish(t.Context(), sweepOf("sweep/4", ls[1]), plenty, start); err == nil {
		t.Error("it was wished beside the marks")
	}
	same(t, b.unswept(start), ls[1:])
	same(t, len(b.live(give)), 1)
}

func sweepRace(t *testing.T, b *bench) {
	ls := b.lying(1000)
	errs := make([]error, racers)
	together(racers, func(i int) { errs[i] = b.sweep(send.ID(fmt.Sprintf("sweep/%d", i)), ls...) })
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		want(t, err, treasury.ErrStale)
	}
	same(t, won, 1)
	same(t, len(b.live(give)), 1)
}

// landed makes a sweep that ended in block 8 with a fate, at a cost of four.
func (b *bench) landed(id send.ID, f chain.Fate, ls ...treasury.Lying) {
	b.Helper()
	ok(b.T, b.sweep(id, ls...))
	ok(b.T, b.db.Keep(b.Context(), id, attempt(1, "tx of "+string(id), chain.Slot("slot of "+id))))
	ok(b.T, b.db.End(b.Context(), id, send.Result{Fate: f, Tx: chain.TxID("tx of " + id), Cost: amount(4), Block: block(8, "a")}, start))
}

// rewind takes the chain back behind block 8.
func (b *bench) rewind() {
	b.Helper()
	at := b.track().Cursor
	b.advance(at, block(8, "a"))
	ok(b.T, b.db.Caught(b.Context(), give, 8, start))
	ok(b.T, b.db.Rewind(b.Context(), give, block(8, "a"), at, start))
}

func sweepAgain(t *testing.T, b *bench) {
	ls := b.lying(1000)
	b.landed("sweep/1", chain.Final, ls...)
	b.rewind()
	same(t, b.sweeping(), 1) // it is watched again
	b.holds("1000001000", "0", 4)
	rest := func(f chain.Fate, high, fee uint64) {
		t.Helper()
		ok(t, b.db.Rest(t.Context(), "sweep/1", chain.Status{Fate: f, Block: block(high, "b"), Fee: amount(fee)}, start))
		same(t, b.sweeping(), 0)
		b.noClosed()
	}
	rest(chain.Final, 8, 7)
	b.holds("1000001000", "0", 7)
	b.rewind()
	rest(chain.Final, 8, 2)
	b.holds("1000001000", "0", 2)
	b.rewind()
	rest(chain.Reverted, 8, 3)
	b.holds("1000000000", "1000", 3)
	later := start.Add(time.Hour)
	same(t, b.unswept(later), paused(ls, start))
	// Another brings it home meanwhile; then the chain goes back once more, and this
	// time the first one lands and the other fails.
	b.landed("sweep/2", chain.Final, ls...)
	b.holds("1000001000", "0", 7)
	b.rewind()
	ok(t, b.db.Rest(t.Context(), "sweep/2", chain.Status{Fate: chain.Reverted, Block: block(8, "c"), Fee: amount(4)}, start))
	b.holds("1000000000", "1000", 7)
	rest(chain.Final, 8, 3)
	b.holds("1000001000", "0", 7)
	same(t, len(b.unswept(later)), 0)
}

func sweepReorged(t *testing.T, b *bench) {
	ls := b.lying(1000)
	b.landed("sweep/1", chain.Final, ls...)
	of := must[[]order.Order](t)(b.db.Orders(t.Context(), "", 1))[0]
	d := deposit(of, "d", 1000)
	b.told(of.ID, order.DepositGone{Deposit: d, Sighting: 1, WasFinal: true, SeenAt: start}, start)
	b.holds("1000001000", "-1000", 4)
	b.rewind()
	ok(t, b.db.Rest(t.Context(), "sweep/1", chain.Status{Fate: chain.Reverted, Block: block(8, "b"), Fee: amount(4)}, start))
	b.holds("1000000000", "0", 4)
}

func turnedHalts(t *testing.T, b *bench) {
	for i, f := range []chain.Fate{chain.Final, chain.Reverted} {
		id := send.ID(fmt.Sprintf("t%d", i))
		b.ended(id, give, f, block(8, "a"))
	}
	b.advance(chain.Block{}, block(7, "a"))
	b.rewind()
	for i, f := range []chain.Fate{chain.Final, chain.Reverted} {
		ok(t, b.db.Resume(t.Context(), give))
		id := send.ID(fmt.Sprintf("t%d", i))
		other := chain.Final + chain.Reverted - f
		ok(t, b.db.Rest(t.Context(), id, chain.Status{Fate: other, Block: block(8, "b"), Fee: amount(3)}, start))
		if why := must[string](t)(b.db.Halted(t.Context(), give)); why == "" {
			t.Errorf("it was %s, is %s, and nothing is halted", f, other)
		}
	}
	same(t, len(b.live(give)), 0)
}

// cameHome pays an order by its reference. Nothing is there to be swept or to be weighed,
// and what the chain and the books differ in is said to be of the wallet.
func cameHome(t *testing.T, b *bench) {
	a := b.ask()
	a.DepositTo, a.PayFrom = chain.ReferenceTo(string(a.ID)).In(chain.Other), addr("payer")
	o := b.create(a)
	same(t, o.PayFrom, addr("payer"))
	was := b.balance(ledger.Hot(give), giveAsset)
	d := deposit(o, "home", 1000)
	at := b.track().Cursor
	next := block(at.Height+1, "a")
	b.advance(at, next, d)
	d.Block = next
	moment := must[treasury.Moment](t)(b.db.Moment(t.Context(), give, next.Height))
	same(t, moment.Differing, []treasury.Differing{{ID: d.ID, Asset: giveAsset, Amount: amount(1000), Home: true}})
	ok(t, b.db.Ripen(t.Context(), give, next, b.unripe()))
	b.told(o.ID, order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: start}, start)
	ok(t, b.db.Told(t.Context(), d.ID, watch.Point{}, watch.Point{Sighting: 1, Stage: watch.Final}))
	ok(t, b.db.Caught(t.Context(), give, next.Height, start))
	same(t, len(b.unswept(start)), 0)
	moment = must[treasury.Moment](t)(b.db.Moment(t.Context(), give, next.Height))
	same(t, len(moment.Differing)+len(moment.Spots), 0)
	ok(t, was.Debit(amount(1000)))
	same(t, moment.Home[giveAsset].String(), was.String())
	// The chain takes it back, and more is gone than the wallet's own account would bear.
	lost := b.told(o.ID, order.DepositGone{Deposit: d, Sighting: 1, SeenAt: start, WasFinal: true}, start)
	same(t, lost.Deposits[0].TakenBack, true)
	moment = must[treasury.Moment](t)(b.db.Moment(t.Context(), give, next.Height))
	same(t, moment.Home[giveAsset].String()+" "+moment.Back[giveAsset].String(), was.String()+" -1000")
	ok(t, b.db.Audit(t.Context()))
}
