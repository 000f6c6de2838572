package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Tick tells the net what time it is; the next block has that time. Time that
// would stand still or go back between two blocks moves by the block time instead.
func (n *Net) Tick(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.After(n.now) {
		n.now = now
	}
}

// Mine makes k blocks from the mempool and returns the tip. A halted net makes none.
func (n *Net) Mine(k int) chain.Block {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mine(k, true)
}

// MineEmpty makes k blocks that leave the mempool alone.
func (n *Net) MineEmpty(k int) chain.Block {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mine(k, false)
}

// MineFinal makes the present tip final.
func (n *Net) MineFinal() chain.Block { return n.Mine(n.cfg.FinalDepth) }

func (n *Net) mine(k int, fill bool) chain.Block {
	for range k {
		if n.halted {
			break
		}
		b := n.newBlock(n.tip())
		n.blocks[b.Hash] = b
		n.canon = append(n.canon, b)
		n.mint(b)
		if fill {
			n.fill(b)
		} else {
			n.sweep(b)
		}
		n.prune()
	}
	return n.tip().Block
}

// fill puts into b what the mempool offers, the best price first. It goes round
// again while something landed, because a transaction may wait for another.
func (n *Net) fill(b *block) {
	if len(n.waiting) == 0 {
		return
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(w waiter) bool { return !w.here() })
	type bid struct {
		*tx
		price money.Amount
	}
	queue := make([]bid, len(n.waiting))
	for i, w := range n.waiting {
		queue[i] = bid{w.tx, w.tx.price()}
	}
	slices.SortFunc(queue, func(x, y bid) int {
		return cmp.Or(y.price.Cmp(x.price), cmp.Compare(x.seq, y.seq))
	})
	for landed := true; landed && len(queue) > 0; {
		landed = false
		later := queue[:0]
		for _, t := range queue {
			if !t.pooled || len(b.receipts) >= n.cfg.Capacity {
				continue
			}
			switch n.try(b, t.tx) {
			case lands:
				landed = true
			case never:
				n.expel(t.tx)
			case waits:
				later = append(later, t)
			}
		}
		queue = later
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(w waiter) bool { return !w.here() })
}

// sweep drops what can never land after b, as every node does by itself.
func (n *Net) sweep(b *block) {
	n.waiting = slices.DeleteFunc(n.waiting, func(w waiter) bool {
		if w.here() && n.stillGood(b, w.tx) == never {
			n.expel(w.tx)
		}
		return !w.here()
	})
}

// verdict is what a block says about a transaction.
type verdict uint8

const (
	waits verdict = iota
	lands
	never
)

// try puts t on top of b if it may land there.
func (n *Net) try(b *block, t *tx) verdict {
	if t.fee.Less(times(n.going, t.weight)) {
		return n.stillGood(b, t)
	}
	if v := n.stillGood(b, t); v == never {
		return never
	}
	switch n.cfg.Shape {
	case Coins:
		return n.tryCoins(b, t)
	case Nonces:
		if t.body.nonce != n.counts[t.body.from] {
			return waits
		}
	}
	return n.tryAccount(b, t)
}

// stillGood is never once t can no longer land on this branch, and waits otherwise.
func (n *Net) stillGood(b *block, t *tx) verdict {
	switch n.cfg.Shape {
	case Nonces:
		if t.body.nonce < n.counts[t.body.from] {
			return never
		}
	case Expiring:
		recent := n.blocks[t.body.recent]
		if b.Height >= t.body.expires || recent == nil || !n.canonical(recent) {
			return never
		}
	}
	return waits
}

