package access

import (
	"context"

	"ferry/internal/chain"
	"ferry/internal/integrator"
)

// Changes are the integrators and keys that changed after some version.
type Changes struct {
	// Version is as far as the answer goes: nothing at or below it may appear later.
	Version     int64
	Integrators []integrator.Integrator
	Keys        []integrator.Key
}

// Register is where integrators and keys are kept.
type Register interface {
	// Changes are all that changed after a version, each as it is now and read in one
	// transaction, so that an integrator and its keys are of one moment; after 0 it
	// is all of them. What it gives is not changed by anybody afterwards.
	Changes(ctx context.Context, after int64) (Changes, error)
}

// Codecs read addresses.
type Codecs interface {
	// Parse gives the canonical form of an address of a chain.
	Parse(id chain.ID, text string) (chain.Address, error)
}
