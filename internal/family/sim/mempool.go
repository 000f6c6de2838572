package sim

import (
	"errors"
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Why a net does not take a transaction.
var (
	errUsed      = errors.New("sim: its nonce or its coins are used")
	errPriced    = errors.New("sim: it pays too little")
	errExpired   = errors.New("sim: it has expired")
	errShort     = errors.New("sim: the sender has too little")
	errMalformed = errors.New("sim: it makes no sense on this chain")
)

// claim is what two transactions cannot both have: a nonce or a coin.
type claim struct {
	name string
	n    uint64
}

// pool is the mempool and the money that waits to be made.
type pool struct {
	waiting []waiter // in the order in which they came; some may have left
	claims  map[claim]*tx
	mints   []*mint
	minting map[cell]money.Amount
	fresh   map[ref]*coin
}

// waiter is a place in the mempool; it is void once its transaction left or came
// back at a later place.
type waiter struct {
	*tx
	place uint64
}

func (w waiter) here() bool { return w.pooled && w.seq == w.place }

func newPool() pool {
	return pool{
		claims:  make(map[claim]*tx),
		minting: make(map[cell]money.Amount),
		fresh:   make(map[ref]*coin),
	}
}

func (t *tx) claimed(s Shape) []claim {
	switch s {
	case Nonces:
		return []claim{{t.body.from, t.body.nonce}}
	case Coins:
		out := make([]claim, len(t.body.ins))
		for i, in := range t.body.ins {
			out[i] = claim{string(in.tx), uint64(in.index)}
		}
		return out
	}
	return nil
}

// hear takes bytes from whoever sends them. Bytes it has already are no error.
func (n *Net) hear(raw []byte) (*tx, error) {
	id := txID(raw)
	t := n.txs[id]
	if t == nil {
		b, signed, sig, err := decode(raw)
		if err != nil {
			return nil, err
		}
		if !n.signers(b).signed(signed, sig) {
			return nil, fmt.Errorf("%w: its signature is wrong", ErrBytes)
		}
		if t, err = n.newTx(id, b); err != nil {
			return nil, err
		}
	}
	if t.pooled || t.at != nil {
		return t, nil
	}
	if err := n.admit(t); err != nil {
		return nil, fmt.Errorf("transaction %s: %w", id, err)
	}
	return t, nil
}

func (n *Net) newTx(id chain.TxID, b *body) (*tx, error) {
	if b.chain != n.cfg.ID {
		return nil, fmt.Errorf("%w: it is for %s", errMalformed, b.chain)
	}
	if len(b.outs) == 0 || (n.cfg.Shape == Coins) != (len(b.ins) > 0) {
		return nil, errMalformed
	}
	if len(b.data) > 0 && (n.cfg.Shape != Nonces || len(b.outs) != 1 || len(b.pulls) > 0) {
		return nil, errMalformed
	}
	for _, o := range b.outs {
		if _, err := n.codec.Parse(o.to); err != nil {
			return nil, fmt.Errorf("%w: %w", errMalformed, err)
		}
		if n.cfg.Shape == Coins && (o.asset != "" || o.void || o.amount.Less(n.cfg.Dust)) {
			return nil, fmt.Errorf("%w: a coin of %s %s", errMalformed, o.amount, o.asset)
		}
	}
	fee, err := b.costs(n.cfg.Shape)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	t := &tx{id: id, body: b, weight: b.weigh(n.cfg.Shape), fee: fee}
	if t.fee.Less(times(n.cfg.MinFee, t.weight)) {
		return nil, errPriced
	}
	return t, nil
}

// admit puts a transaction into the mempool if the rules of the shape allow it.
func (n *Net) admit(t *tx) error {
	if err := n.fits(t); err != nil {
		return err
	}
	rivals, err := n.outbids(t)
	if err != nil {
		return err
	}
	for _, r := range rivals {
		n.expel(r)
	}
	n.enter(t)
	return nil
}

func (n *Net) enter(t *tx) {
	t.seq, t.pooled = n.next(), true
	n.txs[t.id] = t
	n.waiting = append(n.waiting, waiter{t, t.seq})
	for _, c := range t.claimed(n.cfg.Shape) {
		n.claims[c] = t
	}
}

// fits says whether t could land on the tip, or behind others that wait.
func (n *Net) fits(t *tx) error {
	b := t.body
	switch n.cfg.Shape {
	case Nonces:
		if b.nonce < n.counts[b.from] {
			return errUsed
		}
	case Expiring:
		recent := n.blocks[b.recent]
		if recent == nil || !n.canonical(recent) || b.expires != recent.Height+n.cfg.Window || n.tip().Height+1+n.skip >= b.expires {
			return errExpired
		}
	case Coins:
		return n.coinsFit(b)
	}
	most, err := b.moves("")
	if err == nil {
		most, err = most.Add(t.fee)
	}
	own := cell{b.from, ""}
	if err != nil || plus(n.cells[own], n.minting[own]).Less(most) {
		return errShort
	}
	return nil
}

// coinsFit: every input is a coin of the sender that nobody on the branch spent,
// made on it or by a transaction that waits.
func (n *Net) coinsFit(b *body) error {
	seen := make(map[ref]bool, len(b.ins))
	for _, in := range b.ins {
		owner, amount, found := n.coin(in.ref)
		if !found || seen[in.ref] {
			return errUsed
		}
		if !b.spends(owner) || amount != in.amount {
			return fmt.Errorf("%w: coin %s:%d is another", errMalformed, in.tx, in.index)
		}
		seen[in.ref] = true
	}
	return nil
}

func (n *Net) coin(r ref) (owner string, amount money.Amount, found bool) {
	if c := n.coins[r]; c != nil {
		return c.owner, c.amount, c.spent == nil
	}
	if c := n.fresh[r]; c != nil {
		return c.owner, c.amount, true
	}
	if p := n.txs[r.tx]; p != nil && p.pooled && int(r.index) < len(p.body.outs) {
		o := p.body.outs[r.index]
		return o.to, o.amount, true
	}
	return "", money.Amount{}, false
}

// outbids finds those that wait and want the same as t, and says whether t pays
// enough to take their place: a tenth more for a nonce, and for coins all that
// the others pay and the relay minimum on top, at a better price.
func (n *Net) outbids(t *tx) ([]*tx, error) {
	var rivals []*tx
	sum := times(n.cfg.MinFee, t.weight)
	for _, c := range t.claimed(n.cfg.Shape) {
		r := n.claims[c]
		if r == nil || contains(rivals, r) {
			continue
		}
		rivals = append(rivals, r)
		sum = plus(sum, r.fee)
		if n.cfg.Shape == Nonces && times(t.body.price, 10).Less(times(r.body.price, 11)) {
			return nil, errPriced
		}
		if n.cfg.Shape == Coins && t.price().Cmp(r.price()) <= 0 {
			return nil, errPriced
		}
	}
	if n.cfg.Shape == Coins && len(rivals) > 0 && t.fee.Less(sum) {
		return nil, errPriced
	}
	return rivals, nil
}

func contains(list []*tx, t *tx) bool {
	for _, o := range list {
		if o == t {
			return true
		}
	}
	return false
}

// expel takes a transaction out of the mempool, and those that spend its coins.
func (n *Net) expel(t *tx) {
	if !t.pooled {
		return
	}
	t.pooled = false
	for _, c := range t.claimed(n.cfg.Shape) {
		if n.claims[c] == t {
			delete(n.claims, c)
		}
	}
	if n.cfg.Shape == Coins {
		for i := range t.body.outs {
			if child := n.claims[claim{string(t.id), uint64(i)}]; child != nil {
				n.expel(child)
			}
		}
	}
}

// leave takes a transaction out of the mempool because it landed; its children stay.
func (n *Net) leave(t *tx) {
	t.pooled = false
	for _, c := range t.claimed(n.cfg.Shape) {
		if n.claims[c] == t {
			delete(n.claims, c)
		}
	}
}

// Broadcast offers bytes to the net itself, without any node in between.
func (n *Net) Broadcast(raw []byte) (chain.TxID, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t, err := n.hear(raw)
	if err != nil {
		return "", err
	}
	return t.id, nil
}

// Evict makes the net forget a waiting transaction; false if it does not wait.
func (n *Net) Evict(id chain.TxID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.txs[id]
	if t == nil || !t.pooled {
		return false
	}
	n.expel(t)
	return true
}

// EvictAll empties the mempool.
func (n *Net) EvictAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.waiting {
		n.expel(w.tx)
	}
	n.waiting = nil
}
