package storetest

import (
	"fmt"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/settle"
)

var plenty = send.Cap{PerHour: 1_000_000 * money.Dollar}

func transfer(id send.ID, on chain.ID, n uint64) send.Transfer {
	return send.Transfer{
		ID: id, Order: "ord_x", Call: chain.Call{Chain: on, From: "hot", To: addr("to"), Asset: on.Native(), Amount: amount(n)},
		USD: money.Dollar, MaxFee: amount(9), Deadline: start.Add(time.Hour), WishedAt: start,
	}
}

func (b *bench) wish(id send.ID, on chain.ID, n uint64) error {
	return b.db.Wish(b.Context(), transfer(id, on, n), plenty, start)
}

func attempt(n int, tx string, slots ...chain.Slot) send.Kept {
	return send.Kept{N: n, At: start, Attempt: chain.Attempt{Tx: chain.TxID(tx), Raw: []byte(tx), Slots: slots, Fee: amount(uint64(n)), Expires: 1 << 63}}
}

func (b *bench) live(on chain.ID) []send.Job {
	b.Helper()
	return must[[]send.Job](b.T)(b.db.Live(b.Context(), on, "hot"))
}

func wishOnce(t *testing.T, b *bench) {
	ok(t, b.wish("t1", get, 5))
	ok(t, b.wish("t1", get, 5))
	retried := transfer("t1", get, 5) // priced anew, and otherwise the same
	retried.USD, retried.MaxFee, retried.WishedAt = 2*money.Dollar, amount(10), start.Add(time.Hour)
	ok(t, b.db.Wish(t.Context(), retried, plenty, start))
	want(t, b.wish("t1", get, 6), send.ErrDiffers)
	other := transfer("t1", get, 5)
	other.Order = "ord_y"
	want(t, b.db.Wish(t.Context(), other, plenty, start), send.ErrDiffers)
	older := transfer("t0", get, 7)
	older.WishedAt, older.GiveUp = start.Add(-time.Second), start.Add(time.Minute)
	ok(t, b.db.Wish(t.Context(), older, plenty, start))
	ok(t, b.wish("elsewhere", give, 1))
	same(t, b.live(get), []send.Job{{Transfer: older}, {Transfer: transfer("t1", get, 5)}})
	same(t, len(must[[]send.Job](t)(b.db.Live(t.Context(), get, "cold"))), 0)
	for name, bad := range map[string]send.Transfer{"no id": {Call: older.Call}, "below zero": {ID: "b", Call: older.Call, USD: -1}} {
		if err := b.db.Wish(t.Context(), bad, plenty, start); err == nil {
			t.Errorf("%s was wished", name)
		}
	}
}

func wishCapped(t *testing.T, b *bench) {
	limit := send.Cap{PerHour: 3 * money.Dollar}
	at := func(id string, on chain.ID, now time.Time) error {
		return b.db.Wish(t.Context(), transfer(send.ID(id), on, 1), limit, now)
	}
	ok(t, at("a", get, start))
	ok(t, at("b", get, start))
	ok(t, at("c", get, start.Add(30*time.Minute)))
	want(t, at("d", get, start.Add(31*time.Minute)), send.ErrCapped)
	ok(t, at("a", get, start.Add(31*time.Minute))) // known already
	ok(t, at("e", give, start.Add(31*time.Minute)))
	want(t, at("d", get, start.Add(60*time.Minute)), send.ErrCapped)
	ok(t, at("d", get, start.Add(62*time.Minute)))
	ok(t, at("f", get, start.Add(62*time.Minute)))
	want(t, at("g", get, start.Add(62*time.Minute)), send.ErrCapped)
	want(t, at("g", get, start.Add(-48*time.Hour)), send.ErrCapped) // a clock that was put back
	want(t, b.db.Wish(t.Context(), transfer("z", "sim:new", 1), send.Cap{}, start), send.ErrCapped)
	huge := transfer("huge", "sim:new", 1)
	huge.USD = 1<<63 - 1
	ok(t, b.db.Wish(t.Context(), huge, send.Cap{PerHour: 1<<63 - 1}, start))
	ok(t, b.db.Wish(t.Context(), transfer("on top", "sim:new", 1), send.Cap{PerHour: 1<<63 - 1}, start))
}

