package house

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/treasury"
)

// TestTheTreasuryTakesNoRunningStepForALoss: between a step's transaction and its end the
// wallet has less of one asset than the books. An audit that took that for a loss would
// halt the chain of every step whose venue waits for something.
func TestTheTreasuryTakesNoRunningStepForALoss(t *testing.T) {
	t.Parallel()
	tale, err := Tell(t.Context(), Options{Pools: true, Chains: []chain.ID{EVM}}, Cut{})
	if err != nil {
		t.Fatal(err)
	}
	defer tale.Close()
	err = tale.Run(func(t *Tale) {
		id := t.Create(Terms{Give: Token, Get: EVMUSD, In: 500_000_000, Pools: true})
		t.Pay(id, Token, 500_000_000)
		t.Mine(EVM, 5)
		t.daemon, err = t.Daemon(t.ctx, func(c Crossing) error {
			if c.Name == "Receipt" {
				return errors.New("no node answers")
			}
			return nil
		})
		t.fail(err)
		n := t.Net(EVM)
		auditor, err := treasury.NewAuditor(order.HotWallet, t.DB, treasury.Audited{ID: EVM, Assets: []chain.Asset{ETH, EVMUSD, Token}, View: truth{n}})
		t.fail(err)
		for range 14 { // the swap lands, becomes final, and nobody can say what it did
			n.Mine(1)
			t.Now = t.Now.Add(12 * time.Second)
			for range 4 {
				_ = t.daemon.Step(t.ctx, func() time.Time { return t.Now })
			}
			found, err := auditor.Audit(t.ctx)
			t.fail(err)
			t.Must(found[0].Missing() == "" && found[0].Surplus() == "", "%s %s", found[0].Missing(), found[0].Surplus())
		}
		o := t.Order(id)
		t.MustBe(id, order.Executing)
		t.Must(o.Calls[0].State == order.OutFinal, "the swap is %s", o.Calls[0].State)

		t.fail(t.DB.Fund(t.ctx, Token, money.FromUint64(3), t.Now)) // in the books, and nowhere else
		found, err := auditor.Audit(t.ctx)
		t.fail(err)
		t.Must(strings.HasPrefix(found[0].Missing(), "3 of "), "beside the step %q is missing", found[0].Missing())
	})
	if err != nil {
		t.Fatal(err)
	}
}
