package bitcoin

import (
	"context"

	"ferry/internal/chain"
)

// Signer has our keys. The family never does.
type Signer interface {
	// Sign gives the signed transaction's bytes for a PSBT.
	Sign(ctx context.Context, p chain.Paper) ([]byte, error)
	// Address is the address of a key.
	Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error)
}
