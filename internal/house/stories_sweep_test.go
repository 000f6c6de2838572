package house

import (
	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
)

// home fails unless all that was ever deposited of an asset has been brought home.
func (t *Tale) home(a chain.Asset) {
	books, err := t.DB.Books(t.ctx)
	t.fail(err)
	left := books.Balances[ledger.Key{Account: ledger.Deposits(a.Chain), Asset: a}]
	t.Must(left.IsZero(), "%s of %s still lies on deposit addresses in the books", left, a)
	orders, err := t.DB.Orders(t.ctx, "", 100)
	t.fail(err)
	for _, o := range orders {
		if o.Quote.Give.Chain == a.Chain {
			t.MustHave(o.DepositTo, a, money.Amount{})
		}
	}
}

// sweeps are the transfers that brought deposits home, or were to.
func (t *Tale) sweeps() (all []send.Record) {
	records, err := t.DB.Transfers(t.ctx, "", 1000)
	t.fail(err)
	for _, r := range records {
		if sweeps(r) {
			all = append(all, r)
		}
	}
	return all
}

// sweepStories are told like the others, with deposits that are brought home.
var sweepStories = []story{
	{"deposits of several orders are brought home together", []chain.ID{EVM, SOL}, func(t *Tale) {
		for range 3 {
			id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 400_000_000})
			t.Pay(id, EVMUSD, 400_000_000)
		}
		t.Mine(EVM, 9)
		t.Mine(SOL, 6)
		t.Mine(EVM, 10)
		t.Quiet()
		t.home(EVMUSD)
		t.Must(len(t.sweeps()) == 1, "%d sweeps", len(t.sweeps()))
	}, true, false},
	{"a deposit is brought home and then refunded", []chain.ID{EVM, BTC}, func(t *Tale) {
		id := t.Create(Terms{Give: Coin, Get: EVMUSD, In: 10_000_000, Back: true})
		t.Pay(id, Coin, 4_000_000)
		t.Mine(BTC, 7)
		t.MustBe(id, order.Held)
		t.Mine(BTC, 7)
		t.home(Coin)
		t.MustSay(id, order.RefundAsked{Request: "r1"})
		t.Step()
		t.Mine(BTC, 8)
		t.MustBe(id, order.Refunded)
		t.Quiet()
		t.MustHave(t.Order(id).RefundTo, Coin, t.Order(id).Refund.Amount)
	}, true, false},
	{"a sweep whose time on the chain ran out is signed again", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: SOLUSD, Get: ETH, In: 2_000_000_000})
		t.Pay(id, SOLUSD, 2_000_000_000)
		t.Mine(SOL, 6)
		t.Net(SOL).EvictAll()
		t.Net(SOL).MineEmpty(80)
		t.Step()
		t.Mine(SOL, 6)
		t.Mine(EVM, 10)
		t.Quiet()
		t.home(SOLUSD)
	}, true, false},
	{"a sweep that a deep reorg takes back is offered until it is there again", []chain.ID{EVM, SOL}, func(t *Tale) {
		t.Net(EVM).SetFees(money.FromUint64(35))
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 2_000_000_000})
		t.Pay(id, EVMUSD, 2_000_000_000)
		t.Mine(EVM, 9)
		t.Mine(EVM, 10)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.home(EVMUSD)
		t.Net(EVM).SetFees(money.FromUint64(5))
		t.Reorg(EVM, 10, sim.ReorgOptions{DropAll: true, Empty: true})
		t.fail(t.DB.Resume(t.ctx, EVM))
		t.Quiet()
		t.home(EVMUSD)
	}, true, false},
	{"a deposit that was brought home and is taken back is a loss, and its sweep is undone", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 2_000_000_000})
		tx := t.Pay(id, EVMUSD, 2_000_000_000)
		t.Mine(EVM, 9)
		t.Mine(EVM, 10)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.home(EVMUSD)
		t.Reorg(EVM, 20, sim.ReorgOptions{Replaced: []chain.TxID{tx}})
		t.Must(t.Order(id).Deposits[0].Lost, "the loss is not booked")
		t.fail(t.DB.Resume(t.ctx, EVM))
		t.Quiet()
		t.home(EVMUSD)
		for _, r := range t.sweeps() {
			t.Must(r.Result.Fate != chain.Final, "%s brought home what is not there", r.Transfer.ID)
		}
	}, true, false},
}
