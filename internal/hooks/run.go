package hooks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	// page is how much of a log is taken up at a time.
	page = 200
	// gather is how long a wake-up waits for more of them.
	gather = 20 * time.Millisecond
	// tidyEvery is how often old deliveries are forgotten, tidyAtOnce how many.
	tidyEvery  = time.Minute
	tidyAtOnce = 500
	// settling is how long the last words of a process that ends may take.
	settling = 5 * time.Second
	// statusGone is the answer of an endpoint that wants nothing any more.
	statusGone = 410
)

// Run posts until ctx ends.
func (h *Hooks) Run(ctx context.Context) error {
	var posts sync.WaitGroup
	defer posts.Wait()
	var tidied time.Time
	for ctx.Err() == nil {
		woken := h.Log.Woken()
		rest, err := h.step(ctx, &posts)
		if err == nil && h.Now().Sub(tidied) >= tidyEvery {
			tidied = h.Now()
			err = h.Store.TidyHooks(ctx, tidied.Add(-h.cfg.Kept), tidyAtOnce)
		}
		if err != nil && ctx.Err() == nil {
			h.Trouble(fmt.Errorf("webhooks: %w", err))
			rest, woken = h.cfg.Every, nil
		}
		if !h.pause(ctx, woken, rest) {
			return nil
		}
	}
	return nil
}

// pause waits for something to do; it reports whether to go on.
func (h *Hooks) pause(ctx context.Context, woken <-chan struct{}, rest time.Duration) bool {
	t := time.NewTimer(rest)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-h.freed:
		return true
	case <-t.C:
		return true
	case <-woken:
	}
	t.Reset(min(gather, rest))
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// wake makes Run look at once.
func (h *Hooks) wake() {
	select {
	case h.freed <- struct{}{}:
	default:
	}
}

// step takes up what is new and begins to send what is due. It says how long nothing
// is to do, unless something happens.
func (h *Hooks) step(ctx context.Context, posts *sync.WaitGroup) (time.Duration, error) {
	sights, err := h.Store.HookSights(ctx)
	if err != nil {
		return 0, err
	}
	rest := h.cfg.Every
	var errs []error
	// Who comes last is another each time, so that nobody always does.
	rand.Shuffle(len(sights), func(i, j int) { sights[i], sights[j] = sights[j], sights[i] })
	for i := range sights {
		s := &sights[i]
		if s.Behind {
			more, err := h.takeUp(ctx, &s.Endpoint)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if more {
				rest = 0
			}
		}
		now := h.Now()
		if !s.Behind && (s.DueAt.IsZero() || s.DueAt.After(now)) {
			if !s.DueAt.IsZero() {
				rest = min(rest, s.DueAt.Sub(now))
			}
			continue
		}
		if err := h.begin(ctx, s, posts); err != nil {
			errs = append(errs, err)
		}
	}
	return rest, errors.Join(errs...)
}

// takeUp writes down what a part of the log means for an endpoint, and reports whether
// there is more of it.
func (h *Hooks) takeUp(ctx context.Context, e *Endpoint) (more bool, err error) {
	entries, err := h.Log.IntegratorLog(ctx, e.Integrator, e.Cursor, page)
	if err != nil || len(entries) == 0 {
		return false, err
	}
	t := Take{Endpoint: e.ID, From: e.Cursor, To: e.Cursor}
	for i := range entries {
		one := &entries[i]
		if one.Number != t.To+1 {
			return false, fmt.Errorf("endpoint %s: number %d follows %d in the log", e.ID, one.Number, t.To)
		}
		t.To = one.Number
		if name := h.Wording.Name(one); len(e.Events) == 0 || slices.Contains(e.Events, name) {
			t.News = append(t.News, News{Number: one.Number, Order: one.Order, Event: name})
		}
	}
	err = h.Store.TakeUpHook(ctx, t, h.Now())
	if errors.Is(err, ErrMoved) {
		return false, nil // another process took it up
	}
	return len(entries) == page, err
}

// begin leases what is due for an endpoint and sends it in goroutines of their own.
func (h *Hooks) begin(ctx context.Context, s *Sight, posts *sync.WaitGroup) error {
	room := h.take(&s.Endpoint)
	if room == 0 {
		return nil // whoever ends wakes Run
	}
	now := h.Now()
	leased, err := h.Store.LeaseHook(ctx, s.ID, now, now.Add(h.cfg.Lease), room)
	h.give(s.ID, room-len(leased))
	if err != nil {
		return err
	}
	for _, d := range leased {
		posts.Go(func() { h.work(ctx, &s.Endpoint, d) })
	}
	return nil
}

