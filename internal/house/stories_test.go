package house

import (
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/send"
)

// story is something that happens to orders, with the ending it must have.
type story struct {
	name   string
	chains []chain.ID
	tell   func(*Tale)
	sweep  bool // deposits are brought home
	pools  bool // there are pools, and a chain more
}

// raised is a story in which a payout waits: a daemon that was killed meanwhile
// comes back later and may offer the network more. Only that may differ.
var raised = map[string]bool{
	"a payout that the mempool forgets is offered again":        true,
	"a gap in the nonces is filled by the bytes that were kept": true,
}

const percent = money.Whole / 100

// stories are told straight, on both databases, and cut at every crossing.
var stories = []story{
	{"an order is paid and completes, and the integrator gets the fee", []chain.ID{EVM, BTC}, func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Coin, In: 500_000_000, FeePercent: percent})
		t.Pay(id, EVMUSD, 500_000_000)
		t.Mine(EVM, 1)
		t.MustBe(id, order.Confirming)
		t.Mine(EVM, 4)
		t.MustBe(id, order.Sending)
		t.Mine(BTC, 7)
		t.MustBe(id, order.Completed)
		t.Quiet()
		o := t.Order(id)
		t.Must(o.FeeStatus == order.FeePaidOut, "fee is %s", o.FeeStatus)
		t.MustHave(o.PayTo, Coin, o.Payout.Amount)
		t.MustHave(o.Quote.Fee.PayTo, EVMUSD, money.FromUint64(5_000_000))
	}, false, false},
	{"an order across chains of accounts completes, and a fee below its cost is skipped", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: SOLUSD, Get: ETH, In: 50_000_000, FeePercent: 1})
		t.Pay(id, SOLUSD, 50_000_000)
		t.Mine(SOL, 6)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		for range 4 { // a price that is too high is asked for again
			t.Wait(6*time.Minute, 2)
		}
		t.Quiet()
		t.Must(t.Order(id).FeeStatus == order.FeeSkip, "fee is %s", t.Order(id).FeeStatus)
	}, false, false},
	{"a deposit that a reorg takes back is waited for again", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: ETH, Get: Sol, In: 100_000_000})
		tx := t.Pay(id, ETH, 100_000_000)
		t.Mine(EVM, 1)
		t.MustBe(id, order.Confirming)
		t.Reorg(EVM, 1, sim.ReorgOptions{Drop: []chain.TxID{tx}})
		t.MustBe(id, order.Awaiting)
		t.Pay(id, ETH, 100_000_000)
		t.Mine(EVM, 5)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}, false, false},
	{"a deposit that is mined again in another block counts once", []chain.ID{BTC, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: Coin, Get: SOLUSD, In: 10_000_000})
		t.Pay(id, Coin, 10_000_000)
		t.Mine(BTC, 1)
		t.Reorg(BTC, 1, sim.ReorgOptions{})
		t.MustBe(id, order.Confirming)
		t.Mine(BTC, 6)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.Quiet()
		t.Must(len(t.Order(id).Deposits) == 1, "%d deposits", len(t.Order(id).Deposits))
	}, false, false},
	{"a payment replaced in the mempool is dropped, and the order expires", []chain.ID{BTC, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: Coin, Get: Sol, In: 100_000})
		tx := t.Pay(id, Coin, 100_000)
		t.Step()
		t.MustBe(id, order.Confirming)
		_, err := t.Net(BTC).Replace(tx)
		t.fail(err)
		t.Step()
		t.MustBe(id, order.Awaiting)
		t.Wait(40*time.Minute, 2)
		t.Wait(time.Minute, 1)
		t.MustBe(id, order.Expired)
		t.Quiet()
	}, false, false},
	{"too little is held, and goes back when asked", []chain.ID{EVM, BTC}, func(t *Tale) {
		id := t.Create(Terms{Give: Coin, Get: EVMUSD, In: 1_000_000, Back: true})
		t.Pay(id, Coin, 400_000)
		t.Mine(BTC, 6)
		t.MustBe(id, order.Held)
		t.MustSay(id, order.RefundAsked{Request: "r1"})
		t.Step()
		t.Mine(BTC, 8)
		t.MustBe(id, order.Refunded)
		t.Quiet()
		o := t.Order(id)
		t.MustHave(o.RefundTo, Coin, o.Refund.Amount)
		t.Must(o.Refund.Amount.Less(money.FromUint64(400_000)), "refund %s", o.Refund.Amount)
	}, false, false},
	{"too little is topped up", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 100_000_000})
		t.Pay(id, EVMUSD, 60_000_000)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Held)
		t.Pay(id, EVMUSD, 40_000_000)
		t.Mine(EVM, 5)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}, false, false},
	{"too little is bought at a new price", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 100_000_000})
		t.Pay(id, EVMUSD, 60_000_000)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Held)
		q, err := t.House.Terms("quo_new", EVMUSD, Sol, money.FromUint64(60_000_000), t.Now)
		t.fail(err)
		held := t.Order(id)
		for range 2 { // asked for twice, told once
			t.MustSay(id, order.RequoteOffered{Hold: held.Hold.Since})
		}
		offered := t.Order(id)
		t.Must(offered.Version == held.Version+1, "version %d after %d", offered.Version, held.Version)
		t.Must(offered.State == order.Held && offered.InHand == held.InHand && offered.Deadline.Equal(held.Deadline), "an offer moved the order: %+v", offered)
		t.MustSay(id, order.RequoteAccepted{Quote: q})
		t.Step()
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}, false, false},
	{"a second and a late deposit go into recovery and back", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: SOLUSD, Get: ETH, In: 100_000_000, Back: true})
		t.Pay(id, SOLUSD, 100_000_000)
		t.Mine(SOL, 6)
		t.Pay(id, SOLUSD, 70_000_000)
		t.Mine(SOL, 6)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		t.Wait(time.Hour, 2)
		t.Pay(id, SOLUSD, 30_000_000)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.MustSay(id, order.RefundAsked{Request: "r1"})
		t.Step()
		t.Mine(SOL, 6)
		t.Quiet()
		o := t.Order(id)
		t.Must(o.RecoveryStatus() == order.Returned, "recovery is %s", o.RecoveryStatus())
		t.Must(o.Deposits[2].Why == order.LateDeposit, "third deposit is %s", o.Deposits[2].Why)
	}, false, false},
	{"the wrong asset is held until the right one comes", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 100_000_000})
		t.Pay(id, ETH, 50_000_000)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Held)
		t.Pay(id, EVMUSD, 100_000_000)
		t.Mine(EVM, 5)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.MustSay(id, order.RefundAddressGiven{To: t.Net(EVM).User("back")})
		t.MustSay(id, order.RefundAsked{Request: "r1"})
		t.Step()
		t.Mine(EVM, 10)
		t.Quiet()
		t.Must(t.Order(id).RecoveryStatus() == order.Returned, "recovery is %s", t.Order(id).RecoveryStatus())
	}, false, false},
	{"a payout that its recipient rejects is refunded", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: Sol, Get: ETH, In: 1_000_000_000, Back: true})
		t.Net(EVM).Reject(sim.Match{To: t.Order(id).PayTo})
		t.Pay(id, Sol, 1_000_000_000)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Sending)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunding)
		t.Step()
		t.Mine(SOL, 6)
		t.MustBe(id, order.Refunded)
		t.Quiet()
	}, false, false},
	{"a payout without a refund address waits for one", []chain.ID{EVM, BTC}, func(t *Tale) {
		id := t.Create(Terms{Give: Coin, Get: ETH, In: 1_000_000})
		t.Net(EVM).Reject(sim.Match{To: t.Order(id).PayTo})
		t.Pay(id, Coin, 1_000_000)
		t.Mine(BTC, 6)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Held)
		t.Must(errors.Is(t.Say(id, order.RefundAsked{Request: "r0"}), order.ErrNoRefundAddress), "a refund without an address was taken")
		t.MustSay(id, order.RefundAddressGiven{To: t.Net(BTC).User("back")})
		t.MustBe(id, order.Refunding)
		t.Mine(BTC, 1)
		t.Mine(BTC, 7)
		t.MustBe(id, order.Refunded)
		t.Quiet()
	}, false, false},
	{"a payout that the mempool forgets is offered again", []chain.ID{EVM, BTC}, func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Coin, In: 500_000_000})
		t.Pay(id, EVMUSD, 500_000_000)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Sending)
		t.Net(BTC).EvictAll()
		t.Step()
		t.Mine(BTC, 1)
		t.Reorg(BTC, 1, sim.ReorgOptions{DropAll: true, Empty: true})
		t.Mine(BTC, 8)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}, false, false},
	{"a gap in the nonces is filled by the bytes that were kept", []chain.ID{EVM, SOL}, func(t *Tale) {
		first := t.Create(Terms{Give: SOLUSD, Get: ETH, In: 100_000_000})
		second := t.Create(Terms{Give: SOLUSD, Get: EVMUSD, In: 100_000_000})
		t.Pay(first, SOLUSD, 100_000_000)
		t.Pay(second, SOLUSD, 100_000_000)
		t.Mine(SOL, 6)
		t.MustBe(first, order.Sending)
		t.MustBe(second, order.Sending)
		t.Wait(40*time.Second, 0)
		jobs, err := t.DB.Live(t.ctx, EVM, order.HotWallet)
		t.fail(err)
		t.Must(len(jobs) == 2, "%d payouts are on their way", len(jobs))
		newest := func(j send.Job) chain.TxID { return j.Attempts[len(j.Attempts)-1].Tx }
		t.Must(t.Net(EVM).Evict(newest(jobs[0])), "the first payout is not in the mempool")
		t.Net(EVM).Mine(1)
		t.Must(!t.Net(EVM).Canonical(newest(jobs[1])), "the second landed before the first")
		t.Step()
		t.Mine(EVM, 10)
		t.MustBe(first, order.Completed)
		t.MustBe(second, order.Completed)
		t.Quiet()
	}, false, false},
	{"a payout stuck below the going price is bumped", []chain.ID{EVM, BTC}, func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Coin, In: 500_000_000})
		t.Pay(id, EVMUSD, 500_000_000)
		t.Mine(EVM, 5)
		t.Net(BTC).SetFees(money.FromUint64(9))
		t.Wait(4*time.Minute, 1)
		t.MustBe(id, order.Sending)
		t.Wait(6*time.Minute, 1)
		t.Wait(6*time.Minute, 1)
		t.Mine(BTC, 8)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}, false, false},
	{"a payout that never lands is cancelled and refunded", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: Sol, Get: EVMUSD, In: 1_000_000_000, Back: true})
		t.Pay(id, Sol, 1_000_000_000)
		t.Mine(SOL, 6)
		t.Net(EVM).SetFees(money.FromUint64(1_000))
		t.Wait(30*time.Minute, 1)
		t.Wait(20*time.Minute, 1)
		t.MustBe(id, order.Sending)
		t.Net(EVM).SetFees(money.FromUint64(5))
		t.Mine(EVM, 10)
		t.MustBe(id, order.Refunding)
		t.Step()
		t.Mine(SOL, 7)
		t.MustBe(id, order.Refunded)
		t.Quiet()
	}, false, false},
	{"a payout whose time on the chain ran out is signed again", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: ETH, Get: SOLUSD, In: 100_000_000})
		t.Pay(id, ETH, 100_000_000)
		t.Mine(EVM, 5)
		t.Net(SOL).EvictAll()
		t.Net(SOL).MineEmpty(80)
		t.Step()
		t.Mine(SOL, 8)
		t.MustBe(id, order.Completed)
		t.Quiet()
	}, false, false},
	{"a refund below its cost fails the order and stays in the books", []chain.ID{EVM, BTC}, func(t *Tale) {
		id := t.Create(Terms{Give: Coin, Get: EVMUSD, In: 1_000_000, Back: true, Change: func(q *quote.Quote) {
			q.Tolerance.UnderAction = quote.Refund
		}})
		t.Net(BTC).SetFees(money.FromUint64(60))
		t.Pay(id, Coin, 800)
		t.Mine(BTC, 6)
		t.MustBe(id, order.Refunding)
		for range 5 {
			t.Wait(6*time.Minute, 1)
		}
		t.MustBe(id, order.Failed)
		t.Quiet()
	}, false, false},
	{"an order past its deadline is not stuck in silence", []chain.ID{EVM, BTC}, func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Coin, In: 500_000_000})
		t.Net(BTC).Halt()
		t.Pay(id, EVMUSD, 500_000_000)
		t.Mine(EVM, 5)
		t.MustBe(id, order.Sending)
		t.Wait(40*time.Minute, 1)
		t.Wait(30*time.Minute, 1)
		t.Must(t.Order(id).Delayed, "the order is not delayed")
		t.Net(BTC).Resume()
		t.Mine(BTC, 1)
		t.Mine(BTC, 8)
		t.Must(t.Order(id).State == order.Completed || t.Order(id).State == order.Held, "order is %s", t.Order(id).State)
		t.Quiet()
	}, false, false},
	{"a reorg below what was paid out for halts the chain and books the loss", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: EVMUSD, Get: Sol, In: 100_000_000})
		tx := t.Pay(id, EVMUSD, 100_000_000)
		t.Mine(EVM, 5)
		t.Mine(SOL, 6)
		t.MustBe(id, order.Completed)
		t.Reorg(EVM, 6, sim.ReorgOptions{Replaced: []chain.TxID{tx}})
		t.MustBe(id, order.Completed)
		why, err := t.DB.Halted(t.ctx, EVM)
		t.fail(err)
		t.Must(why != "", "the chain is not halted")
		t.Must(t.Order(id).Deposits[0].Lost, "the loss is not booked")
		_, err = t.daemon.Settler.Create(t.ctx, order.Ask{ID: "ord_x", Quote: t.Order(id).Quote}, t.Now)
		t.Must(err != nil, "an order was made on a halted chain")
		t.fail(t.DB.Resume(t.ctx, EVM))
		t.Quiet()
	}, false, false},
	{"a payout that a deep reorg takes back is offered until it is there again", []chain.ID{EVM, SOL}, func(t *Tale) {
		id := t.Create(Terms{Give: Sol, Get: EVMUSD, In: 1_000_000_000})
		t.Pay(id, Sol, 1_000_000_000)
		t.Mine(SOL, 6)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		t.Reorg(EVM, 12, sim.ReorgOptions{DropAll: true, Empty: true})
		t.MustBe(id, order.Completed)
		t.fail(t.DB.Resume(t.ctx, EVM))
		t.Quiet()
		o := t.Order(id)
		t.MustHave(o.PayTo, EVMUSD, o.Payout.Amount)
	}, false, false},
	{"a payout that lands again at another price is booked with that", []chain.ID{EVM, SOL}, func(t *Tale) {
		t.Net(EVM).SetFees(money.FromUint64(35))
		id := t.Create(Terms{Give: Sol, Get: EVMUSD, In: 1_000_000_000})
		t.Pay(id, Sol, 1_000_000_000)
		t.Mine(SOL, 6)
		t.Mine(EVM, 10)
		t.MustBe(id, order.Completed)
		dear := t.Order(id).Payout.Cost
		t.Net(EVM).SetFees(money.FromUint64(5))
		t.Reorg(EVM, 12, sim.ReorgOptions{})
		t.fail(t.DB.Resume(t.ctx, EVM))
		t.Quiet()
		t.Must(t.Order(id).Payout.Cost.Less(dear), "it cost %s and costs %s now", dear, t.Order(id).Payout.Cost)
	}, false, false},
}
