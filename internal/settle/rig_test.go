package settle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/settle"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
)

// begin is when the tests begin.
var begin = house.Start.Add(time.Hour)

// rig is a house with two settlers on one database: two handles on PostgreSQL, and
// one on SQLite, which lets only one process in.
type rig struct {
	*house.House
	t     *testing.T
	other *store.DB
	a, b  *settle.Settler
	onA   func(call string) // before every call of the first settler to its store
	made  int
}

// eachStore tests on both databases.
func eachStore(t *testing.T, test func(*testing.T, *rig)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, newRig(t, "", house.Settling()))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, newRig(t, pgtest.URL(t), house.Settling()))
	})
}

func newRig(t *testing.T, url string, cfg settle.Config) *rig {
	t.Helper()
	h, err := house.New(t.Context(), house.Options{URL: url, Chains: []chain.ID{house.EVM, house.SOL}})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{House: h, t: t, other: h.DB}
	t.Cleanup(func() { h.Close() })
	if url != "" {
		if r.other, err = store.Open(t.Context(), store.Config{URL: url}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.other.Close() })
	}
	r.a = r.settler(cfg, gatedStore{h.DB, func(call string) {
		if r.onA != nil {
			r.onA(call)
		}
	}})
	r.b = r.settler(cfg, r.other)
	for _, n := range h.Nets {
		r.must(h.DB.Caught(t.Context(), n.ID(), n.Final().Height, begin))
	}
	return r
}

func (r *rig) settler(cfg settle.Config, st settle.Store) *settle.Settler {
	r.t.Helper()
	s, err := settle.New(cfg, r.ports(st))
	r.must(err)
	return s
}

