package wire

import (
	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/order"
)

func phaseOf(s order.State) string {
	switch s {
	case order.Awaiting, order.Confirming:
		return "funding"
	case order.Executing:
		return "executing"
	case order.Sending:
		return "delivering"
	case order.Held, order.Refunding:
		return "recovering"
	}
	return "done"
}

func fundingOf(o order.Order, v View) Funding {
	if o.Bridge != nil {
		return bridgeFunding(o, v)
	}
	q := o.Quote
	f := Funding{
		Mode: desk.FundingOf(o), Amount: Amount{q.In}, AmountDecimal: q.In.Decimal(v.Atlas.Asset(q.Give).Decimals),
		RequiredConfirmations: int(q.Shown.Confirmations), Approvals: []Transaction{},
	}
	if f.Mode == desk.DepositAddress {
		f.DepositAddress, f.URI = text(v.Show(q.Give.Chain, o.DepositTo)), v.URI(q.Give, o.DepositTo, q.In)
		return f
	}
	if v.Funding == nil || v.Right != access.Act {
		return f
	}
	for _, r := range v.Funding.Before {
		f.Approvals = append(f.Approvals, transactionOf(r, o, v))
	}
	pay := transactionOf(v.Funding.Pay, o, v)
	f.Transaction = &pay
	return f
}

func actualOf(o order.Order) (a Actual) {
	if !o.Received.IsZero() {
		a.DepositedAmount = &Amount{o.Received}
	}
	if b := o.Bridge; b != nil && b.Proof != "" {
		a.DepositedAmount = &Amount{b.Moved}
	}
	if b := o.Bridge; b != nil && o.State == order.Completed {
		a.ToAmount = &Amount{b.Brought}
	}
	if o.Payout.State == order.OutFinal {
		a.ToAmount = &Amount{o.Payout.Amount}
	}
	return a
}

func depositOf(d order.Deposit, o order.Order, depths map[chain.DepositID]uint64) OrderDeposit {
	w := OrderDeposit{
		TxHash: string(d.Tx), Token: desk.TokenName(d.Asset), Amount: Amount{d.Amount},
		RequiredConfirmations: int(o.Quote.Shown.Confirmations), SeenAt: Time{d.SeenAt}, State: string(d.State),
	}
	if d.State == order.DepositPending && depths != nil {
		n := int(depths[d.ID])
		w.Confirmations = &n
	}
	if d.Why != "" {
		w.Issue = text(string(d.Why))
	}
	return w
}

func payoutsOf(o order.Order, v View) []OrderPayout {
	all := []OrderPayout{}
	add := func(kind string, out order.Outflow, to chain.Address) {
		if out.State == order.OutNone {
			return
		}
		w := OrderPayout{Kind: kind, Amount: Amount{out.Amount}, Token: desk.TokenName(out.Asset), State: "pending"}
		if to == o.PayTo || v.Right == access.Act { // a refund address is the owner's to see
			w.ToAddress = v.Show(out.Asset.Chain, to)
		}
		switch out.State {
		case order.OutFinal:
			w.State = "confirmed"
		case order.OutDead:
			w.State = "failed"
		}
		if out.Tx != "" {
			w.TxHash = text(string(out.Tx))
		}
		all = append(all, w)
	}
	add("delivery", o.Payout, o.PayTo)
	if !o.RefundTo.IsZero() {
		add("refund", o.Refund, o.RefundTo)
		for _, d := range o.Deposits {
			add("recovery", d.Refund, o.RefundTo)
		}
	}
	return all
}

func recoveryOf(o order.Order) *Recovery {
	status := o.RecoveryStatus()
	if status == "" {
		return nil
	}
	r := &Recovery{Status: string(status), Deposits: []OrderDeposit{}}
	for _, d := range o.Deposits {
		if d.State.Recovering() {
			r.Deposits = append(r.Deposits, depositOf(d, o, nil))
		}
	}
	return r
}

