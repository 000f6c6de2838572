package prices

import (
	"context"
	"time"

	"ferry/internal/chain"
)

// Source says what it thinks whole units are worth. An error means that nothing is
// known; a symbol that it does not know is simply not there.
type Source interface {
	Name() string
	Kind() Kind
	Prices(ctx context.Context, now time.Time) (map[string]Quote, error)
}

// Kind is where a source has its word from. Sources of one kind may be wrong together.
type Kind string

// The kinds.
const (
	Exchange Kind = "exchange" // the book of an exchange
	Oracle   Kind = "oracle"   // a contract that others write prices into
	Pool     Kind = "pool"     // the mean of what a pool on a chain paid over a time
	Document Kind = "document" // a file or an answer that somebody makes for us
	Made     Kind = "made"     // written down: fixed, or played from a record
)

// Quote is one source's word on one symbol, as the source wrote it, and when that was so.
type Quote struct {
	Price string
	// In is the symbol of the token that the price is counted in; empty is dollars. What
	// such a token is worth is judged first, and by those who count in dollars alone.
	In string
	At time.Time
	// Why is the reason for which the source has no word on this symbol now; then there is
	// no price.
	Why string
}

// Contracts are the contracts of a chain, read at one block.
type Contracts interface {
	// Head is how far the chain is, as a quorum of nodes says.
	Head(ctx context.Context) (chain.Head, error)
	// ViewAt is what a contract answers in the state of a block.
	ViewAt(ctx context.Context, to chain.Address, data []byte, at chain.Block) ([]byte, error)
}
