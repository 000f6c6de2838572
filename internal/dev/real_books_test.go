package dev

import (
	"context"
	"encoding/hex"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
)

// junk makes a token that nobody lists.
func (r *real) junk(t *testing.T, slug string) chain.Asset {
	t.Helper()
	id := r.on[slug].ID
	on := nodeOf(r.Network.grounds[id]).on
	if _, is := r.Network.grounds[id].(solanaNode); is {
		var out struct{ Mint string }
		if err := on.Do(t.Context(), "token", fields{"name": "junk", "decimals": 6}, &out); err != nil {
			t.Fatal(err)
		}
		r.wait(t, "the token is made", func() bool {
			var info struct{ Value *fields }
			err := rpcCall(t.Context(), on.RPC, &info, "getAccountInfo", out.Mint, fields{"encoding": "base64", "commitment": "confirmed"})
			return err == nil && info.Value != nil
		})
		return chain.Asset{Chain: id, Ref: out.Mint}
	}
	code, err := evm.TestTokenCode("Worthless", "USDC", 6)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Address string }
	if err := on.Do(t.Context(), "deploy", fields{"data": "0x" + hex.EncodeToString(code)}, &out); err != nil {
		t.Fatal(err)
	}
	return chain.Asset{Chain: id, Ref: out.Address}
}

// stands has a chain make no blocks, until what it gives back is called.
func (w *trade) stands(on node) (goesOn func()) {
	every := func(ms int) {
		w.t.Helper()
		if err := on.on.Do(w.t.Context(), "auto", fields{"everyMs": ms}, nil); err != nil {
			w.t.Fatal(err)
		}
	}
	every(0)
	return func() { every(on.auto["everyMs"]) }
}

// reorganised has the chain go back behind the deposit while it is not final: the
// order is paid once all the same.
func reorganised(w *trade) {
	t := w.t
	goesOn := w.stands(nodeOf(w.Network.grounds[w.order.Quote.Give.Chain])) // so that the payment is in the newest block
	defer goesOn()
	deposit := w.real.on[w.from.slug].Codec.Show(w.order.DepositTo)
	came := w.pay(100)
	if err := w.Network.Mine(t.Context(), w.from.slug, 1); err != nil {
		t.Fatal(err)
	}
	if got := w.Network.has(t, w.order.Quote.Give, deposit); got != came {
		t.Fatalf("%s is there of %s", got, came)
	}
	w.until("confirming")
	w.wait(t, "the watcher has read the block", func() bool {
		sights, err := w.DB.Unripe(t.Context(), w.order.Quote.Give.Chain)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sights {
			if s.Deposit.To == w.order.DepositTo && !s.Deposit.Block.IsZero() {
				return true
			}
		}
		return false
	})
	if err := w.Network.Reorg(t.Context(), w.from.slug, 1); err != nil {
		t.Fatal(err)
	}
	if got := w.Network.has(t, w.order.Quote.Give, deposit); !got.IsZero() {
		t.Fatalf("the chain went back, and %s is there", got)
	}
	goesOn()
	o := w.until("completed")
	w.arrived(o, "delivery", w.to, w.toAddr)
	if len(o.Payouts) != 1 || o.Actual.DepositedAmount != came.String() {
		t.Errorf("it was paid %s once, and the order knows of %+v and sent %+v", came, o.Deposits, o.Payouts)
	}
}

// booksAreChains waits until everything is home, and then holds the books to what the
// nodes say, to the last unit.
func (r *real) booksAreChains(t *testing.T) {
	t.Helper()
	r.wait(t, "nothing is on its way", func() bool { return r.quiet(t) })
	booksAreChains(t, r.Dev)
	r.auditsClean(t)
}

// quiet reports whether every transfer is closed and every deposit that is worth it is home.
func (r *real) quiet(t *testing.T) bool {
	t.Helper()
	for _, c := range r.Network.chains {
		jobs, err := r.DB.Live(t.Context(), c.ID, order.HotWallet)
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) > 0 {
			return false
		}
	}
	for _, a := range r.Network.assets {
		lying, err := r.DB.Unswept(t.Context(), a.Asset.Asset, 100, time.Now().Add(time.Hour)) // also those whose sweep failed
		if err != nil {
			t.Fatal(err)
		}
		if len(lying) > 0 {
			return false
		}
	}
	return true
}

// booksAreChains holds the books to what the nodes say.
func booksAreChains(t *testing.T, d *Dev) {
	t.Helper()
	ctx := t.Context()
	if err := d.DB.Audit(ctx); err != nil {
		t.Error(err)
	}
	if halts, err := d.DB.Halts(ctx); err != nil || len(halts) > 0 {
		t.Errorf("chains are halted: %v, %v", halts, err)
	}
	books, err := d.DB.Books(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(books.Reservations) > 0 {
		t.Errorf("something is reserved: %v", books.Reservations)
	}
	for _, a := range d.Network.assets {
		x := a.Asset.Asset
		sum, err := books.Sum(x)
		if net, _ := sum.Net(); err != nil || !net.IsZero() {
			t.Errorf("the books of %s do not add up: %s, %v", x, sum, err)
		}
		hot, lying, err := d.onChain(ctx, x)
		if err != nil {
			t.Fatal(err)
		}
		for account, has := range map[ledger.Account]money.Amount{ledger.Hot(x.Chain): hot, ledger.Deposits(x.Chain): lying} {
			b := books.Balances[ledger.Key{Account: account, Asset: x}]
			if net, below := b.Net(); below || net != has {
				t.Errorf("%s in %s %s: the books say %s, the node says %s", account, a.Symbol, x, b, has)
			}
		}
	}
}

// onChain is what the hot wallet has and what lies on all deposit addresses of orders,
// by what the node says.
func (d *Dev) onChain(ctx context.Context, x chain.Asset) (hot, lying money.Amount, err error) {
	for _, c := range d.Network.chains {
		if c.ID != x.Chain {
			continue
		}
		if hot, err = d.Network.balance(ctx, x, c.Codec.Show(c.Own)); err != nil {
			return hot, lying, err
		}
		watched, err := d.DB.AddressesSince(ctx, c.ID, 0, 100_000)
		if err != nil {
			return hot, lying, err
		}
		for _, w := range watched {
			if _, is := w.Address.Reference(); is { // which nothing can lie on
				continue
			}
			n, err := d.Network.balance(ctx, x, c.Codec.Show(w.Address))
			if err != nil {
				return hot, lying, err
			}
			if lying, err = lying.Add(n); err != nil {
				return hot, lying, err
			}
		}
	}
	return hot, lying, nil
}
