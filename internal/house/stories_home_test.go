package house

import (
	"slices"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
)

// stories are told straight, on both databases, and cut at every crossing.
var stories = slices.Concat(plainStories, homeStories)

// homeStories are of orders that are paid straight into the wallet.
var homeStories = []story{
	{name: "an order that is paid into the wallet completes, and nothing is swept", chains: []chain.ID{EVM, SOL}, tell: func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 500_000_000, Home: true})
		before := t.Net(EVM).Balance(t.Net(EVM).Own(order.HotWallet), EVMUSD)
		t.Pay(id, EVMUSD, 500_000_000)
		t.Mine(EVM, 1)
		t.MustBe(id, order.Confirming)
		t.Mine(EVM, 4)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.Quiet()
		after, err := before.Add(money.FromUint64(500_000_000))
		t.fail(err)
		t.MustHave(t.Net(EVM).Own(order.HotWallet), EVMUSD, after)
		t.Must(t.takenBack(EVMUSD) == "0", "%s was taken back", t.takenBack(EVMUSD))
	}, sweep: true},
	{name: "a payment into the wallet that a reorg takes back is waited for again", chains: []chain.ID{EVM, SOL}, tell: func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 100_000_000, Home: true})
		tx := t.Pay(id, EVMUSD, 100_000_000)
		t.Mine(EVM, 1)
		t.MustBe(id, order.Confirming)
		t.Reorg(EVM, 1, sim.ReorgOptions{Drop: []chain.TxID{tx}})
		t.MustBe(id, order.Awaiting)
		t.Pay(id, EVMUSD, 100_000_000)
		t.Mine(EVM, 5)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}},
	{name: "too little in the wallet is held, and goes back when asked", chains: []chain.ID{EVM, SOL}, tell: func(t *Tale) {
		id := t.Create(Terms{Give: SOLUSD, Get: ETH, In: 100_000_000, Home: true, Back: true})
		t.Pay(id, SOLUSD, 40_000_000)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Held)
		t.MustSay(id, order.RefundAsked{Request: "r1"})
		t.Step()
		t.Mine(SOL, 8)
		t.MustBe(id, order.Refunded)
		t.Quiet()
		o := t.Order(id)
		t.MustHave(o.RefundTo, SOLUSD, o.Refund.Amount)
	}},
	{name: "a payment into the wallet that vanishes after it was paid out for is booked as lost", chains: []chain.ID{EVM, SOL}, tell: func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 100_000_000, Home: true})
		tx := t.Pay(id, EVMUSD, 100_000_000)
		t.Mine(EVM, 5)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.Reorg(EVM, 6, sim.ReorgOptions{Replaced: []chain.TxID{tx}})
		t.Must(t.Order(id).Deposits[0].Lost, "the loss is not booked")
		t.Must(t.takenBack(EVMUSD) == "-100000000", "%s was taken back", t.takenBack(EVMUSD))
		t.fail(t.DB.Resume(t.ctx, EVM))
		t.Quiet()
	}},
	{name: "a payment into the wallet that vanishes and comes back makes up for it", chains: []chain.ID{EVM, SOL}, tell: func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 100_000_000, Home: true})
		t.Pay(id, EVMUSD, 100_000_000)
		t.Mine(EVM, 5)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.Reorg(EVM, 6, sim.ReorgOptions{})
		t.fail(t.DB.Resume(t.ctx, EVM))
		t.Mine(EVM, 8)
		t.Quiet()
		t.Must(!t.Order(id).Deposits[0].Lost, "it is still lost")
		t.Must(t.takenBack(EVMUSD) == "0", "%s was taken back", t.takenBack(EVMUSD))
	}},
}

// takenBack is what a chain took back out of the wallet, by the books.
func (t *Tale) takenBack(a chain.Asset) string {
	books, err := t.DB.Books(t.ctx)
	t.fail(err)
	return books.Balances[ledger.Key{Account: ledger.TakenBack(a.Chain), Asset: a}].String()
}
