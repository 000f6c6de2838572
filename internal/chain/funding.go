package chain

import "ferry/internal/money"

// Due is what a payment straight into our wallet must be, and of whom.
type Due struct {
	From   Address
	Asset  Asset
	Amount money.Amount
	For    Reference
}

// Request is a transaction that somebody else is asked to sign and send.
type Request struct {
	// Of EVM: the call.
	To    Address
	Data  []byte
	Value money.Amount
	Gas   uint64 // the most that it takes
	// Of Solana: the transaction with empty signatures, and the block height up to which
	// it can land.
	Serialized []byte
	ValidTo    uint64
}

// Funding is how somebody pays by transactions that were made for him: Before in their
// order, where any are needed, and then Pay.
type Funding struct {
	Before []Request
	Pay    Request
}
