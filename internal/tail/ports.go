package tail

import "context"

// Source is where events come from.
type Source interface {
	// Hear tells what there is after a place and what follows, on one connection, until
	// that ends. A Refusal ends everything; after anything else it is asked again. What
	// tell returns is returned.
	Hear(ctx context.Context, from From, tell func(Item) error) error
}

// From is where to begin: after a number, before the last few, or, where both are
// missing, now.
type From struct {
	After *int64
	Last  int64
}

// Kind is what an item is.
type Kind uint8

// The kinds of items.
const (
	Event    Kind = iota // something happened
	Snapshot             // how an order is
	Mark                 // everything up to the number was told
)

// Item is what a source tells.
type Item struct {
	Kind Kind
	Seq  int64
	Text []byte // as it came; nil for a mark
	// Finished says that the one order that is followed is at its end, and that nothing
	// of it is known that was not told.
	Finished bool
}
