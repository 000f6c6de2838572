package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/settle"
)

var _ settle.Store = (*DB)(nil)

// What the changes of a batch add, each kind in as few statements as there can be.
var (
	newOrders = inserts(`INSERT INTO orders (id, version, state, integrator, session_hash, deposit_chain, deposit_to,
  fee_status, usd, created_at, expires_at, due_at, doc)`, 13)
	newAddresses = inserts(`INSERT INTO addresses (chain, address, family, order_id, seq)`, 5)
	newEvents    = inserts(`INSERT INTO order_events (order_id, key, version, seq, at, name, from_state, to_state, doc)`, 9)
	newWork      = inserts(`INSERT INTO work (id, order_id, kind, due_at, leased_until, tries, why, doc)`, 8)
	newQuestions = inserts(`INSERT INTO queue (id, order_id, why, at)`, 4)
	newPostings  = inserts(`INSERT INTO postings (seq, order_id, debit, credit, asset, amount, at)`, 7)
)

const (
	sqlMoveOrder = `UPDATE orders SET version = $1, state = $2, fee_status = $3, due_at = $4, doc = $5
WHERE id = $6 AND version = $7`
	sqlEventKnown   = `SELECT version FROM order_events WHERE order_id = $1 AND key = $2`
	sqlAddressOwner = `SELECT order_id FROM addresses WHERE chain = $1 AND address = $2`
)

// lines are what a change writes beside its entry in the books.
type lines struct {
	orderDoc, eventDoc string
	now                order.Order // as it will be read back
	work               []wished
	asks               []order.Reason
}

// linesOf turns a change into rows. It refuses a change that does not follow from
// the order it was made of.
func linesOf(was order.Order, c order.Change) (l lines, err error) {
	if c.Now.ID == "" || (was.ID != "" && was.ID != c.Now.ID) || c.Was != was.Version || c.Now.Version != was.Version+1 {
		return l, fmt.Errorf("order %s: a change of %s from version %d to %d does not follow version %d",
			was.ID, c.Now.ID, c.Was, c.Now.Version, was.Version)
	}
	r := orderToRow(c.Now)
	if l.orderDoc, err = writeDoc(r); err != nil {
		return l, fmt.Errorf("order %s: %w", c.Now.ID, err)
	}
	if l.now, err = r.order(); err != nil {
		return l, err
	}
	if l.eventDoc, err = writeDoc(eventToRow(c.Event)); err != nil {
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

// writeLines queues the rows of a change.
func (t *tx) writeLines(b *booking) {
	c, l := b.change, b.lines
	o, id := c.Now, string(c.Now.ID)
	if c.Was == 0 {
		t.add(newOrders, id, o.Version, string(o.State), string(o.Integrator), hex.EncodeToString(o.Session[:]),
			string(o.Quote.Give.Chain), o.DepositTo.Text(), string(o.FeeStatus), int64(o.Quote.USD),
			micro(o.CreatedAt), micro(o.ExpiresAt), dueAt(o), l.orderDoc)
		t.add(newAddresses, string(o.Quote.Give.Chain), o.DepositTo.Text(), string(o.DepositTo.Family()), id, t.head.seq+1)
	} else {
		t.write(sqlMoveOrder, o.Version, string(o.State), string(o.FeeStatus), dueAt(o), l.orderDoc, id, c.Was)
	}
	t.head.seq++
	t.fed = true
	t.add(newEvents, id, c.Event.Key(), o.Version, t.head.seq, micro(c.At), c.Event.Name(), string(c.From), string(o.State), l.eventDoc)
	for _, w := range l.work {
		t.add(newWork, w.id, id, w.kind, micro(c.At), int64(0), int64(0), "", w.doc)
	}
	for i, why := range l.asks {
		t.add(newQuestions, fmt.Sprintf("%s@%d/%d", id, o.Version, i), id, string(why), micro(c.At))
	}
	b.now = l.now
	t.orders[o.ID] = &l.now
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
	b := &booking{id: c.Now.ID, fresh: true, ahead: c.Entry, decide: func(order.Order) (order.Change, error) { return c, nil }}
	return db.writer.do(ctx, &op{booking: b, conflict: func(t *tx) error {
		taken := false
		err := t.read(ask(func(row) error { taken = true; return nil },
			sqlAddressOwner, string(c.Now.Quote.Give.Chain), c.Now.DepositTo.Text()))
		if err == nil && taken {
			return fmt.Errorf("order %s: %w", c.Now.ID, settle.ErrTaken)
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
		known := false
		err := t.read(
			ask(func(row) error { known = true; return nil }, sqlEventKnown, string(id), b.change.Event.Key()),
			ask(func(r row) (err error) { b.now, err = scanOrder(r); return err }, sqlOrderDoc, string(id)))
		if err == nil && known {
			return fmt.Errorf("order %s: %s: %w", id, b.change.Event.Name(), order.ErrKnown)
		}
		return err
	}})
	if err != nil && !errors.Is(err, order.ErrKnown) {
		return order.Order{}, err
	}
	return b.now, err
}

// Order implements settle.Store.
func (db *DB) Order(ctx context.Context, id order.ID) (o order.Order, err error) {
	found := false
	err = db.engine.read(ctx, ask(func(r row) (err error) {
		found = true
		o, err = scanOrder(r)
		return err
	}, sqlOrderDoc, string(id)))
	if err == nil && !found {
		err = settle.ErrNotFound
	}
	if err != nil {
		return order.Order{}, fmt.Errorf("order %s: %w", id, err)
	}
	return o, nil
}

func scanOrder(r row) (order.Order, error) {
	var doc string
	if err := r.Scan(&doc); err != nil {
		return order.Order{}, err
	}
	return orderFromDoc(doc)
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
