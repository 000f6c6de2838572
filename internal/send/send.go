package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Sender sends from one account on one chain. One loop drives it, and of its transfers
// one at a time chooses slots; the slots of the store are the second lock.
type Sender struct {
	id    chain.ID
	from  chain.Account
	chain Chain
	store Store

	choosing sync.Mutex // held from choosing slots until they are kept
	idle     atomic.Bool
}

// New makes a sender.
func New(id chain.ID, from chain.Account, c Chain, s Store) *Sender {
	return &Sender{id: id, from: from, chain: c, store: s}
}

// Step looks once at every open transfer, one after the other, and does what it needs.
// One transfer in trouble does not keep the others waiting; a chain that is halted is
// only looked at.
func (s *Sender) Step(ctx context.Context, now time.Time) error { return s.StepAtOnce(ctx, now, 1) }

// Idle reports whether the last step found no open transfer: until a wish is written,
// the next has nothing to do.
func (s *Sender) Idle() bool { return s.idle.Load() }

// StepAtOnce is Step with so many transfers at a time: most of what one takes is waiting
// for nodes.
func (s *Sender) StepAtOnce(ctx context.Context, now time.Time, many int) error {
	jobs, err := s.store.Live(ctx, s.id, s.from)
	s.idle.Store(err == nil && len(jobs) == 0)
	if err != nil {
		return fmt.Errorf("live transfers on %s: %w", s.id, err)
	}
	if len(jobs) == 0 {
		return nil
	}
	halted, err := s.store.Halted(ctx, s.id)
	if err != nil {
		return fmt.Errorf("halt of %s: %w", s.id, err)
	}
	errs := make([]error, len(jobs))
	one := func(i int) {
		j, step := jobs[i], s.work
		if j.Vigil {
			step = s.vigil
		}
		err := step(ctx, j, now, halted != "")
		if err != nil && !errors.Is(err, ErrStale) && !errors.Is(err, ErrSlotTaken) { // another worker was first
			errs[i] = fmt.Errorf("transfer %s: %w", j.Transfer.ID, err)
		}
	}
	if many <= 1 {
		for i := range jobs {
			one(i)
		}
		return errors.Join(errs...)
	}
	var g errgroup.Group
	g.SetLimit(many)
	for i := range jobs {
		g.Go(func() error {
			one(i)
			return nil
		})
	}
	_ = g.Wait() // what each found is in errs
	return errors.Join(errs...)
}

// work goes on with an open transfer.
func (s *Sender) work(ctx context.Context, j Job, now time.Time, halted bool) error {
	all, err := s.look(ctx, j, now)
	if err != nil {
		return err
	}
	todo, which := decide(j.Transfer, all, now)
	switch todo {
	case finish:
		return s.store.End(ctx, j.Transfer.ID, which.result(), now)
	case abandon:
		return s.store.End(ctx, j.Transfer.ID, Result{Fate: chain.Dead, Why: "it did not land in time"}, now)
	case wait:
		return nil
	}
	if halted {
		return nil
	}
	switch todo {
	case offer:
		return s.chain.Broadcast(ctx, which.kept.Raw)
	case draft:
		return s.draft(ctx, j, now)
	case cancel:
		return s.cancel(ctx, j, which.kept, now)
	case bump:
		return s.bump(ctx, j, which.kept, now)
	}
	return nil
}

// look asks for the fate of every attempt that is not buried, and buries those
// that are proven dead.
func (s *Sender) look(ctx context.Context, j Job, now time.Time) ([]seen, error) {
	all := make([]seen, 0, len(j.Attempts))
	for _, k := range j.Attempts {
		if k.Dead {
			all = append(all, seen{k, chain.Status{Fate: chain.Dead}})
			continue
		}
		st, err := s.chain.Fate(ctx, k.Attempt)
		if err != nil {
			return nil, fmt.Errorf("fate of %s: %w", k.Tx, err)
		}
		all = append(all, seen{k, st})
	}
	for _, x := range all {
		// While one of them may land or has landed, the others are dead by it:
		// the chain may have gone on between two of the questions.
		if x.status.Fate != chain.Dead {
			return all, nil
		}
	}
	if stale, err := s.overtaken(ctx, j); err != nil || stale {
		return nil, errors.Join(err, ErrStale)
	}
	for _, x := range all {
		if x.kept.Dead {
			continue
		}
		if len(x.kept.Slots) > 0 { // none of ours used it up
			why := fmt.Sprintf("a slot of %s was spent by a transaction that is not ours: %v", j.Transfer.ID, x.kept.Slots)
			if err := s.store.Halt(ctx, s.id, why, now); err != nil {
				return nil, fmt.Errorf("halt %s: %w", s.id, err)
			}
		}
		if err := s.store.Bury(ctx, j.Transfer.ID, x.kept.N); err != nil {
			return nil, fmt.Errorf("bury %s: %w", x.kept.Tx, err)
		}
	}
	return all, nil
}

// overtaken reports whether another worker went on with a transfer since it was
// read. Only then may an attempt be dead by one of our own that we do not know of:
// to be final it must have been kept long before.
func (s *Sender) overtaken(ctx context.Context, j Job) (bool, error) {
	if !slices.ContainsFunc(j.Attempts, func(k Kept) bool { return !k.Dead }) {
		return false, nil
	}
	jobs, err := s.store.Live(ctx, s.id, s.from)
	if err != nil {
		return false, fmt.Errorf("live transfers on %s: %w", s.id, err)
	}
	i := slices.IndexFunc(jobs, func(k Job) bool { return k.Transfer.ID == j.Transfer.ID })
	return i < 0 || len(jobs[i].Attempts) != len(j.Attempts), nil
}

