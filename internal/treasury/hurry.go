package treasury

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// rushTime bounds how long a hurry lasts, if what is hurried for can not be brought home
// sooner. It is shorter than Pause: what fails in a hurry is not tried again in it.
const rushTime = 10 * time.Minute

// Hurry has everything that pays for its own way brought home by the next steps, without
// waiting until enough has come together: of one chain, or of all where none is named.
// It is over when nothing is left that pays for its way. What a transfer did not bring
// home before is tried once more, since whoever is in a hurry may have mended the cause.
// A process that ends forgets it.
func (s *Sweeper) Hurry(id chain.ID, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.ports.Assets {
		if id == "" || a.Chain == id {
			s.rush[a] = now
		}
	}
}

// rushing reports whether an operator is in a hurry for an asset, and since when.
func (s *Sweeper) rushing(a chain.Asset, now time.Time) (since time.Time, rush bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, rush = s.rush[a]
	if rush && now.After(since.Add(rushTime)) {
		delete(s.rush, a)
		return since, false
	}
	return since, rush
}

// calm ends a hurry, unless somebody is in a new one.
func (s *Sweeper) calm(a chain.Asset, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rush[a].Equal(since) {
		delete(s.rush, a)
	}
}

// hurried looks once at an asset for which an operator is in a hurry.
func (s *Sweeper) hurried(ctx context.Context, a chain.Asset, since, now time.Time) error {
	all, err := s.bring(ctx, a, since.Add(Pause), now)
	if all {
		s.calm(a, since)
	}
	return err
}

// wanted brings everything of an asset home that pays for its way, however little it is,
// while an order waits for some of it: waiting until more has come together would keep
// the order for hours. It need not be the order's own, which may be home already and have
// been spent for another whose deposit is not.
func (s *Sweeper) wanted(ctx context.Context, a chain.Asset, now time.Time) error {
	waits, err := s.ports.Store.Awaited(ctx, a)
	if err != nil || !waits {
		return err
	}
	_, err = s.bring(ctx, a, now, now)
	return err
}

// bring wishes as many transfers as there may be that bring home what pays for its way,
// of what is free at a time. It reports whether nothing of that is left.
func (s *Sweeper) bring(ctx context.Context, a chain.Asset, at, now time.Time) (all bool, err error) {
	on, err := s.ports.Store.Sweeping(ctx, a, s.cfg.Account)
	for ; err == nil && on < s.cfg.AtOnce; on++ {
		found, err := s.free(ctx, a, at)
		if err != nil {
			return false, err
		}
		lots, err := s.lots(ctx, a, found)
		if err != nil {
			return false, err
		}
		h, c, err := s.paying(ctx, a, lots)
		if err != nil || len(h.sources) == 0 {
			return err == nil, err
		}
		if err := s.wish(ctx, a, h, c, now); err != nil {
			return false, err
		}
	}
	return false, err
}

// paying is what one transfer brings home of what lies there, if each address is to
// bring at least its share of what the transfer costs; an empty pile if none does.
func (s *Sweeper) paying(ctx context.Context, a chain.Asset, all []lot) (heap, cost, error) {
	for least := money.USD(0); ; {
		h, err := s.heaped(all, least)
		if err != nil || len(h.sources) == 0 {
			return heap{}, cost{}, err
		}
		part, c, err := s.fitting(ctx, a, h)
		if err != nil {
			return heap{}, cost{}, fmt.Errorf("cost: %w", err)
		}
		if c, err = s.weighed(a.Chain, c); err != nil {
			return heap{}, cost{}, err
		}
		share := c.share(len(part.sources))
		if pays(all, part, share) {
			return part, c, nil
		}
		// Fewer addresses may bear more each, so what is left out now stays out.
		least = max(share, least+1)
	}
}

// weighed is what a pile must be worth to be sent at a cost.
func (s *Sweeper) weighed(id chain.ID, c cost) (cost, error) {
	l, limited := s.cfg.Signed[id]
	if !limited || !l.Small.Less(c.coins) {
		return c, nil
	}
	n, err := money.FromUint64(uint64(max(c.worth, 0))).MulDiv(money.FromUint64(uint64(money.Whole)), money.FromUint64(uint64(l.Share)), money.Up)
	if err != nil {
		return c, err
	}
	worth, fits := n.Uint64()
	if !fits || worth > nothing {
		worth = nothing
	}
	c.worth = money.USD(worth)
	return c, nil
}

// nothing is worth so much.
const nothing = 1 << 62

// share is what a transfer costs for each of its addresses, at least something.
func (c cost) share(n int) money.USD { return max(1, (c.worth+money.USD(n)-1)/money.USD(n)) }

