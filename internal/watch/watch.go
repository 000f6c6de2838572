package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
)

// Config is what a watcher needs to know of its chain.
type Config struct {
	Chain chain.ID
	Tiers []Tier
	// Window is how many blocks are remembered: a reorg that goes further back
	// halts the chain.
	Window uint64
}

// Limits of one step, so that a long catch-up does not starve the rest.
const (
	blocksPerStep = 64
	toldPerStep   = 256
)

// Ports are what a watcher works with. Mempool may be nil.
type Ports struct {
	Reader  Reader
	Mempool Mempool
	Store   Store
	Teller  Teller
	Valuer  Valuer
}

// Watcher follows one chain.
type Watcher struct {
	cfg   Config
	ports Ports
	mine  *AddressSet
	still still
}

// New makes a watcher; it refuses a configuration that would believe too early.
func New(cfg Config, p Ports) (*Watcher, error) {
	if cfg.Chain == "" {
		return nil, errors.New("watch: no chain named")
	}
	if err := CheckTiers(cfg.Tiers); err != nil {
		return nil, fmt.Errorf("chain %s: %w", cfg.Chain, err)
	}
	if deepest := cfg.Tiers[len(cfg.Tiers)-1].Confirmations; cfg.Window < deepest {
		return nil, fmt.Errorf("chain %s: window of %d blocks is less than the %d confirmations asked for", cfg.Chain, cfg.Window, deepest)
	}
	return &Watcher{cfg: cfg, ports: p, mine: NewAddressSet()}, nil
}

// Step follows the chain once: it reads the new blocks, judges what is deep
// enough, and tells the orders. Another worker on the same chain is no error.
func (w *Watcher) Step(ctx context.Context, now time.Time) error {
	head, err := w.ports.Reader.Head(ctx)
	spared := err == nil && w.still.stands(head, now)
	atTip := false
	switch {
	case err != nil:
		err = fmt.Errorf("head of %s: %w", w.cfg.Chain, err)
	case spared:
		var changed bool
		if changed, err = w.glimpse(ctx, now); err == nil && !changed {
			return nil
		}
	default:
		w.still.since = time.Time{}
		if atTip, err = w.follow(ctx, head, now); errors.Is(err, ErrStale) {
			atTip, err = false, nil
		}
	}
	// What is stored already is told even while the chain cannot be read.
	told, tellErr := w.tell(ctx, now)
	w.still.since = time.Time{}
	if atTip && err == nil && tellErr == nil && told == 0 {
		w.still.head, w.still.since = head, now
	}
	return errors.Join(err, tellErr)
}

// follow reads on to the head, and says whether it came to the tip.
func (w *Watcher) follow(ctx context.Context, head chain.Head, now time.Time) (atTip bool, err error) {
	track, err := w.ports.Store.Track(ctx, w.cfg.Chain)
	if err != nil {
		return false, fmt.Errorf("track of %s: %w", w.cfg.Chain, err)
	}
	for range blocksPerStep {
		more, err := w.advance(ctx, head, &track, now)
		if err != nil {
			return false, err
		}
		if !more {
			break
		}
	}
	cursor := track.Cursor
	atTip = cursor.Hash == head.Tip.Hash
	if atTip {
		if err := w.atTip(ctx, head, now); err != nil {
			return false, err
		}
	}
	return atTip, w.ripen(ctx, cursor, head.Final.Height)
}

// advance moves the cursor by one block, or back to where the branches part. It
// says whether there may be more.
func (w *Watcher) advance(ctx context.Context, head chain.Head, track *Track, now time.Time) (bool, error) {
	cursor := track.Cursor
	from := cursor.Height + 1
	if cursor.IsZero() {
		from = head.Final.Height
	}
	next, err := w.ports.Reader.Next(ctx, from)
	switch {
	case errors.Is(err, ErrNoBlock):
		// The tip is at or below the cursor. Nodes that are behind look the same
		// as a branch that is not longer yet: only another block at the cursor's
		// own height says that the cursor was orphaned.
		if cursor.IsZero() || head.Tip.Hash == cursor.Hash || head.Tip.Height < cursor.Height {
			return false, nil
		}
		return true, w.rewind(ctx, track, now)
	case err != nil:
		return false, fmt.Errorf("block %d of %s: %w", from, w.cfg.Chain, err)
	case !cursor.IsZero() && next.Parent != cursor.Hash:
		return true, w.rewind(ctx, track, now)
	}
	if err := w.mine.refresh(ctx, w.cfg.Chain, w.ports.Store); err != nil {
		return false, err
	}
	found, err := w.ports.Reader.Deposits(ctx, next, w.mine)
	if err != nil {
		return false, fmt.Errorf("deposits in block %d of %s: %w", next.Height, w.cfg.Chain, err)
	}
	keepFrom := uint64(0)
	if next.Height > w.cfg.Window {
		keepFrom = next.Height - w.cfg.Window
	}
	step := Advance{After: cursor, Block: next, Deposits: found, KeepFrom: keepFrom, Now: now}
	if err := w.ports.Store.Advance(ctx, w.cfg.Chain, step); err != nil {
		return false, fmt.Errorf("advance %s to %d: %w", w.cfg.Chain, next.Height, err)
	}
	track.Cursor = next
	return true, nil
}