func keepRules(t *testing.T, b *bench) {
	keep := func(id send.ID, k send.Kept) error { return b.db.Keep(t.Context(), id, k) }
	want(t, keep("none", attempt(1, "x", "n1")), send.ErrStale)
	ok(t, b.wish("t", get, 5))
	want(t, keep("t", attempt(2, "x", "n1")), send.ErrStale)
	one := attempt(1, "tx1", "n1", "n2", "n1")
	ok(t, keep("t", one))
	want(t, keep("t", attempt(1, "tx1", "n1")), send.ErrStale)
	want(t, keep("t", attempt(2, "tx2", "n3")), send.ErrLive)
	want(t, keep("t", attempt(2, "tx2")), send.ErrLive)
	want(t, keep("t", attempt(2, "tx1", "n1")), send.ErrSlotTaken) // the same transaction twice
	two := attempt(2, "tx2", "n2", "n3")
	two.Cancel = true
	ok(t, keep("t", two))
	want(t, keep("t", attempt(3, "tx3", "n3")), send.ErrLive) // beside the first
	same(t, b.live(get), []send.Job{{Transfer: transfer("t", get, 5), Attempts: []send.Kept{one, two}}})
	same(t, must[[]chain.Slot](t)(b.db.Held(t.Context(), get, "hot")), []chain.Slot{"n1", "n2", "n3"})
	want(t, b.db.Bury(t.Context(), "t", 3), send.ErrStale)
	ok(t, b.db.Bury(t.Context(), "t", 1))
	ok(t, b.db.Bury(t.Context(), "t", 1))
	ok(t, keep("t", attempt(3, "tx3", "n3")))
	// An attempt without slots must be dead before there can be another.
	ok(t, b.wish("blockhash", give, 5))
	ok(t, keep("blockhash", attempt(1, "bh1")))
	want(t, keep("blockhash", attempt(2, "bh2")), send.ErrLive)
	ok(t, b.db.Bury(t.Context(), "blockhash", 1))
	ok(t, keep("blockhash", attempt(2, "bh2")))
	want(t, keep("blockhash", attempt(3, "bh3", "n1")), send.ErrLive)
	jobs := b.live(give)
	if !jobs[0].Attempts[0].Dead || jobs[0].Attempts[1].Dead {
		t.Fatalf("%+v", jobs)
	}
}

func slotsForEver(t *testing.T, b *bench) {
	b.ended("t", get, chain.Final, block(7, "g"))
	ok(t, b.wish("u", get, 1))
	want(t, b.db.Keep(t.Context(), "u", attempt(1, "u1", "slot of t")), send.ErrSlotTaken)
	same(t, len(must[[]chain.Slot](t)(b.db.Held(t.Context(), get, "hot"))), 0)
	// Another chain's slot of that name is another slot.
	ok(t, b.wish("v", give, 1))
	ok(t, b.db.Keep(t.Context(), "v", attempt(1, "u1", "slot of t")))
	// Racing transfers: one gets it.
	var ids []send.ID
	for i := range racers {
		ids = append(ids, send.ID(fmt.Sprintf("r%d", i)))
		ok(t, b.wish(ids[i], get, 1))
	}
	errs := make([]error, racers)
	together(racers, func(i int) { errs[i] = b.db.Keep(t.Context(), ids[i], attempt(1, string(ids[i]), "nonce 9")) })
	got := 0
	for _, err := range errs {
		if err == nil {
			got++
			continue
		}
		want(t, err, send.ErrSlotTaken)
	}
	same(t, got, 1)
}

func endOnce(t *testing.T, b *bench) {
	end := func(id send.ID, r send.Result) error { return b.db.End(t.Context(), id, r, start.Add(time.Second)) }
	want(t, end("none", send.Result{Fate: chain.Dead}), send.ErrStale)
	ok(t, b.wish("t", get, 5))
	ok(t, b.db.Keep(t.Context(), "t", attempt(1, "tx1", "n1")))
	if err := end("t", send.Result{Fate: chain.Included, Tx: "tx1"}); err == nil {
		t.Fatal("ended by what may still change")
	}
	want(t, end("t", send.Result{Fate: chain.Dead, Why: "given up"}), send.ErrStale) // its attempt may land
	r := send.Result{Fate: chain.Final, Tx: "tx1", Cost: amount(4), Block: block(8, "g"), Why: "landed"}
	ok(t, end("t", r))
	ok(t, end("t", r))
	want(t, end("t", send.Result{Fate: chain.Dead}), send.ErrDiffers)
	want(t, end("t", send.Result{Fate: chain.Final, Tx: "tx2"}), send.ErrDiffers)
	want(t, b.db.Keep(t.Context(), "t", attempt(2, "tx2", "n1")), send.ErrStale)
	same(t, len(b.live(get)), 0)
	work := b.take(start.Add(time.Second), 10)
	same(t, work, []settle.Work{{ID: "closed/t", Order: "ord_x", Closed: &settle.Closed{Transfer: "t", Result: r}}})
	record := must[[]send.Record](t)(b.db.Transfers(t.Context(), "", 10))
	same(t, record, []send.Record{{
		Job: send.Job{Transfer: transfer("t", get, 5), Attempts: []send.Kept{attempt(1, "tx1", "n1")}, Tx: "tx1"}, Result: r,
	}})
	same(t, len(must[[]send.Record](t)(b.db.Transfers(t.Context(), "t", 10))), 0)
}

