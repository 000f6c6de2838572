package evm

import (
	"context"

	"ferry/internal/chain"
)

// Signer has the keys. A family never does.
type Signer interface {
	// Sign gives the bytes of a transaction that the network takes.
	Sign(ctx context.Context, p chain.Paper) ([]byte, error)
	// Address is that of a key.
	Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error)
}
