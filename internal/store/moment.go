package store

import (
	"context"
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/settle"
	"ferry/internal/treasury"
)

var _ treasury.Books = (*DB)(nil)

const (
	sqlBlockBelow = `SELECT height, hash, parent, at FROM blocks WHERE chain = $1 AND height <= $2 ORDER BY height DESC LIMIT 1`
	sqlMovingBy   = `SELECT t.id, t.open, t.vigil, t.landed_height, t.doc, t.result, ` + attemptColumns + `
FROM transfers t LEFT JOIN attempts a ON a.transfer = t.id WHERE t.chain = $1 AND (t.open OR t.vigil) ORDER BY t.id, a.n`
	sqlLandedAbove = `SELECT id, open, vigil, landed_height, doc, result FROM transfers
WHERE chain = $1 AND landed_height > $2 AND landed_height >= 0 AND NOT open AND NOT vigil`
	sqlClosing = `SELECT t.id, t.open, t.vigil, t.landed_height, t.doc, t.result, w.doc
FROM work w JOIN transfers t ON t.id = w.transfer WHERE w.transfer <> '' AND t.chain = $1 ORDER BY w.due_at, w.id`
	differingColumns = `id, order_id, asset, amount, height, stage, told_stage`
	sqlUntoldAll     = `SELECT ` + differingColumns + ` FROM deposits WHERE chain = $1 AND untold`
	sqlSeenAll       = `SELECT ` + differingColumns + ` FROM deposits WHERE chain = $1 AND stage = 'seen' AND NOT untold`
	sqlFinalHigh     = `SELECT ` + differingColumns + ` FROM deposits WHERE chain = $1 AND height > $2 AND stage = 'final' AND NOT untold`
	sqlSpots         = `SELECT DISTINCT family, address, asset FROM deposits WHERE chain = $1 AND swept_by = '' AND height >= 0`
	sqlRunning       = `SELECT name FROM reservations WHERE name LIKE '%/step/%' ORDER BY name`
	sqlBalancesOf    = `SELECT asset, debits, credits, reserved FROM balances WHERE account = $1`
)

// Read implements treasury.Books.
func (db *DB) Read(ctx context.Context, id chain.ID, at uint64) (b chain.Block, err error) {
	high, err := height(at)
	if err == nil {
		err = db.engine.read(ctx, ask(func(r row) error { return scanBlock(r, &b) }, sqlBlockBelow, string(id), high))
	}
	if err != nil {
		return chain.Block{}, fmt.Errorf("chain %s: %w", id, err)
	}
	return b, nil
}

// Moment implements treasury.Books. It is told inside a writing transaction that writes
// nothing: whatever else would be written waits, so that several questions have one
// answer.
func (db *DB) Moment(ctx context.Context, id chain.ID, at uint64) (treasury.Moment, error) {
	high, err := height(at)
	if err != nil {
		return treasury.Moment{}, fmt.Errorf("chain %s: %w", id, err)
	}
	var m *moment
	err = db.writer.do(ctx, &op{run: func(t *tx) error {
		m = newMoment(id, high)
		if err := t.read(m.questions()...); err != nil {
			return err
		}
		return t.read(m.orders()...)
	}})
	if err != nil {
		return treasury.Moment{}, fmt.Errorf("audit of chain %s: %w", id, err)
	}
	return m.tell(), nil
}

// moment is one on its way.
type moment struct {
	id      chain.ID
	high    int64
	out     treasury.Moment
	moving  map[send.ID]*movingRow
	names   []send.ID // of moving, in the order in which they were found
	unsure  []*unsure
	spots   map[chain.Spot]bool
	knows   map[order.ID]order.Order
	pending []closing
	running []order.ID // orders of which a step runs
}

// movingRow is a transfer that an audit looks at.
type movingRow struct {
	send.Record
	landed  int64
	unheard bool          // its order has not booked how it ended
	was     *money.Amount // what its order has booked as its cost, where that is another
}

// closing is work that was left for an order by the end of a transfer.
type closing struct {
	transfer send.ID
	order    order.ID
	closed   settle.Closed
	known    bool // the order has booked it, and only the work is still there
}