func (n *Net) tryAccount(b *block, t *tx) verdict {
	own := cell{t.body.from, ""}
	most, err := t.body.moves("")
	if err != nil {
		return never
	}
	fee := t.fee
	if n.cfg.Shape == Nonces { // what it bids above the going price it keeps
		fee = times(n.going, t.weight)
	}
	have := n.cells[own]
	if have.Less(t.fee) {
		return waits
	}
	short := minus(have, t.fee).Less(most)
	if short && n.cfg.Shape == Nonces {
		return waits
	}
	failed := short || t.body.flags&willFail != 0 || n.lacksTokens(t.body) || n.lacksPulls(t.body) || n.rejected(t.body)
	var did []flow
	if len(t.body.data) > 0 && !failed {
		did, err = n.execute(t.body, func(c cell) (money.Amount, error) { return n.cells[c], nil })
		failed = err != nil
	}
	n.debit(b, own, fee)
	switch {
	case failed:
	case len(t.body.data) > 0:
		n.flow(b, did)
	case len(t.body.pulls) > 0:
		n.pullIn(b, t.body)
	default:
		for _, o := range t.body.outs {
			if o.void || o.amount.IsZero() {
				continue
			}
			n.debit(b, cell{t.body.from, o.asset}, o.amount)
			n.credit(b, cell{o.to, o.asset}, o.amount)
		}
	}
	if n.cfg.Shape == Nonces {
		n.count(b, t.body.from)
	}
	n.land(b, t, fee, failed).did = did
	return lands
}

func (n *Net) lacksTokens(b *body) bool {
	for i, o := range b.outs {
		if o.asset == "" || slices.ContainsFunc(b.outs[:i], func(p output) bool { return p.asset == o.asset }) {
			continue
		}
		sum, err := b.moves(o.asset)
		if err != nil || n.cells[cell{b.from, o.asset}].Less(sum) {
			return true
		}
	}
	return false
}

func (n *Net) tryCoins(b *block, t *tx) verdict {
	for _, in := range t.body.ins {
		c := n.coins[in.ref]
		if c == nil {
			if p := n.txs[in.tx]; p != nil && p.pooled {
				return waits
			}
			return never
		}
		if c.spent != nil {
			return never
		}
	}
	r := n.land(b, t, t.fee, false)
	for _, in := range t.body.ins {
		c := n.coins[in.ref]
		n.spend(c, r)
		n.debit(b, cell{c.owner, ""}, in.amount)
	}
	for i, o := range t.body.outs {
		n.addCoin(&coin{ref: ref{t.id, uint32(i)}, owner: o.to, amount: o.amount, made: b})
		n.credit(b, cell{o.to, ""}, o.amount)
	}
	return lands
}

// land notes that t stands in b.
func (n *Net) land(b *block, t *tx, fee money.Amount, failed bool) *receipt {
	r := &receipt{tx: t, block: b, fee: fee, failed: failed}
	b.receipts = append(b.receipts, r)
	t.at = r
	n.leave(t)
	if list, ours := n.sent[t.body.from]; ours {
		n.sent[t.body.from] = append(list, r)
	}
	for i := range t.body.outs {
		if n.pays(r, i) {
			to := t.body.outs[i].to
			n.paid[to] = append(n.paid[to], place{r, i})
		}
	}
	return r
}

// place is one transfer inside a transaction in a block.
type place struct {
	*receipt
	index int
}

// pays reports whether an output moved something that is listed.
func (n *Net) pays(r *receipt, i int) bool {
	o := r.tx.body.outs[i]
	return !r.failed && len(r.tx.body.data) == 0 && !o.void && !o.amount.IsZero() && n.listed[o.asset]
}

// prune forgets how to undo what no reorg reaches.
func (n *Net) prune() {
	deep := n.tip().n - n.cfg.Keep
	if deep <= 0 {
		return
	}
	b := n.canon[deep]
	b.diff, b.counts, b.parent, b.mints = nil, nil, nil, nil
	for len(n.stale) > 0 && n.stale[0].n <= deep {
		delete(n.blocks, n.stale[0].Hash)
		n.stale = n.stale[1:]
	}
}

// Halt stops the net from making blocks.
func (n *Net) Halt() { n.setHalted(true) }

// Resume lets it make blocks again.
func (n *Net) Resume() { n.setHalted(false) }

func (n *Net) setHalted(h bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.halted = h
}

// SetFees sets the going price per unit of weight: nothing below it lands.
func (n *Net) SetFees(price money.Amount) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.going = money.Max(price, n.cfg.MinFee)
}

// Skip leaves out the next k heights, as a chain whose leaders miss their slots.
func (n *Net) Skip(k uint64) error {
	if n.cfg.Shape != Expiring {
		return fmt.Errorf("sim: %v skip no heights", n.cfg.Shape)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.skip += k
	return nil
}
