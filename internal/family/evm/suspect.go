package evm

import (
	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
)

// Reason is why something that looks like a payment is none.
type Reason string

// The reasons. The last five are about a node and not about a payment.
const (
	NotListed     Reason = "token_not_listed"    // another contract says that it paid
	Malformed     Reason = "transfer_malformed"  // a listed token said it in a form that means nothing
	NothingMoved  Reason = "amount_zero"         // a transfer of nothing
	Failed        Reason = "transaction_failed"  // it paid, and was undone
	OnlyNamed     Reason = "named_not_paid"      // it names the address and pays it nothing
	BalanceOff    Reason = "balance_differs"     // the token moved another amount than it said
	ForeignCode   Reason = "code_at_address"     // the address obeys code that is not ours
	NotSeenInside Reason = "paid_out_of_sight"   // more arrived than plain transactions say
	ForeignIntake Reason = "intake_not_ours"     // another contract says that it took a payment for an order
	PaidByUs      Reason = "paid_by_ourselves"   // a transaction of our own account passed it on to us
	NoTransaction Reason = "paid_by_protocol"    // a withdrawal of a validator, which no transaction made
	HeaderForged  Reason = "node_forged_header"  // its hash is another
	TxsForged     Reason = "node_forged_block"   // the transactions are not the header's
	ReceiptForged Reason = "node_forged_receipt" // the receipts are not the header's
	ProofForged   Reason = "node_forged_proof"   // the proof is not of the header's state
	TraceForged   Reason = "node_forged_trace"   // what nodes agree on is not what the state proves
)

// Suspect is something that was not credited, with its reason. What is not known of
// it is zero.
type Suspect struct {
	Block  chain.Block
	Tx     chain.TxID
	To     chain.Address
	Asset  chain.Asset
	Reason Reason
}

func (c *Chain) notice(s Suspect) {
	if c.cfg.Noticed != nil {
		c.cfg.Noticed(s)
	}
}

// suspect tells of something in a block.
func (b *block) suspect(tx common.Hash, to chain.Address, a chain.Asset, why Reason) Suspect {
	return Suspect{Block: b.Block, Tx: txID(tx), To: to, Asset: a, Reason: why}
}

func txID(h common.Hash) chain.TxID { return chain.TxID(h.Hex()) }
