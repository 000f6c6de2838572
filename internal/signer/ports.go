package signer

import (
	"context"

	"ferry/internal/chain"
	"ferry/internal/send"
)

// Wishes are the stored transfers with all their attempts. An error is a refusal:
// what cannot be looked up was not wished.
type Wishes interface {
	Transfer(ctx context.Context, id send.ID) (send.Record, error)
}

// Halts says why a chain is stopped; empty if it is not. An error counts as halted.
type Halts interface {
	Halted(ctx context.Context, id chain.ID) (string, error)
}
