package storetest

import (
	"strconv"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/store"
	"ferry/internal/watch"
)

func (b *bench) untold() []watch.Sight {
	b.Helper()
	return must[[]watch.Sight](b.T)(b.db.Untold(b.Context(), give, 100))
}

func (b *bench) unripe() []watch.Sight {
	b.Helper()
	return must[[]watch.Sight](b.T)(b.db.Unripe(b.Context(), give))
}

func (b *bench) depths(ids ...chain.DepositID) map[chain.DepositID]uint64 {
	b.Helper()
	return must[map[chain.DepositID]uint64](b.T)(b.db.Depths(b.Context(), ids))
}

func (b *bench) track() watch.Track {
	b.Helper()
	return must[watch.Track](b.T)(b.db.Track(b.Context(), give))
}

func (b *bench) blocks() []chain.Block {
	b.Helper()
	return must[[]chain.Block](b.T)(b.db.Remembered(b.Context(), give))
}

func cursorStale(t *testing.T, b *bench) {
	same(t, b.track(), watch.Track{})
	same(t, must[time.Time](t)(b.db.Synced(t.Context(), give)), time.Time{})
	b.advance(chain.Block{}, block(10, "a"))
	b.advance(block(10, "a"), block(12, "a")) // heights may have gaps
	step := func(after, to chain.Block) error {
		return b.db.Advance(t.Context(), give, watch.Advance{After: after, Block: to, Now: start})
	}
	want(t, step(block(10, "a"), block(13, "a")), watch.ErrStale)
	want(t, step(block(12, "b"), block(13, "b")), watch.ErrStale)
	want(t, step(chain.Block{}, block(13, "b")), watch.ErrStale)
	want(t, b.db.Rewind(t.Context(), give, block(11, "a"), block(10, "a"), start), watch.ErrStale)
	want(t, b.db.Ripen(t.Context(), give, block(11, "a"), nil), watch.ErrStale)
	if err := b.db.Rewind(t.Context(), give, block(12, "a"), block(12, "c"), start); err == nil {
		t.Fatal("a rewind went nowhere")
	}
	if err := step(block(12, "a"), block(12, "c")); err == nil {
		t.Fatal("a block followed one of its own height")
	}
	same(t, b.blocks(), []chain.Block{block(12, "a"), block(10, "a")})
	ok(t, b.db.Advance(t.Context(), give, watch.Advance{After: block(12, "a"), Block: block(13, "a"), KeepFrom: 12, Now: start}))
	same(t, b.blocks(), []chain.Block{block(13, "a"), block(12, "a")})
	same(t, must[watch.Track](t)(b.db.Track(t.Context(), get)), watch.Track{})
	ok(t, b.db.Caught(t.Context(), give, 9, start))
	ok(t, b.db.Caught(t.Context(), give, 8, start.Add(time.Second)))
	tr := b.track()
	same(t, tr.Final, uint64(9))
	same(t, tr.Synced, start.Add(time.Second))
	same(t, must[time.Time](t)(b.db.Synced(t.Context(), give)), start.Add(time.Second))
}

func depositStages(t *testing.T, b *bench) {
	o := b.create()
	d := deposit(o, "d", 1000)
	stray := d
	stray.ID, stray.To = "stray", addr("nobody's")
	ok(t, b.db.Glimpse(t.Context(), give, []chain.Deposit{d, stray, d}, start))
	first := watch.Sight{Deposit: d, Order: o.ID, Now: watch.Point{Sighting: 1, Stage: watch.Seen}, FirstSeen: start}
	same(t, b.untold(), []watch.Sight{first})
	same(t, len(b.unripe()), 0)
	ok(t, b.db.Told(t.Context(), d.ID, watch.Point{}, first.Now))
	same(t, len(b.untold()), 0)

	b.advance(chain.Block{}, block(1, "a"), d, stray)
	mined := first
	mined.Deposit.Block, mined.Told, mined.Depth = block(1, "a"), first.Now, 1
	same(t, b.unripe(), []watch.Sight{mined})
	same(t, len(b.untold()), 0)

	other := mined // it changed since it was read: passed over
	other.Deposit.Block = block(1, "b")
	again := mined
	again.Now.Sighting = 2
	ok(t, b.db.Ripen(t.Context(), give, block(1, "a"), []watch.Sight{other, again}))
	same(t, len(b.unripe()), 1)
	if err := b.db.Ripen(t.Context(), give, block(1, "a"), []watch.Sight{first}); err == nil {
		t.Fatal("a deposit in no block became final")
	}
	ok(t, b.db.Ripen(t.Context(), give, block(1, "a"), []watch.Sight{mined}))
	same(t, len(b.unripe()), 0)
	final := mined
	final.Now.Stage, final.Depth = watch.Final, 0
	same(t, b.untold(), []watch.Sight{final})
	// A scan of the same payment and a mempool that lags change nothing.
	ok(t, b.db.Glimpse(t.Context(), give, []chain.Deposit{d}, start.Add(time.Hour)))
	b.advance(block(1, "a"), block(2, "a"), d)
	same(t, b.untold(), []watch.Sight{final})
	// A worker that slept does not turn back what was told.
	ok(t, b.db.Told(t.Context(), d.ID, first.Now, final.Now))
	ok(t, b.db.Told(t.Context(), d.ID, watch.Point{}, first.Now))
	same(t, len(b.untold()), 0)
	same(t, must[store.Counts](t)(b.db.Counts(t.Context())).Deposits, int64(1))
}

