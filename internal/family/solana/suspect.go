package solana

import (
	"ferry/internal/chain"
	"ferry/internal/money"
)

// Reason is why something that names one of our addresses is not credited.
type Reason string

// The reasons.
const (
	Failed         Reason = "failed"          // the transaction failed, and moved nothing
	MovedNothing   Reason = "moved_nothing"   // it only names the address
	TookAway       Reason = "took_away"       // it took from the address
	BelowRent      Reason = "below_rent"      // so little that no account can have it
	WrappedSOL     Reason = "wrapped_sol"     // a token that stands for SOL, and is not SOL
	ForeignMint    Reason = "foreign_mint"    // a token that is not listed
	WrongProgram   Reason = "wrong_program"   // a listed mint under another token program
	RefusedMint    Reason = "refused_mint"    // a listed mint that can do what is not allowed to it
	OtherAccount   Reason = "other_account"   // not in the account that is derived from the address
	OwnerChanged   Reason = "owner_changed"   // the account belonged to somebody else before
	SeveralOrders  Reason = "several_orders"  // it came into our own account, and names more than one order
	NotSigned      Reason = "not_signed"      // it came into our own account, and not from whoever signed
	Disputed       Reason = "disputed"        // too few nodes show it
	UnknownVersion Reason = "unknown_version" // a transaction that cannot be read: the chain is not followed past it
)

// Suspect is something that looks like a payment and is not credited.
type Suspect struct {
	Reason Reason
	Tx     chain.TxID
	To     chain.Address
	Asset  chain.Asset
	Amount money.Amount
	Block  chain.Block
}

func (c *Chain) notice(all ...Suspect) {
	if c.cfg.Noticed == nil {
		return
	}
	for _, s := range all {
		c.cfg.Noticed(s)
	}
}
