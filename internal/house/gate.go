package house

import (
	"context"
	"time"

	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/feed"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/settle"
	"ferry/internal/treasury"
	"ferry/internal/watch"
)

// Crossing is one call of a worker to the world outside it. It passes its gate
// twice: before its effect and after.
type Crossing struct {
	Room  string // "store" or "chain"
	Name  string
	After bool
}

// Writes reports whether the call is one that the disk must take.
func (c Crossing) Writes() bool {
	switch c.Name {
	case "Advance", "Rewind", "Glimpse", "Ripen", "Caught", "Told", "Halt", "Keep", "Bury", "End", "Rest",
		"Wish", "Sweep", "Create", "Move", "TakeWork", "DoneWork", "LaterWork", "DueOrders":
		return c.Room == "store"
	}
	return false
}

// moves reports whether the call is one after which others may have something to do.
func (c Crossing) moves() bool {
	switch c.Name {
	case "Move", "Wish", "Sweep", "Keep", "End":
		return true
	}
	return false
}

// Acts reports whether the call changes something outside the daemon.
func (c Crossing) Acts() bool { return c.Writes() || c.Name == "Broadcast" }

// Hook is asked at every crossing. An error before the effect keeps it from
// happening; one after it hides from the caller that it did.
type Hook func(Crossing) error

// cross takes a call through the gate.
func cross[T any](h Hook, room, name string, call func() (T, error)) (T, error) {
	var zero T
	if err := h(Crossing{Room: room, Name: name}); err != nil {
		return zero, err
	}
	v, err := call()
	if hidden := h(Crossing{Room: room, Name: name, After: true}); hidden != nil {
		return zero, hidden
	}
	return v, err
}

