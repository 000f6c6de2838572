package order

import (
	"fmt"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Outcome is the event that the end of a transfer is for its order: it landed, or
// it is proven that it never will.
func (id ID) Outcome(transfer string, landed bool, why string, l Landed) (Event, error) {
	rest, ok := strings.CutPrefix(transfer, string(id)+"/")
	if !ok {
		return nil, fmt.Errorf("transfer %s is not of order %s", transfer, id)
	}
	kind, deposit, _ := strings.Cut(rest, "/")
	switch p := Purpose(kind); {
	case p == ForStep:
		index, n, on, err := called(deposit)
		if err != nil {
			return nil, fmt.Errorf("transfer %s: %w", transfer, err)
		}
		if landed {
			why = ""
		} else if why == "" {
			why = "it did not land"
		}
		return StepCalled{Index: index, N: n, On: on, Landed: l, Failed: why}, nil
	case p == ForPayout && landed:
		return PayoutFinal{Landed: l}, nil
	case p == ForPayout:
		return PayoutFailed{Why: why, Landed: l}, nil
	case p == ForRefund && landed:
		return RefundFinal{Landed: l}, nil
	case p == ForRefund:
		return RefundFailed{Why: why, Landed: l}, nil
	case p == ForFee && landed:
		return FeePaid{Landed: l}, nil
	case p == ForFee:
		return FeeFailed{Why: why, Landed: l}, nil
	case p == ForRecovery && landed:
		return RecoveryFinal{Deposit: chain.DepositID(deposit), Landed: l}, nil
	case p == ForRecovery:
		return RecoveryFailed{Deposit: chain.DepositID(deposit), Why: why, Landed: l}, nil
	}
	return nil, fmt.Errorf("transfer %s has no known purpose", transfer)
}

// Priced is the event that a transfer's cost is for its order: worth sending, or not.
func (p Price) Priced(cost money.Amount, worth bool) (Event, error) {
	switch {
	case p.For == ForRefund && worth:
		return RefundPriced{Cost: cost}, nil
	case p.For == ForRefund:
		return RefundBelowCost{Cost: cost}, nil
	case p.For == ForFee && worth:
		return FeePriced{}, nil
	case p.For == ForFee:
		return FeeSkipped{Cost: cost}, nil
	case p.For == ForRecovery && worth:
		return RecoveryPriced{Deposit: p.Deposit, Cost: cost}, nil
	case p.For == ForRecovery:
		return RecoveryDust{Deposit: p.Deposit, Cost: cost}, nil
	}
	return nil, fmt.Errorf("price of %s: nobody asks for it", p.ID)
}
