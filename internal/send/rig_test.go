package send_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/store"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// shapes are all kinds of nets.
var shapes = []sim.Shape{sim.Nonces, sim.Coins, sim.Expiring}

func eachShape(t *testing.T, test func(*testing.T, sim.Shape)) {
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// hook is asked before every call of a worker to the world outside it.
type hook func(call string)

// gatedStore and gatedChain are ports behind a hook.
type (
	gatedStore struct {
		in send.Store
		h  hook
	}
	gatedChain struct {
		in send.Chain
		h  hook
	}
)

func (g gatedStore) Wish(ctx context.Context, t send.Transfer, c send.Cap, now time.Time) error {
	g.h("Wish")
	return g.in.Wish(ctx, t, c, now)
}

func (g gatedStore) Live(ctx context.Context, id chain.ID, from chain.Account) ([]send.Job, error) {
	g.h("Live")
	return g.in.Live(ctx, id, from)
}

func (g gatedStore) Held(ctx context.Context, id chain.ID, from chain.Account) ([]chain.Slot, error) {
	g.h("Held")
	return g.in.Held(ctx, id, from)
}

func (g gatedStore) Keep(ctx context.Context, id send.ID, k send.Kept) error {
	g.h("Keep")
	return g.in.Keep(ctx, id, k)
}

func (g gatedStore) Bury(ctx context.Context, id send.ID, n int) error {
	g.h("Bury")
	return g.in.Bury(ctx, id, n)
}

func (g gatedStore) End(ctx context.Context, id send.ID, r send.Result, now time.Time) error {
	g.h("End")
	return g.in.End(ctx, id, r, now)
}

func (g gatedStore) Rest(ctx context.Context, id send.ID, again chain.Status, now time.Time) error {
	g.h("Rest")
	return g.in.Rest(ctx, id, again, now)
}

func (g gatedStore) Halted(ctx context.Context, id chain.ID) (string, error) {
	g.h("Halted")
	return g.in.Halted(ctx, id)
}

func (g gatedStore) Halt(ctx context.Context, id chain.ID, why string, now time.Time) error {
	g.h("Halt")
	return g.in.Halt(ctx, id, why, now)
}

func (g gatedChain) Cost(ctx context.Context, c chain.Call) (money.Amount, error) {
	g.h("Cost")
	return g.in.Cost(ctx, c)
}

func (g gatedChain) Draft(ctx context.Context, c chain.Call, held send.Held, most money.Amount) (chain.Attempt, error) {
	g.h("Draft")
	return g.in.Draft(ctx, c, held, most)
}

func (g gatedChain) Redraft(ctx context.Context, c chain.Call, prev chain.Attempt, most money.Amount) (chain.Attempt, error) {
	g.h("Redraft")
	return g.in.Redraft(ctx, c, prev, most)
}

func (g gatedChain) Broadcast(ctx context.Context, raw []byte) error {
	g.h("Broadcast")
	return g.in.Broadcast(ctx, raw)
}

func (g gatedChain) Fate(ctx context.Context, a chain.Attempt) (chain.Status, error) {
	g.h("Fate")
	return g.in.Fate(ctx, a)
}

func (g gatedChain) Own(from chain.Account) chain.Address { return g.in.Own(from) }

// openStore is a private store.
func openStore(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite::memory:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// finalDepth is how many blocks lie on a final one here.
const finalDepth = 3

// rig is two workers of one account, on one store and one net.
type rig struct {
	t       *testing.T
	db      *store.DB
	net     *sim.Net
	wishes  []send.Transfer
	a, b    *send.Sender
	onA     hook // before every call of the first worker; may be nil
	calls   int  // of the first worker
	trouble []error
}

func newRig(t *testing.T, db *store.DB, id chain.ID, s sim.Shape) *rig {
	t.Helper()
	family := map[sim.Shape]chain.Family{sim.Nonces: chain.EVM, sim.Coins: chain.Bitcoin, sim.Expiring: chain.Solana}[s]
	net, err := sim.New(sim.Config{ID: id, Family: family, Shape: s, FinalDepth: finalDepth, MinFee: money.FromUint64(10), Start: start, Window: 20})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if err := net.Faucet(net.Own(sim.Hot), id.Native(), money.FromUint64(1_000_000_000)); err != nil {
			t.Fatal(err)
		}
	}
	net.MineFinal()
	r := &rig{t: t, db: db, net: net}
	count := func(call string) {
		r.calls++
		if r.onA != nil {
			r.onA(call)
		}
	}
	r.a = send.New(id, sim.Hot, gatedChain{net.Chain(), count}, gatedStore{db, count})
	r.b = send.New(id, sim.Hot, sim.NewChain(net), db)
	return r
}

// Times of a transfer.
const (
	hurry  = 10 * time.Minute
	giveUp = 30 * time.Minute
)

// wish asks for a payment to somebody new, at most at six times the going price.
func (r *rig) wish(forgo bool) send.Transfer {
	r.t.Helper()
	name := fmt.Sprintf("%s-%d", r.net.ID(), len(r.wishes)+1)
	call := chain.Call{
		Chain: r.net.ID(), From: sim.Hot, To: r.net.User(name), Asset: r.net.ID().Native(),
		Amount: money.FromUint64(50_000 + uint64(len(r.wishes))),
	}
	cost, err := r.net.Chain().Cost(r.t.Context(), call)
	if err != nil {
		r.t.Fatal(err)
	}
	budget, err := cost.MulDiv(money.FromUint64(6), money.FromUint64(1), money.Up)
	if err != nil {
		r.t.Fatal(err)
	}
	t := send.Transfer{
		ID: send.ID("ord_" + name + "/payout"), Order: "ord_" + name, Call: call, USD: money.Dollar,
		MaxFee: budget, Deadline: start.Add(hurry), WishedAt: start,
	}
	if forgo {
		t.GiveUp = start.Add(giveUp)
	}
	if err := r.db.Wish(r.t.Context(), t, send.Cap{PerHour: 1000 * money.Dollar}, start); err != nil {
		r.t.Fatal(err)
	}
	r.wishes = append(r.wishes, t)
	return t
}

// stepA and stepB step a worker some time after the start. Trouble of a worker
// that was overtaken is not trouble of the test; it is kept to be shown.
func (r *rig) stepA(after time.Duration) { r.step(r.a, after) }
func (r *rig) stepB(after time.Duration) { r.step(r.b, after) }

func (r *rig) step(s *send.Sender, after time.Duration) {
	if err := s.Step(r.t.Context(), start.Add(after)); err != nil {
		r.trouble = append(r.trouble, err)
	}
}

// record is a transfer as it is kept.
func (r *rig) record(id send.ID) send.Record {
	r.t.Helper()
	for after := send.ID(""); ; {
		page, err := r.db.Transfers(r.t.Context(), after, 100)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, k := range page {
			if k.Transfer.ID == id {
				return k
			}
			after = k.Transfer.ID
		}
		if len(page) < 100 {
			r.t.Fatalf("no transfer %s", id)
		}
	}
}

// landings are the payments of a wish on the chain.
func (r *rig) landings(w send.Transfer) (paid []sim.Landing) {
	for _, l := range r.net.Sent(sim.Hot, 0) {
		if !l.Reverted && l.To == w.Call.To {
			paid = append(paid, l)
		}
	}
	return paid
}

func (r *rig) halted() string {
	r.t.Helper()
	why, err := r.db.Halted(r.t.Context(), r.net.ID())
	if err != nil {
		r.t.Fatal(err)
	}
	return why
}

func (r *rig) open() int {
	r.t.Helper()
	jobs, err := r.db.Live(r.t.Context(), r.net.ID(), sim.Hot)
	if err != nil {
		r.t.Fatal(err)
	}
	return len(jobs)
}

// quiet lets both workers go on, turn about, until nothing is open.
func (r *rig) quiet(after time.Duration) {
	r.t.Helper()
	r.onA = nil
	for i := range 60 {
		if r.open() == 0 {
			return
		}
		after += time.Minute
		r.stepA(after)
		r.net.Mine(1 + i%2)
		r.stepB(after)
	}
	r.t.Fatalf("%d transfers do not end; trouble on the way: %v", r.open(), r.trouble)
}

// check holds the chain to the wishes: each landed at most once, as it was wished,
// within its budget, and the store says what the chain says.
func (r *rig) check() {
	r.t.Helper()
	ours := map[chain.TxID]send.Kept{}
	for _, w := range r.wishes {
		k := r.record(w.ID)
		for _, a := range k.Attempts {
			ours[a.Tx] = a
			if w.MaxFee.Less(a.Fee) {
				r.t.Errorf("%s: attempt %d offers %s, %s is allowed", w.ID, a.N, a.Fee, w.MaxFee)
			}
		}
		paid := r.landings(w)
		if len(paid) > 1 {
			r.t.Errorf("%s landed %d times", w.ID, len(paid))
		}
		for _, l := range paid {
			if l.Amount != w.Call.Amount || w.MaxFee.Less(l.Fee) {
				r.t.Errorf("%s: %s landed for a fee of %s, wished %s for at most %s", w.ID, l.Amount, l.Fee, w.Call.Amount, w.MaxFee)
			}
		}
		switch done := len(paid) == 1; {
		case k.Open:
		case done != (k.Result.Fate == chain.Final):
			r.t.Errorf("%s ended as %s and landed %d times", w.ID, k.Result.Fate, len(paid))
		case done && k.Result.Tx != paid[0].Tx:
			r.t.Errorf("%s ended by %s and landed as %s", w.ID, k.Result.Tx, paid[0].Tx)
		}
	}
	for _, l := range r.net.Sent(sim.Hot, 0) {
		if _, known := ours[l.Tx]; !known {
			r.t.Errorf("%s left the account and nobody kept it", l.Tx)
		}
	}
}
