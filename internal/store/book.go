package store

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"ferry/internal/ledger"
	"ferry/internal/order"
	"ferry/internal/settle"
)

const (
	sqlHead   = `SELECT (SELECT COALESCE(MAX(seq), 0) FROM order_events), (SELECT COALESCE(MAX(seq), 0) FROM postings)`
	sqlOrders = `SELECT made.terms, e.after FROM orders o
JOIN order_events made ON made.seq = o.terms_seq JOIN order_events e ON e.seq = o.seq WHERE o.id`
	sqlOrder           = sqlOrders + ` = $1`
	sqlDropBalance     = `DELETE FROM balances WHERE account = $1 AND asset = $2`
	sqlDropReservation = `DELETE FROM reservations WHERE name = $1`
)

var (
	ordersAmong = among(sqlOrders)
	// A balance that is not at the version it was computed from gets NULL for one,
	// which the column refuses.
	setBalances = inserts(`INSERT INTO balances (account, asset, debits, credits, reserved, version)`, "tttttn",
		` ON CONFLICT (account, asset) DO UPDATE SET debits = excluded.debits, credits = excluded.credits, reserved = excluded.reserved,
  version = CASE WHEN balances.version = excluded.version - 1 THEN excluded.version END`)
	newReservations = inserts(`INSERT INTO reservations (name, account, asset, amount)`, "tttt", "")
	setReservations = inserts(`INSERT INTO reservations (name, account, asset, amount)`, "tttt",
		` ON CONFLICT (name) DO UPDATE SET account = excluded.account, asset = excluded.asset, amount = excluded.amount`)
)

// booking is an operation on an order or on the books.
type booking struct {
	id     order.ID      // the order to load; empty where none is
	fresh  bool          // the order is to be made, and must not be there
	ahead  ledger.Entry  // what is known to be booked before anything is decided
	made   *order.Change // what a new order asks beside the books; nil for any other
	decide func(o order.Order) (order.Change, error)

	was    *order.Order // as it was when that was decided; nil before it is there
	change order.Change
	ready  bool         // the change and its lines are known beforehand
	lines  lines        // what the change writes; empty for an entry without an order
	now    *order.Order // as it is after the operation, or as it was if the fact is known
}

