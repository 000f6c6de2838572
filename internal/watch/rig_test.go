package watch_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/watch"
)

// payAsset is what all orders here are paid in. Nobody pays: the tests end where
// the payout is wished.
var payAsset = chain.Asset{Chain: "sim:pay"}

// openStore is a private store with money enough for every payout.
func openStore(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite::memory:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.Fund(t.Context(), payAsset, money.MustParse("1"+fmt.Sprintf("%060d", 0)), house.Start); err != nil {
		t.Fatal(err)
	}
	return db
}

// rig is a watcher over one simulated net and a real store, told to real orders.
type rig struct {
	t     *testing.T
	db    *store.DB
	net   *sim.Net
	cfg   watch.Config
	ports watch.Ports
	rates house.Rates
	watch *watch.Watcher
	now   time.Time

	orders []order.ID
	told   []string // every event that changed an order, oldest first
	// credited are the payments that were told final and not lost since.
	credited map[chain.DepositID]chain.Deposit
	refuse   func(order.Event) error // nil: every order can be told
}

// family is whose addresses a shape has.
func family(s sim.Shape) chain.Family {
	return map[sim.Shape]chain.Family{sim.Nonces: chain.EVM, sim.Coins: chain.Bitcoin, sim.Expiring: chain.Solana}[s]
}

// shapes are all kinds of nets.
var shapes = []sim.Shape{sim.Nonces, sim.Coins, sim.Expiring}

// newRig makes a net and a watcher that stands at its tip. What is worth up to a
// hundred dollars needs few confirmations, up to ten thousand more, and the rest
// the chain's own finality. A smallest unit of every asset is worth a cent.
func newRig(t *testing.T, db *store.DB, c sim.Config, few, more uint64) *rig {
	t.Helper()
	c.Family, c.Start = family(c.Shape), house.Start
	token := chain.Asset{Chain: c.ID, Ref: "usd"}
	if c.Shape != sim.Coins {
		c.Assets = []chain.Asset{token}
	}
	net, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	cent := money.FromUint64(10_000_000_000)
	r := &rig{
		t: t, db: db, net: net, now: house.Start, credited: map[chain.DepositID]chain.Deposit{},
		rates: house.Rates{c.ID.Native(): cent, token: cent, payAsset: cent},
		cfg: watch.Config{Chain: c.ID, Window: 256, Tiers: []watch.Tier{
			{UpTo: 100 * money.Dollar, Confirmations: few},
			{UpTo: 10_000 * money.Dollar, Confirmations: more},
			{Confirmations: more, Finalized: true},
		}},
	}
	r.ports = watch.Ports{Reader: net.Chain(), Mempool: net.Chain(), Store: db, Teller: r, Valuer: r.rates}
	net.MineFinal()
	r.restart()
	r.step()
	return r
}

// restart is a new watcher on the same store, as after a crash.
func (r *rig) restart() {
	r.t.Helper()
	c := sim.NewChain(r.net)
	r.ports.Reader, r.ports.Mempool = c, c
	w, err := watch.New(r.cfg, r.ports)
	if err != nil {
		r.t.Fatal(err)
	}
	r.watch = w
}