func depthsFollow(t *testing.T, b *bench) {
	type depths = map[chain.DepositID]uint64
	o := b.create()
	d, e := deposit(o, "d", 10), deposit(o, "e", 20)
	same(t, b.depths(), depths{})
	ok(t, b.db.Glimpse(t.Context(), give, []chain.Deposit{d}, start))
	same(t, b.depths(d.ID, e.ID), depths{}) // in a mempool, and nowhere
	b.advance(chain.Block{}, block(10, "a"), d)
	same(t, b.depths(d.ID, e.ID), depths{d.ID: 1})
	b.advance(block(10, "a"), block(12, "a"), e) // heights may have gaps
	same(t, b.depths(d.ID, e.ID), depths{d.ID: 2, e.ID: 1})
	b.advance(block(12, "a"), block(13, "a"))
	same(t, b.depths(e.ID), depths{e.ID: 2})
	for _, s := range b.unripe() { // as the watcher counts them
		same(t, b.depths(s.Deposit.ID), depths{s.Deposit.ID: s.Depth})
	}
	ok(t, b.db.Rewind(t.Context(), give, block(13, "a"), block(10, "a"), start))
	same(t, b.depths(d.ID, e.ID), depths{d.ID: 1})
	many := []chain.DepositID{d.ID}
	for n := range 200 {
		many = append(many, chain.DepositID("none "+strconv.Itoa(n)))
	}
	same(t, b.depths(append(many, e.ID)...), depths{d.ID: 1})
}

func glimpseDrops(t *testing.T, b *bench) {
	o := b.create()
	d, e := deposit(o, "d", 10), deposit(o, "e", 20)
	ok(t, b.db.Glimpse(t.Context(), give, []chain.Deposit{d, e}, start))
	b.advance(chain.Block{}, block(1, "a"), e)
	ok(t, b.db.Glimpse(t.Context(), give, nil, start))
	points := map[chain.DepositID]watch.Point{}
	for _, s := range b.untold() {
		points[s.Deposit.ID] = s.Now
	}
	same(t, points, map[chain.DepositID]watch.Point{d.ID: {Sighting: 1, Stage: watch.Gone}, e.ID: {Sighting: 1, Stage: watch.Seen}})
	ok(t, b.db.Glimpse(t.Context(), get, nil, start)) // another chain's mempool says nothing of this one
	d.Amount, d.Tx = amount(11), "replaced"
	ok(t, b.db.Glimpse(t.Context(), give, []chain.Deposit{d}, start.Add(time.Minute)))
	for _, s := range b.untold() {
		if s.Deposit.ID == d.ID {
			same(t, s, watch.Sight{Deposit: d, Order: o.ID, Now: watch.Point{Sighting: 2, Stage: watch.Seen}, FirstSeen: start})
		}
	}
	if err := b.db.Advance(t.Context(), get, watch.Advance{Block: block(1, "x"), Deposits: []chain.Deposit{d}, Now: start}); err != nil {
		t.Fatal(err) // not that chain's address: not ours
	}
}

