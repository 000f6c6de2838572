package order

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/quote"
)

// wanted reports whether a payment is one the order waits for: first seen before
// the funding deadline. The asset is judged when it is final.
func (o Order) wanted(seen time.Time) bool { return !seen.After(o.ExpiresAt) }

// wantedPending reports whether a payment the order waits for is in sight.
func (t *turn) wantedPending() bool {
	for _, d := range t.o.Deposits {
		if d.State == DepositPending && t.o.wanted(d.SeenAt) {
			return true
		}
	}
	return false
}

// rightPending is wantedPending for the quoted asset only.
func (t *turn) rightPending() bool {
	for _, d := range t.o.Deposits {
		if d.State == DepositPending && d.Asset == t.o.Quote.Give && t.o.wanted(d.SeenAt) {
			return true
		}
	}
	return false
}

// remember finds or makes the record of a payment. It is nil when the order
// remembers too many already.
func (t *turn) remember(d chain.Deposit, sighting int, seen time.Time) *Deposit {
	if rec := t.o.deposit(d.ID); rec != nil {
		rec.Sighting, rec.Tx = sighting, d.Tx
		if !rec.State.final() { // the same name may come back with another amount
			rec.Asset, rec.Amount = d.Asset, d.Amount
		}
		return rec
	}
	if len(t.o.Deposits) >= MaxDeposits {
		return nil
	}
	t.o.Deposits = append(t.o.Deposits, Deposit{
		ID: d.ID, Asset: d.Asset, Amount: d.Amount, Tx: d.Tx, Sighting: sighting, SeenAt: seen, State: DepositPending,
	})
	return &t.o.Deposits[len(t.o.Deposits)-1]
}

// here reports whether a payment is booked and was not lost since: then it can
// neither appear nor become final again before it is told lost.
func (t *turn) here(id chain.DepositID) bool {
	rec := t.o.deposit(id)
	return rec != nil && rec.State.final() && !rec.Lost
}

func (t *turn) depositSeen(ev DepositSeen) error {
	if t.here(ev.Deposit.ID) {
		return t.out("it is here already")
	}
	if rec := t.o.deposit(ev.Deposit.ID); rec != nil && rec.Lost {
		return nil // in sight again: only its finality undoes the loss
	}
	rec := t.remember(ev.Deposit, ev.Sighting, ev.At)
	if rec == nil {
		return t.out("the order remembers too many deposits")
	}
	rec.State = DepositPending
	if t.o.Bridge != nil {
		t.bridgeSighted()
		return nil
	}
	if t.o.State == Awaiting && t.o.wanted(rec.SeenAt) {
		t.to(Confirming)
	}
	return nil
}

// depositGone takes back what the order knew of a payment. An order that never
// heard of it remembers that it is gone: a worker that slept may still come and
// say that it was seen or final.
func (t *turn) depositGone(ev DepositGone) error {
	rec := t.o.deposit(ev.Deposit.ID)
	switch {
	case rec == nil && len(t.o.Deposits) < MaxDeposits:
		t.remember(ev.Deposit, ev.Sighting, ev.SeenAt).State = DepositDrop
		return nil
	case rec == nil && ev.WasFinal: // one of those booked as unclaimed
		t.post(ledger.ReorgLoss, t.takenFrom(nil, ev.Deposit.Asset.Chain), ev.Deposit.Asset, ev.Deposit.Amount)
		t.do(AskHuman{Why: DepositReorged})
		return nil
	case rec == nil:
		return t.out("the order remembers too many deposits")
	}
	rec.Sighting = ev.Sighting
	switch {
	case t.here(rec.ID):
		return t.lose(rec, ev.Short)
	case rec.State == DepositPending:
		return t.drop(rec, ev.Short)
	}
	return nil
}

// drop forgets a payment that was only in sight.
func (t *turn) drop(rec *Deposit, short bool) error {
	rec.State = DepositDrop
	switch {
	case t.o.Bridge != nil:
		t.bridgeSighted()
	case t.o.State != Confirming:
	case !t.o.InHand.Amount.IsZero():
		return t.judge(short)
	default:
		t.backToWaiting()
	}
	return nil
}

// backToWaiting is where an order with nothing in hand goes when a payment
// vanished: on waiting for another in sight, back to the start, or to its end if
// that is over.
func (t *turn) backToWaiting() {
	switch {
	case t.o.Payout.State != OutNone: // its one payout was tried and is dead
		t.o.Failure = DepositReorged
		t.end(Failed)
	case t.wantedPending():
		if t.o.State != Confirming {
			t.to(Confirming)
		}
	case t.now.After(t.o.ExpiresAt):
		t.end(Expired)
	default:
		t.to(Awaiting)
	}
}

