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
