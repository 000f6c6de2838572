package uniswap

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// Sender is somebody with a funded key on a chain. Transactions run in the order in
// which they were sent.
type Sender interface {
	Address() common.Address
	// Send gives a transaction to the chain, and says which contract it makes; To is nil
	// for one that makes a contract. It does not wait for it.
	Send(ctx context.Context, tx Tx) (made common.Address, err error)
}

// Tx is a transaction to send.
type Tx struct {
	To    *common.Address
	Value *big.Int // nil is nothing
	Data  []byte
}
