package settle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
)

// Bounds of telling orders that their time has come.
const (
	duePerStep = 64
	// dueRounds is how often a step asks for more orders while it finds only such as
	// must wait: thousands that wait for one chain must not hold up those of another.
	dueRounds = 32
	// maxLate is how many orders that must wait are remembered. One that is not comes
	// again after its lease.
	maxLate = 1 << 16
)

// late are orders that were found due and could not be told yet. An order's lease
// keeps the others away from it for much longer than it may be shown unexpired, so
// whoever holds the lease looks himself, at every step. That costs one question for
// each chain, however many wait for it.
type late struct {
	mu    sync.Mutex
	until map[order.ID]wait
}

// wait is for what an order waits: that its chain was read up to a time. The zero
// one waits for nothing, but was held up by trouble.
type wait struct {
	chain chain.ID
	until time.Time
}

func (l *late) keep(id order.ID, w wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.until[id]; !known && len(l.until) >= maxLate {
		return
	}
	if l.until == nil {
		l.until = map[order.ID]wait{}
	}
	l.until[id] = w
}

func (l *late) drop(id order.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, id)
}

// chains are those that somebody waits for.
func (l *late) chains() map[chain.ID]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[chain.ID]time.Time{}
	for _, w := range l.until {
		all[w.chain] = time.Time{}
	}
	return all
}

// ready are the orders that need wait no more, those that waited longest first, up
// to a number.
func (l *late) ready(synced map[chain.ID]time.Time, n int) []order.ID {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []order.ID
	for id, w := range l.until {
		if !synced[w.chain].Before(w.until) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b order.ID) int {
		return cmp.Or(l.until[a].until.Compare(l.until[b].until), cmp.Compare(a, b))
	})
	return ids[:min(len(ids), n)]
}

// due tells orders whose time has come, first those that were waited for.
func (s *Settler) due(ctx context.Context, now time.Time) error {
	told, errs := 0, []error(nil)
	tell := func(ids []order.ID) {
		for _, id := range ids {
			did, err := s.dueOne(ctx, id, now)
			if err != nil {
				s.late.keep(id, wait{})
				errs = append(errs, fmt.Errorf("due order %s: %w", id, err))
			}
			if did {
				told++
			}
		}
	}
	synced := s.late.chains()
	for id := range synced {
		if id == "" {
			continue
		}
		at, err := s.ports.Store.Synced(ctx, id)
		if err != nil {
			errs = append(errs, fmt.Errorf("how far %s was read: %w", id, err))
		}
		synced[id] = at
	}
	tell(s.late.ready(synced, duePerStep))
	for range dueRounds {
		if told >= duePerStep || len(errs) > 0 {
			break
		}
		ids, err := s.ports.Store.DueOrders(ctx, now, s.cfg.Lease, duePerStep)
		if err != nil {
			errs = append(errs, fmt.Errorf("due orders: %w", err))
			break
		}
		tell(ids)
		if len(ids) < duePerStep {
			break
		}
	}
	return errors.Join(errs...)
}

// dueOne tells one order that its time has come, and whether it was told. An order is
// not closed for want of a deposit before its chain was read beyond the deadline: a
// watcher that is behind must not expire an order that was paid in time.
func (s *Settler) dueOne(ctx context.Context, id order.ID, now time.Time) (told bool, err error) {
	o, err := s.ports.Store.Order(ctx, id)
	if err != nil {
		return false, err
	}
	ev, ok := o.Due(now)
	if !ok {
		s.late.drop(id)
		return false, nil
	}
	if _, closes := ev.(order.FundingClosed); closes {
		synced, err := s.ports.Store.Synced(ctx, o.Quote.Give.Chain)
		if err != nil {
			return false, err
		}
		if synced.Before(o.ExpiresAt) {
			s.late.keep(id, wait{o.Quote.Give.Chain, o.ExpiresAt})
			return false, nil
		}
	}
	_, err = s.Tell(ctx, id, ev, now)
	var turn *order.OutOfTurn
	if errors.As(err, &turn) {
		err = nil // something happened to it in between
	}
	if err == nil {
		s.late.drop(id)
	}
	return true, err
}
