package treasury

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
)

// AddressConfig is how many addresses are taken at once.
type AddressConfig struct {
	// Block is how many addresses of a chain are leased at once, and Low with how many
	// left the next are fetched. Those that a process has when it ends are lost.
	Block, Low uint32
	// Patience bounds one refill.
	Patience time.Duration
	Log      *slog.Logger
}

// DefaultAddresses are for a service that makes up to some hundred orders a second.
func DefaultAddresses(log *slog.Logger) AddressConfig {
	return AddressConfig{Block: 512, Low: 256, Patience: 30 * time.Second, Log: log}
}

func (c AddressConfig) check() error {
	switch {
	case c.Block == 0 || c.Block > 1<<16:
		return errors.New("treasury: how many addresses are leased at once must be from 1 to 65536")
	case c.Low >= c.Block:
		return errors.New("treasury: addresses are fetched when fewer are left than a block has")
	case c.Patience <= 0:
		return errors.New("treasury: the time that fetching addresses may take is not set")
	case c.Log == nil:
		return errors.New("treasury: no logger is given; trouble must be told to somebody")
	}
	return nil
}

// Addresses hand out deposit addresses from memory. What they hand out was leased and
// written down before, so that no other process and no later one has it.
type Addresses struct {
	cfg    AddressConfig
	keys   Keys
	leases Leases

	ctx  context.Context // of refills: they outlive whoever asked
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	shelves map[chain.ID]*shelf
}

// shelf is what is left of a chain's addresses.
type shelf struct {
	free   []chain.Address
	refill *refill // nil while none is under way
}

// refill is one on its way; done is closed when it is over.
type refill struct {
	done chan struct{}
	err  error
}

// NewAddresses makes empty shelves for some chains. They fetch nothing before they are
// asked.
func NewAddresses(cfg AddressConfig, keys Keys, leases Leases, served ...chain.ID) (*Addresses, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if len(served) == 0 {
		return nil, errors.New("treasury: no chains have addresses; an empty list never means all of them")
	}
	a := &Addresses{cfg: cfg, keys: keys, leases: leases, shelves: map[chain.ID]*shelf{}}
	a.ctx, a.stop = context.WithCancel(context.Background())
	for _, id := range served {
		a.shelves[id] = &shelf{}
	}
	return a, nil
}

// errClosed: the process is about to end.
var errClosed = errors.New("treasury: no more addresses are given out")

// Close ends refills and waits for them.
func (a *Addresses) Close() error {
	a.stop()
	a.wg.Wait()
	return nil
}

// DepositAddress is an address that nobody was given before. Which order it is for is
// written down with the order.
func (a *Addresses) DepositAddress(ctx context.Context, id chain.ID, _ order.ID) (chain.Address, error) {
	for {
		got, wait, err := a.take(id)
		if err != nil || wait == nil {
			return got, err
		}
		select {
		case <-ctx.Done():
			return chain.Address{}, fmt.Errorf("deposit address of %s: %w", id, ctx.Err())
		case <-wait.done:
			if wait.err != nil {
				return chain.Address{}, fmt.Errorf("deposit address of %s: %w", id, wait.err)
			}
		}
	}
}

// take gives an address, or what is to be waited for.
func (a *Addresses) take(id chain.ID) (chain.Address, *refill, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.shelves[id]
	if s == nil {
		return chain.Address{}, nil, fmt.Errorf("chain %s has no deposit addresses here", id)
	}
	if a.ctx.Err() != nil {
		return chain.Address{}, nil, errClosed
	}
	if uint32(len(s.free)) <= a.cfg.Low && s.refill == nil {
		r := &refill{done: make(chan struct{})}
		s.refill = r
		a.wg.Go(func() { a.fill(id, s, r) })
	}
	if len(s.free) == 0 {
		return chain.Address{}, s.refill, nil
	}
	got := s.free[0]
	s.free = s.free[1:]
	return got, nil, nil
}

// fill leases a block, derives it and writes it down; only then is it on the shelf.
func (a *Addresses) fill(id chain.ID, s *shelf, r *refill) {
	ctx, cancel := context.WithTimeout(a.ctx, a.cfg.Patience)
	defer cancel()
	block, err := a.lease(ctx, id)
	if err != nil && a.ctx.Err() == nil {
		a.cfg.Log.WarnContext(ctx, "deposit addresses could not be fetched, will be tried again", "chain", string(id), "error", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s.free, s.refill, r.err = append(s.free, block...), nil, err
	close(r.done)
}

func (a *Addresses) lease(ctx context.Context, id chain.ID) ([]chain.Address, error) {
	first, err := a.leases.LeaseAddresses(ctx, id, a.cfg.Block)
	if err != nil {
		return nil, fmt.Errorf("lease: %w", err)
	}
	block := make([]chain.Address, a.cfg.Block)
	for i := range block {
		k := chain.Key{Account: chain.DepositKeys, Index: first + uint32(i)}
		if block[i], err = a.keys.Address(ctx, id, k); err != nil {
			return nil, fmt.Errorf("address %d: %w", k.Index, err)
		}
	}
	if err := a.leases.KeepAddresses(ctx, id, first, block); err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	return block, nil
}