func (t *turn) depositFinal(ev DepositFinal) error {
	if t.here(ev.Deposit.ID) {
		return t.out("it is here already")
	}
	rec := t.remember(ev.Deposit, ev.Sighting, ev.SeenAt)
	if rec == nil {
		t.post(t.lies(nil, ev.Deposit.Asset.Chain), ledger.Unclaimed, ev.Deposit.Asset, ev.Deposit.Amount)
		t.do(AskHuman{Why: TooManyDeposits})
		return nil
	}
	if rec.Lost { // it came back: the loss is undone
		rec.Lost = false
		t.post(t.lies(rec, rec.Asset.Chain), ledger.ReorgLoss, rec.Asset, rec.Amount)
		return nil
	}
	if t.o.Bridge != nil {
		t.bridgePaid(rec)
		t.bridgeSighted()
		return nil
	}
	right := rec.Asset == t.o.Quote.Give
	switch {
	case !t.o.wanted(rec.SeenAt):
		t.recoverDeposit(rec, LateDeposit)
	case t.o.State == Awaiting || t.o.State == Confirming:
		if !right {
			return t.wrongAsset(rec)
		}
		t.count(rec)
		return t.judge(ev.Short)
	case t.o.State == Held && right && t.o.Hold.Why.toppable() && t.o.Step == 0:
		t.dropWrongAsset()
		t.count(rec)
		return t.judge(ev.Short)
	case !right:
		t.recoverDeposit(rec, WrongToken)
	case t.o.State == Expired: // cancelled, or gone from its chain when the time was over
		t.recoverDeposit(rec, LateDeposit)
	default:
		t.recoverDeposit(rec, DuplicateDeposit)
	}
	return nil
}

// lies is the account of where a payment is: on the order's address, or in the wallet
// itself where the order is paid by reference. rec is nil of one that is not remembered.
func (t *turn) lies(rec *Deposit, id chain.ID) ledger.Account {
	switch _, home := t.o.DepositTo.Reference(); {
	case !home:
		return ledger.Deposits(id)
	case rec != nil && rec.TakenBack:
		return ledger.TakenBack(id)
	}
	return ledger.Hot(id)
}

// takenFrom is the account of what a chain takes back.
func (t *turn) takenFrom(rec *Deposit, id chain.ID) ledger.Account {
	if _, home := t.o.DepositTo.Reference(); !home {
		return ledger.Deposits(id)
	}
	if rec != nil {
		rec.TakenBack = true
	}
	return ledger.TakenBack(id)
}

// count takes a payment in the quoted asset as the order's own.
func (t *turn) count(rec *Deposit) {
	rec.State = DepositCounted
	t.post(t.lies(rec, rec.Asset.Chain), t.o.owed(), rec.Asset, rec.Amount)
	total, err := t.o.Received.Add(rec.Amount)
	t.o.Received = must(t, total, err)
	t.o.InHand = Sum{Asset: rec.Asset, Amount: t.o.Received}
}

// wrongAsset holds or refunds an order that was paid in another asset, unless
// the right one is in sight or here.
func (t *turn) wrongAsset(rec *Deposit) error {
	if t.rightPending() || !t.o.InHand.Amount.IsZero() {
		t.recoverDeposit(rec, WrongToken)
		return nil
	}
	rec.State = DepositCounted
	t.post(t.lies(rec, rec.Asset.Chain), t.o.owed(), rec.Asset, rec.Amount)
	t.o.InHand = Sum{Asset: rec.Asset, Amount: rec.Amount}
	t.refundOrHold(WrongToken, t.o.Quote.Tolerance.WrongAsset == quote.Refund)
	return nil
}

// dropWrongAsset moves a counted payment in the wrong asset to recovery, because
// the right one has come after all.
func (t *turn) dropWrongAsset() {
	if t.o.InHand.Asset == t.o.Quote.Give || t.o.InHand.Amount.IsZero() {
		return
	}
	for i := range t.o.Deposits {
		rec := &t.o.Deposits[i]
		if rec.State == DepositCounted && rec.Asset == t.o.InHand.Asset {
			t.post(t.o.owed(), t.o.recovery(), rec.Asset, rec.Amount)
			t.enterRecovery(rec, WrongToken)
		}
	}
	t.o.InHand = Sum{}
}

