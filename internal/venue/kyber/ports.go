package kyber

import (
	"context"

	"ferry/internal/chain"
)

// Chain reads the chain. View is agreed by a quorum at its tip; a Receipt is of use as
// far as its fate goes, and its logs are proven.
type Chain interface {
	View(ctx context.Context, to chain.Address, data []byte) ([]byte, error)
	Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error)
}
