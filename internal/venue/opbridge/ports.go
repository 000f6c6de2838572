package opbridge

import (
	"context"

	"ferry/internal/chain"
)

// Below is the chain on which the rollup stands.
type Below interface {
	Head(ctx context.Context) (chain.Head, error)
	// ViewAt asks a contract in the state of a block that a quorum has.
	ViewAt(ctx context.Context, to chain.Address, data []byte, at chain.Block) ([]byte, error)
	// Receipt is what became of a transaction; Missing is that a quorum knows of none.
	Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error)
}

// Above is the rollup.
type Above interface {
	Below
	// Proof is what a contract had stored at a height, proven from the block's state.
	Proof(ctx context.Context, of chain.Address, slot chain.Word, height uint64) (chain.Proof, error)
}
