package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/feed"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/settle"
)

var _ settle.Store = (*DB)(nil)

// What the changes of a batch add, each kind in as few statements as there can be.
var (
	newOrders = inserts(`INSERT INTO orders (id, version, state, fee_status, seq, terms_seq, alarm_at, due_at, integrator, created_at,
  session, key, reference)`, "tnttnnnntnttt", "")
	newAddresses = inserts(`INSERT INTO addresses (chain, address, family, order_id, seq)`, "ttttn", "")
	newEvents    = inserts(`INSERT INTO order_events (seq, order_id, key, version, at, name, from_state, to_state, doc, after, terms, integrator, n)`, "nttnntttttttn", "")
	newWork      = inserts(`INSERT INTO work (id, order_id, kind, due_at, leased_until, tries, why, doc)`, "tttnnntt", "")
	newClaims    = inserts(`INSERT INTO bridge_claims (proof, order_id)`, "tt", "")
	newQuestions = inserts(`INSERT INTO queue (id, order_id, why, at)`, "tttn", "")
	newPostings  = inserts(`INSERT INTO postings (seq, order_id, debit, credit, asset, amount, at)`, "ntttttn", "")
)

// A move of an order that is not at the version it was made from sets the version
// to NULL, which the column refuses: the whole transaction fails.
const setMove = `version = CASE WHEN orders.version = $2 THEN $3 END, state = $4, fee_status = $5, seq = $6,
  terms_seq = COALESCE($7, terms_seq), alarm_at = $8`

var (
	moveTypes = []string{"TEXT", "BIGINT", "BIGINT", "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT"}
	moves     = updates("orders", setMove, "id", moveTypes...)
	wakeMoves = updates("orders", setMove+`, due_at = $8`, "id", moveTypes...)
)

const (
	sqlEventKnown   = `SELECT version FROM order_events WHERE order_id = $1 AND key = $2`
	sqlClaimOwner   = `SELECT order_id FROM bridge_claims WHERE proof = $1`
	sqlOrderThere   = `SELECT 1 FROM orders WHERE id = $1`
	sqlAddressOwner = `SELECT order_id FROM addresses WHERE chain = $1 AND address = $2`
)

// lines are what a change writes beside its entry in the books.
type lines struct {
	event, after string
	terms        any          // text, or NULL where they are those of before
	wakes        bool         // the time at which somebody looks at the order is set anew
	now          *order.Order // as it will be read back
	work         []wished
	asks         []order.Reason
}

// linesOf turns a change into rows. It refuses a change that does not follow from
// the order it was made of.
func linesOf(was order.Order, c *order.Change) (l lines, err error) {
	if c.Now.ID == "" || (was.ID != "" && was.ID != c.Now.ID) || c.Was != was.Version || c.Now.Version != was.Version+1 {
		return l, fmt.Errorf("order %s: a change of %s from version %d to %d does not follow version %d",
			was.ID, c.Now.ID, c.Was, c.Now.Version, was.Version)
	}
	terms := was
	if !sameTerms(was, c.Now) {
		r := termsToRow(c.Now)
		if l.terms, err = writeDoc(&r); err != nil {
			return l, fmt.Errorf("order %s: %w", c.Now.ID, err)
		}
		if terms, err = r.order(); err != nil {
			return l, err
		}
	}
	r := orderToRow(c.Now)
	if l.after, err = writeDoc(&r); err != nil {
		return l, fmt.Errorf("order %s: %w", c.Now.ID, err)
	}
	now := r.order(terms)
	l.now, l.wakes = &now, wakes(was, c)
	event := eventToRow(c.Event)
	if l.event, err = writeDoc(&event); err != nil {
		return l, fmt.Errorf("order %s: %s: %w", c.Now.ID, c.Event.Name(), err)
	}
	for _, e := range c.Effects {
		if human, ok := e.(order.AskHuman); ok {
			l.asks = append(l.asks, human.Why)
			continue
		}
		w, err := effectToRow(c.Now.ID, c.Now.Version, e)
		if err != nil {
			return l, err
		}
		l.work = append(l.work, w)
	}
	return l, nil
}

// wakes reports whether the time to look at the order must be set anew. It may
// stay where it is while the order's own time only moves on: whoever looks too
// early finds that, and looks again when it comes.
func wakes(was order.Order, c *order.Change) bool {
	before, next := was.NextDue(), c.Now.NextDue()
	return !next.IsZero() && (before.IsZero() || next.Before(before) || !before.After(c.At))
}

