package cctp

import (
	"context"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Chain reads one chain. View is agreed by a quorum at its tip; a Receipt is of use as
// far as its fate goes, and its logs are proven; Logs are agreed by a quorum.
type Chain interface {
	Head(ctx context.Context) (chain.Head, error)
	View(ctx context.Context, to chain.Address, data []byte) ([]byte, error)
	Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error)
	Logs(ctx context.Context, q chain.LogQuery) ([]chain.Log, error)
}

// Attester says what was attested of a transaction's messages, in their order in it:
// none of it is believed. Nothing is what it does not know yet.
type Attester interface {
	Messages(ctx context.Context, domain uint32, tx chain.TxID) ([]Attested, error)
}

// Attested is a message with the signatures of the attesters.
type Attested struct{ Message, Attestation []byte }

// Gas says what so much gas costs on a chain now, in an asset.
type Gas interface {
	Gas(ctx context.Context, on chain.ID, units uint64, in chain.Asset, at time.Time) (money.Amount, error)
}
