package front

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/store"
	"ferry/internal/treasury"
)

// ledgers is where balances are.
type ledgers interface {
	Balance(ctx context.Context, k ledger.Key) (ledger.Balance, error)
}

// freshFor is how long what is free is believed by offers. An order that finds less
// is refused by the books.
const freshFor = time.Second

// stock says what of an asset is free.
type stock struct {
	books ledgers
	now   func() time.Time
	least map[chain.Asset]money.Amount // what the wallet must have for anything to be sold

	mu    sync.Mutex
	known map[chain.Asset]freed
}

type freed struct {
	n  money.Amount
	at time.Time
}

// Free implements market.Treasury. Of an asset nothing is free while the wallet has
// less of it than it must have, or less of the coin that its payouts are paid for with.
func (t *stock) Free(ctx context.Context, a chain.Asset) (money.Amount, error) {
	free, err := t.has(ctx, a)
	if err != nil || free.Less(t.least[a]) {
		return money.Amount{}, err
	}
	if coin := a.Chain.Native(); a != coin && !t.least[coin].IsZero() {
		if gas, err := t.has(ctx, coin); err != nil || gas.Less(t.least[coin]) {
			return money.Amount{}, err
		}
	}
	return free, nil
}

// has is what of an asset is in the wallet and nobody has a claim to.
func (t *stock) has(ctx context.Context, a chain.Asset) (money.Amount, error) {
	now := t.now()
	t.mu.Lock()
	k, ok := t.known[a]
	t.mu.Unlock()
	if ok && now.Sub(k.at) < freshFor {
		return k.n, nil
	}
	b, err := t.books.Balance(ctx, ledger.Key{Account: ledger.Hot(a.Chain), Asset: a})
	if err != nil {
		return money.Amount{}, fmt.Errorf("balance of %s: %w", a, err)
	}
	back, err := t.books.Balance(ctx, ledger.Key{Account: ledger.TakenBack(a.Chain), Asset: a})
	if err != nil {
		return money.Amount{}, fmt.Errorf("balance of %s: %w", a, err)
	}
	free := b.Free()
	if gone, below := back.Net(); below { // the chain took it back out of the wallet
		free = free.Less0(gone)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[chain.Asset]freed{}
	}
	t.known[a] = freed{free, now}
	return free, nil
}

// leased makes the chains whose keys are known hand out addresses from the store, which
// can be emptied.
func leased(all []Chain, db *store.DB, log *slog.Logger) ([]Chain, *treasury.Addresses, error) {
	keys := byChain{}
	var ids []chain.ID
	for _, c := range all {
		if c.Keys != nil {
			keys[c.ID] = c.Keys
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return all, nil, nil
	}
	addresses, err := treasury.NewAddresses(treasury.DefaultAddresses(log), keys, db, ids...)
	if err != nil {
		return nil, nil, err
	}
	all = slices.Clone(all)
	for i := range all {
		if all[i].Keys != nil {
			all[i].Deriver = addresses
		}
	}
	return all, addresses, nil
}

// byChain are the keys of several chains.
type byChain map[chain.ID]treasury.Keys

// Address implements treasury.Keys.
func (k byChain) Address(ctx context.Context, id chain.ID, of chain.Key) (chain.Address, error) {
	return k[id].Address(ctx, id, of)
}