// unsure is a deposit in which books and chain may differ.
type unsure struct {
	treasury.Differing
	order  order.ID
	height int64
	stage  string
	told   string
	untold bool
}

func newMoment(id chain.ID, high int64) *moment {
	return &moment{
		id: id, high: high, moving: map[send.ID]*movingRow{}, spots: map[chain.Spot]bool{}, knows: map[order.ID]order.Order{},
		out: treasury.Moment{Home: map[chain.Asset]ledger.Balance{}, Lying: map[chain.Asset]ledger.Balance{}},
	}
}

func (m *moment) questions() []stmt {
	on := string(m.id)
	return []stmt{
		askAccount(ledger.Hot(m.id), m.out.Home), askAccount(ledger.Deposits(m.id), m.out.Lying),
		ask(func(r row) error {
			var x movingColumns
			a, there, err := scanAttempt(r, x.into()...)
			if err != nil {
				return err
			}
			k, err := m.take(x)
			if err == nil && there {
				k.Attempts = append(k.Attempts, a)
			}
			return err
		}, sqlMovingBy, on),
		ask(func(r row) error {
			var x movingColumns
			if err := r.Scan(x.into()...); err != nil {
				return err
			}
			_, err := m.take(x)
			return err
		}, sqlLandedAbove, on, m.high),
		ask(m.close, sqlClosing, on), collect(&m.running, scanRunning, sqlRunning),
		ask(m.deposit(true), sqlUntoldAll, on), ask(m.deposit(false), sqlSeenAll, on), ask(m.deposit(false), sqlFinalHigh, on, m.high),
		ask(func(r row) error {
			var family, address, asset string
			if err := r.Scan(&family, &address, &asset); err != nil {
				return err
			}
			a, err := chain.ParseAsset(asset)
			m.spots[chain.Spot{Address: chain.CanonicalAddress(chain.Family(family), address), Asset: a}] = true
			return err
		}, sqlSpots, on),
	}
}

func askAccount(a ledger.Account, into map[chain.Asset]ledger.Balance) stmt {
	return ask(func(r row) error {
		var asset string
		b, err := scanBalance(r, &asset)
		if err != nil {
			return err
		}
		x, err := chain.ParseAsset(asset)
		into[x] = b
		return err
	}, sqlBalancesOf, string(a))
}

// movingColumns are the columns of a transfer that an audit reads.
type movingColumns struct {
	id, doc, result string
	open, vigil     bool
	landed          int64
}

func (x *movingColumns) into(more ...any) []any {
	return append([]any{&x.id, &x.open, &x.vigil, &x.landed, &x.doc, &x.result}, more...)
}

// take notes a transfer once.
func (m *moment) take(x movingColumns) (*movingRow, error) {
	if k := m.moving[send.ID(x.id)]; k != nil {
		return k, nil
	}
	record, err := recordFromRow(x.doc, x.result)
	if err != nil {
		return nil, fmt.Errorf("transfer %s: %w", x.id, err)
	}
	record.Open, record.Vigil = x.open, x.vigil
	k := &movingRow{Record: record, landed: x.landed}
	m.moving[record.Transfer.ID] = k
	m.names = append(m.names, record.Transfer.ID)
	return k, nil
}

// close notes work that the end of a transfer left.
func (m *moment) close(r row) error {
	var x movingColumns
	var doc string
	if err := r.Scan(x.into(&doc)...); err != nil {
		return err
	}
	k, err := m.take(x)
	if err != nil {
		return err
	}
	var w workRow
	if err := readDoc(doc, &w, &w.V); err != nil || w.Result == nil {
		return fmt.Errorf("work of transfer %s: %w", x.id, err)
	}
	m.pending = append(m.pending, closing{
		transfer: k.Transfer.ID, order: order.ID(k.Transfer.Order),
		closed: settle.Closed{Transfer: k.Transfer.ID, Result: w.Result.result(), Was: w.Was},
	})
	return nil
}

