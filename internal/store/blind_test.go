package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
)

// counting is an engine that says how often its sessions were sent something.
type counting struct {
	engine
	sends int
}

func (c *counting) session(ctx context.Context) (session, error) {
	s, err := c.engine.session(ctx)
	return &countingSession{s, c}, err
}

type countingSession struct {
	session
	c *counting
}

func (s *countingSession) send(ctx context.Context, ss []stmt) error {
	s.c.sends++
	return s.session.send(ctx, ss)
}

// asked is a new order that asks for all that can be guarded.
func asked(t *testing.T, i int) order.Change {
	t.Helper()
	c := newOrder(t, i)
	c.Open, c.Watched = []chain.ID{"sim:give", "sim:get"}, "sim:give"
	c.Ceilings = []order.Ceiling{{Name: "open", Subject: "acme", Max: 3, Window: time.Hour}}
	c.Now.Origin.Counts = []string{"acme"}
	c.Flow = &order.Flow{Pair: "GIVE/GET", USD: 10 * money.Dollar, Most: 30 * money.Dollar}
	return c
}

// TestWhatIsNotAskedIsStillRefused: a writer that remembers everything makes an order
// without a question. What another process did since must refuse it all the same,
// with the very answer that a question would have brought.
func TestWhatIsNotAskedIsStillRefused(t *testing.T) {
	t.Parallel()
	is := func(ok func(error) bool) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			t.Helper()
			if !ok(err) {
				t.Errorf("answered %v", err)
			}
		}
	}
	for name, c := range map[string]struct {
		between func(t *testing.T, b *DB) error
		change  func(*order.Change)
		want    func(*testing.T, error)
	}{
		"nothing happened": {
			want: is(func(err error) bool { return err == nil }),
		},
		"the chain was halted": {
			between: func(t *testing.T, b *DB) error { return b.Halt(t.Context(), "sim:get", "test", noon) },
			want: is(func(err error) bool {
				closed, ok := errors.AsType[*order.Closed](err)
				return ok && closed.Chain == "sim:get"
			}),
		},
		"the chain is not read": {
			change: func(c *order.Change) { c.Watched = "sim:never" },
			want: is(func(err error) bool {
				closed, ok := errors.AsType[*order.Closed](err)
				return ok && closed.Chain == "sim:never"
			}),
		},
		"the payee is a deposit address": {
			between: func(t *testing.T, b *DB) error {
				c := newOrder(t, 50)
				c.Now.Quote.Give.Chain, c.Now.DepositTo = "sim:get", chain.CanonicalAddress(chain.Other, "out-2")
				return b.Create(t.Context(), c)
			},
			want: is(func(err error) bool { ours, ok := errors.AsType[*order.Ours](err); return ok && !ours.Refund }),
		},
		"the ceiling was reached": {
			between: func(t *testing.T, b *DB) error {
				return errors.Join(b.Create(t.Context(), asked(t, 51)), b.Create(t.Context(), asked(t, 52)))
			},
			want: is(func(err error) bool {
				many, ok := errors.AsType[*order.TooMany](err)
				return ok && many.Ceiling.Subject == "acme" && many.Oldest.Equal(noon)
			}),
		},
		"the pair was sold": {
			between: func(t *testing.T, b *DB) error {
				c := newOrder(t, 54)
				c.Flow = &order.Flow{Pair: "GIVE/GET", USD: 10*money.Dollar + 1, Most: 30 * money.Dollar}
				return b.Create(t.Context(), c)
			},
			want: is(func(err error) bool {
				much, ok := errors.AsType[*order.TooMuch](err)
				return ok && much.Flow.Pair == "GIVE/GET" && much.Sold == 20*money.Dollar+1 && much.Oldest.Equal(noon)
			}),
		},
		"of the pair just enough is left": {
			between: func(t *testing.T, b *DB) error {
				c := newOrder(t, 55)
				c.Flow = &order.Flow{Pair: "GIVE/GET", USD: 10 * money.Dollar, Most: 30 * money.Dollar}
				return b.Create(t.Context(), c)
			},
			want: is(func(err error) bool { return err == nil }),
		},
		"the request made an order": {
			between: func(t *testing.T, b *DB) error {
				c := newOrder(t, 53)
				c.Once = &order.Once{Scope: "s", Key: "k", Body: "b"}
				return b.Create(t.Context(), c)
			},
			change: func(c *order.Change) { c.Once = &order.Once{Scope: "s", Key: "k", Body: "b"} },
			want: is(func(err error) bool {
				made, ok := errors.AsType[*order.Made](err)
				return ok && made.Order == "ord_053" && made.Same
			}),
		},
		"the order is there": {
			between: func(t *testing.T, b *DB) error { return b.Create(t.Context(), newOrder(t, 2)) },
			want:    is(func(err error) bool { return err != nil }),
		},
		"there is more money": {
			between: func(t *testing.T, b *DB) error {
				return b.Fund(t.Context(), chain.Asset{Chain: "sim:get"}, money.FromUint64(7), noon)
			},
			want: is(func(err error) bool { return err == nil }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := pair(t)
			for _, id := range []chain.ID{"sim:give", "sim:get"} {
				if err := b.Caught(t.Context(), id, 1, noon); err != nil {
					t.Fatal(err)
				}
			}
			if err := a.Create(t.Context(), asked(t, 1)); err != nil { // now it remembers
				t.Fatal(err)
			}
			before := wallet(t, a)
			if c.between != nil {
				if err := c.between(t, b); err != nil {
					t.Fatal(err)
				}
			}
			next := asked(t, 2)
			if c.change != nil {
				c.change(&next)
			}
			seen := &counting{engine: a.writer.engine}
			a.writer.engine = seen
			c.want(t, a.Create(t.Context(), next))
			if c.between == nil && c.change == nil && seen.sends != 1 {
				t.Errorf("it took %d round trips", seen.sends)
			}
			if err := b.Audit(t.Context()); err != nil {
				t.Error(err)
			}
			if after := wallet(t, b); after.Debits.Less(before.Debits) || after.Reserved.Less(before.Reserved) {
				t.Errorf("the balance went from %+v to %+v", before, after)
			}
		})
	}
}