// draft signs an attempt with fresh slots. It is reached only when nothing of the
// transfer can land any more.
func (s *Sender) draft(ctx context.Context, j Job, now time.Time) error {
	if why, err := s.store.Halted(ctx, s.id); err != nil || why != "" { // looking may have halted it
		return err
	}
	c := &choice{s: s}
	defer c.over()
	a, err := s.chain.Draft(ctx, j.Transfer.call(), c.held, j.Transfer.MaxFee)
	switch {
	case errors.Is(err, ErrRefused) && (len(j.Attempts) == 0 || len(j.Transfer.Call.Sources) > 0):
		// What a sweep was to bring home may be gone since an attempt of it expired.
		return s.store.End(ctx, j.Transfer.ID, Result{Fate: chain.Dead, Why: err.Error()}, now)
	case errors.Is(err, ErrTooDear), errors.Is(err, ErrNoFunds):
		return nil // its deadline tells an operator
	case err != nil:
		return fmt.Errorf("draft: %w", err)
	}
	if err := s.keep(ctx, j, a, false, now); err != nil {
		return err
	}
	c.over()
	return s.offer(ctx, a)
}

// choice is a draft that may choose slots.
type choice struct {
	s      *Sender
	choose bool
}

// held waits until no other draft chooses, and says what is taken.
func (c *choice) held(ctx context.Context) ([]chain.Slot, error) {
	if !c.choose {
		c.s.choosing.Lock()
		c.choose = true
	}
	slots, err := c.s.store.Held(ctx, c.s.id, c.s.from)
	if err != nil {
		return nil, fmt.Errorf("held slots: %w", err)
	}
	return slots, nil
}

// over lets others choose: what was chosen is kept, or will not be.
func (c *choice) over() {
	if c.choose {
		c.choose = false
		c.s.choosing.Unlock()
	}
}

// bump replaces the newest attempt by one that pays more, if the ramp allows it.
func (s *Sender) bump(ctx context.Context, j Job, prev Kept, now time.Time) error {
	ramp := Ramp{First: j.Attempts[0].Fee, Max: j.Transfer.MaxFee, Started: j.Attempts[0].At, Deadline: j.Transfer.Deadline}
	fee := ramp.At(now)
	if !worthBump(prev.Fee, fee) {
		return nil
	}
	call := j.Transfer.call()
	if prev.Cancel {
		call = s.nothing(call)
	}
	return s.replace(ctx, j, call, prev, fee, now)
}

// cancel uses up the slot of a transfer that has had its time, by a transaction
// that pays nobody. Whichever of them lands decides.
func (s *Sender) cancel(ctx context.Context, j Job, prev Kept, now time.Time) error {
	return s.replace(ctx, j, s.nothing(j.Transfer.call()), prev, j.Transfer.MaxFee, now)
}

// nothing is a call that pays nobody.
func (s *Sender) nothing(c chain.Call) chain.Call {
	return chain.Call{Chain: c.Chain, From: c.From, To: s.chain.Own(c.From), Asset: c.Chain.Native(), For: c.For}
}

func (s *Sender) replace(ctx context.Context, j Job, call chain.Call, prev Kept, fee money.Amount, now time.Time) error {
	a, err := s.redraft(ctx, j, call, prev, fee, now)
	if err != nil {
		return err
	}
	return s.offer(ctx, a)
}

// redraft signs and keeps an attempt in the place of another, for which it may take more
// coins. It gives the other back where that can not be replaced now: its bytes may still
// be needed.
func (s *Sender) redraft(ctx context.Context, j Job, call chain.Call, prev Kept, fee money.Amount, now time.Time) (chain.Attempt, error) {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	a, err := s.chain.Redraft(ctx, call, prev.Attempt, fee)
	switch {
	case errors.Is(err, ErrLive), errors.Is(err, ErrTooDear), errors.Is(err, ErrNoFunds):
		return prev.Attempt, nil
	case err != nil:
		return a, fmt.Errorf("redraft of %s: %w", prev.Tx, err)
	}
	return a, s.keep(ctx, j, a, call.Amount.IsZero() && len(call.Data) == 0, now)
}

// keep stores an attempt. Only then may it be offered to the network.
func (s *Sender) keep(ctx context.Context, j Job, a chain.Attempt, cancels bool, now time.Time) error {
	k := Kept{Attempt: a, N: len(j.Attempts) + 1, Cancel: cancels, At: now}
	if err := s.store.Keep(ctx, j.Transfer.ID, k); err != nil {
		return fmt.Errorf("keep attempt %d: %w", k.N, err)
	}
	return nil
}

// offer offers a kept attempt to the network.
func (s *Sender) offer(ctx context.Context, a chain.Attempt) error {
	if err := s.chain.Broadcast(ctx, a.Raw); err != nil {
		return fmt.Errorf("broadcast %s: %w", a.Tx, err)
	}
	return nil
}

// vigil offers bytes that were final before a chain went back behind them, until
// they are final again.
func (s *Sender) vigil(ctx context.Context, j Job, now time.Time, _ bool) error {
	for _, k := range j.Attempts {
		if k.Tx != j.Tx {
			continue
		}
		st, err := s.chain.Fate(ctx, k.Attempt)
		if err != nil {
			return fmt.Errorf("fate of %s: %w", k.Tx, err)
		}
		switch st.Fate {
		case chain.Final, chain.Reverted:
			return s.store.Rest(ctx, j.Transfer.ID, st, now)
		case chain.Dead:
			why := fmt.Sprintf("%s was final, was taken back, and can no longer land", j.Transfer.ID)
			return s.store.Halt(ctx, s.id, why, now)
		case chain.Missing:
			return s.chain.Broadcast(ctx, k.Raw)
		}
		return nil
	}
	return nil
}
