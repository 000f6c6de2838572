package tail

import (
	"cmp"
	"time"
)

// body is what is shown of an event or a snapshot, whoever it was written for.
type body struct {
	Type       string    `json:"type"`
	Seq        *int64    `json:"seq"` // null where it is of no log
	Event      string    `json:"event"`
	OccurredAt time.Time `json:"occurredAt"`
	Integrator string    `json:"integratorId"`
	FeeTx      string    `json:"feePayoutTxHash"` // for operators
	Data       struct {
		OrderID string `json:"orderId"`
		From    string `json:"from"`
		To      string `json:"to"`
		Order   shown  `json:"order"`
	} `json:"data"`
}

type shown struct {
	OrderID   string    `json:"orderId"`
	Status    string    `json:"status"`
	UpdatedAt time.Time `json:"updatedAt"`
	From      side      `json:"from"`
	To        side      `json:"to"`
	Deposits  []struct {
		TxHash string `json:"txHash"`
	} `json:"deposits"`
	Payouts []struct {
		Kind   string `json:"kind"`
		TxHash string `json:"txHash"`
	} `json:"payouts"`
	FeeTx   string `json:"feePayoutTxHash"` // for integrators
	Failure struct {
		Code string `json:"code"`
	} `json:"failure"`
}

// side is an amount of an asset. An integrator's events have no decimal form of it.
type side struct {
	ChainID string `json:"chainId"`
	Symbol  string `json:"symbol"`
	Amount  string `json:"amount"`
	Decimal string `json:"amountDecimal"`
	USD     string `json:"amountUsd"`
}

// status is where the order stands after it.
func (b *body) status() string {
	return cmp.Or(b.Data.To, b.Data.Order.Status)
}

// order is which one it is about.
func (b *body) order() string {
	return cmp.Or(b.Data.OrderID, b.Data.Order.OrderID)
}

// tx is the transaction that an event tells of, if it tells of one.
func (b *body) tx() string {
	o := &b.Data.Order
	switch b.Event {
	case "order.deposit_seen", "order.deposit_confirmed":
		if n := len(o.Deposits); n > 0 {
			return o.Deposits[n-1].TxHash
		}
	case "order.payout_sent":
		return o.payout("delivery")
	case "order.refund_sent":
		return o.payout("refund")
	case "order.recovery_changed":
		return o.payout("recovery")
	case "order.fee_status_changed":
		return cmp.Or(o.FeeTx, b.FeeTx)
	}
	return ""
}

// payout is the transaction of the last payout of a kind.
func (o *shown) payout(kind string) (tx string) {
	for _, p := range o.Payouts {
		if p.Kind == kind && p.TxHash != "" {
			tx = p.TxHash
		}
	}
	return tx
}
