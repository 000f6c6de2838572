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
	Deposit  string        `json:"deposit,omitempty"`
	Asset    *assetRow     `json:"asset,omitempty"`
	Amount   *money.Amount `json:"amount,omitempty"`
	Height   uint64        `json:"height,omitempty"`
	Sighting int           `json:"sighting,omitempty"`
	Short    bool          `json:"short,omitempty"`
	Index    *int          `json:"index,omitempty"`
	In       *money.Amount `json:"in,omitempty"`
	Out      *money.Amount `json:"out,omitempty"`
	Tx       string        `json:"tx,omitempty"`
	Cost     *money.Amount `json:"cost,omitempty"`
	Why      string        `json:"why,omitempty"`
	To       *addressRow   `json:"to,omitempty"`
	Request  string        `json:"request,omitempty"`
	Quote    *quoteRow     `json:"quote,omitempty"`
	Of       int64         `json:"of,omitempty"`
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
	case order.StepDone:
		r.Index, r.In, r.Out = &e.Index, &e.In, &e.Out
		r.landed(e.Landed, "")
	case order.StepFailed:
		r.Index = &e.Index
		r.landed(e.Landed, e.Why)
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
		r.Deposit = string(e.Deposit)
	case order.RefundAddressGiven:
		to := addressToRow(e.To)
		r.To = &to
	case order.RefundAsked:
		r.Request = e.Request
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
