package opbridge

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/contract"
)

// final is the receipt of a transaction that landed for good and went well.
func final(ctx context.Context, on Below, tx chain.TxID) (chain.Receipt, error) {
	r, err := on.Receipt(ctx, tx)
	switch {
	case err != nil:
		return chain.Receipt{}, err
	case r.Fate == chain.Reverted:
		return chain.Receipt{}, fmt.Errorf("%w: %s failed", ErrForeign, tx)
	case r.Fate != chain.Final:
		return chain.Receipt{}, fmt.Errorf("%w: %s is %s", ErrNotFinal, tx, r.Fate)
	}
	return r, nil
}

// said reports whether a log is an event of a contract, with so many topics.
func said(l chain.Log, by common.Address, e abi.Event, topics int) bool {
	return l.Address == contract.Address(by) && len(l.Topics) == topics && common.Hash(l.Topics[0]) == e.ID
}

// outcome is what became of a message where it arrived.
type outcome struct {
	relayed, failed bool
	amount          money.Amount // what the bridge paid out, if it was relayed
}

// delivered reads what became of a message from what was said in the transaction that
// brought it. The bridge speaks within the message, right before the messenger says that
// it is through; one transaction may bring several.
func delivered(logs []chain.Log, to route, message common.Hash, t Transfer) (outcome, error) {
	var out outcome
	var paid *money.Amount
	for _, l := range logs {
		through := said(l, to.messenger, messengerABI.Events["RelayedMessage"], 2)
		failed := said(l, to.messenger, messengerABI.Events["FailedRelayedMessage"], 2)
		switch {
		case (through || failed) && common.Hash(l.Topics[1]) != message:
			if through { // what was paid before was paid by that one
				paid = nil
			}
		case failed:
			out.failed = true
		case through && paid == nil:
			return outcome{}, fmt.Errorf("%w: message %s was relayed and nothing was paid", ErrForeign, message)
		case through:
			out.relayed, out.amount = true, *paid
		default:
			if n, ok := paidOut(l, to, t); ok {
				paid = &n
			}
		}
	}
	return out, nil
}

// paidOut reads what the bridge on a side says that it paid of a transfer.
func paidOut(l chain.Log, at route, t Transfer) (money.Amount, bool) {
	coin, token := bridgeABI.Events["ETHBridgeFinalized"], bridgeABI.Events["ERC20BridgeFinalized"]
	switch {
	case t.Token.IsZero() && said(l, at.bridge, coin, 3):
		v, err := coin.Inputs.NonIndexed().Unpack(l.Data)
		if err != nil || topic(l, 2) != t.To {
			return money.Amount{}, false
		}
		return toAmount(v[0].(*big.Int)), true
	case !t.Token.IsZero() && said(l, at.bridge, token, 4):
		local, remote := t.Token, t.Twin
		if at.up {
			local, remote = t.Twin, t.Token
		}
		v, err := token.Inputs.NonIndexed().Unpack(l.Data)
		if err != nil || topic(l, 1) != local || topic(l, 2) != remote || contract.Address(v[0].(common.Address)) != t.To {
			return money.Amount{}, false
		}
		return toAmount(v[1].(*big.Int)), true
	}
	return money.Amount{}, false
}

// topic is an address among the topics of a log.
func topic(l chain.Log, i int) chain.Address {
	return contract.Address(common.BytesToAddress(l.Topics[i][:]))
}