func (r *rig) step() {
	r.t.Helper()
	if err := r.tryStep(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) tryStep() error {
	r.now = r.now.Add(time.Second)
	return r.watch.Step(r.t.Context(), r.now)
}

// Tell is the teller: the order machine on the real store, as settle has it, and
// a record of what it was told.
func (r *rig) Tell(ctx context.Context, id order.ID, ev order.Event, now time.Time) (order.Order, error) {
	if r.refuse != nil {
		if err := r.refuse(ev); err != nil {
			return order.Order{}, err
		}
	}
	o, err := r.db.Move(ctx, id, func(o order.Order) (order.Change, error) { return o.Apply(ev, now) })
	if errors.Is(err, order.ErrKnown) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	r.told = append(r.told, ev.Key())
	switch e := ev.(type) {
	case order.DepositFinal:
		if _, twice := r.credited[e.Deposit.ID]; twice {
			r.t.Errorf("%s: %s is credited twice", r.net.Shape(), e.Deposit.ID)
		}
		r.checkDepth(e.Deposit)
		r.credited[e.Deposit.ID] = e.Deposit
	case order.DepositGone:
		delete(r.credited, e.Deposit.ID)
	}
	return o, nil
}

// tier is what a payment of that worth has to wait for.
func (r *rig) tier(d chain.Deposit) watch.Tier {
	worth, err := r.rates.USD(r.t.Context(), d.Asset, d.Amount)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, tier := range r.cfg.Tiers {
		if worth <= tier.UpTo {
			return tier
		}
	}
	return r.cfg.Tiers[len(r.cfg.Tiers)-1]
}

// checkDepth asks the net itself how deep a payment is that was told final.
func (r *rig) checkDepth(d chain.Deposit) {
	l, there := r.net.Landed(d.Tx)
	if !there || l.Block != d.Block {
		r.t.Errorf("%s: %s is told final in block %d and stands in %d (%t)", r.net.Shape(), d.ID, d.Block.Height, l.Block.Height, there)
		return
	}
	tier, tip, final := r.tier(d), r.net.Height(), r.net.Final().Height
	if deep := tip - l.Block.Height + 1; deep < tier.Confirmations || (tier.Finalized && final < l.Block.Height) {
		r.t.Errorf("%s: %s is told final with %d of %d confirmations, final is %d and it is at %d",
			r.net.Shape(), d.ID, deep, tier.Confirmations, final, l.Block.Height)
	}
}

// create makes an order and gives its address out.
func (r *rig) create() order.ID {
	r.t.Helper()
	id := order.ID(fmt.Sprintf("ord_%s_%d", r.net.ID(), len(r.orders)))
	h := house.House{Rates: r.rates}
	q, err := h.Terms("quo_1", r.net.ID().Native(), payAsset, money.FromUint64(100_000), r.now)
	if err != nil {
		r.t.Fatal(err)
	}
	c, err := order.New(order.Ask{
		ID: id, Quote: q, DepositTo: r.address(id), PayTo: chain.CanonicalAddress(chain.Other, "somebody"),
		FundingTime: 24 * time.Hour, Patience: house.Patience(),
	}, r.now)
	if err == nil {
		err = r.db.Create(r.t.Context(), c)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.orders = append(r.orders, id)
	return id
}

func (r *rig) address(id order.ID) chain.Address { return r.net.Codec().Deposit(id) }

func (r *rig) order(id order.ID) order.Order {
	r.t.Helper()
	o, err := r.db.Order(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}

// pay sends cents to an order in the chain's own coin.
func (r *rig) pay(id order.ID, cents uint64) chain.TxID {
	return r.net.Pay("payer-"+string(id), r.address(id), r.net.ID().Native(), money.FromUint64(cents))
}

func (r *rig) halted() string {
	r.t.Helper()
	why, err := r.db.Halted(r.t.Context(), r.net.ID())
	if err != nil {
		r.t.Fatal(err)
	}
	return why
}

// quiet steps until the watcher stands at the tip and has told everything.
func (r *rig) quiet() {
	r.t.Helper()
	for range 50 {
		r.step()
		track, err := r.db.Track(r.t.Context(), r.net.ID())
		if err != nil {
			r.t.Fatal(err)
		}
		untold, err := r.db.Untold(r.t.Context(), r.net.ID(), 1)
		if err != nil {
			r.t.Fatal(err)
		}
		if track.Cursor.Hash == r.net.Tip().Hash && len(untold) == 0 {
			return
		}
	}
	r.t.Fatalf("%s: the watcher does not come to rest", r.net.Shape())
}

// checkCredited compares what orders were credited with the chain itself.
func (r *rig) checkCredited() {
	r.t.Helper()
	for _, id := range r.orders {
		booked := map[chain.DepositID]order.Deposit{}
		for _, d := range r.order(id).Deposits {
			if d.State != order.DepositPending && d.State != order.DepositDrop && !d.Lost {
				booked[d.ID] = d
			}
		}
		for _, d := range r.net.Received(r.address(id)) {
			told, ok := r.credited[d.ID]
			if !ok || told.Amount != d.Amount || told.Asset != d.Asset {
				r.t.Errorf("%s: %s of %s %s is on the chain, told is %v", r.net.Shape(), d.ID, d.Amount, d.Asset, told)
			}
			if b, ok := booked[d.ID]; !ok || b.Amount != d.Amount || b.Asset != d.Asset {
				r.t.Errorf("%s: %s is on the chain and booked as %+v", r.net.Shape(), d.ID, b)
			}
			delete(booked, d.ID)
			delete(r.credited, d.ID)
		}
		for d := range booked {
			r.t.Errorf("%s: %s is booked and not on the chain", r.net.Shape(), d)
		}
	}
	for d := range r.credited {
		r.t.Errorf("%s: %s is told final and not on the chain", r.net.Shape(), d)
	}
}

// checkPending finds orders that wait for a payment which is not there.
func (r *rig) checkPending() {
	r.t.Helper()
	for _, id := range r.orders {
		for _, d := range r.order(id).Deposits {
			if d.State == order.DepositPending && !r.net.Waits(d.Tx) && !r.net.Canonical(d.Tx) {
				r.t.Errorf("%s: order %s waits for %s, which is gone", r.net.Shape(), id, d.ID)
			}
		}
	}
}