func oneTransfer(t *testing.T, b *bench) {
	one := func(id send.ID) send.Record { return must[send.Record](t)(b.db.Transfer(t.Context(), id)) }
	_, err := b.db.Transfer(t.Context(), "none")
	want(t, err, send.ErrUnknown)
	ok(t, b.wish("t", get, 5))
	ok(t, b.wish("t2", get, 6))
	open := send.Record{Open: true, Job: send.Job{Transfer: transfer("t", get, 5)}}
	same(t, one("t"), open)
	ok(t, b.db.Keep(t.Context(), "t", attempt(1, "tx1", "n1")))
	ok(t, b.db.Keep(t.Context(), "t", attempt(2, "tx2", "n1")))
	ok(t, b.db.Bury(t.Context(), "t", 1))
	open.Attempts = []send.Kept{attempt(1, "tx1", "n1"), attempt(2, "tx2", "n1")}
	open.Attempts[0].Dead = true
	same(t, one("t"), open)
	r := send.Result{Fate: chain.Final, Tx: "tx2", Cost: amount(4), Block: block(8, "g"), Why: "landed"}
	ok(t, b.db.End(t.Context(), "t", r, start))
	open.Open, open.Tx, open.Result = false, "tx2", r
	same(t, one("t"), open)
	same(t, len(one("t2").Attempts), 0)
}

func vigil(t *testing.T, b *bench) {
	b.ended("t", give, chain.Final, block(5, "a"))
	again := amount(3) // the same as before
	ok(t, b.wish("open", give, 1))
	want(t, b.db.Rest(t.Context(), "none", chain.Status{Fate: chain.Final, Block: block(6, "b"), Fee: again}, start), send.ErrStale)
	want(t, b.db.Rest(t.Context(), "open", chain.Status{Fate: chain.Final, Block: block(6, "b"), Fee: again}, start), send.ErrStale)
	b.advance(chain.Block{}, block(4, "a"))
	b.advance(block(4, "a"), block(5, "a"))
	ok(t, b.db.Caught(t.Context(), give, 5, start))
	ok(t, b.db.Rewind(t.Context(), give, block(5, "a"), block(4, "a"), start))
	jobs := b.live(give)
	same(t, len(jobs), 2)
	same(t, jobs[1].Transfer.ID, send.ID("t"))
	same(t, jobs[1].Vigil, true)
	same(t, len(jobs[1].Attempts), 1)
	same(t, must[[]chain.Slot](t)(b.db.Held(t.Context(), give, "hot")), []chain.Slot{"slot of t"})
	if err := b.db.Rest(t.Context(), "t", chain.Status{Fate: chain.Final, Block: chain.Block{}, Fee: again}, start); err == nil {
		t.Fatal("rests in no block")
	}
	ok(t, b.db.Rest(t.Context(), "t", chain.Status{Fate: chain.Final, Block: block(6, "b"), Fee: again}, start))
	ok(t, b.db.Rest(t.Context(), "t", chain.Status{Fate: chain.Final, Block: block(7, "c"), Fee: again}, start)) // no vigil any more: nothing to do
	same(t, len(b.live(give)), 1)
	// Where it rests now is where the next rewind finds it.
	b.advance(block(4, "a"), block(5, "b"))
	ok(t, b.db.Caught(t.Context(), give, 5, start))
	ok(t, b.db.Rewind(t.Context(), give, block(5, "b"), block(4, "a"), start))
	same(t, len(b.live(give)), 2)
	// It cost another amount: whoever wished it must hear of that.
	same(t, len(b.take(start, 10)), 1) // that it ended
	ok(t, b.db.Rest(t.Context(), "t", chain.Status{Fate: chain.Final, Block: block(8, "d"), Fee: amount(7)}, start))
	work := b.take(start, 10)
	same(t, len(work), 1)
	same(t, *work[0].Closed.Was, amount(3))
	same(t, work[0].Closed.Result.Cost, amount(7))
	same(t, work[0].Closed.Result.Block.Hash, block(8, "d").Hash)
}
