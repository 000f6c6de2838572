package treasury_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
	"ferry/internal/treasury"
)

const on chain.ID = "sim:x"

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// openStore opens a database of its own; an empty address is one in memory.
func openStore(t *testing.T, url string) *store.DB {
	t.Helper()
	if url == "" {
		url = "sqlite::memory:"
	}
	db, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// eachStore tests on both databases, with two handles as two processes have them.
func eachStore(t *testing.T, test func(t *testing.T, a, b *store.DB)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		db := openStore(t, "")
		test(t, db, db)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		url := pgtest.URL(t)
		test(t, openStore(t, url), openStore(t, url))
	})
}

// keys are addresses that tell their chain and their index.
type keys struct {
	onCall func(chain.Key) error
}

func (k keys) Address(_ context.Context, id chain.ID, of chain.Key) (chain.Address, error) {
	if k.onCall != nil {
		if err := k.onCall(of); err != nil {
			return chain.Address{}, err
		}
	}
	return chain.CanonicalAddress(chain.EVM, fmt.Sprintf("%s/%s/%d", id, of.Account, of.Index)), nil
}

// leases count the calls to a store.
type leases struct {
	treasury.Leases
	hook func(call string) error
}

func (l leases) LeaseAddresses(ctx context.Context, id chain.ID, n uint32) (uint32, error) {
	if err := l.hook("lease"); err != nil {
		return 0, err
	}
	return l.Leases.LeaseAddresses(ctx, id, n)
}

func (l leases) KeepAddresses(ctx context.Context, id chain.ID, first uint32, all []chain.Address) error {
	if err := l.hook("keep"); err != nil {
		return err
	}
	if err := l.Leases.KeepAddresses(ctx, id, first, all); err != nil {
		return err
	}
	return l.hook("kept")
}

func config(block, low uint32) treasury.AddressConfig {
	return treasury.AddressConfig{Block: block, Low: low, Patience: time.Minute, Log: slog.New(slog.DiscardHandler)}
}

func addresses(t *testing.T, cfg treasury.AddressConfig, k treasury.Keys, l treasury.Leases) *treasury.Addresses {
	t.Helper()
	a, err := treasury.NewAddresses(cfg, k, l, on, "sim:y")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func net(t *testing.T, s sim.Shape) *sim.Net {
	t.Helper()
	n, err := sim.New(sim.Config{ID: on, Family: chain.EVM, Shape: s, FinalDepth: 2, MinFee: money.FromUint64(2), Start: start})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
