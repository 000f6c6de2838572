package house

import (
	"context"
	"fmt"
	"math/big"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
)

// Finding is what an audit found. An empty one is what should be.
type Finding struct {
	// Trouble says, one sentence each, what is not as it must be.
	Trouble []string
	// Conservation is, per asset, what our wallets on the chains have beside what
	// the books and the journal explain. It must be zero.
	Conservation map[chain.Asset]*big.Int
	// DoublePayments counts names that landed more than once and orders that were
	// both paid and refunded.
	DoublePayments int
	// Compared and Unread count the chains that the treasury's own audit could compare
	// and those that were not read far enough.
	Compared, Unread int
	// Drift counts the numbers beside the orders that are not what the orders say, and
	// Entries those of the ledger of points by their kind, whenever they are counted.
	Drift   int
	Entries map[string]int64
}

// Err is nil for an empty finding.
func (f Finding) Err() error {
	if len(f.Trouble) == 0 {
		return nil
	}
	more := ""
	if len(f.Trouble) > 5 {
		more = fmt.Sprintf(" and %d more", len(f.Trouble)-5)
		f.Trouble = f.Trouble[:5]
	}
	return fmt.Errorf("audit: %q%s", f.Trouble, more)
}

// Auditor compares the books with the chains. It remembers endings, because an
// ending must never change.
type Auditor struct {
	h       *House
	endings map[order.ID]order.State
	ended   map[order.ID]bool // seen in the log to end
	feedSeq int64
	audits  int
}

// NewAuditor makes an auditor of a house.
func NewAuditor(h *House) *Auditor {
	return &Auditor{h: h, endings: map[order.ID]order.State{}, ended: map[order.ID]bool{}}
}

// round is one audit on its way.
type round struct {
	*Auditor
	ctx    context.Context
	strict bool
	out    Finding

	gone  map[place]*big.Int          // what sweeps on the chains took from addresses
	swept map[chain.DepositID]send.ID // by which of those

	books     *ledger.Books
	orders    []order.Order
	byID      map[order.ID]int // where in orders
	transfers []send.Record
	sums      map[chain.Asset]*big.Int
}

// Audit looks at everything. Strict is for when all is quiet: then every deposit
// on the chain is booked, and nothing is on its way.
func (a *Auditor) Audit(ctx context.Context, strict bool) (Finding, error) {
	r := &round{
		Auditor: a, ctx: ctx, strict: strict, sums: map[chain.Asset]*big.Int{},
		byID: map[order.ID]int{}, gone: map[place]*big.Int{}, swept: map[chain.DepositID]send.ID{},
	}
	r.out.Conservation = r.sums
	for _, asset := range a.h.Assets {
		r.sums[asset] = new(big.Int)
	}
	if err := r.load(); err != nil {
		return Finding{}, err
	}
	r.checkBooks()
	r.checkEndings()
	r.checkOutflows()
	r.checkReserved()
	r.checkDeposits()
	for _, asset := range r.h.Assets {
		if r.sums[asset].Sign() != 0 {
			r.trouble("%s: the wallets have %s beside what the books explain", asset, r.sums[asset])
		}
	}
	if a.audits++; strict || a.audits%32 == 0 { // it asks much, and mostly the same
		if err := r.checkTreasury(); err != nil {
			return r.out, err
		}
		if err := r.checkCounts(); err != nil {
			return r.out, err
		}
	}
	err := r.checkFeed()
	return r.out, err
}

func (r *round) trouble(format string, args ...any) {
	r.out.Trouble = append(r.out.Trouble, fmt.Sprintf(format, args...))
}

func (r *round) load() (err error) {
	const page = 1000
	if r.books, err = r.h.DB.Books(r.ctx); err != nil {
		return err
	}
	for after := order.ID(""); ; {
		os, err := r.h.DB.Orders(r.ctx, after, page)
		if err != nil {
			return err
		}
		for i, o := range os {
			r.byID[o.ID] = len(r.orders) + i
		}
		r.orders = append(r.orders, os...)
		if len(os) < page {
			break
		}
		after = os[len(os)-1].ID
	}
	for after := send.ID(""); ; {
		ts, err := r.h.DB.Transfers(r.ctx, after, page)
		if err != nil {
			return err
		}
		r.transfers = append(r.transfers, ts...)
		if len(ts) < page {
			return nil
		}
		after = ts[len(ts)-1].Transfer.ID
	}
}

