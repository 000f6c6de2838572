package chain

import "ferry/internal/money"

// Word is what a topic of a log holds.
type Word [32]byte

// Log is what a contract said while a transaction ran.
type Log struct {
	Address Address
	Topics  []Word
	Data    []byte
	Tx      TxID
	Block   Block
	Index   uint64 // in its block
}

// LogQuery asks for what contracts said from one block to another, both included.
// No addresses are all of them; Topics are of the first place, any of them.
type LogQuery struct {
	From, To  uint64
	Addresses []Address
	Topics    []Word
}

// Receipt is what became of a transaction that anybody sent, and what it said. It is of
// use only as far as its Fate goes: what is Included may be orphaned yet.
type Receipt struct {
	Tx       TxID
	Fate     Fate // Missing, Pending, Included, Final or Reverted
	Block    Block
	From, To Address // To is zero where a contract was made
	Value    money.Amount
	Data     []byte
	Logs     []Log
}

// Contract is one that our account may call, and by which methods.
type Contract struct {
	Address Address
	Methods []Method
}

// Method is a method that may be called, and what of its arguments is held to. Places
// of arguments are written "1", or "0.3" for the fourth part of the first.
type Method struct {
	Signature string // "approve(address,uint256)"
	// Own are addresses that must be our own account or one of Also.
	Own  []string
	Also []Address
	// Only are addresses that must be one of a few. Here as in Own an argument of 32 bytes
	// is one where a contract keeps addresses of other chains as such.
	Only map[string][]Address
	// Few are numbers that must be one of a few.
	Few map[string][]uint64
	// Amount is what leaves us by it: over all calls that is what the wish says. Empty
	// is nothing.
	Amount string
	// Inner is a list of calls of the same contract, each held to the same list of
	// methods. Empty is none.
	Inner string
}
