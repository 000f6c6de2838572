package sim

import (
	"errors"
	"fmt"
	"slices"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// mint is money made from nothing. It lands in the next block, whatever that is.
type mint struct {
	id     chain.TxID
	to     cell
	amount money.Amount
}

// Out is one transfer of a payment.
type Out struct {
	To     chain.Address
	Asset  chain.Asset
	Amount money.Amount
	// Void: an inner call that fails. It is shown in the transaction and moves nothing.
	Void bool
	// For is the reference of an order that a payment to our own account is for.
	For chain.Address
}

// Payment is what a user sends. Users are never broke: what a payment needs is
// minted before it.
type Payment struct {
	From     string // a user's name
	Outs     []Out
	Price    money.Amount // per unit of weight; the going price if zero
	Contract bool         // made by a contract the user calls
	Fail     bool         // it lands and fails; not for Coins
}

// maxMint bounds supplies so that no balance can overflow.
var maxMint = money.MustParse("1" + "000000000000000000000000000000000000000000000000000000000000")

// User is the address from which a user pays.
func (n *Net) User(name string) chain.Address {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.user(name).addr
}

func (n *Net) user(name string) key {
	k, known := n.users[name]
	if !known {
		k = newKey(n.codec, n.cfg.Seed, "user", name)
		n.users[name] = k
		n.keys[k.addr.Text()] = k
	}
	return k
}

// Faucet gives an address money: at once while the net has only its first block,
// and in the next block otherwise. On Coins every call makes one coin.
func (n *Net) Faucet(to chain.Address, a chain.Asset, amount money.Amount) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, err := n.codec.Parse(to.Text()); err != nil {
		return err
	}
	if maxMint.Less(amount) || a.Chain != n.cfg.ID || (n.cfg.Shape == Coins && (!a.IsNative() || amount.Less(n.cfg.Dust))) {
		return fmt.Errorf("sim: cannot make %s of %v", amount, a)
	}
	n.conjure(cell{to.Text(), a.Ref}, amount)
	if len(n.canon) == 1 {
		n.mint(n.canon[0])
		n.canon[0].mints = nil
	}
	return nil
}

// conjure makes money that will be there in the next block.
func (n *Net) conjure(to cell, amount money.Amount) *mint {
	m := &mint{id: chain.TxID(n.name("mint")), to: to, amount: amount}
	n.mints = append(n.mints, m)
	n.await(m)
	return m
}

// await lets the mempool count on a mint.
func (n *Net) await(m *mint) {
	n.minting[m.to] = plus(n.minting[m.to], m.amount)
	if n.cfg.Shape == Coins {
		r := ref{m.id, 0}
		n.fresh[r] = &coin{ref: r, owner: m.to.addr, amount: m.amount}
	}
}

// mint makes all the money that waits.
func (n *Net) mint(b *block) {
	for _, m := range n.mints {
		n.credit(b, m.to, m.amount)
		if left := minus(n.minting[m.to], m.amount); left.IsZero() {
			delete(n.minting, m.to)
		} else {
			n.minting[m.to] = left
		}
		if c := n.fresh[ref{m.id, 0}]; c != nil {
			delete(n.fresh, c.ref)
			c.made = b
			n.addCoin(c)
		}
	}
	b.mints, n.mints = append(b.mints, n.mints...), nil
}

// Pay sends one plain payment; it panics where Send would refuse.
func (n *Net) Pay(user string, to chain.Address, a chain.Asset, amount money.Amount) chain.TxID {
	id, err := n.Send(Payment{From: user, Outs: []Out{{To: to, Asset: a, Amount: amount}}})
	if err != nil {
		panic(err)
	}
	return id
}

// Send puts a user's payment into the mempool.
func (n *Net) Send(p Payment) (chain.TxID, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.user(p.From)
	b := &body{chain: n.cfg.ID, from: k.addr.Text(), price: or(p.Price, n.going)}
	if p.Contract {
		b.flags |= viaContract
	}
	if p.Fail {
		b.flags |= willFail
	}
	for _, o := range p.Outs {
		if o.Asset.Chain != n.cfg.ID {
			return "", fmt.Errorf("%w: %v", ErrOtherChain, o.Asset)
		}
		b.outs = append(b.outs, output{to: o.To.Text(), asset: o.Asset.Ref, amount: o.Amount, void: o.Void})
	}
	if n.cfg.Shape == Coins && (p.Contract || p.Fail) {
		return "", errors.New("sim: coins have no contracts and nothing on them fails")
	}
	if err := n.equip(b); err != nil {
		return "", err
	}
	id, err := n.offerBody(k, b)
	for i, o := range p.Outs {
		if _, is := o.For.Reference(); is && err == nil {
			n.named[claimed{id, i}] = o.For
		}
	}
	return id, err
}

// claimed is an output that says whom it is for.
type claimed struct {
	tx    chain.TxID
	index int
}

