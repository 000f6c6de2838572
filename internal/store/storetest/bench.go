package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/store"
	"ferry/internal/watch"
)

// The pair that the suite exchanges.
const (
	give chain.ID = "sim:give"
	get  chain.ID = "sim:get"
)

var (
	giveAsset = chain.Asset{Chain: give, Ref: "usdc"}
	getAsset  = get.Native()
	start     = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

// bench is a database with a wallet that can pay.
type bench struct {
	*testing.T
	db    *store.DB
	count atomic.Int64
}

func newBench(t *testing.T, db *store.DB) *bench {
	b := &bench{T: t, db: db}
	for _, a := range []chain.Asset{getAsset, giveAsset, give.Native()} {
		ok(t, db.Fund(t.Context(), a, amount(1_000_000_000), start))
	}
	t.Cleanup(b.audit)
	return b
}

// audit holds the balances to the books, and what is counted to the orders, whenever a
// test is over.
func (b *bench) audit() {
	err := b.db.Audit(context.Background()) // the test's own is over
	if err != nil && !b.isClosed(err) {
		b.Error(err)
	}
	found, err := b.db.Recount(context.Background())
	if err != nil && !b.isClosed(err) {
		b.Error(err)
	}
	for _, d := range found.Drift {
		b.Errorf("drift: %s", d)
	}
}

func amount(n uint64) money.Amount { return money.FromUint64(n) }

// ask is an order over 1000 give for 2000 get.
func (b *bench) ask() order.Ask {
	n := b.count.Add(1)
	return order.Ask{
		ID:      order.ID(fmt.Sprintf("ord_%06d", n)),
		Session: sha256.Sum256(fmt.Appendf(nil, "session %d", n)),
		Quote: quote.Quote{
			ID: quote.ID(fmt.Sprintf("q_%d", n)), Give: giveAsset, Get: getAsset, In: amount(1000), Out: amount(2000),
			MinIn: amount(1), MaxIn: amount(5000), Mode: quote.Float,
			Tolerance:  quote.Tolerance{UnderAction: quote.Hold, OverAction: quote.Hold, WrongAsset: quote.Refund},
			Integrator: "acme", Fee: &quote.Fee{Percent: 10_000, PayTo: addr("acme")}, USD: 1000 * money.Dollar,
			ExpiresAt: start.Add(time.Minute),
		},
		DepositTo: addr(fmt.Sprintf("in-%d", n)), PayTo: addr(fmt.Sprintf("out-%d", n)), RefundTo: addr(fmt.Sprintf("back-%d", n)),
		FundingTime: time.Hour,
		Patience:    order.Patience{Confirming: time.Hour, Executing: time.Hour, Sending: time.Hour, Held: time.Hour, Refunding: time.Hour, Recovery: time.Hour},
	}
}

func addr(s string) chain.Address { return chain.CanonicalAddress(chain.Other, s) }

// create makes an order and stores it.
func (b *bench) create(asks ...order.Ask) order.Order {
	b.Helper()
	a := b.ask()
	if len(asks) > 0 {
		a = asks[0]
	}
	c := must[order.Change](b.T)(order.New(a, start))
	ok(b.T, b.db.Create(b.Context(), c))
	return must[order.Order](b.T)(b.db.Order(b.Context(), a.ID))
}

// tell moves an order by an event.
func (b *bench) tell(id order.ID, ev order.Event, at time.Time) (order.Order, error) {
	return b.db.Move(b.Context(), id, func(o order.Order) (order.Change, error) { return o.Apply(ev, at) })
}

func (b *bench) told(id order.ID, ev order.Event, at time.Time) order.Order {
	b.Helper()
	o, err := b.tell(id, ev, at)
	if err != nil {
		b.Fatalf("%s: %v", ev.Name(), err)
	}
	return o
}

// deposit is a payment of n to an order's address.
func deposit(o order.Order, name string, n uint64) chain.Deposit {
	return chain.Deposit{ID: chain.DepositID(string(o.ID) + ":" + name), To: o.DepositTo, Asset: giveAsset, Amount: amount(n), Tx: chain.TxID("tx-" + name)}
}

// block is the block of a height on a branch.
func block(height uint64, branch string) chain.Block {
	parent := ""
	if height > 0 {
		parent = fmt.Sprintf("%s-%d", branch, height-1)
	}
	return chain.Block{Height: height, Hash: fmt.Sprintf("%s-%d", branch, height), Parent: parent, Time: start.Add(time.Duration(height) * time.Second)}
}

// advance moves the cursor of the give chain by one block.
func (b *bench) advance(after, to chain.Block, ds ...chain.Deposit) {
	b.Helper()
	ok(b.T, b.db.Advance(b.Context(), give, watch.Advance{After: after, Block: to, Deposits: ds, Now: start}))
}

func (b *bench) balance(a ledger.Account, asset chain.Asset) ledger.Balance {
	b.Helper()
	return must[map[ledger.Key]ledger.Balance](b.T)(b.db.Balances(b.Context()))[ledger.Key{Account: a, Asset: asset}]
}

var acme = integrator.ID("acme")
