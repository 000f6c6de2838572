package treasury

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// SweepConfig is when deposits are brought home.
type SweepConfig struct {
	Account chain.Account // where they are brought, and who pays
	// Least is what an address must hold to be worth emptying.
	Least money.USD
	// Enough is what must have come together, and Age after how long it is brought home
	// without having come together.
	Enough money.USD
	Age    time.Duration
	// Sources bounds how many addresses one transfer empties, and AtOnce how many
	// transfers of an asset are on their way.
	Sources, AtOnce int
	// Share is how much of what is brought home it may cost at most.
	Share money.Percent
	// FeeFactor is how many times the going price a transfer may cost, Hurry the time in
	// which its whole budget may be spent.
	FeeFactor uint64
	Hurry     time.Duration
	// Signed are the chains on which a fee that is too much of what is brought home is not
	// signed. In a hurry, what would cost more there is dust, too.
	Signed map[chain.ID]FeeLimit
}

// FeeLimit is how much of an amount a fee may be that is more than Small.
type FeeLimit struct {
	Share money.Percent
	Small money.Amount // in the chain's own coin
}

// Check refuses a configuration in which a forgotten value would mean "all" or "at any
// price".
func (c SweepConfig) Check() error {
	switch {
	case c.Account == "":
		return errors.New("treasury: no account is named to which deposits are brought")
	case c.Least <= 0 || c.Enough < c.Least:
		return errors.New("treasury: what an address must hold to be emptied is not set, or is more than what is enough; say both in dollars")
	case c.Age <= 0:
		return errors.New("treasury: after how long deposits are brought home is not set")
	case c.Sources <= 0 || c.Sources > 500 || c.AtOnce <= 0:
		return errors.New("treasury: a transfer empties from 1 to 500 addresses, and at least one is on its way at once")
	case c.Share <= 0 || c.Share > money.Whole:
		return errors.New("treasury: how much of the deposits it may cost to bring them home is not set; say a percentage")
	case c.FeeFactor == 0 || c.Hurry <= 0:
		return errors.New("treasury: the fee factor or the time to hurry is not set")
	}
	for id, l := range c.Signed {
		if l.Share <= 0 || l.Share > money.Whole {
			return fmt.Errorf("treasury: which fees are signed on %s is not set; say a percentage", id)
		}
	}
	return nil
}

// SweepPorts are what a sweeper works with.
type SweepPorts struct {
	Store  Sweeps
	Chains map[chain.ID]Coster
	Valuer Valuer
	Assets []chain.Asset // that are brought home
}

// Sweeper wishes that deposits are brought home. It is safe for use by any number of
// goroutines.
type Sweeper struct {
	cfg   SweepConfig
	ports SweepPorts

	mu   sync.Mutex
	rush map[chain.Asset]time.Time // what an operator is in a hurry for, and since when
}

// NewSweeper makes a sweeper.
func NewSweeper(cfg SweepConfig, p SweepPorts) (*Sweeper, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if len(p.Assets) == 0 {
		return nil, errors.New("treasury: no assets are brought home; an empty list never means all of them")
	}
	for _, a := range p.Assets {
		if p.Chains[a.Chain] == nil {
			return nil, fmt.Errorf("treasury: chain %s of %s is not served", a.Chain, a)
		}
	}
	return &Sweeper{cfg: cfg, ports: p, rush: map[chain.Asset]time.Time{}}, nil
}

// Step looks once at every asset. One in trouble does not keep the others waiting.
func (s *Sweeper) Step(ctx context.Context, now time.Time) error {
	halted := map[chain.ID]bool{}
	var errs []error
	for _, a := range s.ports.Assets {
		if _, known := halted[a.Chain]; !known {
			why, err := s.ports.Store.Halted(ctx, a.Chain)
			halted[a.Chain] = err != nil || why != "" // not knowing is no leave
			if err != nil {
				errs = append(errs, fmt.Errorf("halt of %s: %w", a.Chain, err))
			}
		}
		if halted[a.Chain] {
			continue
		}
		if err := s.asset(ctx, a, now); err != nil && !errors.Is(err, ErrStale) { // another worker was first
			errs = append(errs, fmt.Errorf("sweep %s: %w", a, err))
		}
	}
	return errors.Join(errs...)
}

// window is how many deposits are looked at for each address that may be emptied: an
// address may have been paid several times.
const window = 4

