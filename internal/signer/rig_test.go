package signer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tyler-smith/go-bip39"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// book is a store that holds wishes and halts.
type book struct {
	mu      sync.Mutex
	records map[send.ID]send.Record
	halted  map[chain.ID]string
	down    error
}

func (b *book) Transfer(_ context.Context, id send.ID) (send.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.records[id]
	if !ok {
		return r, fmt.Errorf("transfer %s: %w", id, send.ErrUnknown)
	}
	return r, b.down
}

func (b *book) Halted(_ context.Context, id chain.ID) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.halted[id], nil
}

func (b *book) halt(id chain.ID, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.halted[id] = why
}

func (b *book) put(id send.ID, r send.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records[id] = r
}

// brokenHalts cannot say whether a chain is halted.
type brokenHalts struct{}

func (brokenHalts) Halted(context.Context, chain.ID) (string, error) {
	return "", errors.New("the database is gone")
}

// aboutRing is made once: a seed costs time on purpose.
var aboutRing = sync.OnceValue(func() *signer.Ring {
	r, err := signer.NewRing(bip39.NewSeed(about, ""), nets)
	if err != nil {
		panic(err)
	}
	return r
})

// rig is a signer beside the wishes that it looks up.
type rig struct {
	testing.TB
	ring   *signer.Ring
	book   *book
	policy signer.Policy
	signer *signer.Signer
	now    time.Time
	n      uint64
}

// next is another number each time.
func (r *rig) next() uint64 { r.n++; return r.n }

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{TB: t, ring: aboutRing(), now: start, book: &book{records: map[send.ID]send.Record{}, halted: map[chain.ID]string{}}}
	r.policy = signer.Policy{
		PerPayment: 1000 * money.Dollar, PerHour: 2500 * money.Dollar, FeeShare: money.Whole / 10,
		Sweepers: map[chain.ID]chain.Address{ether: chain.CanonicalAddress(chain.EVM, sweeperText)},
		Now:      func() time.Time { return r.now },
	}
	r.remake()
	return r
}

// remake starts the signer anew, as a process that was restarted.
func (r *rig) remake() {
	r.Helper()
	s, err := signer.New(r.ring, r.policy, r.book, r.book)
	if err != nil {
		r.Fatal(err)
	}
	r.signer = s
}

func (r *rig) address(id chain.ID, k chain.Key) chain.Address {
	r.Helper()
	a, err := r.ring.Address(r.Context(), id, k)
	if err != nil {
		r.Fatal(err)
	}
	return a
}

// wish stores a transfer of 600 dollars.
func (r *rig) wish(id send.ID, c chain.Call, maxFee uint64) {
	c.From, c.Asset.Chain = signer.Hot, c.Chain
	r.book.put(id, send.Record{Open: true, Job: send.Job{Transfer: send.Transfer{
		ID: id, Order: "ord_x", Call: c, USD: 600 * money.Dollar, MaxFee: money.FromUint64(maxFee),
	}}})
}

// keep stores a signed transaction as an attempt.
func (r *rig) keep(id send.ID, raw []byte) {
	rec := r.book.records[id]
	rec.Attempts = append(rec.Attempts, send.Kept{N: len(rec.Attempts) + 1, Attempt: chain.Attempt{Raw: raw}})
	r.book.put(id, rec)
}

func (r *rig) change(id send.ID, f func(*send.Record)) {
	rec := r.book.records[id]
	f(&rec)
	r.book.put(id, rec)
}

func (r *rig) sign(p chain.Paper) []byte {
	r.Helper()
	raw, err := r.signer.Sign(r.Context(), p)
	if err != nil {
		r.Fatalf("a good paper was not signed: %v", err)
	}
	return raw
}

// refused fails unless a paper is refused for a reason.
func (r *rig) refused(p chain.Paper, why signer.Reason) {
	r.Helper()
	raw, err := r.signer.Sign(r.Context(), p)
	var no *signer.Refusal
	if raw != nil || !errors.As(err, &no) || !errors.Is(err, signer.ErrRefused) || no.Reason != why {
		r.Fatalf("got %x, %v; want a refusal because of %q", raw, err, why)
	}
}