// checkBooks holds the books to themselves: what the postings add up to is what
// the balances say, every asset sums to zero, and no account is past zero.
func (r *round) checkBooks() {
	stored, err := r.h.DB.Balances(r.ctx)
	if err != nil {
		r.trouble("balances cannot be read: %v", err)
		return
	}
	for k, want := range r.books.Balances {
		got := stored[k]
		if want.String() != got.String() || want.Reserved != got.Reserved {
			r.trouble("%s in %s: postings give %s reserved %s, the balance is %s reserved %s", k.Account, k.Asset, want, want.Reserved, got, got.Reserved)
		}
		if err := want.CheckSide(k.Account); err != nil {
			r.trouble("%v", err)
		}
	}
	for k, got := range stored {
		if _, ok := r.books.Balances[k]; !ok && !got.IsZero() {
			r.trouble("%s in %s: balance %s without a posting", k.Account, k.Asset, got)
		}
	}
	for _, a := range r.h.Assets {
		if sum, err := r.books.Sum(a); err != nil || sum.Debits != sum.Credits {
			r.trouble("the books of %s sum to %s, not to zero (%v)", a, sum, err)
		}
	}
}

func (r *round) checkEndings() {
	for _, o := range r.orders {
		was, ended := r.endings[o.ID]
		if ended && was != o.State {
			r.trouble("order %s ended as %s and is %s now", o.ID, was, o.State)
		}
		if o.State.Finished() {
			r.endings[o.ID] = o.State
		}
	}
}

func (r *round) book(a ledger.Account, asset chain.Asset) *big.Int {
	b := r.books.Balances[ledger.Key{Account: a, Asset: asset}]
	return new(big.Int).Sub(toBig(b.Debits), toBig(b.Credits))
}

func (r *round) add(a chain.Asset, n *big.Int) { r.sums[a].Add(r.sums[a], n) }
func (r *round) sub(a chain.Asset, n *big.Int) { r.sums[a].Sub(r.sums[a], n) }

func toBig(a money.Amount) *big.Int {
	n, _ := new(big.Int).SetString(a.String(), 10)
	return n
}

// bookedTxs are the transactions that orders have booked, with what they cost.
func (r *round) bookedTxs() map[chain.TxID]*big.Int {
	booked := map[chain.TxID]*big.Int{}
	for _, o := range r.orders {
		for _, out := range append([]order.Outflow{o.Payout, o.Refund, o.Fee}, others(o)...) {
			if out.Tx != "" {
				booked[out.Tx] = toBig(out.Cost)
			}
		}
	}
	for _, t := range r.transfers { // sweeps are booked where they end
		if sweeps(t) && !t.Open && t.Result.Tx != "" {
			booked[t.Result.Tx] = toBig(t.Result.Cost)
		}
	}
	return booked
}

// sweeps reports whether a transfer brings deposits home: what it moves stays ours.
func sweeps(t send.Record) bool { return len(t.Transfer.Call.Sources) > 0 }

// others are what an order sends beside its payout, its refund and its fee: deposits in
// recovery, and the transactions of its steps.
func others(o order.Order) []order.Outflow {
	var out []order.Outflow
	for _, d := range o.Deposits {
		out = append(out, d.Refund)
	}
	for _, c := range o.Calls {
		out = append(out, c.Outflow)
	}
	return out
}

// checkOutflows compares what left our wallets with what was wished. What is on
// the chain and not yet in the books is in the journal, to the last unit.
func (r *round) checkOutflows() {
	booked := r.bookedTxs()
	byTx := map[chain.TxID]send.Record{}
	cancels := map[chain.TxID]bool{}
	for _, t := range r.transfers {
		for _, k := range t.Attempts {
			byTx[k.Tx] = t
			cancels[k.Tx] = k.Cancel
		}
	}
	landed := map[send.ID]int{}
	for _, n := range r.h.Nets {
		for _, l := range n.Sent(order.HotWallet, 0) {
			t, known := byTx[l.Tx]
			if !known {
				r.trouble("%s left %s and nobody wished it", l.Tx, n.ID())
				continue
			}
			paid := !l.Reverted && !cancels[l.Tx]
			if paid {
				landed[t.Transfer.ID]++
				r.checkLanding(t, l)
				r.checkSwept(t, l)
				r.checkSwap(t, l)
			}
			if cost := booked[l.Tx]; cost != nil {
				// It may have landed again at another price, with the correction on its way.
				r.add(n.ID().Native(), toBig(l.Fee))
				r.sub(n.ID().Native(), cost)
				if r.strict && cost.Cmp(toBig(l.Fee)) != 0 {
					r.trouble("%s of %s cost %s and is booked with %s", l.Tx, t.Transfer.ID, l.Fee, cost)
				}
			} else { // on the chain, not in the books yet
				r.add(n.ID().Native(), toBig(l.Fee))
				if paid && !sweeps(t) && len(l.Data) == 0 {
					r.add(l.Asset, toBig(l.Amount))
				}
				if r.strict {
					r.trouble("%s of %s is on the chain and not in the books", l.Tx, t.Transfer.ID)
				}
			}
		}
		for _, a := range r.h.Assets {
			if a.Chain == n.ID() {
				r.add(a, toBig(n.Balance(n.Own(order.HotWallet), a)))
				r.sub(a, r.book(ledger.Hot(a.Chain), a))
			}
		}
	}
	r.checkMissing(booked)
	r.checkTwice(landed)
}