func (s *Sweeper) asset(ctx context.Context, a chain.Asset, now time.Time) error {
	if since, rush := s.rushing(a, now); rush {
		return s.hurried(ctx, a, since, now)
	}
	if err := s.wanted(ctx, a, now); err != nil {
		return err
	}
	found, err := s.free(ctx, a, now)
	if err != nil || len(found) == 0 {
		return err
	}
	pile, err := s.pile(ctx, a, found, s.cfg.Least)
	if err != nil || !s.due(pile, now) {
		return err
	}
	on, err := s.ports.Store.Sweeping(ctx, a, s.cfg.Account)
	if err != nil || on >= s.cfg.AtOnce {
		return err
	}
	pile, cost, err := s.fitting(ctx, a, pile)
	if err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	if most, err := money.FromUint64(uint64(pile.worth)).Share(s.cfg.Share, money.Down); err != nil || most.Less(money.FromUint64(uint64(max(cost.worth, 0)))) {
		return err // fees fall too
	}
	return s.wish(ctx, a, pile, cost, now)
}

// free are the largest deposits that no transfer brings home. Where an address is emptied
// whole, everything that lies on theirs is among them: what somebody sent there unit by
// unit must not keep the rest from home.
func (s *Sweeper) free(ctx context.Context, a chain.Asset, now time.Time) ([]Lying, error) {
	found, err := s.ports.Store.Unswept(ctx, a, window*s.cfg.Sources, now)
	if err != nil || !s.whole(a) {
		return apart(found), err
	}
	if len(found) < window*s.cfg.Sources {
		return found, nil
	}
	var on []chain.Address
	for _, l := range found {
		if !slices.Contains(on, l.Address) {
			on = append(on, l.Address)
		}
	}
	return s.ports.Store.UnsweptAt(ctx, a, on, now)
}

// whole reports whether an address is emptied of an asset whole or not at all.
func (s *Sweeper) whole(a chain.Asset) bool {
	w, is := s.ports.Chains[a.Chain].(Wholly)
	return is && w.Whole(a)
}

// perAddress is how many deposits of one address a transfer takes: on some chains each is
// an input of its own, and an address on which somebody put more than fit into one must
// not stay for ever. The rest comes with the next.
const perAddress = 25

// apart leaves of each address its first deposits, which are the largest.
func apart(found []Lying) (few []Lying) {
	seen := map[uint32]int{}
	for _, l := range found {
		if seen[l.Index]++; seen[l.Index] <= perAddress {
			few = append(few, l)
		}
	}
	return few
}

// heap is what is worth bringing home.
type heap struct {
	sources []chain.Source
	total   money.Amount
	worth   money.USD
	oldest  time.Time
	full    bool // there is more than one transfer empties
}

// lot is a deposit address with what lies there.
type lot struct {
	chain.Source
	since time.Time
	worth money.USD
}

// lots puts together what lies on each address, the largest first.
func (s *Sweeper) lots(ctx context.Context, a chain.Asset, found []Lying) ([]lot, error) {
	by := map[uint32]*lot{}
	for _, l := range found {
		at := by[l.Index]
		if at == nil {
			at = &lot{Source: chain.Source{Address: l.Address, Index: l.Index}, since: l.Since}
			by[l.Index] = at
		}
		var err error
		if at.Amount, err = at.Amount.Add(l.Amount); err != nil {
			return nil, fmt.Errorf("address %d: %w", l.Index, err)
		}
		at.Deposits = append(at.Deposits, l.ID)
		if l.Since.Before(at.since) {
			at.since = l.Since
		}
	}
	all := make([]lot, 0, len(by))
	for _, at := range by {
		slices.Sort(at.Deposits)
		var err error
		if at.worth, err = s.ports.Valuer.USD(ctx, a, at.Amount); err != nil {
			return nil, fmt.Errorf("worth of %s: %w", at.Amount, err)
		}
		all = append(all, *at)
	}
	slices.SortFunc(all, func(a, b lot) int { return cmp.Or(b.Amount.Cmp(a.Amount), cmp.Compare(a.Index, b.Index)) })
	return all, nil
}

// pile puts together the addresses that hold at least so much, as many as one transfer
// empties, the largest first.
func (s *Sweeper) pile(ctx context.Context, a chain.Asset, found []Lying, least money.USD) (heap, error) {
	all, err := s.lots(ctx, a, found)
	if err != nil {
		return heap{}, err
	}
	return s.heaped(all, least)
}

