package store

import (
	"ferry/internal/chain"
	"ferry/internal/order"
)

const (
	sqlClosed = `SELECT chain FROM halts`
	sqlRead   = `SELECT chain FROM tracks`
)

// depositAddresses finds which of some addresses are deposit addresses. It does not ask
// for the chain: PostgreSQL, which plans it while the table is empty, would take the
// index of the chain's numbers and read every address that the chain ever had.
var depositAddresses = anyOf(`SELECT chain, address FROM addresses WHERE address`)

// house is what a transaction knows of the chains that new orders are on, and of the
// addresses that their money goes to. It is asked once for all of them.
type house struct {
	open    map[chain.ID]bool // what the new orders need to be open
	watched map[chain.ID]bool // and to be read
	halted  map[chain.ID]bool
	read    map[chain.ID]bool
	strange map[place]bool // true: it is a deposit address
}

type place struct {
	on      chain.ID
	address string
}

func newHouse() house {
	return house{open: map[chain.ID]bool{}, watched: map[chain.ID]bool{}, halted: map[chain.ID]bool{}, read: map[chain.ID]bool{}, strange: map[place]bool{}}
}

// meet notes what a new order needs to be known.
func (h *house) meet(c *order.Change) {
	for _, id := range c.Open {
		h.open[id] = true
	}
	if c.Watched != "" {
		h.watched[c.Watched] = true
	}
	for _, p := range payees(c.Now) {
		h.strange[p] = false
	}
}

// payees are where the money of an order goes.
func payees(o order.Order) []place {
	all := []place{{o.Quote.Get.Chain, o.PayTo.Text()}}
	if !o.RefundTo.IsZero() {
		all = append(all, place{o.Quote.Give.Chain, o.RefundTo.Text()})
	}
	return all
}

func (h *house) ask() (ss []stmt) {
	if len(h.open)+len(h.watched) > 0 {
		note := func(into map[chain.ID]bool) func(row) error {
			return func(r row) error {
				var id string
				err := r.Scan(&id)
				into[chain.ID(id)] = true
				return err
			}
		}
		ss = append(ss, ask(note(h.halted), sqlClosed), ask(note(h.read), sqlRead))
	}
	var addresses []any
	for p := range h.strange {
		addresses = append(addresses, p.address)
	}
	if len(addresses) == 0 {
		return ss
	}
	return append(ss, stmt{many: depositAddresses, args: addresses, each: func(r row) error {
		var p place
		err := r.Scan((*string)(&p.on), &p.address)
		if _, asked := h.strange[p]; asked {
			h.strange[p] = true
		}
		return err
	}})
}

// guards refuses, with a row that no table takes, what is otherwise asked: a chain that
// is halted ($1) or not read ($2), a payee that is a deposit address ($3), and open
// orders of a subject ($4) since a moment ($5) that would be more than allowed ($6)
// with those that are added ($7), and more of a pair ($8) since a second ($9) than may be
// sold ($10) with what is added ($11). It sees the tables as they were before what it is
// joined with; should it see them after, it refuses too early, and then all is asked.
var guards = &many{types: "ttttnnntnnn", bulk: `INSERT INTO writers (id)
SELECT CAST(NULL AS BIGINT) FROM halts WHERE chain = ANY(CAST($1 AS TEXT[]))
UNION ALL SELECT NULL FROM unnest(CAST($2 AS TEXT[])) w (chain) WHERE NOT EXISTS (SELECT 1 FROM tracks t WHERE t.chain = w.chain)
UNION ALL SELECT NULL FROM addresses WHERE address = ANY(CAST($3 AS TEXT[]))
UNION ALL SELECT NULL FROM unnest(CAST($4 AS TEXT[]), CAST($5 AS BIGINT[]), CAST($6 AS BIGINT[]), CAST($7 AS BIGINT[])) c (subject, since, most, more)
WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM open_orders o WHERE o.subject = c.subject AND o.created_at > c.since LIMIT c.most) t) + c.more > c.most
UNION ALL SELECT NULL FROM unnest(CAST($8 AS TEXT[]), CAST($9 AS BIGINT[]), CAST($10 AS BIGINT[]), CAST($11 AS BIGINT[])) f (pair, since, most, more)
WHERE (SELECT COALESCE(SUM(w.usd), 0) FROM flows w WHERE w.pair = f.pair AND w.second > f.since) + f.more > f.most`}

// guard is the statement that refuses what this transaction did not ask.
func (d *door) guard() stmt {
	var halted, read, payees, subjects []string
	var since, most, more []int64
	for id := range d.house.open {
		halted = append(halted, string(id))
	}
	for id := range d.house.watched {
		read = append(read, string(id))
	}
	for p := range d.house.strange {
		payees = append(payees, p.address)
	}
	for of, have := range d.open {
		subjects, since, most, more = append(subjects, of.subject), append(since, have.after), append(most, of.max), append(more, d.added[of.subject])
	}
	var pairs []string
	var from, bound, sold []int64
	for pair, f := range d.flows {
		pairs, from, bound, sold = append(pairs, pair), append(from, f.since), append(bound, int64(f.most)), append(sold, f.more())
	}
	return stmt{many: guards, columns: []any{halted, read, payees, subjects, since, most, more, pairs, from, bound, sold}}
}

// serves says why the house does not take a new order.
func (d *door) serves(c *order.Change) error {
	for _, id := range c.Open {
		if d.house.halted[id] {
			return &order.Closed{Chain: id}
		}
	}
	if c.Watched != "" && !d.house.read[c.Watched] {
		return &order.Closed{Chain: c.Watched}
	}
	for i, p := range payees(c.Now) {
		if d.house.strange[p] {
			return &order.Ours{Refund: i > 0}
		}
	}
	return nil
}
