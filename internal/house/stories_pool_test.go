package house

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// push moves the price of a chain's pool: somebody puts so much of an asset into it.
func (t *Tale) push(a chain.Asset, units uint64) {
	t.fail(t.Net(a.Chain).Faucet(t.Pools[a.Chain].At, a, money.FromUint64(units)))
	t.Net(a.Chain).Mine(1)
}

// crash makes a token of a pool worth a fifth of what it was.
func (t *Tale) crash(a chain.Asset) { t.push(a, 500_000_000_000_000) }

// swapped fails unless the order's step asked for so many transactions.
func (t *Tale) swapped(id order.ID, step, calls int) {
	t.Must(t.Order(id).Asked(step) == calls, "step %d of %s asked for %d transactions, not %d", step, id, t.Order(id).Asked(step), calls)
}

// poolStories are told of routes through pools.
var poolStories = []story{
	{name: "a token goes through a pool and is paid out on its own chain", chains: []chain.ID{EVM}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 500_000_000, Pools: true})
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Executing)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Sending)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		t.swapped(id, 0, 1)
		t.Quiet()
		o := t.Order(id)
		t.MustHave(o.PayTo, EVMUSD, o.Payout.Amount)
	}},
	{name: "a token goes through two pools and the inventory to another chain", chains: []chain.ID{EVM, Base}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: Far, In: 500_000_000, Pools: true})
		t.Must(len(t.Order(id).Quote.Steps) == 3, "it has %d steps", len(t.Order(id).Quote.Steps))
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Executing)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Executing)
		t.Must(t.Order(id).Step == 2, "it is at step %d", t.Order(id).Step)
		t.Mine(Base, 8)
		t.MustBe(id, order.Sending)
		t.Mine(Base, 8)
		t.MustBe(id, order.Completed)
		t.Quiet()
		o := t.Order(id)
		t.MustHave(o.PayTo, Far, o.Payout.Amount)
	}},
	{name: "a pool that is pushed before the second step undoes the crossing", chains: []chain.ID{EVM, Base}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: Far, In: 500_000_000, Back: true, Pools: true})
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.crash(BaseUSD)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunding)
		t.Must(!t.Order(id).Cross.Done, "the crossing stands")
		t.Step()
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunded)
		t.Quiet()
		o := t.Order(id)
		t.Must(o.Refund.Asset == EVMUSD, "it was refunded in %s", o.Refund.Asset)
		t.MustHave(o.RefundTo, EVMUSD, o.Refund.Amount)
	}},
	{name: "a pool that is pushed under a signed call makes it revert, and the crossing is undone", chains: []chain.ID{EVM, Base}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: Far, In: 500_000_000, Back: true, Pools: true})
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Executing)
		t.swapped(id, 2, 1)
		t.crash(BaseUSD)
		t.Mine(Base, 8)
		t.MustBe(id, order.Refunding)
		t.Step()
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunded)
		t.Quiet()
	}},
	{name: "a pool that is pushed before the first step gives the token back", chains: []chain.ID{EVM}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 500_000_000, Back: true, Pools: true})
		t.Pay(id, Token, 500_000_000)
		t.crash(Token)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Refunding)
		t.Step()
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunded)
		t.Quiet()
		o := t.Order(id)
		t.MustHave(o.RefundTo, Token, o.Refund.Amount)
	}},
	{name: "a payout that is rejected after a pool is refunded in what the pool gave", chains: []chain.ID{EVM}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 500_000_000, Back: true, Pools: true})
		t.Net(EVM).Reject(sim.Match{To: t.Order(id).PayTo})
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.Mine(EVM, 10)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunding)
		t.Step()
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunded)
		t.Quiet()
	}},
	{name: "an integrator is paid for a route through pools in what came in", chains: []chain.ID{EVM, Base}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: BaseUSD, In: 500_000_000, FeePercent: money.Whole / 50, Pools: true})
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Sending)
		t.Mine(Base, 8)
		t.MustBe(id, order.Completed)
		t.Mine(EVM, 10)
		t.Quiet()
		t.Must(t.Order(id).FeeStatus == order.FeePaidOut, "the fee is %s", t.Order(id).FeeStatus)
		t.MustHave(t.Net(EVM).User("integrator"), Token, money.FromUint64(10_000_000))
	}},
	{name: "an integrator's share of a step that failed goes back with the rest", chains: []chain.ID{EVM}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 500_000_000, Back: true, FeePercent: money.Whole / 50, Pools: true})
		t.Pay(id, Token, 500_000_000)
		t.crash(Token)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Refunding)
		t.Must(t.Order(id).InHand.Amount == money.FromUint64(500_000_000), "%s is in hand", t.Order(id).InHand.Amount)
		t.Step()
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunded)
		t.Quiet()
	}},
	{name: "a little too much and a little too little go through pools at their own size", chains: []chain.ID{EVM, Base}, pools: true, tell: func(t *Tale) {
		more := t.Create(Terms{Give: Token, Get: Far, In: 500_000_000, Pools: true})
		less := t.Create(Terms{Give: Token, Get: Far, In: 500_000_000, Pools: true})
		t.Pay(more, Token, 502_000_000)
		t.Pay(less, Token, 498_000_000)
		t.Mine(EVM, 5)
		t.Mine(EVM, 10)
		t.Mine(Base, 8)
		t.Mine(Base, 8)
		t.MustBe(more, order.Completed)
		t.MustBe(less, order.Completed)
		t.Must(t.Order(less).Payout.Amount.Less(t.Order(more).Payout.Amount), "more brought %s and less %s", t.Order(more).Payout.Amount, t.Order(less).Payout.Amount)
		t.Quiet()
	}},
	{name: "far too much waits for a new price and goes through pools by that", chains: []chain.ID{EVM}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 500_000_000, Pools: true, Change: func(q *quote.Quote) { q.Tolerance.OverAction = quote.Hold }})
		t.Pay(id, Token, 900_000_000)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Held)
		q, err := t.House.Terms("quo_again", Token, EVMUSD, money.FromUint64(900_000_000), t.Now)
		t.fail(err)
		t.fail(t.Through(t.ctx, &q, t.Now))
		t.MustSay(id, order.RequoteAccepted{Quote: q})
		t.MustBe(id, order.Executing)
		t.Step()
		t.Mine(EVM, 10)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}},
	{name: "a reorg below the swap does it anew at another price", chains: []chain.ID{EVM}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 500_000_000, Pools: true})
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.Mine(EVM, 2)
		t.MustBe(id, order.Executing)
		t.fail(t.Net(EVM).Faucet(t.Pools[EVM].At, Token, money.FromUint64(500_000_000_000)))
		t.Reorg(EVM, 2, sim.ReorgOptions{})
		t.Mine(EVM, 10)
		t.MustBe(id, order.Sending)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}},
	{name: "a deposit that is lost while its step runs is a loss in the books", chains: []chain.ID{EVM}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 100_000_000, Back: true, Pools: true})
		tx := t.Pay(id, Token, 100_000_000)
		t.Mine(EVM, 4)
		t.MustBe(id, order.Executing)
		t.Reorg(EVM, 4, sim.ReorgOptions{Replaced: []chain.TxID{tx}})
		t.Must(t.Order(id).Deposits[0].Lost, "the loss is not booked")
		t.fail(t.DB.Resume(t.ctx, EVM))
		t.Mine(EVM, 10)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}},
	{name: "a deposit comes home before its step can run, however small it is", chains: []chain.ID{EVM}, pools: true, sweep: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 5_000_000, Pools: true})
		t.Pay(id, Token, 5_000_000) // ten dollars, where a thousand must come together
		t.Mine(EVM, 5)
		t.MustBe(id, order.Executing)
		t.Must(len(t.sweeps()) == 0, "it was brought home before its chain called it final")
		t.Mine(EVM, 5)
		t.Must(len(t.sweeps()) == 1, "%d sweeps", len(t.sweeps()))
		t.Mine(EVM, 10)
		t.MustBe(id, order.Executing)
		t.home(Token)
		t.Mine(EVM, 5)
		t.swapped(id, 0, 1)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Sending)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}},
	{name: "a call that never lands is cancelled, and the venue asks for it again", chains: []chain.ID{EVM}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 500_000_000, Pools: true})
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.swapped(id, 0, 1)
		t.Net(EVM).SetFees(money.FromUint64(1_000))
		t.Wait(30*time.Minute, 1)
		t.Wait(20*time.Minute, 1)
		t.MustBe(id, order.Executing)
		t.Net(EVM).SetFees(money.FromUint64(5))
		t.Mine(EVM, 10)
		t.swapped(id, 0, 2)
		t.Must(t.Order(id).Calls[0].State == order.OutDead, "the first is %s", t.Order(id).Calls[0].State)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Sending)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}},
	{name: "an inventory that has too little when the first step is done gives back what that brought", chains: []chain.ID{EVM, Base}, pools: true, tell: func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: Far, In: 500_000_000, Back: true, Pools: true, Change: func(q *quote.Quote) {
			// The first step brings far more than was planned, and the inventory was
			// asked to keep hardly anything.
			q.Steps[0].Bring, q.Steps[1].Bring, q.Steps[1].Give = money.FromUint64(1), money.FromUint64(3_000_000), money.FromUint64(1)
		}})
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Executing)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunding)
		t.Must(t.Order(id).Failure == order.NoLiquidity, "it failed for %s", t.Order(id).Failure)
		t.Step()
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunded)
		t.Quiet()
		t.MustHave(t.Order(id).RefundTo, EVMUSD, t.Order(id).Refund.Amount)
	}},
}
