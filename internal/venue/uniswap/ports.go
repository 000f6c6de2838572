package uniswap

import (
	"context"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Chain is the chain on which the pools are. An error means that nothing is known.
type Chain interface {
	Head(ctx context.Context) (chain.Head, error)
	// Next is the block at a height of the branch that ends at the head.
	Next(ctx context.Context, from uint64) (chain.Block, error)
	View(ctx context.Context, to chain.Address, data []byte) ([]byte, error)
	ViewAt(ctx context.Context, to chain.Address, data []byte, at chain.Block) ([]byte, error)
	Logs(ctx context.Context, q chain.LogQuery) ([]chain.Log, error)
	Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error)
	// Cost is what a payment would cost now, in the chain's own coin.
	Cost(ctx context.Context, c chain.Call) (money.Amount, error)
}
