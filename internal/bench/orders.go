package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ferry/internal/chain"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/settle"
	"ferry/internal/store"
)

// The measured route, with an integrator's fee: dollars of one chain for the coin
// of another.
var (
	give = house.EVMUSD
	get  = house.Coin
)

// fortune is what the treasury has, so that no order is short.
var fortune = money.MustParse("1000000000000000000000000")

func orderID(n int) order.ID { return order.ID(fmt.Sprintf("ord_%012d", n)) }

// ask is an order as users make them. Everything that must be its own has the
// order's id in it.
func ask(id order.ID, now time.Time) order.Ask {
	n := money.FromUint64
	name := func(f chain.Family, s string) chain.Address { return chain.CanonicalAddress(f, s+string(id)) }
	return order.Ask{
		ID: id, DepositTo: name(chain.EVM, "0xdeposit000000000000000"), PayTo: name(chain.Bitcoin, "bc1qpayout0000000000"),
		RefundTo: name(chain.EVM, "0xrefund0000000000000000"), FundingTime: 24 * time.Hour, Patience: house.Patience(),
		Quote: quote.Quote{
			ID: quote.ID("quo_" + id), Give: give, Get: get, In: n(1_000_000_000), Out: n(1_100_000), MinIn: n(1), MaxIn: n(100_000_000_000),
			Mode: quote.Float, Tolerance: quote.Tolerance{
				Under: money.Whole / 200, Over: money.Whole / 200,
				UnderAction: quote.Hold, OverAction: quote.ProcessAll, WrongAsset: quote.Hold,
			},
			Integrator: "int_bench", Fee: &quote.Fee{Percent: money.Whole / 200, PayTo: chain.CanonicalAddress(chain.EVM, "0xintegrator0000000000000000000000000000")},
			USD: 1000 * money.Dollar, ExpiresAt: now.Add(time.Minute),
		},
	}
}

// payment is what pays an order.
func payment(id order.ID) chain.Deposit {
	a := ask(id, time.Time{})
	tx := "0x5d1c7f2e9a8b4c6d3e0f1a2b" + string(id)
	return chain.Deposit{
		ID: chain.DepositID(string(give.Chain) + "/" + tx + "/0"), To: a.DepositTo, Asset: give, Amount: a.Quote.In, Tx: chain.TxID(tx),
		Block: chain.Block{Height: 21_000_000, Hash: "0xblock", Parent: "0xparent", Time: time.Unix(0, 0)},
	}
}

// seen is the fact that moves a fresh order.
func seen(id order.ID, now time.Time) order.Event {
	return order.DepositSeen{Deposit: payment(id), Sighting: 1, At: now}
}

// shop is the settler over a real store.
type shop struct {
	db      *store.DB
	settler *settle.Settler
}

// cheap is a chain on which everything costs one; the measured moves never ask.
type cheap struct{}

func (cheap) Cost(context.Context, chain.Call) (money.Amount, error) {
	return money.FromUint64(1), nil
}

// open opens a store and makes a settler over it.
func open(ctx context.Context, url string) (*shop, error) {
	db, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		return nil, err
	}
	s, err := settle.New(house.Settling(), settle.Ports{
		Store: db, Rates: house.Rates{}, Costs: map[chain.ID]settle.Coster{give.Chain: cheap{}, get.Chain: cheap{}},
		Listed: map[chain.Asset]bool{give: true, get: true},
	})
	return &shop{db: db, settler: s}, err
}

// stock funds the treasury and says that the watchers are at work.
func (s *shop) stock(ctx context.Context, now time.Time) error {
	for _, a := range []chain.Asset{give, get} {
		if err := s.db.Caught(ctx, a.Chain, 0, now); err != nil {
			return err
		}
		if err := s.db.Fund(ctx, a, fortune, now); err != nil {
			return err
		}
	}
	return nil
}

// create makes the orders from one number up to another, many at a time.
func (s *shop) create(ctx context.Context, from, to int, now time.Time) error {
	_, _, err := together(64, to-from, 0, func(i int) error {
		_, err := s.settler.Create(ctx, ask(orderID(from+i), now), now)
		return err
	})
	return err
}

// tell moves a fresh order.
func (s *shop) tell(ctx context.Context, id order.ID, now time.Time) error {
	o, err := s.settler.Tell(ctx, id, seen(id, now), now)
	if err == nil && (o.Version != 2 || o.State != order.Confirming) {
		err = fmt.Errorf("order %s is %s at version %d and was not moved", id, o.State, o.Version)
	}
	return err
}

// together calls f for the numbers below n from some goroutines at once, for no
// longer than limit if there is one, and says how many it did in what time.
func together(callers, n int, limit time.Duration, f func(i int) error) (done int, took time.Duration, err error) {
	var next, finished atomic.Int64
	var once sync.Once
	var failed atomic.Bool
	var wg sync.WaitGroup
	start := time.Now()
	for range callers {
		wg.Go(func() {
			for !failed.Load() && (limit == 0 || time.Since(start) < limit) {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if e := f(i); e != nil {
					once.Do(func() { err = e })
					failed.Store(true)
					return
				}
				finished.Add(1)
			}
		})
	}
	wg.Wait()
	return int(finished.Load()), time.Since(start), err
}
