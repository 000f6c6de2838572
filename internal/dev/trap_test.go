package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/devnet"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/send"
	"ferry/internal/settle"
)

// trapEnv makes the test binary a service on real nodes that kills itself at a failpoint.
const trapEnv = "FERRY_TEST_TRAP"

// Failpoints: the calls by which a transfer comes about, in their order. Each of them
// can be cut before its effect and after it.
const (
	moveWish = "Move that wishes it"
	takeWish = "TakeWork of its wish"
	wish     = "Wish"
	doneWish = "DoneWork of its wish"
	drafts   = "Draft"
	keeps    = "Keep"
	offers   = "Broadcast"
	ends     = "End"
	takeEnd  = "TakeWork of its end"
	moveEnd  = "Move that ends it"
	moveStep = "Move of an order with steps"
	doneEnd  = "DoneWork of its end"
)

// failpoint is where a service is cut.
type failpoint struct {
	Name  string
	After bool
}

func (f failpoint) String() string {
	if f.After {
		return "after " + f.Name
	}
	return "before " + f.Name
}

// failpoints are all of them. What work there will be is not known before it is taken,
// so taking it is cut only afterwards.
func failpoints() (all []failpoint) {
	for _, name := range []string{moveWish, takeWish, wish, doneWish, drafts, keeps, offers, ends, takeEnd, moveEnd, doneEnd} {
		if name != takeWish && name != takeEnd {
			all = append(all, failpoint{name, false})
		}
		all = append(all, failpoint{name, true})
	}
	return all
}

// trap is what the service in the other process is told.
type trap struct {
	At          failpoint
	Transfer    string // whose failpoint it is
	Control     string // where the chains are
	Dir, Prefix string
	Only        []chain.ID

	mu    sync.Mutex
	works map[string]string // by id: which of the calls takes and ends it
	raws  map[string]string // whose bytes they are
}

// patientWith are the settings of services that are cut: what is too little goes back
// by itself, and work that nobody does any more is soon somebody else's.
func patientWith(c *front.Config) {
	calm(c)
	c.Settle.Lease = time.Second
	c.Offers.Tolerance.UnderAction = quote.Refund
}

// serveTrap is a whole service until it is killed by its trap.
func serveTrap(text string) error {
	s := &trap{works: map[string]string{}, raws: map[string]string{}}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return err
	}
	on := stage{dir: s.Dir, prefix: s.Prefix, only: s.Only, change: func(c *front.Config) {
		patientWith(c)
		c.Gate = func(in daemon.Store) daemon.Store { return trapStore{in, s} }
	}}
	o := on.options(devnet.Attach(s.Control), os.Stderr, func(string) {})
	o.over = func(all []front.Chain) {
		for i := range all {
			all[i].Sender = trapChain{all[i].Sender, s}
		}
	}
	// Whoever started it may be gone: nothing must stay behind.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d, err := New(ctx, o)
	if err != nil {
		return err
	}
	d.quicken(fewBlocks)
	return d.Run(ctx, func() {})
}

// at kills the process if this is the place. It says so first: nothing else kills it there.
func (s *trap) at(name, transfer string, after bool) {
	if (failpoint{name, after}) != s.At || transfer != s.Transfer {
		return
	}
	fmt.Println(s.At)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// crossed takes a call through its failpoint.
func crossed[T any](s *trap, name, transfer string, call func() (T, error)) (T, error) {
	s.at(name, transfer, false)
	v, err := call()
	if err == nil {
		s.at(name, transfer, true)
	}
	return v, err
}

func crossedErr(s *trap, name, transfer string, call func() error) error {
	_, err := crossed(s, name, transfer, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// trapStore is a store with failpoints.
type trapStore struct {
	daemon.Store
	s *trap
}

func (g trapStore) Wish(ctx context.Context, t send.Transfer, most send.Cap, now time.Time) error {
	return crossedErr(g.s, wish, string(t.ID), func() error { return g.Store.Wish(ctx, t, most, now) })
}

func (g trapStore) Keep(ctx context.Context, id send.ID, k send.Kept) error {
	return crossedErr(g.s, keeps, string(id), func() error { return g.Store.Keep(ctx, id, k) })
}

func (g trapStore) End(ctx context.Context, id send.ID, r send.Result, now time.Time) error {
	return crossedErr(g.s, ends, string(id), func() error { return g.Store.End(ctx, id, r, now) })
}

// Move is cut before its effect when it has decided, because only then it is known what
// it is about.
func (g trapStore) Move(ctx context.Context, id order.ID, decide settle.Decide) (order.Order, error) {
	var name, transfer string
	o, err := g.Store.Move(ctx, id, func(o order.Order) (order.Change, error) {
		c, err := decide(o)
		if err == nil {
			name, transfer = moves(c)
			g.s.at(name, transfer, false)
		}
		return c, err
	})
	if err == nil {
		g.s.at(name, transfer, true)
	}
	return o, err
}

// moves says which transfer a change wishes or ends.
func moves(c order.Change) (name, transfer string) {
	if c.Now.Bridge != nil || len(c.Now.Quote.Steps) > 0 {
		return moveStep, string(c.Now.ID)
	}
	for _, e := range c.Effects {
		if w, ok := e.(order.Wish); ok {
			return moveWish, w.ID
		}
	}
	purpose, ok := map[string]order.Purpose{"payout_final": order.ForPayout, "fee_paid": order.ForFee, "refund_final": order.ForRefund}[c.Event.Name()]
	if !ok {
		return "", ""
	}
	return moveEnd, string(c.Now.ID) + "/" + string(purpose)
}

func (g trapStore) TakeWork(ctx context.Context, now time.Time, lease time.Duration, n int) ([]settle.Work, error) {
	taken, err := g.Store.TakeWork(ctx, now, lease, n)
	for _, w := range taken {
		e, isWish := w.Effect.(order.Wish)
		switch {
		case w.Closed != nil:
			g.s.keep(g.s.works, w.ID, doneEnd+"\n"+string(w.Closed.Transfer))
			g.s.at(takeEnd, string(w.Closed.Transfer), true)
		case isWish:
			g.s.keep(g.s.works, w.ID, doneWish+"\n"+e.ID)
			g.s.at(takeWish, e.ID, true)
		}
	}
	return taken, err
}

func (g trapStore) DoneWork(ctx context.Context, id string) error {
	name, transfer, _ := strings.Cut(g.s.kept(g.s.works, id), "\n")
	return crossedErr(g.s, name, transfer, func() error { return g.Store.DoneWork(ctx, id) })
}

func (s *trap) keep(in map[string]string, k, v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in[k] = v
}

func (s *trap) kept(in map[string]string, k string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return in[k]
}

// trapChain is a chain with failpoints.
type trapChain struct {
	send.Chain
	s *trap
}

func (g trapChain) Draft(ctx context.Context, c chain.Call, held send.Held, most money.Amount) (chain.Attempt, error) {
	return crossed(g.s, drafts, c.For, func() (chain.Attempt, error) {
		a, err := g.Chain.Draft(ctx, c, held, most)
		g.s.keep(g.s.raws, string(a.Raw), c.For)
		return a, err
	})
}

func (g trapChain) Broadcast(ctx context.Context, raw []byte) error {
	return crossedErr(g.s, offers, g.s.kept(g.s.raws, string(raw)), func() error { return g.Chain.Broadcast(ctx, raw) })
}