// take takes room for posts to an endpoint: one that fails gets one at a time, so that
// those that never answer leave room for the others.
func (h *Hooks) take(e *Endpoint) int {
	most := h.cfg.PerEndpoint
	if !e.FailingSince.IsZero() {
		most = 1
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	n := max(min(most-h.busy[e.ID], h.cfg.AtOnce-h.total), 0)
	h.busy[e.ID] += n
	h.total += n
	return n
}

func (h *Hooks) give(id ID, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total -= n
	if h.busy[id] -= n; h.busy[id] <= 0 {
		delete(h.busy, id)
	}
}

// work sends one delivery, and goes on with the next that is due while they succeed.
func (h *Hooks) work(ctx context.Context, e *Endpoint, d Delivery) {
	defer h.wake()
	defer h.give(e.ID, 1)
	for {
		ok, err := h.deliver(ctx, e, d)
		if err != nil && ctx.Err() == nil {
			h.Trouble(fmt.Errorf("webhook %s, number %d: %w", e.ID, d.Number, err))
		}
		if !ok || err != nil || ctx.Err() != nil {
			return
		}
		now := h.Now()
		next, err := h.Store.LeaseHook(ctx, e.ID, now, now.Add(h.cfg.Lease), 1)
		if err != nil || len(next) == 0 {
			return
		}
		d = next[0]
	}
}

// errLate says that a post might not be over before somebody else may begin it.
var errLate = errors.New("its lease is nearly over; it is sent again after it")

// errUnread says that the log could not be read, so that nothing was sent.
var errUnread = errors.New("the log can not be read now")

// deliver sends one delivery and writes down what came of it.
func (h *Hooks) deliver(ctx context.Context, was *Endpoint, d Delivery) (ok bool, err error) {
	e, err := h.Store.Hook(ctx, was.Integrator, was.ID) // its secrets may be others by now
	if err != nil {
		return false, err
	}
	m, err := h.message(ctx, &e, d)
	if h.Now().Add(h.cfg.Timeout).After(d.DueAt) {
		return false, errors.Join(err, errLate)
	}
	status, t := 0, Unreadable
	if err == nil {
		post, cancel := context.WithTimeout(ctx, h.cfg.Timeout)
		status, t = h.Poster.Post(post, m)
		cancel()
	}
	o := h.judge(d, status, t)
	switch { // what is no fault of the endpoint is not held against it
	case errors.Is(err, errUnread):
		o = Outcome{Delivery: d, State: Due, Next: h.Now().Add(h.cfg.Waits[0]), Untried: true}
	case t != "" && ctx.Err() != nil: // this process ends
		o = Outcome{Delivery: d, State: Due, Next: h.Now(), Untried: true}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), settling)
	defer cancel()
	return o.State == Done, errors.Join(err, h.Store.SettleHook(last, o, h.Now()))
}

// message is what a delivery says.
func (h *Hooks) message(ctx context.Context, e *Endpoint, d Delivery) (m Message, err error) {
	entries, err := h.Log.IntegratorLog(ctx, e.Integrator, d.Number-1, 1)
	if err != nil {
		return m, fmt.Errorf("%w: %w", errUnread, err)
	}
	if len(entries) != 1 || entries[0].Number != d.Number {
		return m, errors.New("it is not in the log")
	}
	m = Message{URL: e.URL, At: h.Now()}
	if m.ID, m.Body, err = h.Wording.Event(&entries[0]); err != nil {
		return m, err
	}
	m.Secrets, err = h.secrets(e, m.At)
	return m, err
}

// judge says what follows from a try.
func (h *Hooks) judge(d Delivery, status int, t Trouble) Outcome {
	now := h.Now()
	o := Outcome{Delivery: d, State: Done, Status: status, Trouble: t}
	if t == "" {
		return o
	}
	o.State, o.OffIfBefore = Failed, now.Add(-h.cfg.OffAfter)
	if status == statusGone {
		// Whoever mends it replays, so this one is not given up.
		o.State, o.Next, o.Off = Due, now, Gone
		return o
	}
	first := d.FirstAt
	if first.IsZero() {
		first = now
	}
	wait := h.cfg.Waits[min(int(d.Tries), len(h.cfg.Waits))-1]
	wait += rand.N(wait/5 + 1)
	if next := now.Add(wait); !next.After(first.Add(h.cfg.GiveUp)) {
		o.State, o.Next = Due, next
	}
	return o
}