// pays reports whether every address of a pile is worth at least so much.
func pays(all []lot, h heap, least money.USD) bool {
	worth := make(map[uint32]money.USD, len(all))
	for _, at := range all {
		worth[at.Index] = at.worth
	}
	for _, src := range h.sources {
		if worth[src.Index] < least {
			return false
		}
	}
	return true
}

// ErrNoChain: nothing is brought home on that chain.
var ErrNoChain = errors.New("treasury: no deposits are brought home on that chain")

// Lot is what lies on some addresses.
type Lot struct {
	Addresses int
	Amount    money.Amount
}

func (l *Lot) add(n money.Amount) (err error) {
	l.Addresses++
	l.Amount, err = l.Amount.Add(n)
	return err
}

// Waiting is what of an asset is not home. An address of which a part has failed is
// counted in both.
type Waiting struct {
	Asset chain.Asset
	Home  Lot // what pays for its way
	Dust  Lot // what would cost more than it brings
	// Held is what can not be brought home now, and Why says why.
	Held Lot
	Why  string
	// Failed is what a transfer did not bring home, and Until when all of it is tried again.
	Failed   Lot
	Until    time.Time
	Underway int  // transfers that bring it home
	More     bool // there is more than was looked at
}

// IsZero reports whether nothing waits.
func (w Waiting) IsZero() bool { return w == Waiting{Asset: w.Asset} }

// looked is how many deposits of an asset are looked at for Waiting.
const looked = 10_000

// askedAtOnce is of how many assets it is asked at once what waits.
const askedAtOnce = 16

// Waiting says what is not home, of one chain or of all where none is named, and what a
// hurry would bring home at the prices of now. It changes nothing. Assets of which
// nothing waits are left out.
func (s *Sweeper) Waiting(ctx context.Context, id chain.ID, now time.Time) (all []Waiting, err error) {
	for _, a := range s.ports.Assets {
		if id == "" || a.Chain == id {
			all = append(all, Waiting{Asset: a})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoChain, id)
	}
	g, ctx := errgroup.WithContext(ctx) // a chain whose nodes do not answer keeps nobody waiting for the others
	g.SetLimit(askedAtOnce)
	for i := range all {
		g.Go(func() (err error) {
			if all[i], err = s.waiting(ctx, all[i].Asset, now); err != nil {
				return fmt.Errorf("what waits of %s: %w", all[i].Asset, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, Waiting.IsZero), nil
}

func (s *Sweeper) waiting(ctx context.Context, a chain.Asset, now time.Time) (w Waiting, err error) {
	w.Asset = a
	if w.Underway, err = s.ports.Store.Sweeping(ctx, a, s.cfg.Account); err != nil {
		return w, err
	}
	found, err := s.ports.Store.Unswept(ctx, a, looked, now.Add(Pause))
	if err != nil {
		return w, err
	}
	w.More = len(found) == looked
	var free []Lying
	failed := map[uint32]money.Amount{}
	for _, l := range found {
		if !l.After.After(now) {
			free = append(free, l)
			continue
		}
		if failed[l.Index], err = failed[l.Index].Add(l.Amount); err != nil {
			return w, err
		}
		if l.After.After(w.Until) {
			w.Until = l.After
		}
	}
	for _, n := range failed {
		if err := w.Failed.add(n); err != nil {
			return w, err
		}
	}
	return w, s.judge(ctx, &w, free)
}

// judge tells what pays for its way from dust, and from what can not go it.
func (s *Sweeper) judge(ctx context.Context, w *Waiting, found []Lying) error {
	all, err := s.lots(ctx, w.Asset, found)
	if err != nil || len(all) == 0 {
		return err
	}
	first := all // what the first transfer would take
	if !s.whole(w.Asset) {
		if first, err = s.lots(ctx, w.Asset, apart(found)); err != nil {
			return err
		}
	}
	halt, err := s.ports.Store.Halted(ctx, w.Asset.Chain)
	if err != nil {
		return err
	}
	least := money.USD(0)
	if halt != "" {
		w.Why = "the chain is halted: " + halt
	} else {
		h, c, err := s.paying(ctx, w.Asset, first)
		switch {
		case errors.Is(err, send.ErrRefused):
			w.Why = err.Error()
		case err != nil: // it may name a node: the log of the next step says it
			w.Why = "what it costs is not known now; the log of the service says why"
		case len(h.sources) == 0:
			least = nothing
		default:
			least = c.share(len(h.sources)) // what does not fit into the first transfer bears about the same
		}
	}
	for _, at := range all {
		into := &w.Home
		switch {
		case w.Why != "":
			into = &w.Held
		case at.worth < least:
			into = &w.Dust
		}
		if err := into.add(at.Amount); err != nil {
			return err
		}
	}
	return nil
}
