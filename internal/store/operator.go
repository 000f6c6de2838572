package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/office"
	"ferry/internal/order"
	"ferry/internal/send"
)

const (
	sqlHalts       = `SELECT chain, why, at FROM halts ORDER BY chain`
	sqlResume      = `DELETE FROM halts WHERE chain = $1`
	sqlQueue       = `SELECT id, order_id, why, at FROM queue ORDER BY at, id LIMIT CAST($1 AS BIGINT)`
	sqlAnswered    = `DELETE FROM queue WHERE id = $1`
	sqlOrderEvents = `SELECT version, key, seq, at, name, from_state, to_state, doc FROM order_events
WHERE order_id = $1 AND version > $2 ORDER BY version`
	sqlOrdersAfter    = sqlOrders + ` > $1 ORDER BY o.id LIMIT CAST($2 AS BIGINT)`
	sqlTransfersAfter = `SELECT t.id, t.open, t.vigil, t.tx, t.doc, t.result, ` + attemptColumns + `
FROM (SELECT * FROM transfers WHERE id > $1 ORDER BY id LIMIT CAST($2 AS BIGINT)) t LEFT JOIN attempts a ON a.transfer = t.id
ORDER BY t.id, a.n`
	sqlTransferRecord = `SELECT t.id, t.open, t.vigil, t.tx, t.doc, t.result, ` + attemptColumns + `
FROM transfers t LEFT JOIN attempts a ON a.transfer = t.id WHERE t.id = $1 ORDER BY a.n`
	sqlCountOrders    = `SELECT state, COUNT(*) FROM orders GROUP BY state`
	sqlCountWork      = `SELECT COUNT(*) FROM work`
	sqlCountQueue     = `SELECT COUNT(*) FROM queue`
	sqlCountUntold    = `SELECT COUNT(*) FROM deposits WHERE untold`
	sqlCountDeposits  = `SELECT COUNT(*) FROM deposits`
	sqlCountTransfers = `SELECT COUNT(*) FROM transfers`
	sqlCountLive      = `SELECT COUNT(*) FROM transfers WHERE open OR vigil`
	sqlCountBalances  = `SELECT COUNT(*) FROM balances`
)

// Halt is why a chain is stopped.
type Halt = office.Halt

// Halts are the chains that are stopped.
func (db *DB) Halts(ctx context.Context) ([]Halt, error) {
	var halts []Halt
	err := db.engine.read(ctx, ask(func(r row) error {
		var h Halt
		var at int64
		err := r.Scan((*string)(&h.Chain), &h.Why, &at)
		h.At = unmicro(at)
		halts = append(halts, h)
		return err
	}, sqlHalts))
	if err != nil {
		return nil, fmt.Errorf("halts: %w", err)
	}
	return halts, nil
}

// Resume lets a chain go on that was halted; one that was not is no error.
func (db *DB) Resume(ctx context.Context, id chain.ID) error {
	return db.write(ctx, "resume "+string(id), do(sqlResume, string(id)))
}

// Question is an order that was put before an operator.
type Question = office.Question

