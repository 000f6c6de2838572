package solana

import (
	"context"

	"ferry/internal/chain"
)

// Signer holds the keys. It reads a transaction again from its bytes and judges it
// before it signs.
type Signer interface {
	// Sign gives the signed transaction's bytes.
	Sign(ctx context.Context, p chain.Paper) ([]byte, error)
	// Address is the address of a key.
	Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error)
}
