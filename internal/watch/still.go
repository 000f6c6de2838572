package watch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ferry/internal/chain"
)

// stillFor is how long a chain that does not move is looked at by its head alone.
// What a watcher cannot see there is then looked for in the store: what another
// worker left when it died, and payments that a new price asks less depth of.
const stillFor = time.Second

// still remembers the last look at which there was nothing left to do, so that the
// looks between two blocks, which are most of them, ask the store for nothing. It is
// memory only: it says that work may be put off for a moment, never that it was done.
type still struct {
	head    chain.Head
	since   time.Time // zero: there may be work
	pending []chain.Deposit
}

// stands reports whether a look may be spared at a head. A clock that went back says
// nothing about how long ago the last one was.
func (s *still) stands(head chain.Head, now time.Time) bool {
	same := s.head.Tip.Hash == head.Tip.Hash && s.head.Final.Hash == head.Final.Hash &&
		s.head.Tip.Height == head.Tip.Height && s.head.Final.Height == head.Final.Height
	return same && !s.since.IsZero() && !now.Before(s.since) && now.Before(s.since.Add(stillFor))
}

// glimpse looks into the mempool and records what it shows, unless it showed the same
// at the last of the looks that are spared now. It says whether it recorded anything.
func (w *Watcher) glimpse(ctx context.Context, now time.Time) (bool, error) {
	if w.ports.Mempool == nil {
		return false, nil
	}
	if err := w.mine.refresh(ctx, w.cfg.Chain, w.ports.Store); err != nil {
		return false, err
	}
	pending, err := w.ports.Mempool.Pending(ctx, w.mine)
	if err != nil {
		return false, fmt.Errorf("mempool of %s: %w", w.cfg.Chain, err)
	}
	if !w.still.since.IsZero() && slices.Equal(pending, w.still.pending) {
		return false, nil
	}
	if err := w.ports.Store.Glimpse(ctx, w.cfg.Chain, pending, now); err != nil {
		return false, fmt.Errorf("glimpse of %s: %w", w.cfg.Chain, err)
	}
	w.still.pending = pending
	return true, nil
}