// wallet is what the wallet has.
func wallet(t *testing.T, db *DB) ledger.Balance {
	t.Helper()
	b, err := db.Balance(t.Context(), ledger.Key{Account: ledger.Hot("sim:get"), Asset: chain.Asset{Chain: "sim:get"}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMoneyThatCameIsNotRefusedByWhatIsRemembered: the books refuse with a remembered
// balance, and what counts is what is there.
func TestMoneyThatCameIsNotRefusedByWhatIsRemembered(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	all := newOrder(t, 1)
	all.Entry.Reserve[0].Amount = money.FromUint64(1_000_000)
	if err := a.Create(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if err := a.Create(t.Context(), newOrder(t, 2)); !errors.Is(err, ledger.ErrShort) {
		t.Fatalf("an order without money: %v", err)
	}
	if _, err := tell(t.Context(), a, "ord_001", order.Stopped{Request: "r", Why: order.ScreeningHold}); err != nil {
		t.Fatal(err)
	}
	if err := b.Fund(t.Context(), chain.Asset{Chain: "sim:get"}, money.FromUint64(1_000), noon); err != nil {
		t.Fatal(err)
	}
	if err := a.Create(t.Context(), newOrder(t, 2)); err != nil {
		t.Errorf("an order with money: %v", err)
	}
	if err := b.Audit(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWhatAWriterMadeItselfRefusesToo: no other process has taken a number, so that
// nothing but the guard can refuse.
func TestWhatAWriterMadeItselfRefusesToo(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	for _, id := range []chain.ID{"sim:give", "sim:get"} {
		if err := b.Caught(t.Context(), id, 1, noon); err != nil {
			t.Fatal(err)
		}
	}
	free := func(i int) order.Change {
		c := asked(t, i)
		c.Ceilings, c.Now.Origin.Counts = nil, nil
		return c
	}
	back := free(1)
	back.Now.Quote.Give.Chain, back.Now.DepositTo = "sim:get", chain.CanonicalAddress(chain.Other, "out-2")
	if err := a.Create(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	if _, ours := errors.AsType[*order.Ours](a.Create(t.Context(), free(2))); !ours {
		t.Error("an order pays to a deposit address")
	}
	for round := range 2 * memoDistrust / 3 { // until what was wrong once is remembered again
		if a.writer.memo.distrust == 0 {
			break
		}
		for i := range 3 {
			if err := a.Create(t.Context(), free(100+3*round+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := 3; i < 6; i++ {
		if err := a.Create(t.Context(), asked(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	err := a.Create(t.Context(), asked(t, 6))
	if many, ok := errors.AsType[*order.TooMany](err); !ok || !many.Oldest.Equal(noon) {
		t.Errorf("a fourth order of three: %v", err)
	}
}
