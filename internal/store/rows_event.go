package store

import (
	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

// eventRow is what an event said, for whoever reads an order's history. It is
// never turned back into an event: the order remembers what it needs.
type eventRow struct {
	V        int           `json:"v"`
	Deposit  string        `json:"deposit,omitzero"`
	Asset    *assetRow     `json:"asset,omitzero"`
	Amount   *money.Amount `json:"amount,omitzero"`
	Height   uint64        `json:"height,omitzero"`
	Sighting int           `json:"sighting,omitzero"`
	Short    bool          `json:"short,omitzero"`
	Index    *int          `json:"index,omitzero"`
	N        *int          `json:"n,omitzero"`
	On       string        `json:"on,omitzero"`
	In       *money.Amount `json:"in,omitzero"`
	Out      *money.Amount `json:"out,omitzero"`
	Tx       string        `json:"tx,omitzero"`
	Cost     *money.Amount `json:"cost,omitzero"`
	Why      string        `json:"why,omitzero"`
	To       *addressRow   `json:"to,omitzero"`
	Request  string        `json:"request,omitzero"`
	Quote    *quoteRow     `json:"quote,omitzero"`
	Of       int64         `json:"of,omitzero"`
	Hold     *int64        `json:"hold,omitzero"`
	Step     string        `json:"step,omitzero"`
	Proof    string        `json:"proof,omitzero"`
	Looked   *int64        `json:"looked,omitzero"`
}

func eventToRow(ev order.Event) eventRow {
	r := eventRow{V: docVersion}
	switch e := ev.(type) {
	case order.DepositSeen:
		r.payment(e.Deposit, e.Sighting)
	case order.DepositFinal:
		r.payment(e.Deposit, e.Sighting)
		r.Short = e.Short
	case order.DepositGone:
		r.payment(e.Deposit, e.Sighting)
		r.Short = e.Short
	case order.StepAsked:
		r.Index, r.N, r.On = &e.Index, &e.N, string(e.Call.Chain)
	case order.StepCalled:
		r.Index, r.N, r.On = &e.Index, &e.N, string(e.On)
		r.landed(e.Landed, e.Failed)
	case order.StepDone:
		r.Index, r.In, r.Out, r.Short = &e.Index, &e.In, &e.Out, e.Short
	case order.StepFailed:
		r.Index, r.Why = &e.Index, e.Why
	case order.PayoutFinal:
		r.landed(e.Landed, "")
	case order.PayoutFailed:
		r.landed(e.Landed, e.Why)
	case order.RefundPriced:
		r.Cost = &e.Cost
	case order.RefundBelowCost:
		r.Cost = &e.Cost
	case order.RefundFinal:
		r.landed(e.Landed, "")
	case order.RefundFailed:
		r.landed(e.Landed, e.Why)
	case order.FeeSkipped:
		r.Cost = &e.Cost
	case order.FeePaid:
		r.landed(e.Landed, "")
	case order.FeeFailed:
		r.landed(e.Landed, e.Why)
	default:
		r.rest(ev)
	}
	return r
}

// rest are the events of recovery, of the owner and of time.
func (r *eventRow) rest(ev order.Event) {
	switch e := ev.(type) {
	case order.RecoveryPriced:
		r.Deposit, r.Cost = string(e.Deposit), &e.Cost
	case order.RecoveryDust:
		r.Deposit, r.Cost = string(e.Deposit), &e.Cost
	case order.RecoveryFinal:
		r.Deposit = string(e.Deposit)
		r.landed(e.Landed, "")
	case order.RecoveryFailed:
		r.Deposit = string(e.Deposit)
		r.landed(e.Landed, e.Why)
	case order.RecoveryDue:
		r.Deposit, r.Of = string(e.Deposit), micro(e.Of)
	case order.CostCorrected:
		r.Tx, r.Cost = string(e.Tx), &e.Now
	case order.StepSubmitted:
		r.Step, r.Tx = e.Step, string(e.Tx)
	case order.BridgeSeen:
		r.Proof, r.Why = e.Proof, plain(e.Broken)
		r.Looked = &e.Version
	case order.RefundAddressGiven:
		to := addressToRow(e.To)
		r.To = &to
	case order.RefundAsked:
		r.Request = e.Request
	case order.RequoteOffered:
		r.Hold = &e.Hold
	case order.RequoteAccepted:
		q := quoteToRow(e.Quote)
		r.Quote = &q
	case order.DeadlinePassed:
		r.Of = micro(e.Of)
	case order.Stopped:
		r.Request, r.Why = e.Request, string(e.Why)
	case order.Lifted:
		r.Request, r.Short = e.Request, e.Short
	}
}

func (r *eventRow) payment(d chain.Deposit, sighting int) {
	asset := assetToRow(d.Asset)
	r.Deposit, r.Asset, r.Amount, r.Tx = string(d.ID), &asset, &d.Amount, string(d.Tx)
	r.Height, r.Sighting = d.Block.Height, sighting
}

func (r *eventRow) landed(l order.Landed, why string) {
	r.Tx, r.Cost, r.Why = string(l.Tx), &l.Cost, why
}
