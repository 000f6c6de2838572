package front

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
)

// ledgers is where balances are.
type ledgers interface {
	Balance(ctx context.Context, k ledger.Key) (ledger.Balance, error)
}

// freshFor is how long what is free is believed by offers. An order that finds less
// is refused by the books.
const freshFor = time.Second

// purse says what of an asset is free.
type purse struct {
	books ledgers
	now   func() time.Time

	mu    sync.Mutex
	known map[chain.Asset]freed
}

type freed struct {
	n  money.Amount
	at time.Time
}

// Free implements market.Treasury.
func (t *purse) Free(ctx context.Context, a chain.Asset) (money.Amount, error) {
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
	free := b.Free()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[chain.Asset]freed{}
	}
	t.known[a] = freed{free, now}
	return free, nil
}
