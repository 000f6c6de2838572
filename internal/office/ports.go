package office

import (
	"context"
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/hooks"
	"ferry/internal/integrator"
	"ferry/internal/order"
	"ferry/internal/treasury"
)

// What a store says.
var (
	// ErrNotFound: nothing has that id.
	ErrNotFound = errors.New("office: not found")
	// ErrChanged: it is not at the version any more that the change was made for.
	ErrChanged = errors.New("office: changed meanwhile")
)

// Changes are all integrators and keys that changed after a version of the
// register, as they are now. A version below the one that was asked for means that
// the register is another than before; then everything is in it.
type Changes struct {
	Version     int64
	Integrators []integrator.Integrator
	Keys        []integrator.Key
}

// Store keeps the register of integrators and the log of what operators did. What
// changes something takes the log's entry with it: both are written, or neither.
type Store interface {
	// CreateIntegrator keeps a new integrator.
	CreateIntegrator(ctx context.Context, i integrator.Integrator, e Entry) error
	// ChangeIntegrator keeps an integrator at the version after the one it says, or
	// refuses with ErrChanged if it has another by now.
	ChangeIntegrator(ctx context.Context, i integrator.Integrator, e Entry) error
	Integrator(ctx context.Context, id integrator.ID) (integrator.Integrator, error)
	// Integrators are at most n with a higher id, in the order of their ids.
	Integrators(ctx context.Context, after integrator.ID, n int) ([]integrator.Integrator, error)

	IssueKey(ctx context.Context, k integrator.Key, e Entry) error
	// RevokeKey reports whether the key was not revoked before.
	RevokeKey(ctx context.Context, id integrator.KeyID, at time.Time, e Entry) (bool, error)
	Key(ctx context.Context, id integrator.KeyID) (integrator.Key, error)
	// Keys are those of an integrator, oldest first, with those that were revoked.
	Keys(ctx context.Context, id integrator.ID) ([]integrator.Key, error)

	// Hooks are the webhooks of an integrator, oldest first.
	Hooks(ctx context.Context, id integrator.ID) ([]hooks.Endpoint, error)

	// Log are at most n entries after a number, oldest first.
	Log(ctx context.Context, after int64, n int) ([]Entry, error)
	// VerifyAudit goes through the whole log.
	VerifyAudit(ctx context.Context) (Verdict, error)
	// Enter writes an entry of what changes nothing in the store.
	Enter(ctx context.Context, e Entry) error

	Board
}

// Board is what waits for an operator.
type Board interface {
	Halts(ctx context.Context) ([]Halt, error)
	// LiftHalt reports whether the chain was halted.
	LiftHalt(ctx context.Context, id chain.ID, e Entry) (bool, error)
	// Queue are the oldest questions, at most n.
	Queue(ctx context.Context, n int) ([]Question, error)
}

// Halt is why a chain is stopped.
type Halt struct {
	Chain chain.ID
	Why   string
	At    time.Time
}

// Question is an order that was put before an operator.
type Question struct {
	ID    string
	Order order.ID
	Why   order.Reason
	At    time.Time
}

// Sweeper brings deposits home.
type Sweeper interface {
	// Waiting is what is not home, of one chain or of all where none is named.
	Waiting(ctx context.Context, id chain.ID, now time.Time) ([]treasury.Waiting, error)
	// Hurry has it brought home now.
	Hurry(id chain.ID, now time.Time)
}

// Price is how a symbol stands with those who price it.
type Price struct {
	Symbol string
	Price  string    // dollars of a whole unit; empty where there is none that could be used
	At     time.Time // of the oldest word that it is made from
	// Stopped is that it jumped; Next is what is to be confirmed then, or empty.
	Stopped          bool
	Next             string
	Quorum, MinKinds int
	Words            []Word
}

// Word is what one source said of a symbol, and why it does not count where it does not.
type Word struct {
	Source, Kind string
	Price        string // in dollars
	At           time.Time
	Why          string
}

// Pricer judges prices.
type Pricer interface {
	Prices() []Price
	// Confirm believes a price that jumped, if it is still the one that was seen.
	Confirm(symbol, seen string) error
}

// Codecs read addresses of the families that fees are paid in.
type Codecs interface {
	Parse(f chain.Family, text string) (chain.Address, error)
}