// Queue are the oldest questions, at most n.
func (db *DB) Queue(ctx context.Context, n int) ([]Question, error) {
	var questions []Question
	err := db.engine.read(ctx, ask(func(r row) error {
		var q Question
		var at int64
		err := r.Scan(&q.ID, (*string)(&q.Order), (*string)(&q.Why), &at)
		q.At = unmicro(at)
		questions = append(questions, q)
		return err
	}, sqlQueue, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("operator queue: %w", err)
	}
	return questions, nil
}

// Answered takes a question from the queue; gone already is no error.
func (db *DB) Answered(ctx context.Context, id string) error {
	return db.write(ctx, "question "+id, do(sqlAnswered, id))
}

// OrderEvent is one change in an order's history. Detail is JSON of what the
// event said.
type OrderEvent struct {
	Version   int64
	Key, Name string
	Seq       int64
	At        time.Time
	From, To  order.State
	Detail    string
}

// OrderEvents is what happened to an order after a version, oldest first.
func (db *DB) OrderEvents(ctx context.Context, id order.ID, afterVersion int64) ([]OrderEvent, error) {
	var events []OrderEvent
	err := db.engine.read(ctx, ask(func(r row) error {
		var e OrderEvent
		var at int64
		err := r.Scan(&e.Version, &e.Key, &e.Seq, &at, &e.Name, (*string)(&e.From), (*string)(&e.To), &e.Detail)
		e.At = unmicro(at)
		events = append(events, e)
		return err
	}, sqlOrderEvents, string(id), afterVersion))
	if err != nil {
		return nil, fmt.Errorf("order %s: %w", id, err)
	}
	return events, nil
}

// Orders are at most n orders with a higher id, in the order of their ids.
func (db *DB) Orders(ctx context.Context, after order.ID, n int) ([]order.Order, error) {
	var orders []order.Order
	err := db.engine.read(ctx, ask(func(r row) error {
		o, err := scanOrder(r)
		orders = append(orders, o)
		return err
	}, sqlOrdersAfter, string(after), int64(n)))
	if err != nil {
		return nil, fmt.Errorf("orders after %s: %w", after, err)
	}
	return orders, nil
}

// Transfers are at most n transfers with a higher id, with their attempts.
func (db *DB) Transfers(ctx context.Context, after send.ID, n int) ([]send.Record, error) {
	var found []send.Record
	if err := db.engine.read(ctx, ask(recordsInto(&found), sqlTransfersAfter, string(after), int64(n))); err != nil {
		return nil, fmt.Errorf("transfers after %s: %w", after, err)
	}
	return found, nil
}

// Transfer is one transfer with its attempts, open or closed, as of one moment. It is
// what a signer compares with; send.ErrUnknown if there is none.
func (db *DB) Transfer(ctx context.Context, id send.ID) (send.Record, error) {
	var found []send.Record
	if err := db.engine.read(ctx, ask(recordsInto(&found), sqlTransferRecord, string(id))); err != nil {
		return send.Record{}, fmt.Errorf("transfer %s: %w", id, err)
	}
	if len(found) != 1 {
		return send.Record{}, fmt.Errorf("transfer %s: %w", id, send.ErrUnknown)
	}
	return found[0], nil
}

// recordsInto reads rows of transfers joined with their attempts.
func recordsInto(found *[]send.Record) func(row) error {
	return func(r row) error {
		var id, tx, doc, result string
		var open, vigil bool
		a, there, err := scanAttempt(r, &id, &open, &vigil, &tx, &doc, &result)
		if err != nil {
			return fmt.Errorf("transfer %s: %w", id, err)
		}
		if n := len(*found); n == 0 || (*found)[n-1].Transfer.ID != send.ID(id) {
			k, err := recordFromRow(doc, result)
			if err != nil {
				return fmt.Errorf("transfer %s: %w", id, err)
			}
			k.Open, k.Vigil, k.Tx = open, vigil, chain.TxID(tx)
			*found = append(*found, k)
		}
		if there {
			last := &(*found)[len(*found)-1]
			last.Attempts = append(last.Attempts, a)
		}
		return nil
	}
}

func recordFromRow(doc, result string) (k send.Record, err error) {
	if k.Transfer, err = transferFromDoc(doc); err != nil || result == "" {
		return k, err
	}
	var w workRow
	if err := readDoc(result, &w, &w.V); err != nil {
		return k, fmt.Errorf("its result: %w", err)
	}
	if w.Result == nil {
		return k, errors.New("it is closed without a result")
	}
	k.Result = w.Result.result()
	return k, nil
}

// Counts are how many rows there are, for gauges and checks. It reads whole
// tables and is not for the way of an order.
type Counts struct {
	Orders                                                   map[order.State]int64
	Work, Queue, Deposits, Untold, Transfers, Live, Balances int64
}

// Counts counts.
func (db *DB) Counts(ctx context.Context) (Counts, error) {
	c := Counts{Orders: map[order.State]int64{}}
	into := func(n *int64) func(row) error { return func(r row) error { return r.Scan(n) } }
	err := db.engine.read(ctx,
		ask(func(r row) error {
			var state string
			var n int64
			err := r.Scan(&state, &n)
			c.Orders[order.State(state)] = n
			return err
		}, sqlCountOrders),
		ask(into(&c.Work), sqlCountWork),
		ask(into(&c.Queue), sqlCountQueue),
		ask(into(&c.Deposits), sqlCountDeposits),
		ask(into(&c.Untold), sqlCountUntold),
		ask(into(&c.Transfers), sqlCountTransfers),
		ask(into(&c.Live), sqlCountLive),
		ask(into(&c.Balances), sqlCountBalances))
	if err != nil {
		return Counts{}, fmt.Errorf("counts: %w", err)
	}
	return c, nil
}
