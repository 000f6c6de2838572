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
	asks    bool
	halted  map[chain.ID]bool
	read    map[chain.ID]bool
	strange map[place]bool // true: it is a deposit address
}

type place struct {
	on      chain.ID
	address string
}

func newHouse() house {
	return house{halted: map[chain.ID]bool{}, read: map[chain.ID]bool{}, strange: map[place]bool{}}
}

// meet notes what a new order needs to be known.
func (h *house) meet(c *order.Change) {
	h.asks = h.asks || len(c.Open) > 0 || c.Watched != ""
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
	if h.asks {
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