// book runs the bookings of a batch: all orders are read at once, all decisions
// are taken, all balances they touch are read at once, and then the changes are
// applied one after the other to what was read. An order that comes up twice waits
// for the next round, where it is found as the first change left it.
func (t *tx) book(batch []*op) error {
	var waiting []*op
	for _, o := range batch {
		if o.booking != nil {
			waiting = append(waiting, o)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	if err := t.openBooks(waiting); err != nil {
		return err
	}
	for len(waiting) > 0 {
		var round, later []*op
		touched := map[order.ID]bool{}
		for _, o := range waiting {
			if id := o.booking.id; id != "" && touched[id] {
				later = append(later, o)
				continue
			}
			touched[o.booking.id] = true
			round = append(round, o)
		}
		if err := t.bookRound(round); err != nil {
			return err
		}
		waiting = later
	}
	t.closeBooks()
	return nil
}

func (t *tx) bookRound(round []*op) error {
	t.decideAll(round)
	var again []*op
	var ids []order.ID
	for _, o := range round {
		if o.err != nil && t.guessed[o.booking.id] && o.panicky == nil {
			// Another process may have moved it: a refusal counts only for the
			// order as it is.
			delete(t.guessed, o.booking.id)
			again, ids = append(again, o), append(ids, o.booking.id)
		}
	}
	t.mark = len(t.queue) // what earlier rounds wrote stands
	if err := t.read(t.askOrders(ids)...); err != nil {
		return err
	}
	t.decideAll(again)
	var entries []entry
	for _, o := range round {
		if o.err == nil {
			entries = append(entries, entry{o.booking.change.Entry, o.booking.fresh})
		}
	}
	if err := t.read(append(t.missing(entries), t.askLogs(round)...)...); err != nil {
		return err
	}
	for _, o := range round {
		if o.err != nil {
			continue
		}
		o.err = t.apply(o.booking)
		if o.err != nil && (t.blind || t.assumed || t.guessed[o.booking.id]) {
			return errGuessed // a refusal counts only for what was read
		}
	}
	t.flush(newOrders, moves, wakeMoves) // before the next round moves one of them again
	return nil
}

// openBooks reads the counters, the orders and the balances that are known to be
// needed, in one round trip.
func (t *tx) openBooks(ops []*op) error {
	t.orders = map[order.ID]*order.Order{}
	t.books = ledger.NewBooks()
	t.loaded, t.changed, t.versions = map[ledger.Key]bool{}, map[ledger.Key]bool{}, map[ledger.Key]int64{}
	t.asked, t.held = map[string]bool{}, map[string]bool{}
	t.rows = map[*many][]any{}
	t.guessed, t.logs = map[order.ID]bool{}, map[string]int64{}
	t.door = newDoor()
	var ss []stmt
	if t.memo.headKnown {
		t.head, t.memo.used = t.memo.head, true
	} else {
		ss = append(ss, ask(func(r row) error { return r.Scan(&t.head.seq, &t.head.posting) }, sqlHead))
	}
	var ahead []entry
	var ids []order.ID
	for _, o := range ops {
		ahead = append(ahead, entry{o.booking.ahead, o.booking.fresh})
		t.door.meet(o.booking)
		id := o.booking.id
		if _, known := t.orders[id]; known || id == "" {
			continue
		}
		if t.orders[id] = t.memo.order(id); t.orders[id] != nil {
			t.guessed[id], t.memo.used = true, true
			continue
		}
		if !o.booking.fresh { // else its key says whether it is there
			ids = append(ids, id)
		}
	}
	ss = append(ss, t.door.askClients()...)
	ss = append(ss, t.askOrders(ids)...)
	ss = append(ss, t.missing(ahead)...)
	if len(ss) == 0 && t.s.guards() && t.memo.used {
		// Everything is remembered: the whole transaction is one round trip.
		t.blind = t.door.news
		return nil
	}
	if ss = append(ss, t.door.askAll()...); len(ss) == 0 {
		return nil
	}
	return t.send(ss)
}

// errGuessed: what was decided without reading was a refusal.
var errGuessed = errors.New("store: refused by what is only remembered")

// askOrders reads orders as they are now.
func (t *tx) askOrders(ids []order.ID) (ss []stmt) {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = string(id)
	}
	ordersAmong.each(args, func(sql string, args []any) {
		ss = append(ss, ask(func(r row) error {
			found, err := scanOrder(r)
			t.orders[found.ID] = &found
			return err
		}, sql, args...))
	})
	return ss
}

// add keeps a row for flush to write.
func (t *tx) add(m *many, values ...any) {
	t.wrote = true
	t.rows[m] = append(t.rows[m], values...)
}

// flush queues the rows that were added.
func (t *tx) flush(kinds ...*many) {
	for _, m := range kinds {
		if rows := t.rows[m]; len(rows) > 0 {
			t.queue = append(t.queue, stmt{many: m, args: rows})
		}
		delete(t.rows, m)
	}
}

// decidesAlone is how many decisions are not worth a second goroutine.
const decidesAlone = 8

// decideAll takes the decisions of a round, which are about different orders, on as
// many processors as there are.
func (t *tx) decideAll(round []*op) {
	decide := func(ops []*op) {
		for _, o := range ops {
			o.err = o.guard(func() error { return t.decide(o.booking) })
		}
	}
	if len(round) <= decidesAlone {
		decide(round)
		return
	}
	var wg sync.WaitGroup
	share := max(decidesAlone/2, (len(round)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for part := range slices.Chunk(round, share) {
		wg.Go(func() { decide(part) })
	}
	wg.Wait()
}

// decide asks what becomes of the order as it is now.
func (t *tx) decide(b *booking) (err error) {
	var was order.Order
	b.was = nil
	if b.id != "" {
		switch found := t.orders[b.id]; {
		case b.fresh && found != nil:
			return fmt.Errorf("order %s: %w", b.id, settle.ErrTaken)
		case b.fresh:
		case found == nil:
			return fmt.Errorf("order %s: %w", b.id, settle.ErrNotFound)
		default:
			was = *found
			b.was, b.now = found, found
		}
	}
	if b.ready {
		return nil
	}
	if b.change, err = b.decide(was); err != nil || b.change.Event == nil {
		return err
	}
	b.lines, err = linesOf(was, &b.change)
	return err
}

// apply books a change and queues what it writes. The books are the last that
// can refuse; whatever else could go wrong has been tried by decide.
func (t *tx) apply(b *booking) error {
	if err := t.door.admits(b, t.blind); err != nil {
		return fmt.Errorf("order %s: %w", b.id, err)
	}
	e := b.change.Entry
	ended := make([]ledger.Key, 0, len(e.Voids))
	for _, n := range e.Voids {
		if r, ok := t.books.Reservations[n]; ok {
			ended = append(ended, ledger.Key{Account: r.From, Asset: r.Asset})
		}
	}
	if err := t.books.Apply(e); err != nil {
		return err
	}
	for _, k := range ended {
		t.changed[k] = true
	}
	for _, n := range e.Voids {
		t.held[n] = true
	}
	for _, r := range e.Reserve {
		t.held[r.Name] = true
		t.changed[ledger.Key{Account: r.From, Asset: r.Asset}] = true
	}
	for _, p := range e.Postings {
		t.changed[ledger.Key{Account: p.Debit, Asset: p.Asset}] = true
		t.changed[ledger.Key{Account: p.Credit, Asset: p.Asset}] = true
		t.post(string(b.change.Now.ID), p, b.change.At)
	}
	if b.change.Event != nil {
		t.writeLines(b)
	}
	return nil
}

func (t *tx) post(id string, p ledger.Posting, at time.Time) {
	t.head.posting++
	t.add(newPostings, t.head.posting, id, string(p.Debit), string(p.Credit), p.Asset.String(), p.Amount.String(), micro(at))
}

// closeBooks queues what the whole batch added, and the balances and reservations
// as it left them. Accounts of single orders go when they are empty, so that the
// table stays small.
func (t *tx) closeBooks() {
	t.door.close(t)
	if t.blind {
		t.queue = append(t.queue, t.door.guard())
	}
	t.flush(newAddresses, newEvents, newWork, newClaims, newQuestions, newPostings)
	keys := make([]ledger.Key, 0, len(t.changed))
	for k := range t.changed {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b ledger.Key) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Asset.Chain, b.Asset.Chain), cmp.Compare(a.Asset.Ref, b.Asset.Ref))
	})
	for _, k := range keys {
		b := t.books.Balances[k]
		if b.IsZero() && perOrder(k.Account) {
			t.write(sqlDropBalance, string(k.Account), k.Asset.String())
			continue
		}
		t.add(setBalances, string(k.Account), k.Asset.String(), b.Debits.String(), b.Credits.String(), b.Reserved.String(), t.versions[k]+1)
	}
	names := make([]string, 0, len(t.held))
	for n := range t.held {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		r, ok := t.books.Reservations[n]
		switch {
		case ok && t.asked[n]:
			t.add(setReservations, n, string(r.From), r.Asset.String(), r.Amount.String())
		case ok: // of a new order: there can be none of that name, and its key sees to it
			t.add(newReservations, n, string(r.From), r.Asset.String(), r.Amount.String())
		case t.asked[n]:
			t.write(sqlDropReservation, n)
		}
	}
	t.flush(newReservations, setReservations, setBalances)
}

// perOrder reports whether an account belongs to a single order.
func perOrder(a ledger.Account) bool {
	return a.Kind() == ledger.Owed("").Kind() || a.Kind() == ledger.Recovery("").Kind()
}
