package market

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Tariff remembers what calls cost for a short time, so that a quote does not ask a
// node. A cost is remembered for its asset, its recipient and the order of magnitude
// of its amount, which is what costs depend on.
type Tariff struct {
	chains map[chain.ID]Costs
	maxAge time.Duration
	now    func() time.Time

	mu    sync.Mutex
	known map[errand]cost
}

type errand struct {
	asset  chain.Asset
	from   chain.Account
	to     chain.Address
	digits int
}

type cost struct {
	n  money.Amount
	at time.Time
}

// maxErrands bounds what is remembered: recipients come from callers.
const maxErrands = 10_000

// NewTariff remembers the costs of chains for at most maxAge.
func NewTariff(chains map[chain.ID]Costs, maxAge time.Duration, now func() time.Time) (*Tariff, error) {
	if len(chains) == 0 || maxAge <= 0 || now == nil {
		return nil, fmt.Errorf("market: a tariff needs chains, an age and a clock")
	}
	return &Tariff{chains: chains, maxAge: maxAge, now: now, known: map[errand]cost{}}, nil
}

// Cost implements Costs. A cost that cannot be asked for is an error, never an old one.
func (t *Tariff) Cost(ctx context.Context, c chain.Call) (money.Amount, error) {
	key := errand{asset: c.Asset, from: c.From, to: c.To, digits: c.Amount.Digits()}
	now := t.now()
	t.mu.Lock()
	k, ok := t.known[key]
	t.mu.Unlock()
	if ok && now.Sub(k.at) < t.maxAge && !now.Before(k.at) {
		return k.n, nil
	}
	asked, ok := t.chains[c.Chain]
	if !ok {
		return money.Amount{}, fmt.Errorf("chain %s is not served here", c.Chain)
	}
	n, err := asked.Cost(ctx, c)
	if err != nil {
		return money.Amount{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= maxErrands {
		clear(t.known) // rare, and it only costs asking again
	}
	// The address is part of what a caller sent, all of which would be kept with it.
	key.to = chain.CanonicalAddress(c.To.Family(), strings.Clone(c.To.Text()))
	t.known[key] = cost{n, now}
	return n, nil
}