func (m *moment) deposit(untold bool) func(row) error {
	return func(r row) error {
		u := &unsure{untold: untold}
		var asset, amount string
		if err := r.Scan((*string)(&u.ID), (*string)(&u.order), &asset, &amount, &u.height, &u.stage, &u.told); err != nil {
			return err
		}
		var err error
		if u.Asset, u.Amount, err = parseSum(asset, amount); err != nil {
			return fmt.Errorf("deposit %s: %w", u.ID, err)
		}
		m.unsure = append(m.unsure, u)
		return nil
	}
}

// orders asks the orders what they have booked already. An order moves first, and that
// it was told is noted after.
func (m *moment) orders() (ss []stmt) {
	for i := range m.pending {
		c := &m.pending[i]
		ev, err := c.closed.Event(c.order)
		if err != nil {
			continue // whoever does the work will say so
		}
		ss = append(ss, ask(func(row) error { c.known = true; return nil }, sqlEventKnown, string(c.order), ev.Key()))
	}
	for _, id := range m.running {
		ss = append(ss, ask(func(r row) error {
			o, err := scanOrder(r)
			m.run(o)
			return err
		}, sqlOrder, string(id)))
	}
	for _, u := range m.unsure {
		if _, asked := m.knows[u.order]; asked || !u.untold {
			continue
		}
		m.knows[u.order] = order.Order{}
		ss = append(ss, ask(func(r row) error {
			o, err := scanOrder(r)
			m.knows[u.order] = o
			return err
		}, sqlOrder, string(u.order)))
	}
	return ss
}

// run notes what the running step of an order may have taken.
func (m *moment) run(o order.Order) {
	if o.State != order.Executing || o.Step >= len(o.Quote.Steps) || o.Asked(o.Step) == 0 {
		return
	}
	step := o.Quote.Steps[o.Step]
	k := treasury.Running{In: step.In, Out: step.Out}
	for _, c := range o.Calls {
		if c.Step == o.Step && c.Asset == step.In && c.State != order.OutDead {
			if sum, err := k.Most.Add(c.Amount); err == nil { // no step asks for more than it has
				k.Most = sum
			}
		}
	}
	m.out.Running = append(m.out.Running, k)
}

// tell puts together what was found.
func (m *moment) tell() treasury.Moment {
	for _, c := range m.pending {
		k := m.moving[c.transfer]
		switch {
		case c.known:
		case c.closed.Was == nil:
			k.unheard = true
		case k.was == nil: // the first correction that is not booked starts from what is
			k.was = c.closed.Was
		}
	}
	for _, id := range m.names {
		m.out.Moving = append(m.out.Moving, m.moving[id].tell(m.high))
		for _, s := range m.moving[id].Transfer.Call.Sources {
			m.spots[chain.Spot{Address: s.Address, Asset: m.moving[id].Transfer.Call.Asset}] = true
		}
	}
	for _, u := range m.unsure {
		u.Booked = m.booked(u)
		if onChain := u.stage != "gone" && u.height >= 0 && u.height <= m.high; onChain != u.Booked {
			m.out.Differing = append(m.out.Differing, u.Differing)
		}
	}
	for s := range m.spots {
		m.out.Spots = append(m.out.Spots, s)
	}
	return m.out
}

// booked reports whether an order has a deposit in the books.
func (m *moment) booked(u *unsure) bool {
	for _, d := range m.knows[u.order].Deposits {
		if d.ID == u.ID {
			return d.State != order.DepositPending && d.State != order.DepositDrop && !d.Lost
		}
	}
	return u.told == "final"
}

func (k *movingRow) tell(high int64) treasury.Moving {
	out := treasury.Moving{Transfer: k.Transfer, Attempts: k.Attempts}
	ended := treasury.Effect{Moved: k.Result.Fate == chain.Final, Cost: k.Result.Cost}
	if !k.Open && !k.unheard {
		out.Booked = ended
		if k.was != nil {
			out.Booked.Cost = *k.was
		}
	}
	if !k.Open && !k.Vigil {
		out.Landed = &treasury.Effect{}
		if k.landed >= 0 && k.landed <= high {
			out.Landed = &ended
		}
	}
	return out
}