// commonRefusals are refusals that are the same for every family. good makes a good
// paper for the transfer "t" and stores its wish.
func commonRefusals(t *testing.T, good func(r *rig) chain.Paper) {
	for _, c := range []struct {
		name string
		do   func(r *rig, p *chain.Paper)
		want signer.Reason
	}{
		{"for nobody", func(_ *rig, p *chain.Paper) { p.For = "" }, signer.NotWished},
		{"for another transfer", func(_ *rig, p *chain.Paper) { p.For = "u" }, signer.NotWished},
		{"store is down", func(r *rig, _ *chain.Paper) { r.book.down = errors.New("gone") }, signer.NotWished},
		{"another was found", func(r *rig, _ *chain.Paper) { r.change("t", func(k *send.Record) { k.Transfer.ID = "u" }) }, signer.NotWished},
		{"closed", func(r *rig, _ *chain.Paper) { r.change("t", func(k *send.Record) { k.Open = false }) }, signer.Closed},
		{"vigil", func(r *rig, _ *chain.Paper) { r.change("t", func(k *send.Record) { k.Open, k.Vigil = false, true }) }, signer.Closed},
		{"halted", func(r *rig, p *chain.Paper) { r.book.halt(p.Chain, "somebody took money") }, signer.Halted},
		{"another chain of ours", func(_ *rig, p *chain.Paper) { p.Chain = other(p.Chain) }, signer.WrongChain},
		{"a chain of nobody", func(_ *rig, p *chain.Paper) { p.Chain = "eip155:999" }, signer.WrongChain},
		{"wished elsewhere", func(r *rig, p *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.Call.Chain = other(p.Chain) })
		}, signer.WrongChain},
		{"asset from elsewhere", func(r *rig, p *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.Call.Asset.Chain = other(p.Chain) })
		}, signer.WrongChain},
		{"from another account", func(r *rig, _ *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.Call.From = "cold" })
		}, signer.WrongKeys},
		{"without keys", func(_ *rig, p *chain.Paper) { p.Keys = nil }, signer.WrongKeys},
		{"over nothing", func(r *rig, _ *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.Call.Amount = money.Amount{} })
		}, signer.Amount},
		{"to ourselves", func(r *rig, p *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.Call.To = r.address(p.Chain, hotKey()) })
		}, signer.Recipient},
		{"above the cap", func(r *rig, _ *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.USD = 1001 * money.Dollar })
		}, signer.Capped},
		{"worth nothing", func(r *rig, _ *chain.Paper) { r.change("t", func(k *send.Record) { k.Transfer.USD = 0 }) }, signer.Capped},
		{"worth less than nothing", func(r *rig, _ *chain.Paper) { r.change("t", func(k *send.Record) { k.Transfer.USD = -1 }) }, signer.Capped},
		{"dearer than allowed", func(r *rig, _ *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.MaxFee = money.FromUint64(1) })
		}, signer.Fee},
		{"another amount wished", func(r *rig, _ *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.Call.Amount = money.FromUint64(77_777_777) })
		}, signer.Amount},
		{"an attempt nobody can read", func(r *rig, _ *chain.Paper) { r.keep("t", []byte("junk")) }, signer.Beside},
		{"a cancel of nothing", func(_ *rig, p *chain.Paper) { p.Cancel = true }, ""},
		{"cut short", func(_ *rig, p *chain.Paper) { p.Unsigned = p.Unsigned[:len(p.Unsigned)-1] }, signer.Unreadable},
		{"with something behind", func(_ *rig, p *chain.Paper) { p.Unsigned = append(bytes.Clone(p.Unsigned), 0) }, signer.Unreadable},
		{"empty", func(_ *rig, p *chain.Paper) { p.Unsigned = nil }, signer.Unreadable},
		{"a key too many", func(_ *rig, p *chain.Paper) { p.Keys = append(p.Keys, hotKey()) }, ""},
		{"signed by a deposit address", func(_ *rig, p *chain.Paper) { p.Keys = []chain.Key{depositKey(0)} }, signer.WrongKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := good(r)
			c.do(r, &p)
			if c.want == "" { // which rule comes first differs between families
				if raw, err := r.signer.Sign(t.Context(), p); raw != nil || !errors.Is(err, signer.ErrRefused) {
					t.Fatalf("got %x, %v; want a refusal", raw, err)
				}
				return
			}
			r.refused(p, c.want)
		})
	}
}

func other(id chain.ID) chain.ID {
	if id == ether {
		return regtest
	}
	return ether
}

// commonLife is what every family does with several papers: sign again, count what
// leaves in an hour, forget what is proven dead. fresh makes another good paper for
// the transfer, one that could land beside the ones before.
func commonLife(t *testing.T, good, fresh func(r *rig) chain.Paper) {
	t.Run("the same again", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		p := good(r)
		one := r.sign(p)
		if two := r.sign(p); !bytes.Equal(one, two) {
			t.Fatal("the same paper got another signature")
		}
		r.keep("t", one)
		r.sign(p)
	})
	t.Run("never beside a kept attempt", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		p := good(r)
		r.keep("t", r.sign(p))
		r.refused(fresh(r), signer.Beside)
		r.remake()
		r.refused(fresh(r), signer.Beside)
		r.change("t", func(k *send.Record) { k.Attempts[0].Dead = true })
		r.sign(fresh(r))
	})
	t.Run("what was not kept counts", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.sign(good(r))
		for range 3 { // 600 dollars each, and 2500 an hour
			r.sign(fresh(r))
		}
		r.refused(fresh(r), signer.Capped)
		r.now = r.now.Add(time.Hour - 1)
		r.refused(fresh(r), signer.Capped)
		r.now = r.now.Add(1)
		r.sign(fresh(r))
	})
	t.Run("what is dead does not count", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		p := good(r)
		for range 20 {
			r.keep("t", r.sign(p))
			r.change("t", func(k *send.Record) { k.Attempts[len(k.Attempts)-1].Dead = true })
			p = fresh(r)
		}
	})
	t.Run("small papers that were not kept have an end", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		p := good(r)
		r.change("t", func(k *send.Record) { k.Transfer.USD = money.Dollar })
		for range 8 {
			r.sign(p)
			p = fresh(r)
		}
		r.refused(p, signer.Beside)
	})
}

func TestPolicyMustSayEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, spoil := range map[string]func(*signer.Policy){
		"no cap of a payment": func(p *signer.Policy) { p.PerPayment = 0 },
		"no cap of an hour":   func(p *signer.Policy) { p.PerHour = 0 },
		"no share":            func(p *signer.Policy) { p.FeeShare = 0 },
		"more than all":       func(p *signer.Policy) { p.FeeShare = money.Whole + 1 },
		"no clock":            func(p *signer.Policy) { p.Now = nil },
	} {
		p := r.policy
		spoil(&p)
		if _, err := signer.New(r.ring, p, r.book, r.book); err == nil {
			t.Errorf("a signer was made with %s", name)
		}
	}
}

func TestNotKnownIsHalted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s, err := signer.New(r.ring, r.policy, r.book, brokenHalts{})
	if err != nil {
		t.Fatal(err)
	}
	p := evmGood(r)
	r.sign(p)
	r.signer = s
	r.refused(p, signer.Halted)
}
