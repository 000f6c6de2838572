package sim_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/testseed"
)

// poolBench is a chain with one pool of a token and the chain's own coin.
func poolBench(t *testing.T) *bench {
	t.Helper()
	return newBench(t, sim.Nonces).(*bench)
}

func (b *bench) attempt(c chain.Call) chain.Attempt {
	b.t.Helper()
	a, err := b.Chain().Draft(b.t.Context(), c, nil, money.FromUint64(2_000_000))
	b.ok(err)
	return a
}

// moved reads what a transaction took and gave from its receipt.
func (b *bench) moved(tx chain.TxID) (took, gave money.Amount) {
	b.t.Helper()
	r, err := b.Chain().Receipt(b.t.Context(), tx)
	b.ok(err)
	for _, l := range r.Logs {
		m, err := b.Chain().ReadLog(l)
		b.ok(err)
		if m.From == b.Own(sim.Hot) {
			took = m.Amount
		} else {
			gave = m.Amount
		}
	}
	return took, gave
}

// A reorg that puts the same transaction after another price does it anew: what it
// brings is read from where it stands.
func TestASwapIsDoneAnewAtThePriceOfItsBlock(t *testing.T) {
	t.Parallel()
	b := poolBench(t)
	n := money.FromUint64(20_000)
	a := b.attempt(b.Trade(b.token, n, money.FromUint64(1)))
	b.ok(b.Chain().Broadcast(t.Context(), a.Raw))
	b.Mine(1)
	took, before := b.moved(a.Tx)
	if took != n || before.IsZero() {
		t.Fatalf("it took %s and gave %s", took, before)
	}
	b.ok(b.Faucet(b.pool, b.token, money.FromUint64(50_000_000)))
	if _, err := b.Net.Reorg(1, sim.ReorgOptions{}); err != nil {
		t.Fatal(err)
	}
	took, after := b.moved(a.Tx)
	if took != n || !after.Less(before) {
		t.Fatalf("it took %s and gave %s, and before %s", took, after, before)
	}
	// A branch on which it brings too little has it reverted, and nothing moved.
	c := b.attempt(b.Trade(b.token, n, after.Less0(money.FromUint64(100))))
	b.ok(b.Chain().Broadcast(t.Context(), c.Raw))
	b.Mine(1)
	b.ok(b.Faucet(b.pool, b.token, money.FromUint64(500_000_000)))
	have := b.Balance(b.Own(sim.Hot), b.token)
	if _, err := b.Net.Reorg(1, sim.ReorgOptions{}); err != nil {
		t.Fatal(err)
	}
	b.Mine(4)
	if s, err := b.Chain().Fate(t.Context(), c); err != nil || s.Fate != chain.Reverted {
		t.Fatalf("it is %v (%v)", s.Fate, err)
	}
	if r, err := b.Chain().Receipt(t.Context(), c.Tx); err != nil || r.Fate != chain.Reverted || len(r.Logs) > 0 {
		t.Fatalf("its receipt is %+v (%v)", r, err)
	}
	if got := b.Balance(b.Own(sim.Hot), b.token); got.Less0(n) != have {
		t.Errorf("it has %s of the token, and had %s after it was given", got, have)
	}
}

func TestWhatAPoolRefuses(t *testing.T) {
	t.Parallel()
	b := poolBench(t)
	n := money.FromUint64(20_000)
	good := b.Trade(b.token, n, money.FromUint64(1))
	for name, spoil := range map[string]func(*chain.Call){
		"no method":            func(c *chain.Call) { c.Data = []byte("sync") },
		"more than is allowed": func(c *chain.Call) { c.Amount = money.FromUint64(19_999) },
		"nothing": func(c *chain.Call) {
			c.Data = sim.Swap{MinOut: money.FromUint64(1), Get: b.ID().Native()}.Data()
		},
		"the same asset": func(c *chain.Call) { c.Data = sim.Swap{In: n, Get: b.token}.Data() },
		"a stranger's address": func(c *chain.Call) {
			c.To = b.Address("nobody")
		},
	} {
		c := good
		spoil(&c)
		if _, err := b.Chain().Draft(t.Context(), c, nil, money.FromUint64(2_000_000)); !errors.Is(err, send.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, s := range []sim.Shape{sim.Coins, sim.Expiring} {
		other := newBench(t, s).(*bench)
		c := good
		c.Chain, c.Asset, c.To = other.ID(), other.ID().Native(), other.Address("pool")
		if _, err := other.Chain().Draft(t.Context(), c, nil, money.FromUint64(2_000_000)); !errors.Is(err, send.ErrRefused) {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// Whatever is exchanged, the product never falls: nobody takes more out than he put in.
func TestNoTradeTakesFromAPool(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Of(t), 1))
	for range 20_000 {
		have, gives, in := 1+r.Uint64N(1<<r.IntN(62)), 1+r.Uint64N(1<<r.IntN(62)), 1+r.Uint64N(1<<r.IntN(62))
		out, err := sim.Product(money.FromUint64(have), money.FromUint64(gives), money.FromUint64(in))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := out.Uint64()
		product := func(a, b uint64) *big.Int {
			return new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
		}
		if n >= gives || product(have+in, gives-n).Cmp(product(have, gives)) < 0 {
			t.Fatalf("%d for %d of a pool of %d and %d", n, in, have, gives)
		}
	}
}