// judge decides where an order goes with what is in hand.
func (t *turn) judge(short bool) error {
	tol := t.o.Quote.Tolerance
	if t.o.Payout.State != OutNone { // it was tried and is dead, and is never tried again
		t.refundOrHold(PayoutRejected, true)
		return nil
	}
	if t.o.InHand.Asset != t.o.Quote.Give {
		t.refundOrHold(WrongToken, tol.WrongAsset == quote.Refund)
		return nil
	}
	v, err := t.o.Quote.Judge(t.o.InHand.Amount)
	v = must(t, v, err)
	switch {
	case v == quote.Under && t.rightPending():
		if t.o.State != Confirming {
			t.reserveAgain()
			t.to(Confirming)
		}
	case t.o.Stop != "":
		t.hold(t.o.Stop, false)
	case v == quote.Under:
		t.refundOrHold(BelowMinimum, tol.UnderAction == quote.Refund)
	case v == quote.AboveMax || v == quote.Over && tol.OverAction != quote.ProcessAll:
		t.refundOrHold(AboveMaximum, tol.OverAction == quote.Refund)
	case short:
		t.hold(NoLiquidity, false)
	default:
		t.advance()
	}
	return nil
}

// recoverDeposit books a payment that the order does not want.
func (t *turn) recoverDeposit(rec *Deposit, why Reason) {
	t.post(t.lies(rec, rec.Asset.Chain), t.o.recovery(), rec.Asset, rec.Amount)
	t.enterRecovery(rec, why)
}

func (t *turn) enterRecovery(rec *Deposit, why Reason) {
	rec.Why, rec.State = why, AwaitingAddress
	if !t.o.RefundTo.IsZero() {
		rec.State = Detected
	}
	rec.Deadline = t.now.Add(t.o.Patience.Recovery)
	t.do(AskHuman{Why: why})
}

// lose undoes a payment that was believed final. Where its money has not gone on,
// it is as if it had never come; where it has, the loss is booked.
func (t *turn) lose(rec *Deposit, short bool) error {
	t.do(AskHuman{Why: DepositReorged})
	deposits := t.takenFrom(rec, rec.Asset.Chain)
	switch {
	case t.o.Bridge != nil && t.bridgeLost(rec):
	case rec.State == DepositCounted && t.unspent():
		t.post(t.o.owed(), deposits, rec.Asset, rec.Amount)
		rec.State = DepositDrop
		return t.uncount(rec, short)
	case rec.State == Detected || rec.State == AwaitingAddress || rec.State == Returning && rec.Refund.State == OutNone:
		t.post(t.o.recovery(), deposits, rec.Asset, rec.Amount)
		rec.State, rec.Deadline = DepositDrop, time.Time{}
	default:
		rec.Lost = true
		t.post(ledger.ReorgLoss, deposits, rec.Asset, rec.Amount)
		if rec.State == DepositCounted && t.o.State == Refunding && t.o.Refund.State == OutNone {
			t.hold(DepositReorged, true) // nothing went back yet: somebody looks first
		}
	}
	return nil
}

// unspent reports whether the money in hand has gone nowhere yet and nothing is
// wished that could send it.
func (t *turn) unspent() bool {
	if t.o.Bridge != nil {
		return false
	}
	switch t.o.State {
	case Confirming, Held:
		return t.o.Step == 0
	case Refunding:
		return t.o.Step == 0 && t.o.Refund.State == OutNone
	}
	return false
}

// uncount takes a vanished payment out of what is in hand.
func (t *turn) uncount(rec *Deposit, short bool) error {
	if rec.Asset == t.o.Quote.Give {
		left, err := t.o.Received.Sub(rec.Amount)
		t.o.Received = must(t, left, err)
	}
	left, err := t.o.InHand.Amount.Sub(rec.Amount)
	t.o.InHand.Amount = must(t, left, err)
	if t.o.InHand.Amount.IsZero() {
		t.o.InHand = Sum{}
		t.reserveAgain()
		t.backToWaiting()
		return nil
	}
	return t.judge(short)
}

// reserveAgain keeps the payout for an order that waits for its deposit once
// more. It asks for what may be gone: then the next deposit finds the books short.
func (t *turn) reserveAgain() {
	if t.o.State == Held || t.o.State == Refunding {
		t.reserveInventory(false)
	}
}

// reserveInventory keeps what the order may ask of our own inventory.
func (t *turn) reserveInventory(must bool) {
	asset, most, err := t.o.Quote.Reserve()
	if err != nil {
		t.err = err
	}
	if !most.IsZero() {
		t.reserve(t.o.payoutName(), Sum{asset, most}, must)
	}
}