// checkLanding is the check after the fact: what landed is what was wished.
func (r *round) checkLanding(t send.Record, l sim.Landing) {
	c := t.Transfer.Call
	if c.To != l.To || c.Asset != l.Asset || c.Amount != l.Amount {
		r.trouble("%s wished %s of %s, and %s of %s landed", t.Transfer.ID, c.Amount, c.Asset, l.Amount, l.Asset)
	}
}

// checkMissing accounts for what is in the books and not on the chain: it was
// final and the chain went back behind it. It is offered until it is there again.
func (r *round) checkMissing(booked map[chain.TxID]*big.Int) {
	for _, t := range r.transfers {
		res := t.Result
		if t.Open || res.Tx == "" || booked[res.Tx] == nil || r.h.Net(t.Transfer.Call.Chain).Canonical(res.Tx) {
			continue
		}
		r.sub(t.Transfer.Call.Chain.Native(), booked[res.Tx])
		if res.Fate == chain.Final && !sweeps(t) && len(t.Transfer.Call.Data) == 0 {
			r.sub(t.Transfer.Call.Asset, toBig(t.Transfer.Call.Amount))
		}
		if r.strict {
			r.trouble("%s of %s is in the books and not on the chain", res.Tx, t.Transfer.ID)
		}
	}
}

func (r *round) checkTwice(landed map[send.ID]int) {
	for id, times := range landed {
		if times > 1 {
			r.out.DoublePayments++
			r.trouble("%s landed %d times", id, times)
		}
	}
	for _, o := range r.orders {
		paid, back := landed[send.ID(o.ID+"/payout")], landed[send.ID(o.ID+"/refund")]
		if paid > 0 && back > 0 {
			r.out.DoublePayments++
			r.trouble("order %s was paid and refunded", o.ID)
		}
	}
}

// checkDeposits compares what came to the orders' addresses with what is booked.
func (r *round) checkDeposits() {
	here := map[chain.Asset]*big.Int{}
	for _, a := range r.h.Assets {
		here[a] = new(big.Int)
	}
	for _, o := range r.orders {
		onChain := map[chain.DepositID]chain.Deposit{}
		for _, d := range r.h.Net(o.Quote.Give.Chain).Received(o.DepositTo) {
			onChain[d.ID] = d
			r.add(d.Asset, toBig(d.Amount))
		}
		r.checkAddress(o)
		for _, d := range o.Deposits {
			booked := d.State != order.DepositPending && d.State != order.DepositDrop && !d.Lost
			if !booked {
				continue
			}
			here[d.Asset].Add(here[d.Asset], toBig(d.Amount))
			seen, there := onChain[d.ID]
			delete(onChain, d.ID)
			switch {
			case !there: // the chain took it back and the watcher has not said so yet
				r.add(d.Asset, toBig(d.Amount))
				if r.strict {
					r.trouble("deposit %s of order %s is credited and not on the chain", d.ID, o.ID)
				}
			case seen.Amount != d.Amount || seen.Asset != d.Asset:
				r.trouble("deposit %s of order %s is credited as %s of %s and is %s of %s", d.ID, o.ID, d.Amount, d.Asset, seen.Amount, seen.Asset)
			}
		}
		for _, d := range onChain { // on the chain, not final or not told yet
			r.sub(d.Asset, toBig(d.Amount))
			if r.strict {
				r.trouble("deposit %s to order %s is on the chain and not booked", d.ID, o.ID)
			}
		}
	}
	for _, t := range r.transfers {
		if sweeps(t) && !t.Open && t.Result.Fate == chain.Final {
			here[t.Transfer.Call.Asset].Sub(here[t.Transfer.Call.Asset], toBig(t.Transfer.Call.Amount))
		}
	}
	for _, a := range r.h.Assets {
		books := r.book(ledger.Deposits(a.Chain), a)
		r.sub(a, books)
		if books.Cmp(here[a]) != 0 {
			r.trouble("deposits of %s: the books have %s, the orders %s", a, books, here[a])
		}
	}
}
