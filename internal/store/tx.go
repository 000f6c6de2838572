package store

import (
	"context"
	"errors"

	"ferry/internal/feed"
	"ferry/internal/ledger"
	"ferry/internal/order"
)

// tx is one writing transaction on its way. Writes need no answer, so they wait
// in a queue and go out with the next question or with the commit: on PostgreSQL
// each of these is one round trip. What waits can still be dropped.
type tx struct {
	ctx   context.Context
	s     session
	queue []stmt
	mark  int          // where the writes of the operation at work begin
	wrote bool         // something is to be committed
	sent  bool         // the operation at work has sent a write and can no longer refuse
	fed   []feed.Entry // that are written
	fatal error
	// entered: an operation that is no booking has changed the books, so that nothing
	// that bookings have read may be remembered.
	entered bool

	memo     *memo
	guessed  map[order.ID]bool // orders that were not read but remembered
	assumed  bool              // so are some balances
	blind    bool              // nothing was read: guards refuse what is otherwise asked
	head     head
	orders   map[order.ID]*order.Order // nil: looked for and not there
	books    *ledger.Books
	loaded   map[ledger.Key]bool
	versions map[ledger.Key]int64
	asked    map[string]bool // reservations that were looked for
	rows     map[*many][]any // what bookings add
	changed  map[ledger.Key]bool
	held     map[string]bool  // reservations that were made or ended
	logs     map[string]int64 // where the logs of integrators end
	door     door
}

// head are the newest numbers of the feed and of the postings.
type head struct{ seq, posting int64 }

func newTx(ctx context.Context, s session, m *memo) *tx {
	begin := s.begin()
	return &tx{ctx: ctx, s: s, memo: m, queue: begin, mark: len(begin)}
}

var errAskedLate = errors.New("store: an operation asked after it wrote")

// write puts a statement into the queue.
func (t *tx) write(sql string, args ...any) {
	t.queue = append(t.queue, do(sql, args...))
	t.wrote = true
}

// read asks the database, after everything that waits has been written.
func (t *tx) read(ss ...stmt) error {
	if len(t.queue) > t.mark {
		t.fatal = errAskedLate
		return t.fatal
	}
	if len(ss) == 0 {
		return nil
	}
	return t.send(ss)
}

// claim is a write that answers. It is the last thing an operation does: having
// sent it, it can not refuse any more.
func (t *tx) claim(s stmt) error {
	t.wrote, t.sent = true, true
	return t.send([]stmt{s})
}

func (t *tx) send(ss []stmt) error {
	all := append(t.queue, ss...)
	t.queue, t.mark = nil, 0
	if err := t.s.send(t.ctx, all); err != nil {
		t.fatal = err
		return err
	}
	return nil
}

// runOne runs an operation. If it refuses, what it queued is dropped and the
// others go on; an error means that the whole transaction is over.
func (t *tx) runOne(o *op) error {
	wrote := t.wrote
	t.mark, t.sent = len(t.queue), false
	o.err = o.guard(func() error { return o.run(t) })
	switch {
	case o.err == nil:
		return nil
	case t.fatal != nil:
		return t.fatal
	case t.sent:
		return o.err
	}
	t.queue, t.wrote = t.queue[:t.mark], wrote
	return nil
}

// commit sends what waits and commits it. Where nothing was written there is
// nothing to commit, and the session rolls back.
func (t *tx) commit() (bool, error) {
	if !t.wrote {
		return false, nil
	}
	t.queue = append(t.queue, do(sqlCommit))
	if err := t.s.send(t.ctx, t.queue); err != nil {
		return false, err
	}
	return true, nil
}
