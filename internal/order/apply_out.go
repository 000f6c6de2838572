package order

import (
	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// pay wishes the payout. Its amount is decided here and never again.
func (t *turn) pay() {
	if t.o.Payout.State != OutNone {
		t.err = t.out("its payout was wished before")
		return
	}
	amount, err := t.o.Quote.Toll.Rest(t.o.InHand.Amount)
	if len(t.o.Quote.Steps) == 0 || t.o.Quote.Mode == quote.Fixed {
		amount, err = t.o.Quote.PayoutFor(t.o.Received)
	}
	amount = must(t, amount, err)
	if len(t.o.Quote.Steps) > 0 {
		amount = money.Min(amount, t.o.InHand.Amount) // no more than the steps brought
	}
	if amount.IsZero() {
		t.uncross()
		t.refundOrHold(BelowMinimum, false)
		return
	}
	t.to(Sending)
	get := t.o.Quote.Get
	t.o.Payout = Outflow{Asset: get, Amount: amount, State: OutWished}
	t.void(t.o.payoutName())
	t.reserve(t.o.payoutName(), Sum{get, amount}, true)
	t.do(Wish{ID: t.o.payoutName(), For: ForPayout, Call: chain.Call{
		Chain: get.Chain, From: HotWallet, To: t.o.PayTo, Asset: get, Amount: amount,
	}})
}

func (t *turn) payoutFinal(ev PayoutFinal) error {
	if t.o.State != Sending {
		return t.out("")
	}
	t.o.Payout.landed(OutFinal, ev.Landed)
	give, get := t.o.Quote.Give, t.o.Quote.Get
	_, fee, err := t.o.Quote.Split(t.o.Received)
	fee = must(t, fee, err)
	if len(t.o.Quote.Steps) == 0 {
		t.post(t.o.owed(), ledger.Liquidity, give, t.o.Received.Less0(fee))
		t.post(ledger.Liquidity, ledger.Hot(get.Chain), get, t.o.Payout.Amount)
	} else {
		t.post(t.o.owed(), ledger.Hot(get.Chain), get, t.o.Payout.Amount)
		t.post(t.o.owed(), ledger.Revenue, get, t.o.InHand.Amount.Less0(t.o.Payout.Amount))
	}
	t.post(t.o.owed(), ledger.Fees(t.o.Quote.Integrator), give, fee)
	t.spent(get.Chain, ev.Landed.Cost)
	t.end(Completed)
	t.o.InHand = Sum{}
	if t.o.FeeStatus == FeeProjected {
		t.priceFee(Sum{give, fee})
	}
	return nil
}

func (t *turn) payoutFailed(ev PayoutFailed) error {
	if t.o.State != Sending {
		return t.out("")
	}
	t.o.Payout.landed(OutDead, ev.Landed)
	t.spent(t.o.Quote.Get.Chain, ev.Landed.Cost)
	t.void(t.o.payoutName())
	t.uncross()
	t.refundOrHold(PayoutRejected, true)
	return nil
}

// refundable reports whether what is in hand can be sent back by itself. What its chain
// took back since, while it was on its way, an operator looks at first.
func (t *turn) refundable() bool {
	return t.o.Bridge == nil && !t.o.unpaid() && !t.o.RefundTo.IsZero() && !t.o.InHand.Amount.IsZero() && t.o.InHand.Asset.Chain == t.o.Quote.Give.Chain
}

// refundOrHold refunds where the rule says so and an address is known, and holds otherwise.
func (t *turn) refundOrHold(why Reason, wantsRefund bool) {
	if wantsRefund && t.o.Stop == "" && t.refundable() {
		t.o.Failure = why
		t.refund()
		return
	}
	t.hold(why, wantsRefund)
}

// refund starts to send back what is in hand: first its cost is asked for.
func (t *turn) refund() {
	if t.o.Failure == "" {
		t.o.Failure = t.o.Hold.Why
	}
	t.to(Refunding)
	t.void(t.o.payoutName())
	t.o.Refund = Outflow{Asset: t.o.InHand.Asset}
	t.do(Price{ID: t.o.refundName(), For: ForRefund, Call: t.back(t.o.InHand)})
}

// back is the call that sends a sum to the refund address.
func (t *turn) back(s Sum) chain.Call {
	return chain.Call{Chain: s.Asset.Chain, From: HotWallet, To: t.o.RefundTo, Asset: s.Asset, Amount: s.Amount}
}

func (t *turn) refundAddress(ev RefundAddressGiven) error {
	if !t.o.RefundTo.IsZero() {
		return t.out("a refund address is set")
	}
	if ev.To.IsZero() {
		return ErrNoRefundAddress
	}
	t.o.RefundTo = ev.To
	for i := range t.o.Deposits {
		rec := &t.o.Deposits[i]
		if rec.State != AwaitingAddress {
			continue
		}
		if rec.State = Detected; rec.Deadline.IsZero() { // it has waited long enough
			t.priceRecovery(rec)
		}
	}
	t.refundNow()
	return nil
}

// refundNow refunds what is held and waited for nothing but leave to go back: by the rule
// that held it, or because its time is over.
func (t *turn) refundNow() {
	over := t.o.Hold.WantsRefund || t.o.Deadline.IsZero()
	if t.o.State == Held && over && t.o.Stop == "" && t.refundable() {
		t.refund()
	}
}

func (t *turn) refundAsked() error {
	asked := false
	if t.o.State == Held && t.o.Stop == "" && t.o.Bridge == nil {
		if t.o.RefundTo.IsZero() {
			return ErrNoRefundAddress
		}
		if !t.refundable() {
			return t.out("what is in hand is on another chain, or its deposit is lost")
		}
		t.refund()
		asked = true
	}
	for i := range t.o.Deposits {
		switch t.o.Deposits[i].State {
		case AwaitingAddress:
			return ErrNoRefundAddress
		case Detected:
			t.priceRecovery(&t.o.Deposits[i])
			asked = true
		}
	}
	if !asked {
		return t.out("there is nothing to refund")
	}
	return nil
}

func (t *turn) refundPriced(ev RefundPriced) error {
	if t.o.State != Refunding || t.o.Refund.State != OutNone {
		return t.out("")
	}
	net := t.o.InHand.Amount.Less0(ev.Cost)
	if net.IsZero() { // part of it vanished since it was priced
		t.fail(RefundBelow)
		return nil
	}
	t.o.Refund = Outflow{Asset: t.o.InHand.Asset, Amount: net, State: OutWished}
	s := Sum{t.o.InHand.Asset, net}
	t.reserve(t.o.refundName(), s, true)
	t.do(Wish{ID: t.o.refundName(), For: ForRefund, Call: t.back(s)})
	return nil
}

func (t *turn) refundBelowCost() error {
	if t.o.State != Refunding || t.o.Refund.State != OutNone {
		return t.out("")
	}
	t.fail(RefundBelow)
	return nil
}

// fail ends an order for which no automatic path is left. The books say where
// its money is.
func (t *turn) fail(why Reason) {
	t.post(t.o.owed(), ledger.Unclaimed, t.o.InHand.Asset, t.o.InHand.Amount)
	t.leftover()
	t.o.InHand = Sum{}
	t.o.Failure = why
	t.end(Failed)
	t.do(AskHuman{Why: why})
}

// leftover books what of the quoted asset no step took along.
func (t *turn) leftover() {
	if t.o.Step == 0 {
		return
	}
	_, fee, err := t.o.Quote.Split(t.o.Received)
	t.post(t.o.owed(), ledger.Unclaimed, t.o.Quote.Give, must(t, fee, err))
}

func (t *turn) refundFinal(ev RefundFinal) error {
	if t.o.State != Refunding || t.o.Refund.State != OutWished {
		return t.out("")
	}
	t.o.Refund.landed(OutFinal, ev.Landed)
	asset := t.o.InHand.Asset
	t.post(t.o.owed(), ledger.Hot(asset.Chain), asset, t.o.Refund.Amount)
	t.post(t.o.owed(), ledger.Revenue, asset, t.o.InHand.Amount.Less0(t.o.Refund.Amount))
	t.leftover()
	t.spent(asset.Chain, ev.Landed.Cost)
	t.void(t.o.refundName())
	t.o.InHand = Sum{}
	t.end(Refunded)
	return nil
}

func (t *turn) refundFailed(ev RefundFailed) error {
	if t.o.State != Refunding || t.o.Refund.State != OutWished {
		return t.out("")
	}
	t.o.Refund.landed(OutDead, ev.Landed)
	t.spent(t.o.InHand.Asset.Chain, ev.Landed.Cost)
	t.void(t.o.refundName())
	t.fail(RefundRejected)
	return nil
}

// offered notes that a new price can be had. It moves nothing: what was offered counts
// only once it is accepted.
func (t *turn) offered(ev RequoteOffered) error {
	switch {
	case !t.o.Requotable():
		return t.out("")
	case ev.Hold != t.o.Hold.Since:
		return t.out("the offer was made in another hold")
	}
	t.o.Hold.Offered = true
	return nil
}

// agreed is the fee that was agreed when the order was made, which a new quote may only
// leave out because it does not cover its own transfer any more.
func (t *turn) agreed(is *quote.Fee) *quote.Fee {
	was := t.o.Quote.Fee
	if was.Charged() == 0 || is == nil || !is.Skipped || is.Percent != was.Percent {
		return was
	}
	t.o.FeeStatus, t.o.FeeReason = FeeSkip, FeeBelowCost
	skipped := *was
	skipped.Skipped = true
	return &skipped
}

func (t *turn) requoted(ev RequoteAccepted) error {
	if !t.o.Requotable() {
		return t.out("")
	}
	q := ev.Quote
	if err := q.Check(); err != nil {
		return err
	}
	switch {
	case q.Give != t.o.Quote.Give || q.Get != t.o.Quote.Get || q.Integrator != t.o.Quote.Integrator:
		return t.out("the quote is for another pair or integrator")
	case q.In != t.o.InHand.Amount:
		return t.out("the quote is for another amount")
	case t.now.After(q.ExpiresAt):
		return t.out("the quote has expired")
	}
	if q.Fee = t.agreed(q.Fee); q.Fee.Charged() != ev.Quote.Fee.Charged() {
		return t.out("the quote is for another fee") // its price would not cover the one that was agreed
	}
	t.o.Quote = q
	t.advance()
	return nil
}