// nextOf says what the order waits for, and of whom.
func nextOf(o order.Order) NextAction {
	n := NextAction{Kind: "wait", By: "service", Deadline: moment(o.Deadline), Options: []string{}}
	user := func(kind string, options ...string) NextAction {
		n.Kind, n.By, n.Options = kind, "user", append(n.Options, options...)
		return n
	}
	if s := o.RecoveryStatus(); s == order.AwaitingAddress {
		return user("provide_refund_address", "refund-address")
	} else if s == order.Detected && o.State.Finished() {
		return user("wait", "refund")
	}
	if o.Bridge != nil {
		return bridgeNext(o)
	}
	switch {
	case o.State == order.Awaiting:
		n.Deadline = moment(o.ExpiresAt)
		return user("deposit", "cancel")
	case o.State.Finished():
		n.Kind = "none"
	case o.State != order.Held:
	case o.Stop != "":
		n.By = "operator"
	case o.Requotable() && o.RefundTo.IsZero():
		return user("accept_requote", "requote", "refund-address")
	case o.Requotable():
		return user("accept_requote", "requote", "refund")
	case o.RefundTo.IsZero():
		return user("provide_refund_address", "refund-address")
	default:
		return user("wait", "refund")
	}
	return n
}

func holdingOf(o order.Order, a *desk.Atlas) Holding {
	if o.Bridge != nil {
		return bridgeHolding(o, a)
	}
	give, get := o.Quote.Give, o.Quote.Get
	h := Holding{Party: "service", ChainID: a.Of(give.Chain).Slug, Token: desk.TokenName(give), Amount: Amount{o.Quote.In}}
	got := func(party string, x chain.Asset, out order.Outflow) Holding {
		return Holding{Party: party, ChainID: a.Of(x.Chain).Slug, Token: desk.TokenName(x), Amount: Amount{out.Amount}}
	}
	switch o.State {
	case order.Awaiting, order.Expired:
		h.Party = "user"
	case order.Confirming:
		h.Party = "in_transit"
	case order.Completed:
		return got("recipient", get, o.Payout)
	case order.Refunded:
		return got("refund_address", o.Refund.Asset, o.Refund)
	default:
		if !o.InHand.Amount.IsZero() {
			h.ChainID, h.Token, h.Amount = a.Of(o.InHand.Asset.Chain).Slug, desk.TokenName(o.InHand.Asset), Amount{o.InHand.Amount}
		}
	}
	return h
}

// failures say each reason in words.
var failures = map[order.Reason]string{
	order.BelowMinimum:     "Less arrived than was quoted.",
	order.AboveMaximum:     "More arrived than the route takes.",
	order.WrongToken:       "Another asset arrived than was quoted.",
	order.DuplicateDeposit: "A second deposit arrived.",
	order.LateDeposit:      "The deposit arrived after the funding deadline.",
	order.DepositReorged:   "The chain took the deposit back.",
	order.TooManyDeposits:  "More deposits arrived than an order looks at.",
	order.NoLiquidity:      "There is not enough of the wanted asset now.",
	order.StepBroke:        "A step of the route failed.",
	order.PayoutRejected:   "The payout was rejected on its chain.",
	order.RefundRejected:   "The refund was rejected on its chain.",
	order.RefundBelow:      "What is left would cost more to send back than it is.",
	order.ScreeningHold:    "The order is being looked at.",
	order.DeadlineExceeded: "It took too long.",
	order.BridgeBroke:      "The bridge can not go on by itself; an operator looks at it.",
}

// failureCodes are the published codes of reasons that have another name inside.
var failureCodes = map[order.Reason]string{
	order.RefundRejected: "payout_rejected", order.LateDeposit: "deadline_exceeded", order.TooManyDeposits: "duplicate_deposit",
}

func failureOf(o order.Order) *Failure {
	why := o.Failure
	if why == "" && o.State == order.Held {
		if why = o.Hold.Why; o.Stop != "" {
			why = order.ScreeningHold // never the operator's own reason
		}
	}
	if why == "" {
		return nil
	}
	message, known := failures[why]
	if !known {
		return &Failure{Code: "unknown", Message: "Something went wrong; an operator looks at it."}
	}
	if code, other := failureCodes[why]; other {
		return &Failure{Code: code, Message: message}
	}
	return &Failure{Code: string(why), Message: message}
}