func rewindSeen(t *testing.T, b *bench) {
	o := b.create()
	low, high := deposit(o, "low", 1), deposit(o, "high", 2)
	b.advance(chain.Block{}, block(1, "a"), low)
	b.advance(block(1, "a"), block(2, "a"), high)
	b.advance(block(2, "a"), block(3, "a"))
	for _, s := range b.untold() {
		ok(t, b.db.Told(t.Context(), s.Deposit.ID, s.Told, s.Now))
	}
	ok(t, b.db.Rewind(t.Context(), give, block(3, "a"), block(1, "a"), start))
	same(t, b.blocks(), []chain.Block{block(1, "a")})
	gone := watch.Sight{
		Deposit: high, Order: o.ID, FirstSeen: start,
		Now: watch.Point{Sighting: 1, Stage: watch.Gone}, Told: watch.Point{Sighting: 1, Stage: watch.Seen},
	}
	same(t, b.untold(), []watch.Sight{gone})
	same(t, len(b.unripe()), 1)
	same(t, must[string](t)(b.db.Halted(t.Context(), give)), "")
	// It comes back on the other branch: a new sighting of the same deposit.
	b.advance(block(1, "a"), block(2, "b"), high)
	back := gone
	back.Deposit.Block, back.Now = block(2, "b"), watch.Point{Sighting: 2, Stage: watch.Seen}
	same(t, b.untold(), []watch.Sight{back})
	// Back before the first block that is remembered.
	ok(t, b.db.Rewind(t.Context(), give, block(2, "b"), chain.Block{}, start))
	same(t, len(b.blocks()), 0)
	same(t, len(b.unripe()), 0)
	b.advance(chain.Block{}, block(1, "c"), low, high)
	same(t, len(b.unripe()), 2)
	// To a block that was not remembered.
	ok(t, b.db.Rewind(t.Context(), give, block(1, "c"), block(0, "c"), start))
	same(t, b.track().Cursor, block(0, "c"))
}

// ended wishes a transfer, keeps one attempt and ends it in a block.
func (b *bench) ended(id send.ID, on chain.ID, fate chain.Fate, at chain.Block) {
	b.Helper()
	ok(b.T, b.wish(id, on, 1))
	ok(b.T, b.db.Keep(b.Context(), id, attempt(1, string(id), chain.Slot("slot of "+string(id)))))
	ok(b.T, b.db.End(b.Context(), id, send.Result{Fate: fate, Tx: chain.TxID(id), Cost: amount(3), Block: at}, start))
}

func rewindFinalDeposit(t *testing.T, b *bench) { b.rewindFinal(true) }

func rewindFinalHeight(t *testing.T, b *bench) { b.rewindFinal(false) }

func (b *bench) rewindFinal(ripe bool) {
	t := b.T
	o := b.create()
	b.advance(chain.Block{}, block(10, "a"))
	b.advance(block(10, "a"), block(11, "a"), deposit(o, "d", 5))
	b.ended("below", give, chain.Final, block(10, "a"))
	b.ended("above", give, chain.Final, block(11, "a"))
	b.ended("reverted", give, chain.Reverted, block(11, "a"))
	b.ended("dead", give, chain.Dead, chain.Block{})
	b.ended("elsewhere", get, chain.Final, block(11, "a"))
	ok(t, b.wish("open", give, 1))
	final := uint64(11)
	if ripe {
		final = 10
		ok(t, b.db.Ripen(t.Context(), give, block(11, "a"), b.unripe()))
	}
	ok(t, b.db.Caught(t.Context(), give, final, start))
	ok(t, b.db.Rewind(t.Context(), give, block(11, "a"), block(10, "a"), start.Add(time.Hour)))
	if why := must[string](t)(b.db.Halted(t.Context(), give)); why == "" {
		t.Fatal("the chain goes on")
	}
	same(t, b.track().Final, uint64(10))
	vigils := map[send.ID]bool{}
	for _, j := range must[[]send.Job](t)(b.db.Live(t.Context(), give, "hot")) {
		vigils[j.Transfer.ID] = j.Vigil
		if j.Vigil {
			same(t, j.Tx, chain.TxID(j.Transfer.ID))
		}
	}
	same(t, vigils, map[send.ID]bool{"above": true, "reverted": true, "open": false})
	gone := b.untold()
	same(t, len(gone), 1)
	same(t, gone[0].Now, watch.Point{Sighting: 1, Stage: watch.Gone})
	same(t, gone[0].Deposit.Block, chain.Block{})
}

