package dev

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/nodes"
	"ferry/internal/order"
	"ferry/internal/treasury"
)

// audit compares one chain with the books, as often as it takes until the chain was read
// as far as it is final.
func (r *real) audit(t *testing.T, c front.Chain) treasury.Finding {
	t.Helper()
	var assets []chain.Asset
	for _, a := range c.Assets {
		assets = append(assets, a.Asset)
	}
	a, err := treasury.NewAuditor(order.HotWallet, r.DB, treasury.Audited{ID: c.ID, Assets: assets, View: c.View})
	if err != nil {
		t.Fatal(err)
	}
	var found []treasury.Finding
	r.wait(t, "an audit of "+c.Slug, func() bool {
		found, err = a.Audit(t.Context())
		if err != nil && !errors.Is(err, treasury.ErrUnread) {
			t.Logf("audit of %s: %v", c.Slug, err) // a busy machine lets a node be late
		}
		return err == nil
	})
	return found[0]
}

// auditsClean audits every chain while nothing is on its way: nothing may differ, and so
// nothing may need to be explained.
func (r *real) auditsClean(t *testing.T) {
	t.Helper()
	for _, c := range r.Network.chains {
		var f treasury.Finding
		r.wait(t, "what ended on "+c.Slug+" is final", func() bool {
			f = r.audit(t, c)
			for _, l := range f.Lines {
				if len(l.Reasons) > 0 {
					return false
				}
			}
			return true
		})
		for _, l := range f.Lines {
			if l.Unexplained.Sign() != 0 || l.Books.Cmp(l.Chain) != 0 || (l.Where == treasury.AtHome && l.Chain.Sign() <= 0 && !r.pooled(l.Asset)) {
				t.Errorf("%s: %s in %s is %s in the books and %s on the chain, unexplained %s", c.Slug, l.Where, l.Asset, l.Books, l.Chain, l.Unexplained)
			}
		}
	}
}

// unexplained waits until an audit finds that so much of an asset in the wallet has no
// explanation, and nothing else on the chain.
func (r *real) unexplained(t *testing.T, c front.Chain, x chain.Asset, want *big.Int) (f treasury.Finding) {
	t.Helper()
	got := new(big.Int)
	for end := time.Now().Add(patience / 4); ; time.Sleep(200 * time.Millisecond) {
		others := false
		f = r.audit(t, c)
		for _, l := range f.Lines {
			if l.Where == treasury.AtHome && l.Asset == x {
				got = l.Unexplained
			} else {
				others = others || l.Unexplained.Sign() != 0
			}
		}
		if got.Cmp(want) == 0 && !others {
			return f
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %s of %s is unexplained, want %s; missing %q, too much %q", c.Slug, got, x, want, f.Missing(), f.Surplus())
		}
	}
}

// burglars are the chains of a network for somebody who has its seed and not its books:
// they sign whatever they are asked to.
func (r *real) burglars(t *testing.T, dir string) map[chain.ID]front.Chain {
	t.Helper()
	l := &local{net: r.Network, rpcs: map[chain.ID]string{}, roots: map[chain.ID]string{}, log: slog.New(slog.DiscardHandler)}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err == nil {
		err = json.Unmarshal(text, &l.state)
	}
	if err == nil {
		err = l.openKeys()
	}
	if err != nil {
		t.Fatal(err)
	}
	all := map[chain.ID]front.Chain{}
	for _, told := range l.told() {
		g, is := r.Network.grounds[told.ID]
		if !is {
			continue
		}
		l.rpcs[told.ID] = nodeOf(g).on.RPC
		if told.Family == chain.Solana {
			if l.roots[told.ID], err = genesisOf(t.Context(), l.rpcs[told.ID]); err != nil {
				t.Fatal(err)
			}
		}
		if all[told.ID], err = nodes.Open(t.Context(), l.adapter(told), l.ring); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// steal takes money out of the wallet, and says what it took with the fee.
func steal(t *testing.T, c front.Chain, n money.Amount, to chain.Address) *big.Int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	call := chain.Call{Chain: c.ID, From: order.HotWallet, To: to, Asset: c.ID.Native(), Amount: n, For: "theft"}
	a, err := c.Sender.Draft(ctx, call, nil, n)
	if err == nil {
		err = c.Sender.Broadcast(ctx, a.Raw)
	}
	for err == nil {
		var st chain.Status
		if st, err = c.Sender.Fate(ctx, a); err == nil && st.Fate == chain.Final {
			sum, err := n.Add(st.Fee)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := new(big.Int).SetString(sum.String(), 10)
			return v
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("theft on %s: %v", c.Slug, err)
	return nil
}

// robberies come last, when nothing differs any more: what a stranger gives is named, and
// what a thief with our keys takes is named and halts its chain.
func (r *real) robberies(t *testing.T, dir string) {
	t.Helper()
	thieves := r.burglars(t, dir)
	var wg sync.WaitGroup
	for _, c := range r.Network.chains {
		wg.Go(func() { t.Run(c.Slug+" is robbed", func(t *testing.T) { r.robbed(t, c, thieves[c.ID]) }) })
	}
	wg.Wait()
}

// robbed gives the wallet of a chain something and takes more from it.
func (r *real) robbed(t *testing.T, c, thief front.Chain) {
	native, given := c.ID.Native(), int64(77_777)
	if _, err := r.Network.Give(t.Context(), Gift{Chain: c.Slug, Token: "native", Address: c.Codec.Show(c.Own), Amount: big.NewInt(given).String()}); err != nil {
		t.Fatal(err)
	}
	f := r.unexplained(t, c, native, big.NewInt(given))
	if f.Missing() != "" || !strings.Contains(f.Surplus(), "77777 of "+native.String()+" is on the wallet and in no book") {
		t.Errorf("a gift: missing %q, too much %q", f.Missing(), f.Surplus())
	}
	if why, err := r.DB.Halted(t.Context(), c.ID); err != nil || why != "" {
		t.Fatalf("a gift halted the chain: %q, %v", why, err)
	}
	took := steal(t, thief, r.worth(place{c.Slug, c.Assets[0].Symbol}, "500"), c.Codec.Make([]byte("thief")))
	short := new(big.Int).Sub(big.NewInt(given), took)
	f = r.unexplained(t, c, native, short)
	missing := new(big.Int).Neg(short).String() + " of " + native.String() + " is missing from the wallet"
	if f.Missing() != missing || f.Surplus() != "" {
		t.Errorf("a theft: missing %q, too much %q; want %q", f.Missing(), f.Surplus(), missing)
	}
	r.wait(t, "the service halts "+c.Slug+" by itself", func() bool {
		why, err := r.DB.Halted(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(why, missing)
	})
}