// rewind goes back to the newest remembered block that the chain still has.
func (w *Watcher) rewind(ctx context.Context, track *Track, now time.Time) error {
	from := track.Cursor
	blocks, err := w.ports.Store.Remembered(ctx, w.cfg.Chain)
	if err != nil {
		return fmt.Errorf("blocks of %s: %w", w.cfg.Chain, err)
	}
	for _, known := range blocks {
		there, err := w.ports.Reader.Next(ctx, known.Height)
		if err != nil && !errors.Is(err, ErrNoBlock) {
			return fmt.Errorf("block %d of %s: %w", known.Height, w.cfg.Chain, err)
		}
		if err != nil || there.Hash != known.Hash {
			continue
		}
		if known.Hash == from.Hash {
			return nil // the chain came back to where we are
		}
		if err := w.ports.Store.Rewind(ctx, w.cfg.Chain, from, known, now); err != nil {
			return fmt.Errorf("rewind %s to %d: %w", w.cfg.Chain, known.Height, err)
		}
		track.Cursor = known
		return nil
	}
	why := fmt.Sprintf("a reorganisation goes back further than the %d blocks remembered", len(blocks))
	if err := w.ports.Store.Halt(ctx, w.cfg.Chain, why, now); err != nil {
		return fmt.Errorf("halt %s: %w", w.cfg.Chain, err)
	}
	return fmt.Errorf("%s: %s; the chain is halted until an operator has looked", w.cfg.Chain, why)
}

func (w *Watcher) atTip(ctx context.Context, head chain.Head, now time.Time) error {
	if _, err := w.glimpse(ctx, now); err != nil {
		return err
	}
	// Nodes that are behind show an old tip: the chain was read only as far as
	// the time of the block that they show. Where that is yet to come, this falls
	// behind by as long as looks are spared.
	read := head.Tip.Time
	if now.Before(read) {
		read = now
	}
	if err := w.ports.Store.Caught(ctx, w.cfg.Chain, head.Final.Height, read); err != nil {
		return fmt.Errorf("caught up with %s: %w", w.cfg.Chain, err)
	}
	return nil
}

// ripen believes what is buried deep enough for its value.
func (w *Watcher) ripen(ctx context.Context, cursor chain.Block, final uint64) error {
	unripe, err := w.ports.Store.Unripe(ctx, w.cfg.Chain)
	if err != nil {
		return fmt.Errorf("unripe deposits of %s: %w", w.cfg.Chain, err)
	}
	var ripe []Sight
	for _, s := range unripe {
		worth, err := w.ports.Valuer.USD(ctx, s.Deposit.Asset, s.Deposit.Amount)
		if tierFor(w.cfg.Tiers, worth, err == nil).ripe(s, final) {
			ripe = append(ripe, s)
		}
	}
	if len(ripe) == 0 {
		return nil
	}
	if err := w.ports.Store.Ripen(ctx, w.cfg.Chain, cursor, ripe); err != nil {
		return fmt.Errorf("ripen deposits of %s: %w", w.cfg.Chain, err)
	}
	return nil
}

// tell brings every order up to how its deposits stand, and says how many there were.
// One order that cannot be told does not keep the others waiting.
func (w *Watcher) tell(ctx context.Context, now time.Time) (int, error) {
	untold, err := w.ports.Store.Untold(ctx, w.cfg.Chain, toldPerStep)
	if err != nil {
		return 0, fmt.Errorf("untold deposits of %s: %w", w.cfg.Chain, err)
	}
	var errs []error
	for _, s := range untold {
		if err := w.tellOne(ctx, s, now); err != nil {
			errs = append(errs, fmt.Errorf("deposit %s: %w", s.Deposit.ID, err))
		}
	}
	return len(untold), errors.Join(errs...)
}

func (w *Watcher) tellOne(ctx context.Context, s Sight, now time.Time) error {
	known := s.Told
	for _, f := range facts(s) {
		if err := w.tellFact(ctx, s.Order, f.event, now); err != nil {
			return err
		}
		if err := w.ports.Store.Told(ctx, s.Deposit.ID, known, f.after); err != nil {
			return err
		}
		known = f.after
	}
	return nil
}

// tellFact passes a fact on. A sighting that the order will not remember, because
// it has too many already, is not trouble; a finality that it refuses is.
func (w *Watcher) tellFact(ctx context.Context, id order.ID, ev order.Event, now time.Time) error {
	_, err := w.ports.Teller.Tell(ctx, id, ev, now)
	var turn *order.OutOfTurn
	if errors.As(err, &turn) {
		switch ev.(type) {
		case order.DepositSeen, order.DepositGone:
			return nil
		}
	}
	return err
}
