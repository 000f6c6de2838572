package bitcoin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/wire/v2"
)

// accept takes a transaction into the mempool by Core's rules: one that is there is
// no error, and every waiting one can be replaced, whether it says so or not.
func (n *Node) accept(tx *btcutil.Tx) error {
	if n.pool.IsTransactionInPool(tx.Hash()) {
		return nil
	}
	rivals := n.rivals(tx)
	stubborn := false
	for _, r := range rivals {
		stubborn = stubborn || !signals(r.Tx)
	}
	if !stubborn {
		_, err := n.pool.ProcessTransaction(tx, false, true, 0)
		return err
	}
	for _, r := range rivals {
		n.pool.RemoveTransaction(r.Tx, true)
	}
	taken, err := n.pool.ProcessTransaction(tx, false, true, 0)
	if err == nil {
		err = outbids(taken[0], rivals)
	}
	if err == nil {
		return nil
	}
	n.pool.RemoveTransaction(tx, true)
	for _, r := range rivals {
		_, _, _ = n.pool.MaybeAcceptTransaction(r.Tx, false, false)
	}
	return err
}

// rivals are the waiting transactions that spend a coin of another, with all that
// stands on them, the lowest first.
func (n *Node) rivals(tx *btcutil.Tx) []*mempool.TxDesc {
	descs := n.waiting()
	lost := map[chainhash.Hash]bool{}
	var out []*mempool.TxDesc
	add := func(d *mempool.TxDesc) bool {
		if lost[*d.Tx.Hash()] {
			return false
		}
		lost[*d.Tx.Hash()] = true
		out = append(out, d)
		return true
	}
	spends := map[wire.OutPoint]bool{}
	for _, in := range tx.MsgTx().TxIn {
		spends[in.PreviousOutPoint] = true
	}
	for again := true; again; {
		again = false
		for _, d := range descs {
			for _, in := range d.Tx.MsgTx().TxIn {
				if spends[in.PreviousOutPoint] || lost[in.PreviousOutPoint.Hash] {
					again = add(d) || again
				}
			}
		}
	}
	return out
}

func signals(tx *btcutil.Tx) bool {
	for _, in := range tx.MsgTx().TxIn {
		if in.Sequence <= mempool.MaxRBFSequence {
			return true
		}
	}
	return false
}

// outbids says whether a replacement pays for all it drives out and for itself.
func outbids(d *mempool.TxDesc, rivals []*mempool.TxDesc) error {
	size := mempool.GetTxVirtualSize(d.Tx)
	least := (size*relayRate + 999) / 1000
	for _, r := range rivals {
		least += r.Fee
		if d.FeePerKB <= r.FeePerKB {
			return rule(wire.RejectInsufficientFee, "replacement transaction has an insufficient fee rate")
		}
	}
	if d.Fee < least {
		return rule(wire.RejectInsufficientFee, "replacement transaction has an insufficient absolute fee")
	}
	return nil
}

func rule(code wire.RejectCode, text string) error {
	return mempool.RuleError{Err: mempool.TxRuleError{RejectCode: code, Description: text}}
}

// fail is an error as Core says it.
type fail struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *fail) Error() string { return fmt.Sprintf("%d: %s", f.Code, f.Message) }

func failf(code int, text string, args ...any) *fail { return &fail{code, fmt.Sprintf(text, args...)} }

// Core's codes.
const (
	codeMisc       = -1
	codeType       = -3
	codeNotFound   = -5
	codeParameter  = -8
	codeDecode     = -22
	codeVerify     = -25
	codeRejected   = -26
	codeKnown      = -27
	codeNoMethod   = -32601
	codeBadRequest = -32600
)

// refusal is why a transaction is not taken, in Core's words.
func refusal(err error) *fail {
	var r mempool.RuleError
	if !errors.As(err, &r) {
		return failf(codeVerify, "%v", err)
	}
	var c blockchain.RuleError
	if errors.As(r.Err, &c) {
		switch c.ErrorCode {
		case blockchain.ErrScriptMalformed, blockchain.ErrScriptValidation:
			return failf(codeRejected, "mempool-script-verify-flag-failed (%s)", c.Description)
		case blockchain.ErrImmatureSpend:
			return failf(codeRejected, "bad-txns-premature-spend-of-coinbase")
		case blockchain.ErrSpendTooHigh:
			return failf(codeRejected, "bad-txns-in-belowout")
		}
		return failf(codeRejected, "bad-txns (%s)", c.Description)
	}
	var t mempool.TxRuleError
	if !errors.As(r.Err, &t) {
		return failf(codeRejected, "%v", r.Err)
	}
	switch says := func(s string) bool { return strings.Contains(t.Description, s) }; {
	case says("orphan transaction"):
		return failf(codeVerify, "bad-txns-inputs-missingorspent")
	case says("already exists in blockchain"):
		return failf(codeKnown, "Transaction outputs already in utxo set")
	case says("replacement transaction"):
		return failf(codeRejected, "insufficient fee, rejecting replacement: %s", t.Description)
	case t.RejectCode == wire.RejectInsufficientFee:
		return failf(codeRejected, "min relay fee not met")
	case t.RejectCode == wire.RejectDust || says("dust"):
		return failf(codeRejected, "dust")
	case t.RejectCode == wire.RejectDuplicate:
		return failf(codeRejected, "txn-mempool-conflict")
	}
	return failf(codeRejected, "non-standard: %s", t.Description)
}
