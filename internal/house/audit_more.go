package house

import (
	"fmt"
	"math/big"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/order"
	"ferry/internal/send"
)

// place is an asset on an address.
type place struct {
	at    chain.Address
	asset chain.Asset
}

// checkSwept holds a sweep on a chain to its wish: it took from each address what it
// was to take, and no other sweep took the same deposit.
func (r *round) checkSwept(t send.Record, l sim.Landing) {
	if len(t.Transfer.Call.Sources) != len(l.Swept) {
		r.trouble("%s was to empty %d addresses and emptied %d", t.Transfer.ID, len(t.Transfer.Call.Sources), len(l.Swept))
	}
	for _, s := range t.Transfer.Call.Sources {
		if l.Swept[s.Address] != s.Amount {
			r.trouble("%s was to take %s from address %d and took %s", t.Transfer.ID, s.Amount, s.Index, l.Swept[s.Address])
		}
		p := place{s.Address, l.Asset}
		if r.gone[p] == nil {
			r.gone[p] = new(big.Int)
		}
		r.gone[p].Add(r.gone[p], toBig(l.Swept[s.Address]))
		r.sub(l.Asset, toBig(l.Swept[s.Address]))
		for _, d := range s.Deposits {
			if by, twice := r.swept[d]; twice {
				r.trouble("deposit %s was brought home by %s and by %s", d, by, t.Transfer.ID)
			}
			r.swept[d] = t.Transfer.ID
		}
	}
}

// checkSwap holds what a step's transaction did to what is booked of it. Its order books
// that when the step is done, and goes on to the next; until then the wallet has less of
// the one asset and more of the other than the books.
func (r *round) checkSwap(t send.Record, l sim.Landing) {
	if len(l.Data) == 0 || r.stepped(t) {
		return
	}
	for _, s := range l.Took {
		r.add(s.Asset, toBig(s.Amount))
	}
	for _, s := range l.Gave {
		r.sub(s.Asset, toBig(s.Amount))
	}
	if r.strict {
		r.trouble("%s has exchanged something, and no step is booked for it", t.Transfer.ID)
	}
}

// stepped reports whether the step is booked that asked for a transaction.
func (r *round) stepped(t send.Record) bool {
	i, known := r.byID[order.ID(t.Transfer.Order)]
	if !known {
		return false
	}
	for _, c := range r.orders[i].Calls {
		if r.orders[i].CallName(c) == string(t.Transfer.ID) {
			return c.Step < r.orders[i].Step
		}
	}
	return false
}

// checkReserved holds reservations of steps to the orders that run them.
func (r *round) checkReserved() {
	want := map[string]bool{}
	for _, o := range r.orders {
		if o.State == order.Executing {
			want[fmt.Sprintf("%s/step/%d", o.ID, o.Step)] = true
		}
	}
	for name := range r.books.Reservations {
		if strings.Contains(name, "/step/") && !want[name] {
			r.trouble("%s is reserved, and that step does not run", name)
		}
		delete(want, name)
	}
	for name := range want {
		r.trouble("%s runs, and nothing is reserved for it", name)
	}
}

// checkAddress holds what lies on an order's address to what came and was taken.
func (r *round) checkAddress(o order.Order) {
	net := r.h.Net(o.Quote.Give.Chain)
	want := map[chain.Asset]*big.Int{}
	for _, a := range r.h.Assets {
		if a.Chain == net.ID() {
			want[a] = new(big.Int)
		}
	}
	for _, d := range net.Received(o.DepositTo) {
		want[d.Asset].Add(want[d.Asset], toBig(d.Amount))
	}
	for a, n := range want {
		if gone := r.gone[place{o.DepositTo, a}]; gone != nil {
			n.Sub(n, gone)
		}
		if have := toBig(net.Balance(o.DepositTo, a)); have.Cmp(n) != 0 {
			r.trouble("%s of %s lies on the address of order %s, and %s came and was not taken", have, a, o.ID, n)
		}
	}
}

// checkFeed holds the log to its promises: no gaps, one ending for each order, and
// nothing that leads out of one.
func (r *round) checkFeed() error {
	for {
		es, err := r.h.DB.Since(r.ctx, r.feedSeq, 1000)
		if err != nil {
			return err
		}
		for _, e := range es {
			if e.Seq != r.feedSeq+1 {
				r.trouble("feed entry %d follows %d", e.Seq, r.feedSeq)
			}
			r.feedSeq = e.Seq
			if e.From.Finished() && e.State != e.From {
				r.trouble("order %s went from %s to %s", e.Order, e.From, e.State)
			}
			if !e.From.Finished() && e.State.Finished() {
				if r.ended[e.Order] {
					r.trouble("order %s has two endings", e.Order)
				}
				r.ended[e.Order] = true
			}
		}
		if len(es) < 1000 {
			return nil
		}
	}
}

// checkCounts counts everything that is kept beside the orders again.
func (r *round) checkCounts() error {
	found, err := r.h.DB.Recount(r.ctx)
	if err != nil {
		return err
	}
	if found.Orders != int64(len(r.orders)) {
		r.trouble("%d orders were counted again, and there are %d", found.Orders, len(r.orders))
	}
	r.out.Drift, r.out.Entries = len(found.Drift), found.Entries
	for _, d := range found.Drift {
		r.trouble("%s", d)
	}
	return nil
}