func crossErr(h Hook, room, name string, call func() error) error {
	_, err := cross(h, room, name, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// gatedStore is a store behind a gate.
type gatedStore struct {
	in daemon.Store
	h  Hook
}

var _ daemon.Store = gatedStore{}

func st[T any](g gatedStore, name string, call func() (T, error)) (T, error) {
	return cross(g.h, "store", name, call)
}

func (g gatedStore) Track(ctx context.Context, id chain.ID) (watch.Track, error) {
	return st(g, "Track", func() (watch.Track, error) { return g.in.Track(ctx, id) })
}

func (g gatedStore) Remembered(ctx context.Context, id chain.ID) ([]chain.Block, error) {
	return st(g, "Remembered", func() ([]chain.Block, error) { return g.in.Remembered(ctx, id) })
}

func (g gatedStore) Advance(ctx context.Context, id chain.ID, a watch.Advance) error {
	return crossErr(g.h, "store", "Advance", func() error { return g.in.Advance(ctx, id, a) })
}

func (g gatedStore) Rewind(ctx context.Context, id chain.ID, from, to chain.Block, now time.Time) error {
	return crossErr(g.h, "store", "Rewind", func() error { return g.in.Rewind(ctx, id, from, to, now) })
}

func (g gatedStore) Glimpse(ctx context.Context, id chain.ID, pending []chain.Deposit, now time.Time) error {
	return crossErr(g.h, "store", "Glimpse", func() error { return g.in.Glimpse(ctx, id, pending, now) })
}

func (g gatedStore) Unripe(ctx context.Context, id chain.ID) ([]watch.Sight, error) {
	return st(g, "Unripe", func() ([]watch.Sight, error) { return g.in.Unripe(ctx, id) })
}

func (g gatedStore) Ripen(ctx context.Context, id chain.ID, at chain.Block, ripe []watch.Sight) error {
	return crossErr(g.h, "store", "Ripen", func() error { return g.in.Ripen(ctx, id, at, ripe) })
}

func (g gatedStore) Caught(ctx context.Context, id chain.ID, final uint64, now time.Time) error {
	return crossErr(g.h, "store", "Caught", func() error { return g.in.Caught(ctx, id, final, now) })
}

func (g gatedStore) Untold(ctx context.Context, id chain.ID, n int) ([]watch.Sight, error) {
	return st(g, "Untold", func() ([]watch.Sight, error) { return g.in.Untold(ctx, id, n) })
}

func (g gatedStore) Told(ctx context.Context, d chain.DepositID, was, now watch.Point) error {
	return crossErr(g.h, "store", "Told", func() error { return g.in.Told(ctx, d, was, now) })
}

func (g gatedStore) AddressesSince(ctx context.Context, id chain.ID, seq int64, n int) ([]watch.Watched, error) {
	return st(g, "AddressesSince", func() ([]watch.Watched, error) { return g.in.AddressesSince(ctx, id, seq, n) })
}

func (g gatedStore) Halt(ctx context.Context, id chain.ID, why string, now time.Time) error {
	return crossErr(g.h, "store", "Halt", func() error { return g.in.Halt(ctx, id, why, now) })
}

func (g gatedStore) Halted(ctx context.Context, id chain.ID) (string, error) {
	return st(g, "Halted", func() (string, error) { return g.in.Halted(ctx, id) })
}

func (g gatedStore) Transfer(ctx context.Context, id send.ID) (send.Record, error) {
	return st(g, "Transfer", func() (send.Record, error) { return g.in.Transfer(ctx, id) })
}

func (g gatedStore) Wish(ctx context.Context, t send.Transfer, limit send.Cap, now time.Time) error {
	return crossErr(g.h, "store", "Wish", func() error { return g.in.Wish(ctx, t, limit, now) })
}

func (g gatedStore) Live(ctx context.Context, id chain.ID, from chain.Account) ([]send.Job, error) {
	return st(g, "Live", func() ([]send.Job, error) { return g.in.Live(ctx, id, from) })
}

func (g gatedStore) Held(ctx context.Context, id chain.ID, from chain.Account) ([]chain.Slot, error) {
	return st(g, "Held", func() ([]chain.Slot, error) { return g.in.Held(ctx, id, from) })
}

func (g gatedStore) Keep(ctx context.Context, id send.ID, k send.Kept) error {
	return crossErr(g.h, "store", "Keep", func() error { return g.in.Keep(ctx, id, k) })
}

func (g gatedStore) Bury(ctx context.Context, id send.ID, n int) error {
	return crossErr(g.h, "store", "Bury", func() error { return g.in.Bury(ctx, id, n) })
}

func (g gatedStore) End(ctx context.Context, id send.ID, r send.Result, now time.Time) error {
	return crossErr(g.h, "store", "End", func() error { return g.in.End(ctx, id, r, now) })
}

func (g gatedStore) Rest(ctx context.Context, id send.ID, again chain.Status, now time.Time) error {
	return crossErr(g.h, "store", "Rest", func() error { return g.in.Rest(ctx, id, again, now) })
}

func (g gatedStore) Create(ctx context.Context, c order.Change) error {
	return crossErr(g.h, "store", "Create", func() error { return g.in.Create(ctx, c) })
}

func (g gatedStore) Order(ctx context.Context, id order.ID) (order.Order, error) {
	return st(g, "Order", func() (order.Order, error) { return g.in.Order(ctx, id) })
}

func (g gatedStore) Move(ctx context.Context, id order.ID, decide settle.Decide) (order.Order, error) {
	return st(g, "Move", func() (order.Order, error) { return g.in.Move(ctx, id, decide) })
}

func (g gatedStore) TakeWork(ctx context.Context, now time.Time, lease time.Duration, n int) ([]settle.Work, error) {
	return st(g, "TakeWork", func() ([]settle.Work, error) { return g.in.TakeWork(ctx, now, lease, n) })
}

func (g gatedStore) DoneWork(ctx context.Context, id string) error {
	return crossErr(g.h, "store", "DoneWork", func() error { return g.in.DoneWork(ctx, id) })
}

func (g gatedStore) LaterWork(ctx context.Context, id string, at time.Time, why string) error {
	return crossErr(g.h, "store", "LaterWork", func() error { return g.in.LaterWork(ctx, id, at, why) })
}

func (g gatedStore) DueOrders(ctx context.Context, now time.Time, lease time.Duration, n int) ([]order.ID, error) {
	return st(g, "DueOrders", func() ([]order.ID, error) { return g.in.DueOrders(ctx, now, lease, n) })
}

func (g gatedStore) Synced(ctx context.Context, id chain.ID) (time.Time, error) {
	return st(g, "Synced", func() (time.Time, error) { return g.in.Synced(ctx, id) })
}

func (g gatedStore) Since(ctx context.Context, seq int64, n int) ([]feed.Entry, error) {
	return st(g, "Since", func() ([]feed.Entry, error) { return g.in.Since(ctx, seq, n) })
}

func (g gatedStore) Moments(ctx context.Context, seqs []int64) ([]feed.Entry, error) {
	return st(g, "Moments", func() ([]feed.Entry, error) { return g.in.Moments(ctx, seqs) })
}

func (g gatedStore) Head(ctx context.Context) (int64, error) {
	return st(g, "Head", func() (int64, error) { return g.in.Head(ctx) })
}

func (g gatedStore) Unswept(ctx context.Context, a chain.Asset, n int, now time.Time) ([]treasury.Lying, error) {
	return st(g, "Unswept", func() ([]treasury.Lying, error) { return g.in.Unswept(ctx, a, n, now) })
}

func (g gatedStore) UnsweptAt(ctx context.Context, a chain.Asset, on []chain.Address, now time.Time) ([]treasury.Lying, error) {
	return st(g, "UnsweptAt", func() ([]treasury.Lying, error) { return g.in.UnsweptAt(ctx, a, on, now) })
}

func (g gatedStore) Awaited(ctx context.Context, a chain.Asset) (bool, error) {
	return st(g, "Awaited", func() (bool, error) { return g.in.Awaited(ctx, a) })
}

func (g gatedStore) Sweeping(ctx context.Context, a chain.Asset, from chain.Account) (int, error) {
	return st(g, "Sweeping", func() (int, error) { return g.in.Sweeping(ctx, a, from) })
}

func (g gatedStore) Sweep(ctx context.Context, t send.Transfer, now time.Time) error {
	return crossErr(g.h, "store", "Sweep", func() error { return g.in.Sweep(ctx, t, now) })
}

func (g gatedStore) Read(ctx context.Context, id chain.ID, height uint64) (chain.Block, error) {
	return st(g, "Read", func() (chain.Block, error) { return g.in.Read(ctx, id, height) })
}

func (g gatedStore) Moment(ctx context.Context, id chain.ID, height uint64) (treasury.Moment, error) {
	return st(g, "Moment", func() (treasury.Moment, error) { return g.in.Moment(ctx, id, height) })
}

func (g gatedStore) Woken() <-chan struct{} { return g.in.Woken() }

// gatedReader, gatedMempool and gatedSender are a chain behind a gate.
type (
	gatedReader struct {
		in watch.Reader
		h  Hook
	}
	gatedMempool struct {
		in watch.Mempool
		h  Hook
	}
	gatedSender struct {
		in send.Chain
		h  Hook
	}
)

func (g gatedReader) Head(ctx context.Context) (chain.Head, error) {
	return cross(g.h, "chain", "Head", func() (chain.Head, error) { return g.in.Head(ctx) })
}

func (g gatedReader) Next(ctx context.Context, from uint64) (chain.Block, error) {
	return cross(g.h, "chain", "Next", func() (chain.Block, error) { return g.in.Next(ctx, from) })
}

func (g gatedReader) Deposits(ctx context.Context, b chain.Block, to watch.Addresses) ([]chain.Deposit, error) {
	return cross(g.h, "chain", "Deposits", func() ([]chain.Deposit, error) { return g.in.Deposits(ctx, b, to) })
}

func (g gatedMempool) Pending(ctx context.Context, to watch.Addresses) ([]chain.Deposit, error) {
	return cross(g.h, "chain", "Pending", func() ([]chain.Deposit, error) { return g.in.Pending(ctx, to) })
}

func (g gatedSender) Cost(ctx context.Context, c chain.Call) (money.Amount, error) {
	return cross(g.h, "chain", "Cost", func() (money.Amount, error) { return g.in.Cost(ctx, c) })
}

func (g gatedSender) Draft(ctx context.Context, c chain.Call, held send.Held, max money.Amount) (chain.Attempt, error) {
	return cross(g.h, "chain", "Draft", func() (chain.Attempt, error) { return g.in.Draft(ctx, c, held, max) })
}

func (g gatedSender) Redraft(ctx context.Context, c chain.Call, prev chain.Attempt, max money.Amount) (chain.Attempt, error) {
	return cross(g.h, "chain", "Redraft", func() (chain.Attempt, error) { return g.in.Redraft(ctx, c, prev, max) })
}

func (g gatedSender) Broadcast(ctx context.Context, raw []byte) error {
	return crossErr(g.h, "chain", "Broadcast", func() error { return g.in.Broadcast(ctx, raw) })
}

func (g gatedSender) Fate(ctx context.Context, a chain.Attempt) (chain.Status, error) {
	return cross(g.h, "chain", "Fate", func() (chain.Status, error) { return g.in.Fate(ctx, a) })
}

func (g gatedSender) Own(from chain.Account) chain.Address { return g.in.Own(from) }