// A sender may see that a height is final before the watcher has noted it.
func rewindLanded(t *testing.T, b *bench) {
	b.advance(chain.Block{}, block(10, "a"))
	b.advance(block(10, "a"), block(11, "a"))
	ok(t, b.db.Caught(t.Context(), give, 5, start))
	b.ended("below", give, chain.Final, block(10, "a"))
	b.ended("above", give, chain.Final, block(11, "a"))
	ok(t, b.db.Rewind(t.Context(), give, block(11, "a"), block(10, "a"), start.Add(time.Hour)))
	if why := must[string](t)(b.db.Halted(t.Context(), give)); why == "" {
		t.Error("the chain goes on")
	}
	same(t, b.track().Final, uint64(5))
	jobs := must[[]send.Job](t)(b.db.Live(t.Context(), give, "hot"))
	same(t, len(jobs), 1)
	same(t, jobs[0].Transfer.ID, send.ID("above"))
	same(t, jobs[0].Vigil, true)
}

func minedCounts(t *testing.T, b *bench) {
	o := b.create()
	shown, mined := deposit(o, "d", 1000), deposit(o, "d", 1)
	ok(t, b.db.Glimpse(t.Context(), give, []chain.Deposit{shown}, start))
	b.advance(chain.Block{}, block(1, "a"), mined)
	ok(t, b.db.Ripen(t.Context(), give, block(1, "a"), b.unripe()))
	same(t, b.untold()[0].Now.Stage, watch.Final)
	same(t, b.untold()[0].Deposit.Amount, mined.Amount)
}

func addressesSince(t *testing.T, b *bench) {
	x, y := b.create(), b.create()
	a := b.ask()
	a.Quote.Give, a.Quote.Get = a.Quote.Get, a.Quote.Give
	b.create(a)
	z := b.create()
	found := must[[]watch.Watched](t)(b.db.AddressesSince(t.Context(), give, 0, 10))
	same(t, found, []watch.Watched{{Address: x.DepositTo, Seq: 1}, {Address: y.DepositTo, Seq: 2}, {Address: z.DepositTo, Seq: 4}})
	same(t, must[[]watch.Watched](t)(b.db.AddressesSince(t.Context(), give, 2, 1)), found[2:])
	same(t, len(must[[]watch.Watched](t)(b.db.AddressesSince(t.Context(), give, 0, 2))), 2)
	same(t, len(must[[]watch.Watched](t)(b.db.AddressesSince(t.Context(), give, 4, 2))), 0)
}

func halts(t *testing.T, b *bench) {
	same(t, must[string](t)(b.db.Halted(t.Context(), give)), "")
	ok(t, b.db.Halt(t.Context(), give, "first", start))
	ok(t, b.db.Halt(t.Context(), give, "second", start.Add(time.Hour)))
	ok(t, b.db.Halt(t.Context(), get, "", start))
	same(t, must[string](t)(b.db.Halted(t.Context(), give)), "first")
	if must[string](t)(b.db.Halted(t.Context(), get)) == "" {
		t.Fatal("a halt without a reason is no halt")
	}
	same(t, len(must[[]store.Halt](t)(b.db.Halts(t.Context()))), 2)
	ok(t, b.db.Resume(t.Context(), get))
	ok(t, b.db.Resume(t.Context(), get))
	same(t, must[[]store.Halt](t)(b.db.Halts(t.Context())), []store.Halt{{Chain: give, Why: "first", At: start}})
}

func operators(t *testing.T, b *bench) {
	o := b.create()
	b.told(o.ID, order.Stopped{Request: "r", Why: order.ScreeningHold}, start)
	b.told(o.ID, order.Lifted{Request: "l"}, start)
	b.told(o.ID, order.Stopped{Request: "s", Why: order.ScreeningHold}, start.Add(time.Second))
	q := must[[]store.Question](t)(b.db.Queue(t.Context(), 10))
	same(t, len(q), 2)
	same(t, q[0].Order, o.ID)
	same(t, q[0].Why, order.ScreeningHold)
	same(t, q[1].At, start.Add(time.Second))
	ok(t, b.db.Answered(t.Context(), q[0].ID))
	same(t, must[[]store.Question](t)(b.db.Queue(t.Context(), 10)), q[1:])
	if at := must[time.Time](t)(b.db.Time(t.Context())); time.Since(at).Abs() > time.Minute {
		t.Fatalf("the database says it is %s", at)
	}
}