// writeLines queues the rows of a change.
func (t *tx) writeLines(b *booking) {
	c, l := &b.change, &b.lines
	o, id := &c.Now, string(c.Now.ID)
	t.head.seq++
	number := t.number(o.Integrator)
	t.fed = append(t.fed, feed.Entry{
		Seq: t.head.seq, Order: o.ID, Version: o.Version, Event: c.Event.Name(), From: c.From, State: o.State, At: unmicro(micro(c.At)),
		Integrator: o.Integrator, Number: number, Session: o.Origin.Group, Now: l.now,
	})
	seq, due := t.head.seq, dueAt(*o)
	var termsSeq any
	if l.terms != nil {
		termsSeq = seq
	}
	switch {
	case c.Was == 0:
		t.add(newOrders, id, o.Version, string(o.State), string(o.FeeStatus), seq, termsSeq, due, due, string(o.Integrator), micro(o.CreatedAt),
			o.Origin.Group, string(o.Origin.Key), o.Origin.Reference)
		t.add(newAddresses, string(o.Quote.Give.Chain), o.DepositTo.Text(), string(o.DepositTo.Family()), id, seq)
	case l.wakes:
		t.add(wakeMoves, id, c.Was, o.Version, string(o.State), string(o.FeeStatus), seq, termsSeq, due)
	default:
		t.add(moves, id, c.Was, o.Version, string(o.State), string(o.FeeStatus), seq, termsSeq, due)
	}
	t.add(newEvents, seq, id, c.Event.Key(), o.Version, micro(c.At), c.Event.Name(), string(c.From), string(o.State), l.event, l.after, l.terms, string(o.Integrator), number)
	for _, w := range l.work {
		t.add(newWork, w.id, id, w.kind, micro(c.At), int64(0), int64(0), "", w.doc)
	}
	if c.Claim != "" {
		t.add(newClaims, c.Claim, id)
	}
	for i, why := range l.asks {
		t.add(newQuestions, fmt.Sprintf("%s@%d/%d", id, o.Version, i), id, string(why), micro(c.At))
	}
	t.door.write(t, b.was, c)
	b.now = l.now
	t.orders[o.ID] = l.now
}

// dueAt is when the order's time comes, or NULL.
func dueAt(o order.Order) any {
	due := o.NextDue()
	if due.IsZero() {
		return nil
	}
	return micro(due)
}

// Create implements settle.Store.
func (db *DB) Create(ctx context.Context, c order.Change) error {
	b := &booking{id: c.Now.ID, fresh: true, ahead: c.Entry, change: c, ready: true}
	b.made = &b.change
	var err error
	if b.lines, err = linesOf(order.Order{}, b.made); err != nil { // here, not while others wait for the writer
		return err
	}
	return db.writer.do(ctx, &op{booking: b, conflict: func(t *tx) error {
		taken := false
		found := func(row) error { taken = true; return nil }
		err := t.read(ask(found, sqlOrderThere, string(b.id)),
			ask(found, sqlAddressOwner, string(b.made.Now.Quote.Give.Chain), b.made.Now.DepositTo.Text()))
		if err == nil && taken {
			return fmt.Errorf("order %s: %w", b.id, settle.ErrTaken)
		}
		return err
	}})
}

// Move implements settle.Store.
func (db *DB) Move(ctx context.Context, id order.ID, decide settle.Decide) (order.Order, error) {
	if id == "" {
		return order.Order{}, fmt.Errorf("order without an id: %w", settle.ErrNotFound)
	}
	b := &booking{id: id, decide: decide}
	err := db.writer.do(ctx, &op{booking: b, conflict: func(t *tx) error {
		known, claimed := false, false
		err := t.read(
			ask(func(row) error { known = true; return nil }, sqlEventKnown, string(id), b.change.Event.Key()),
			ask(func(row) error { claimed = true; return nil }, sqlClaimOwner, b.change.Claim),
			ask(func(r row) error {
				o, err := scanOrder(r)
				b.now = &o
				return err
			}, sqlOrder, string(id)))
		if err == nil && known {
			return fmt.Errorf("order %s: %s: %w", id, b.change.Event.Name(), order.ErrKnown)
		}
		if err == nil && claimed {
			return fmt.Errorf("order %s: %w", id, &order.Claimed{Proof: b.change.Claim})
		}
		return err
	}})
	if err != nil && !errors.Is(err, order.ErrKnown) {
		return order.Order{}, err
	}
	return *b.now, err
}

// Order implements settle.Store.
func (db *DB) Order(ctx context.Context, id order.ID) (o order.Order, err error) {
	found := false
	err = db.engine.read(ctx, ask(func(r row) (err error) {
		found = true
		o, err = scanOrder(r)
		return err
	}, sqlOrder, string(id)))
	if err == nil && !found {
		err = settle.ErrNotFound
	}
	if err != nil {
		return order.Order{}, fmt.Errorf("order %s: %w", id, err)
	}
	return o, nil
}

func scanOrder(r row) (order.Order, error) {
	var terms, after string
	if err := r.Scan(&terms, &after); err != nil {
		return order.Order{}, err
	}
	return orderFromDocs(terms, after)
}

// Fund books money that the operator put into the wallet of a chain. It is the
// only posting that comes from outside an order.
func (db *DB) Fund(ctx context.Context, asset chain.Asset, n money.Amount, now time.Time) error {
	c := order.Change{At: now, Entry: ledger.Entry{Postings: []ledger.Posting{
		{Debit: ledger.Hot(asset.Chain), Credit: ledger.Capital, Asset: asset, Amount: n},
	}}}
	b := &booking{ahead: c.Entry, decide: func(order.Order) (order.Change, error) { return c, nil }}
	if err := db.writer.do(ctx, &op{booking: b}); err != nil {
		return fmt.Errorf("fund %s with %s: %w", asset, n, err)
	}
	return nil
}
