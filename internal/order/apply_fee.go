package order

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
)

// priceFee asks what sending the integrator's fee would cost. A share that
// rounds to nothing is skipped at once.
func (t *turn) priceFee(s Sum) {
	if s.Amount.IsZero() {
		t.o.FeeStatus, t.o.FeeReason = FeeSkip, FeeBelowCost
		return
	}
	t.o.Fee = Outflow{Asset: s.Asset, Amount: s.Amount}
	t.do(Price{ID: t.o.feeName(), For: ForFee, Call: t.feeCall()})
}

func (t *turn) feeCall() chain.Call {
	f := t.o.Fee
	return chain.Call{Chain: f.Asset.Chain, From: HotWallet, To: t.o.Quote.Fee.PayTo, Asset: f.Asset, Amount: f.Amount}
}

// fee is the small machine of the integrator's fee: projected, then paid or skipped.
func (t *turn) fee(ev Event) error {
	if t.o.State != Completed || t.o.FeeStatus != FeeProjected {
		return t.out("no fee is due")
	}
	f := &t.o.Fee
	id := t.o.Quote.Integrator
	switch ev := ev.(type) {
	case FeePriced:
		if f.State != OutNone {
			return t.out("it is wished")
		}
		f.State = OutWished
		t.reserve(t.o.feeName(), Sum{f.Asset, f.Amount}, false)
		t.do(Wish{ID: t.o.feeName(), For: ForFee, Call: t.feeCall()})
	case FeeSkipped:
		if f.State != OutNone {
			return t.out("it is wished")
		}
		t.o.FeeStatus, t.o.FeeReason = FeeSkip, FeeBelowCost
		t.post(ledger.Fees(id), ledger.Revenue, f.Asset, f.Amount)
	case FeePaid:
		if f.State != OutWished {
			return t.out("it is not wished")
		}
		f.landed(OutFinal, ev.Landed)
		t.o.FeeStatus = FeePaidOut
		t.post(ledger.Fees(id), ledger.Hot(f.Asset.Chain), f.Asset, f.Amount)
		t.spent(f.Asset.Chain, ev.Landed.Cost)
		t.void(t.o.feeName())
	case FeeFailed: // still owed to the integrator; an operator finds out why
		if f.State != OutWished {
			return t.out("it is not wished")
		}
		f.landed(OutDead, ev.Landed)
		t.o.FeeReason = FeeRejected
		t.spent(f.Asset.Chain, ev.Landed.Cost)
		t.void(t.o.feeName())
		t.do(AskHuman{Why: FeeRejected})
	}
	return nil
}

// priceRecovery asks what sending a recovered deposit back would cost.
func (t *turn) priceRecovery(rec *Deposit) {
	rec.State, rec.Deadline = Returning, time.Time{}
	rec.Refund = Outflow{Asset: rec.Asset}
	t.do(Price{ID: t.o.recoveryName(rec.ID), For: ForRecovery, Deposit: rec.ID, Call: t.back(Sum{rec.Asset, rec.Amount})})
}

// recover is the small machine of one recovered deposit.
func (t *turn) recover(ev Event) error {
	switch ev := ev.(type) {
	case RecoveryDue:
		rec := t.o.deposit(ev.Deposit)
		if rec == nil || !rec.due(t.now) || !rec.Deadline.Equal(ev.Of) {
			return t.out("it is not due")
		}
		if rec.State == AwaitingAddress {
			rec.Deadline = time.Time{}
			t.do(AskHuman{Why: DeadlineExceeded})
			return nil
		}
		t.priceRecovery(rec)
	case RecoveryPriced:
		return t.recoveryPriced(ev)
	case RecoveryDust:
		rec := t.o.deposit(ev.Deposit)
		if rec == nil || rec.State != Returning || rec.Refund.State != OutNone {
			return t.out("it is not priced")
		}
		t.dust(rec)
	case RecoveryFinal:
		rec := t.o.deposit(ev.Deposit)
		if rec == nil || rec.State != Returning || rec.Refund.State != OutWished {
			return t.out("it is not wished")
		}
		rec.State = Returned
		rec.Refund.landed(OutFinal, ev.Landed)
		t.post(t.o.recovery(), ledger.Hot(rec.Asset.Chain), rec.Asset, rec.Refund.Amount)
		t.post(t.o.recovery(), ledger.Revenue, rec.Asset, rec.Amount.Less0(rec.Refund.Amount))
		t.spent(rec.Asset.Chain, ev.Landed.Cost)
		t.void(t.o.recoveryName(rec.ID))
	case RecoveryFailed:
		rec := t.o.deposit(ev.Deposit)
		if rec == nil || rec.State != Returning || rec.Refund.State != OutWished {
			return t.out("it is not wished")
		}
		rec.State = Manual
		rec.Refund.landed(OutDead, ev.Landed)
		t.spent(rec.Asset.Chain, ev.Landed.Cost)
		t.void(t.o.recoveryName(rec.ID))
		t.do(AskHuman{Why: RefundRejected})
	}
	return nil
}

// dust books a recovered deposit that is not worth sending back.
func (t *turn) dust(rec *Deposit) {
	rec.State = Dust
	t.post(t.o.recovery(), ledger.Unclaimed, rec.Asset, rec.Amount)
}

func (t *turn) recoveryPriced(ev RecoveryPriced) error {
	rec := t.o.deposit(ev.Deposit)
	if rec == nil || rec.State != Returning || rec.Refund.State != OutNone {
		return t.out("it is not priced")
	}
	net := rec.Amount.Less0(ev.Cost)
	if net.IsZero() {
		t.dust(rec)
		return nil
	}
	rec.Refund = Outflow{Asset: rec.Asset, Amount: net, State: OutWished}
	s := Sum{rec.Asset, net}
	t.reserve(t.o.recoveryName(rec.ID), s, false)
	t.do(Wish{ID: t.o.recoveryName(rec.ID), For: ForRecovery, Deposit: rec.ID, Call: t.back(s)})
	return nil
}
