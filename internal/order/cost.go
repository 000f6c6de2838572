package order

import (
	"strings"

	"ferry/internal/chain"
	"ferry/internal/ledger"
)

// landed notes how an outflow ended.
func (f *Outflow) landed(s OutState, l Landed) { f.State, f.Tx, f.Cost = s, l.Tx, l.Cost }

// outflow finds what a transfer's name stands for.
func (o *Order) outflow(transfer string) *Outflow {
	switch transfer {
	case o.payoutName():
		return &o.Payout
	case o.refundName():
		return &o.Refund
	case o.feeName():
		return &o.Fee
	}
	if id, ok := strings.CutPrefix(transfer, o.recoveryName("")); ok {
		if rec := o.deposit(chain.DepositID(id)); rec != nil {
			return &rec.Refund
		}
	}
	return o.call(transfer)
}

// costCorrected books the difference between what a chain took for a transfer when
// it first landed and what it took when it landed again.
func (t *turn) costCorrected(ev CostCorrected) error {
	out := t.o.outflow(ev.Transfer)
	if out == nil || out.Tx == "" || out.Tx != ev.Tx || out.Cost != ev.Was {
		return t.out("that is not what it cost")
	}
	id := out.Asset.Chain
	t.spent(id, ev.Now.Less0(ev.Was))
	t.post(ledger.Hot(id), ledger.NetworkFee, id.Native(), ev.Was.Less0(ev.Now))
	out.Cost = ev.Now
	return nil
}
