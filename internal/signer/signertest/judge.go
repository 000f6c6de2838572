package signertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
)

// Wishes are the transfers that a family's senders were asked for.
type Wishes struct {
	mu      sync.Mutex
	n       int
	records map[send.ID]send.Record
	calls   map[chain.TxID]chain.Call // what an attempt was first made for
}

// Judge gives a signer that judges by caps that no test reaches, and the wishes that it
// looks up: Wishes.Sender writes them.
func Judge(t testing.TB, ring *signer.Ring, sweepers map[chain.ID]chain.Address) (*signer.Signer, *Wishes) {
	t.Helper()
	w := &Wishes{records: map[send.ID]send.Record{}, calls: map[chain.TxID]chain.Call{}}
	const plenty = 1_000_000_000 * money.Dollar
	s, err := signer.New(ring, signer.Policy{PerPayment: plenty, PerHour: plenty, FeeShare: money.Whole, Sweepers: sweepers, Now: time.Now}, w, w)
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

// Transfer implements signer.Wishes.
func (w *Wishes) Transfer(_ context.Context, id send.ID) (send.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, ok := w.records[id]
	if !ok {
		return r, fmt.Errorf("transfer %q: %w", id, send.ErrUnknown)
	}
	return r, nil
}

// Halted implements signer.Halts: no chain is.
func (*Wishes) Halted(context.Context, chain.ID) (string, error) { return "", nil }

// Sender makes a wish of every draft that is asked of a chain.
func (w *Wishes) Sender(c send.Chain) send.Chain { return sender{c, w} }

type sender struct {
	send.Chain
	w *Wishes
}

// Draft implements send.Chain.
func (s sender) Draft(ctx context.Context, c chain.Call, held send.Held, most money.Amount) (chain.Attempt, error) {
	c = s.w.wish(c, most)
	a, err := s.Chain.Draft(ctx, c, held, most)
	return s.w.made(c, a, err)
}

// Redraft implements send.Chain. An attempt that expires is dead by the time it may be
// followed by another, which the family has proven then.
func (s sender) Redraft(ctx context.Context, c chain.Call, prev chain.Attempt, most money.Amount) (chain.Attempt, error) {
	c = s.w.wish(c, most, send.Kept{Attempt: prev, N: 1, Dead: prev.Expires != 0})
	a, err := s.Chain.Redraft(ctx, c, prev, most)
	return s.w.made(c, a, err)
}

// wish stores a call with the attempts before it. A cancel is for the wish that its
// attempt was made for.
func (w *Wishes) wish(c chain.Call, most money.Amount, before ...send.Kept) chain.Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	c.For = fmt.Sprintf("wish %d", w.n)
	wished := c
	if c.Amount.IsZero() && len(before) > 0 {
		wished = w.calls[before[0].Tx]
	}
	w.records[send.ID(c.For)] = send.Record{Open: true, Job: send.Job{
		Attempts: before, Transfer: send.Transfer{ID: send.ID(c.For), Call: wished, USD: money.Dollar, MaxFee: most},
	}}
	return c
}

func (w *Wishes) made(c chain.Call, a chain.Attempt, err error) (chain.Attempt, error) {
	if err != nil {
		return a, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[a.Tx] = w.records[send.ID(c.For)].Transfer.Call
	return a, nil
}