func (n *Net) offerBody(k key, b *body) (chain.TxID, error) {
	_, raw := k.sign(b)
	t, err := n.hear(raw)
	if err != nil {
		return "", err
	}
	return t.id, nil
}

// equip gives a user's body what its shape needs, and the user the money for it.
func (n *Net) equip(b *body) error {
	switch n.cfg.Shape {
	case Nonces:
		b.nonce = n.counts[b.from]
		for n.claims[claim{b.from, b.nonce}] != nil {
			b.nonce++
		}
	case Expiring:
		recent := n.final(n.tip()) // a newer one might be orphaned, and the payment with it
		b.recent, b.expires, b.salt = recent.Hash, recent.Height+n.cfg.Window, n.next()
	case Coins:
		return n.equipCoins(b)
	}
	fee, err := b.costs(n.cfg.Shape)
	if err != nil {
		return err
	}
	n.conjure(cell{b.from, ""}, fee)
	for _, o := range b.outs {
		if maxMint.Less(o.amount) {
			return fmt.Errorf("sim: nobody has %s", o.amount)
		}
		if !o.amount.IsZero() && !o.void {
			n.conjure(cell{b.from, o.asset}, o.amount)
		}
	}
	return nil
}

// equipCoins mints the one coin that a payment spends, to the last unit.
func (n *Net) equipCoins(b *body) error {
	need := times(b.price, coinBase+coinIn+coinOut*uint64(len(b.outs)))
	for _, o := range b.outs {
		if o.amount.Less(n.cfg.Dust) || o.asset != "" {
			return fmt.Errorf("%w: a coin of %s %s", errMalformed, o.amount, o.asset)
		}
		if maxMint.Less(o.amount) {
			return fmt.Errorf("sim: nobody has %s", o.amount)
		}
		need = plus(need, o.amount)
	}
	m := n.conjure(cell{b.from, ""}, need)
	b.price = money.Amount{}
	b.ins = []input{{ref: ref{m.id, 0}, amount: need}}
	return nil
}

// Resend offers again what the net has heard before and forgot: evicted, or lost in
// a reorg.
func (n *Net) Resend(id chain.TxID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.txs[id]
	if t == nil {
		return fmt.Errorf("sim: nobody ever sent %s", id)
	}
	if t.pooled || t.at != nil {
		return nil
	}
	return n.admit(t)
}

// PayAgain offers the transaction again that made a deposit, if the net ever heard of
// it and still takes it.
func (n *Net) PayAgain(d chain.DepositID) bool {
	r, ok := n.coinOf(d)
	return ok && n.Resend(r.tx) == nil
}

// Replace puts another payment of the same sender in the place of one that waits;
// with no outs it pays the sender only. Not for Expiring.
func (n *Net) Replace(id chain.TxID, outs ...Out) (chain.TxID, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.replace(id, outs)
}

func (n *Net) replace(id chain.TxID, outs []Out) (chain.TxID, error) {
	t := n.txs[id]
	if t == nil || !t.pooled || n.cfg.Shape == Expiring {
		return "", fmt.Errorf("sim: %s cannot be replaced", id)
	}
	b := *t.body
	b.ins, b.outs, b.flags = slices.Clone(b.ins), nil, 0
	for _, o := range outs {
		b.outs = append(b.outs, output{to: o.To.Text(), asset: o.Asset.Ref, amount: o.Amount})
	}
	k := n.keys[b.from]
	if n.cfg.Shape == Nonces {
		b.price = money.Max(plus(plus(b.price, b.price), money.FromUint64(1)), n.going)
		if len(outs) == 0 {
			b.outs = []output{{to: b.from}}
		}
		return n.fundAndOffer(k, &b)
	}
	return n.replaceCoins(k, &b, t)
}

func (n *Net) fundAndOffer(k key, b *body) (chain.TxID, error) {
	fee, err := b.costs(n.cfg.Shape)
	if err != nil {
		return "", err
	}
	n.conjure(cell{b.from, ""}, fee)
	return n.offerBody(k, b)
}

// replaceCoins spends the same coins and one new coin, which pays the higher fee.
func (n *Net) replaceCoins(k key, b *body, old *tx) (chain.TxID, error) {
	if len(b.outs) == 0 {
		b.outs = []output{{to: b.from, amount: n.cfg.Dust}}
	}
	weight := coinBase + coinIn*uint64(len(b.ins)+1) + coinOut*uint64(len(b.outs))
	price := times(n.going, 2*weight)
	bump := plus(times(old.fee, 3), price)
	need := bump
	for _, o := range b.outs {
		need = plus(need, o.amount)
	}
	m := n.conjure(cell{b.from, ""}, need)
	b.ins = append(b.ins, input{ref{m.id, 0}, need})
	// What the old coins held goes back to the sender.
	var back money.Amount
	for _, in := range b.ins[:len(b.ins)-1] {
		back = plus(back, in.amount)
	}
	b.outs = append(b.outs, output{to: b.from, amount: back})
	return n.offerBody(k, b)
}