func (s *Sweeper) heaped(all []lot, least money.USD) (h heap, err error) {
	for _, at := range all {
		if at.worth < least {
			break // the rest is worth less
		}
		if len(h.sources) == s.cfg.Sources {
			h.full = true
			break
		}
		if h.total, err = h.total.Add(at.Amount); err != nil {
			return heap{}, err
		}
		h.sources, h.worth = append(h.sources, at.Source), h.worth.PlusCapped(at.worth)
		if h.oldest.IsZero() || at.since.Before(h.oldest) {
			h.oldest = at.since
		}
	}
	return h, nil
}

// due reports whether a pile is to be brought home now.
func (s *Sweeper) due(h heap, now time.Time) bool {
	return len(h.sources) > 0 && (h.full || h.worth >= s.cfg.Enough || !now.Before(h.oldest.Add(s.cfg.Age)))
}

// cost is what it costs to bring a pile home.
type cost struct {
	coins money.Amount // of the chain's own
	worth money.USD
}

// wish has a pile brought home.
func (s *Sweeper) wish(ctx context.Context, a chain.Asset, h heap, c cost, now time.Time) error {
	budget, err := c.coins.MulDiv(money.FromUint64(s.cfg.FeeFactor), money.FromUint64(1), money.Up)
	if err != nil {
		return err
	}
	ref := a.Ref
	if ref == "" {
		ref = "native"
	}
	return s.ports.Store.Sweep(ctx, send.Transfer{
		// A sweep that failed is made anew under another name: only its own time and its
		// first address tell two of them apart.
		ID:   send.ID(fmt.Sprintf("%s%s/%s/%d-%d", sweepPrefix, a.Chain, ref, now.UnixMicro(), h.sources[0].Index)),
		Call: s.call(a, h), USD: h.worth, MaxFee: budget, Deadline: now.Add(s.cfg.Hurry), WishedAt: now,
	}, now)
}

// sweepPrefix begins the names of all sweeps.
const sweepPrefix = "sweep/"

// IsSweep reports whether a transfer brings deposits home, by its name.
func IsSweep(id send.ID) bool { return strings.HasPrefix(string(id), sweepPrefix) }

// call is what brings a pile home.
func (s *Sweeper) call(a chain.Asset, h heap) chain.Call {
	return chain.Call{
		Chain: a.Chain, From: s.cfg.Account, To: s.ports.Chains[a.Chain].Own(s.cfg.Account), Asset: a, Amount: h.total, Sources: h.sources,
	}
}

// fitting is as much of a pile as its chain takes at once, with what that costs. A chain
// may take fewer addresses than we would like, and one that it refuses must not keep the
// others from home.
func (s *Sweeper) fitting(ctx context.Context, a chain.Asset, h heap) (heap, cost, error) {
	for first, n := 0, len(h.sources); ; {
		part, err := s.part(ctx, a, h, h.sources[first:first+n])
		if err != nil {
			return heap{}, cost{}, err
		}
		coins, err := s.ports.Chains[a.Chain].Cost(ctx, s.call(a, part))
		switch {
		case err == nil:
			usd, err := s.ports.Valuer.USD(ctx, a.Chain.Native(), coins)
			if err != nil {
				err = fmt.Errorf("its worth: %w", err)
			}
			return part, cost{coins, usd}, err
		case !errors.Is(err, send.ErrRefused):
			return heap{}, cost{}, err
		case n > 1:
			n = (n + 1) / 2
		case first+1 == len(h.sources):
			return heap{}, cost{}, err
		default:
			first, n = first+1, len(h.sources)-first-1
		}
	}
}

// part is some of a pile.
func (s *Sweeper) part(ctx context.Context, a chain.Asset, h heap, of []chain.Source) (heap, error) {
	if len(of) == len(h.sources) {
		return h, nil
	}
	p := heap{sources: of, oldest: h.oldest, full: true}
	var err error
	for _, src := range of {
		if p.total, err = p.total.Add(src.Amount); err != nil {
			return heap{}, err
		}
	}
	if p.worth, err = s.ports.Valuer.USD(ctx, a, p.total); err != nil {
		return heap{}, fmt.Errorf("worth of %s: %w", p.total, err)
	}
	return p, nil
}
