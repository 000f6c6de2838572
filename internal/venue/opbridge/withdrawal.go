package opbridge

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Withdrawal is a transfer downwards that began for good.
type Withdrawal struct {
	Transfer
	Tx      chain.TxID  // above
	Block   chain.Block // in which it began
	Hash    chain.Word
	Message chain.Word

	wire wire
	// heavy: whoever finalizes it must give it more gas than it takes to pay it out, or
	// carry a longer message.
	heavy bool
}

// longest is how long the message of a withdrawal may be that is not heavy.
const longest = 1024

// wire is a withdrawal as the portal takes it.
type wire struct {
	Nonce          *big.Int
	Sender, Target common.Address
	Value          *big.Int
	GasLimit       *big.Int
	Data           []byte
}

// Withdrawals are what a transaction above brings downwards through this bridge.
func (b *Bridge) Withdrawals(ctx context.Context, tx chain.TxID) ([]Withdrawal, error) {
	r, err := final(ctx, b.above, tx)
	if err != nil {
		return nil, fmt.Errorf("withdrawal %s: %w", tx, err)
	}
	var out []Withdrawal
	for _, l := range r.Logs {
		if w, ok := b.withdrawal(l); ok {
			w.Tx, w.Block = r.Tx, r.Block
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("withdrawal %s: %w", tx, ErrForeign)
	}
	return out, nil
}

// withdrawal reads what the contract said that passes messages downwards; false where it
// is none of the bridge's.
func (b *Bridge) withdrawal(l chain.Log) (Withdrawal, bool) {
	e := passerABI.Events["MessagePassed"]
	if !said(l, passerAbove, e, 4) {
		return Withdrawal{}, false
	}
	v, err := e.Inputs.NonIndexed().Unpack(l.Data)
	if err != nil {
		return Withdrawal{}, false
	}
	w := wire{
		Nonce: common.Hash(l.Topics[1]).Big(), Sender: common.BytesToAddress(l.Topics[2][:]), Target: common.BytesToAddress(l.Topics[3][:]),
		Value: v[0].(*big.Int), GasLimit: v[1].(*big.Int), Data: v[2].([]byte),
	}
	hash, err := w.hash()
	if err != nil || hash != v[3].([32]byte) || w.Sender != messengerAbove || w.Target != b.messenger {
		return Withdrawal{}, false
	}
	r, ok := readRelay(w.Data)
	if !ok || r.Sender != bridgeAbove || r.Target != b.bridge || r.Value.Cmp(w.Value) != 0 {
		return Withdrawal{}, false
	}
	t, ok := carried(r, false)
	most := new(big.Int).SetUint64(uint64(max(b.cfg.Gas, enough)))
	return Withdrawal{
		Transfer: t, Hash: chain.Word(hash), Message: chain.Word(messageHash(w.Data)), wire: w,
		heavy: r.MinGas.Cmp(most) > 0 || len(r.Message) > longest,
	}, ok
}

// hash is the name of a withdrawal on both chains.
func (w wire) hash() (common.Hash, error) {
	args := portalABI.Methods["proveWithdrawalTransaction"].Inputs[:1]
	text, err := args.Pack(w)
	if err != nil {
		return common.Hash{}, err
	}
	// The fields stand behind the word that says where they begin.
	return crypto.Keccak256Hash(text[32:]), nil
}

// slot is where a withdrawal is remembered above.
func (w Withdrawal) slot() chain.Word {
	return chain.Word(crypto.Keccak256Hash(w.Hash[:], make([]byte, 32)))
}

// Payment is what a transaction that finalized a withdrawal did.
type Payment struct {
	OK     bool         // the bridge below paid it out
	Amount money.Amount // what it paid, if it did
}

// Paid reads from the transaction that finalized a withdrawal what was paid out.
func (b *Bridge) Paid(ctx context.Context, w Withdrawal, tx chain.TxID) (Payment, error) {
	r, err := final(ctx, b.below, tx)
	if err != nil {
		return Payment{}, fmt.Errorf("finalizing of %x: %w", w.Hash, err)
	}
	e := portalABI.Events["WithdrawalFinalized"]
	found, ok := false, false
	for _, l := range r.Logs {
		if !said(l, b.portal, e, 2) || l.Topics[1] != w.Hash {
			continue
		}
		v, err := e.Inputs.NonIndexed().Unpack(l.Data)
		if err != nil {
			return Payment{}, fmt.Errorf("%w: finalizing of %x", ErrAnswer, w.Hash)
		}
		found, ok = true, v[0].(bool)
	}
	if !found {
		return Payment{}, fmt.Errorf("finalizing of %x by %s: %w", w.Hash, tx, ErrForeign)
	}
	o, err := delivered(r.Logs, b.route(false), common.Hash(w.Message), w.Transfer)
	if err != nil {
		return Payment{}, fmt.Errorf("finalizing of %x: %w", w.Hash, err)
	}
	return Payment{OK: ok && o.relayed, Amount: o.amount}, nil
}
