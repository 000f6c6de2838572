package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"ferry/internal/feed"
)

// How much goes into one transaction, and how often it is tried.
const (
	batchSize  = 64
	batchTries = 6
)

// op is one operation that wants to be written.
type op struct {
	// A booking changes an order or the books. Any other operation is a run,
	// which must ask all its questions before it writes: what it wrote is
	// dropped if it refuses.
	booking *booking
	run     func(*tx) error
	// conflict says what it means that the operation, alone, broke a key.
	conflict func(*tx) error

	err     error
	panicky any
	leads   bool
	turn    chan bool // true: lead; false: done
}

// result passes on what came of the operation, in its owner's goroutine.
func (o *op) result() error {
	if o.panicky != nil {
		panic(o.panicky)
	}
	return o.err
}

// guard runs a part of an operation. A panic in it belongs to its owner, not to
// whoever happens to lead the batch.
func (o *op) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			o.panicky, err = p, fmt.Errorf("store: panic in an operation: %v", p)
		}
	}()
	return f()
}

// writer puts everything that waits into one transaction. There is no goroutine
// of its own: the first who waits leads, so that a lone caller is served in his
// own goroutine and a run with one caller is the same every time.
type writer struct {
	engine engine
	memo   memo               // only whoever leads touches it
	fed    func([]feed.Entry) // called after a commit that made feed entries

	mu     sync.Mutex
	busy   bool
	closed bool
	queue  []*op
	idle   chan struct{} // closed when a closed writer has nothing left to do
}

// do writes an operation and waits until it is committed or refused.
func (w *writer) do(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.queue = append(w.queue, o)
	if w.busy {
		o.turn = make(chan bool, 1)
		w.mu.Unlock()
		if done, err := w.wait(ctx, o); done {
			return err
		}
		w.mu.Lock()
	}
	w.busy = true
	n := min(len(w.queue), batchSize)
	batch := slices.Clone(w.queue[:n])
	w.queue = slices.Delete(w.queue, 0, n)
	w.mu.Unlock()

	defer func() {
		if p := recover(); p != nil { // nobody in the batch may think that he was served
			for _, o := range batch {
				o.err = fmt.Errorf("store: the batch died: %v", p)
			}
			w.pass(batch)
			panic(p)
		}
	}()
	w.lead(context.WithoutCancel(ctx), batch)
	w.pass(batch)
	return o.result()
}

// wait waits for the operation's turn. It is not done when it is to lead.
func (w *writer) wait(ctx context.Context, o *op) (done bool, err error) {
	select {
	case lead := <-o.turn:
		return !lead, o.resultUnless(lead)
	case <-ctx.Done():
	}
	w.mu.Lock()
	if i := slices.Index(w.queue, o); i >= 0 && !o.leads {
		w.queue = slices.Delete(w.queue, i, i+1)
		w.mu.Unlock()
		return true, ctx.Err()
	}
	w.mu.Unlock()
	lead := <-o.turn // it is under way: what became of it must be known
	return !lead, o.resultUnless(lead)
}

func (o *op) resultUnless(lead bool) error {
	if lead {
		return nil
	}
	return o.result()
}

// pass wakes those who were served and hands the lead to the next who waits.
func (w *writer) pass(batch []*op) {
	for _, o := range batch[1:] {
		o.turn <- false
	}
	if len(batch) > 1 {
		w.gather(len(batch))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		w.queue[0].leads = true
		w.queue[0].turn <- true
		return
	}
	w.busy = false
	if w.closed {
		close(w.idle)
	}
}

// gather lets those in who were just served and have their next operation at hand:
// batches are then of all who are at work, not of every other.
func (w *writer) gather(served int) {
	for seen, waiting := -1, 0; waiting > seen && waiting < served; {
		runtime.Gosched()
		w.mu.Lock()
		seen, waiting = waiting, len(w.queue)
		w.mu.Unlock()
	}
}

// shut refuses new operations and waits for the old ones. It reports whether it
// was the first to do so.
func (w *writer) shut() bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	w.closed = true
	w.idle = make(chan struct{})
	if !w.busy {
		close(w.idle)
	}
	w.mu.Unlock()
	<-w.idle
	return true
}

// lead runs a batch until it is committed, or known not to be.
func (w *writer) lead(ctx context.Context, batch []*op) {
	err := w.tryAll(ctx, batch)
	if (taken(err) || errors.Is(err, errGuessed)) && w.memo.outdated() {
		err = w.tryAll(ctx, batch) // with nothing remembered
	}
	if err == nil {
		return
	}
	if taken(err) && len(batch) > 1 { // one of them; each alone finds out which
		for _, o := range batch {
			w.lead(ctx, []*op{o})
		}
		return
	}
	if taken(err) && batch[0].conflict != nil {
		err = w.explain(ctx, batch[0], err)
	}
	for _, o := range batch {
		if o.panicky == nil {
			o.err = err
		}
	}
}

// tryAll runs a batch again while the database asks for it or the connection
// broke before the commit was sent.
func (w *writer) tryAll(ctx context.Context, batch []*op) error {
	for try := 1; ; try++ {
		err := w.try(ctx, batch)
		if again(err) {
			w.memo.outdated()
		}
		if err == nil || try == batchTries || errors.Is(err, ErrUnknown) || !(again(err) || broken(err)) {
			return err
		}
		time.Sleep(time.Duration(try*try)*time.Millisecond + rand.N(time.Duration(try)*5*time.Millisecond))
	}
}

// try runs a batch in one transaction. An error means that nothing of it was
// written, but for ErrUnknown.
func (w *writer) try(ctx context.Context, batch []*op) error {
	s, err := w.engine.session(ctx)
	if err != nil {
		return err
	}
	committed := false
	defer func() { s.release(committed) }()
	t := newTx(ctx, s, &w.memo)
	w.memo.used = false
	learned := false
	defer func() {
		if !learned { // what was remembered of a batch that failed can not be relied on
			w.memo.forget()
		}
	}()
	for _, o := range batch {
		o.err, o.panicky = nil, nil
	}
	if err := t.book(batch); err != nil {
		return err
	}
	for _, o := range batch {
		if o.run == nil {
			continue
		}
		if err := t.runOne(o); err != nil {
			return err
		}
	}
	if committed, err = t.commit(); err != nil {
		return err
	}
	if !t.entered {
		w.memo.learn(t)
		learned = true
	}
	if len(t.fed) > 0 && w.fed != nil {
		w.fed(t.fed)
	}
	return nil
}

// explain asks the database, in a transaction of its own, why an operation broke
// a unique key; where that says nothing, the error stays what it was.
func (w *writer) explain(ctx context.Context, o *op, was error) error {
	s, err := w.engine.session(ctx)
	if err != nil {
		return errors.Join(was, err)
	}
	defer s.release(false)
	if why := o.guard(func() error { return o.conflict(newTx(ctx, s, &memo{})) }); why != nil {
		return why
	}
	return was
}