func (r *rig) ports(st settle.Store) settle.Ports {
	p := settle.Ports{Store: st, Rates: r.Rates, Costs: map[chain.ID]settle.Coster{}, Listed: map[chain.Asset]bool{}}
	for _, n := range r.Nets {
		p.Costs[n.ID()] = n.Chain()
	}
	for _, a := range r.Assets {
		p.Listed[a] = true
	}
	return p
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// create makes an order for a hundred dollars, with a refund address.
func (r *rig) create() order.Order { return r.createFor(100_000_000) }

func (r *rig) createFor(in uint64) order.Order {
	r.t.Helper()
	r.made++
	id := order.ID(fmt.Sprintf("ord_%04d", r.made))
	q, err := r.Terms("quo_1", house.EVMUSD, house.Sol, money.FromUint64(in), begin)
	r.must(err)
	o, err := r.b.Create(r.t.Context(), r.Ask(id, q, r.Net(house.SOL).User("to-"+string(id)), r.Net(house.EVM).User("back-"+string(id))), begin)
	r.must(err)
	return o
}

// deposit is the payment that an order asks for.
func deposit(o order.Order) chain.Deposit {
	return chain.Deposit{
		ID: chain.DepositID("dep-" + o.ID), To: o.DepositTo, Asset: o.Quote.Give, Amount: o.Quote.In, Tx: chain.TxID("tx-" + o.ID),
		Block: chain.Block{Height: 9, Hash: "h9", Time: begin},
	}
}

func seen(o order.Order, n int) order.Event {
	return order.DepositSeen{Deposit: deposit(o), Sighting: n, At: begin}
}

func final(o order.Order, n int) order.Event {
	return order.DepositFinal{Deposit: deposit(o), Sighting: n, SeenAt: begin}
}

// landed is a transaction of ours.
func landed(o order.Order, what string) order.Landed {
	return order.Landed{Tx: chain.TxID(what + "-" + string(o.ID)), Cost: money.FromUint64(1_000)}
}

func (r *rig) tell(o order.Order, ev order.Event, now time.Time) order.Order {
	r.t.Helper()
	o, err := r.b.Tell(r.t.Context(), o.ID, ev, now)
	r.must(err)
	return o
}

func (r *rig) order(id order.ID) order.Order {
	r.t.Helper()
	o, err := r.DB.Order(r.t.Context(), id)
	r.must(err)
	return o
}

func (r *rig) transfers() map[send.ID]send.Record {
	r.t.Helper()
	page, err := r.DB.Transfers(r.t.Context(), "", 10_000)
	r.must(err)
	all := map[send.ID]send.Record{}
	for _, k := range page {
		all[k.Transfer.ID] = k
	}
	return all
}

func (r *rig) work() int64 {
	r.t.Helper()
	c, err := r.DB.Counts(r.t.Context())
	r.must(err)
	return c.Work
}

// checkHistory holds an order to its log: versions without a gap, every fact once,
// one ending that is never left. It returns the names of what happened.
func (r *rig) checkHistory(id order.ID) (names []string) {
	r.t.Helper()
	o := r.order(id)
	events, err := r.DB.OrderEvents(r.t.Context(), id, 0)
	r.must(err)
	keys, at, endings := map[string]bool{}, order.Awaiting, 0
	for i, e := range events {
		if e.Version != int64(i+1) || keys[e.Key] || e.From != at {
			r.t.Errorf("order %s: version %d of %s from %s, after %s", id, e.Version, e.Key, e.From, at)
		}
		if e.To.Finished() && !e.From.Finished() {
			endings++
		}
		if e.From.Finished() && e.To != e.From {
			r.t.Errorf("order %s left %s for %s", id, e.From, e.To)
		}
		keys[e.Key], at = true, e.To
		names = append(names, e.Name)
	}
	if o.Version != int64(len(events)) || o.State != at || endings > 1 || (endings == 1) != o.State.Finished() {
		r.t.Errorf("order %s is %s at version %d, its log ends as %s at %d with %d endings", id, o.State, o.Version, at, len(events), endings)
	}
	return names
}

// checkFeed holds the feed to its promise and returns its length.
func (r *rig) checkFeed() int64 {
	r.t.Helper()
	head, err := r.DB.Head(r.t.Context())
	r.must(err)
	entries, err := r.DB.Since(r.t.Context(), 0, int(head)+10)
	r.must(err)
	for i, e := range entries {
		if e.Seq != int64(i+1) {
			r.t.Fatalf("feed entry %d at place %d", e.Seq, i+1)
		}
	}
	if int64(len(entries)) != head {
		r.t.Errorf("the feed has %d entries, its head is %d", len(entries), head)
	}
	r.must(r.DB.Audit(r.t.Context()))
	return head
}

// gatedStore is a store behind a hook that is asked before every call.
type gatedStore struct {
	in settle.Store
	h  func(call string)
}

func (g gatedStore) Create(ctx context.Context, c order.Change) error {
	g.h("Create")
	return g.in.Create(ctx, c)
}

func (g gatedStore) Order(ctx context.Context, id order.ID) (order.Order, error) {
	g.h("Order")
	return g.in.Order(ctx, id)
}

func (g gatedStore) Transfer(ctx context.Context, id send.ID) (send.Record, error) {
	g.h("Transfer")
	return g.in.Transfer(ctx, id)
}

func (g gatedStore) Move(ctx context.Context, id order.ID, decide settle.Decide) (order.Order, error) {
	g.h("Move")
	return g.in.Move(ctx, id, decide)
}

func (g gatedStore) TakeWork(ctx context.Context, now time.Time, lease time.Duration, n int) ([]settle.Work, error) {
	g.h("TakeWork")
	return g.in.TakeWork(ctx, now, lease, n)
}

func (g gatedStore) DoneWork(ctx context.Context, id string) error {
	g.h("DoneWork")
	return g.in.DoneWork(ctx, id)
}

func (g gatedStore) LaterWork(ctx context.Context, id string, at time.Time, why string) error {
	g.h("LaterWork")
	return g.in.LaterWork(ctx, id, at, why)
}

func (g gatedStore) DueOrders(ctx context.Context, now time.Time, lease time.Duration, n int) ([]order.ID, error) {
	g.h("DueOrders")
	return g.in.DueOrders(ctx, now, lease, n)
}

func (g gatedStore) Synced(ctx context.Context, id chain.ID) (time.Time, error) {
	g.h("Synced")
	return g.in.Synced(ctx, id)
}

func (g gatedStore) Wish(ctx context.Context, t send.Transfer, c send.Cap, now time.Time) error {
	g.h("Wish")
	return g.in.Wish(ctx, t, c, now)
}

func (g gatedStore) Halted(ctx context.Context, id chain.ID) (string, error) {
	g.h("Halted")
	return g.in.Halted(ctx, id)
}
