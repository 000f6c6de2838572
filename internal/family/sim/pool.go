package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// pair is a contract: a pool of two assets whose product is constant. All it has is what
// lies on its address, so that a reorg takes back what it did and does it anew.
type pair struct{ a, b string }

// poolFee is what a pool keeps of what it is given, in thousandths.
const poolFee = 3

// Deploy makes a pool of two assets at an address that its name gives it. It is empty:
// whoever gives it one of the assets, by Faucet, moves its price.
func (n *Net) Deploy(name string, a, b chain.Asset) (chain.Address, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cfg.Shape != Nonces || a == b || a.Chain != n.cfg.ID || b.Chain != n.cfg.ID || !n.listed[a.Ref] || !n.listed[b.Ref] {
		return chain.Address{}, fmt.Errorf("sim: no pool of %v and %v on %v", a, b, n.cfg.Shape)
	}
	at := newKey(n.codec, n.cfg.Seed, "pool", name).addr
	n.pools[at.Text()] = pair{a.Ref, b.Ref}
	return at, nil
}

func (n *Net) isContract(a chain.Address) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, is := n.pools[a.Text()]
	return is
}

// Swap is what a pool is told: take so much, and give so much of the other at least.
type Swap struct {
	In, MinOut money.Amount
	Get        chain.Asset
}

// Data is the call's bytes.
func (s Swap) Data() []byte {
	return []byte(strings.Join([]string{"swap", s.In.String(), s.Get.String(), s.MinOut.String()}, " "))
}

func readSwap(data []byte) (s Swap, err error) {
	parts := strings.Split(string(data), " ")
	if len(parts) != 4 || parts[0] != "swap" {
		return s, errors.New("sim: the contract has no such method")
	}
	if s.In, err = money.Parse(parts[1]); err == nil {
		s.Get, err = chain.ParseAsset(parts[2])
	}
	if err == nil {
		s.MinOut, err = money.Parse(parts[3])
	}
	return s, err
}

// errReverts is that a contract refuses.
var errReverts = errors.New("sim: the contract reverts")

// flow is what a contract moved.
type flow struct {
	from, to string
	asset    string
	amount   money.Amount
}

// execute says what a call does where balances are as they are said to be.
func (n *Net) execute(b *body, balance func(cell) (money.Amount, error)) ([]flow, error) {
	out := b.outs[0]
	p, is := n.pools[out.to]
	s, err := readSwap(b.data)
	switch {
	case !is || err != nil:
		return nil, fmt.Errorf("%w: it has no such method", errReverts)
	case s.In.IsZero() || out.amount.Less(s.In):
		return nil, fmt.Errorf("%w: it may take %s of %s", errReverts, out.amount, s.In)
	case s.Get.Ref == out.asset || (s.Get.Ref != p.a && s.Get.Ref != p.b) || (out.asset != p.a && out.asset != p.b):
		return nil, fmt.Errorf("%w: it is no pool of %q", errReverts, s.Get.Ref)
	}
	have, err := balance(cell{out.to, out.asset})
	if err != nil {
		return nil, err
	}
	gives, err := balance(cell{out.to, s.Get.Ref})
	if err != nil {
		return nil, err
	}
	brings, err := Product(have, gives, s.In)
	if err != nil || brings.IsZero() || brings.Less(s.MinOut) {
		return nil, fmt.Errorf("%w: it gives %s of %s", errReverts, brings, s.MinOut)
	}
	return []flow{{b.from, out.to, out.asset, s.In}, {out.to, b.from, s.Get.Ref, brings}}, nil
}

// Product is what a pool gives for an amount: that what lies on both sides, multiplied,
// is no less than before.
func Product(have, gives, in money.Amount) (money.Amount, error) {
	net, err := in.MulDiv(money.FromUint64(1000-poolFee), money.FromUint64(1000), money.Down)
	if err != nil {
		return money.Amount{}, err
	}
	total, err := have.Add(net)
	if err != nil || total.IsZero() {
		return money.Amount{}, fmt.Errorf("sim: an empty pool: %w", err)
	}
	return gives.MulDiv(net, total, money.Down)
}

// flow moves what a contract said.
func (n *Net) flow(b *block, did []flow) {
	for _, f := range did {
		n.debit(b, cell{f.from, f.asset}, f.amount)
		n.credit(b, cell{f.to, f.asset}, f.amount)
	}
}

// said is what contracts tell of what they moved, as one text.
func said(did []flow) string {
	var lines []string
	for _, f := range did {
		lines = append(lines, strings.Join([]string{f.from, f.to, f.asset, f.amount.String()}, " "))
	}
	return strings.Join(lines, "\n")
}

// Moved is what a log of a contract tells.
type Moved struct {
	From, To chain.Address
	Sum
}

// ReadLog reads a log of a receipt.
func (c *Chain) ReadLog(l chain.Log) (Moved, error) {
	parts := strings.Split(string(l.Data), " ")
	if len(parts) != 4 {
		return Moved{}, fmt.Errorf("sim: no log of a pool: %q", l.Data)
	}
	n, err := money.Parse(parts[3])
	at := func(s string) chain.Address { return chain.CanonicalAddress(c.net.cfg.Family, s) }
	return Moved{at(parts[0]), at(parts[1]), Sum{chain.Asset{Chain: c.net.cfg.ID, Ref: parts[2]}, n}}, err
}

// sums are what a call took of its sender and gave it.
func (n *Net) sums(r *receipt) (took, gave []Sum) {
	for _, f := range r.did {
		s := Sum{chain.Asset{Chain: n.cfg.ID, Ref: f.asset}, f.amount}
		if f.from == r.tx.body.from {
			took = append(took, s)
		}
		if f.to == r.tx.body.from {
			gave = append(gave, s)
		}
	}
	return took, gave
}

// view says whether a call would go through at a block; an empty text says that it would.
func (d *Node) view(b *body, hash string) (string, error) {
	return serve(d, "View", func(f Fault, view *block) (string, error) {
		at, err := d.net.onBranch(hash, view)
		if err != nil {
			return "", err
		}
		if f.lies(Wrong) {
			return "it lies", nil
		}
		_, err = d.net.execute(b, func(c cell) (money.Amount, error) { return d.net.balanceAt(at, c) })
		if errors.Is(err, errReverts) {
			return err.Error(), nil
		}
		return "", err
	})
}

// simulate refuses a call that would fail as things stand.
func (c *Chain) simulate(ctx context.Context, b *body, head chain.Head) error {
	if len(b.data) == 0 {
		return nil
	}
	why, err := same(ctx, c, func(d *Node) (string, error) { return d.view(b, head.Tip.Hash) })
	if err == nil && why != "" {
		err = fmt.Errorf("%w: %s", send.ErrRefused, why)
	}
	return err
}

// Receipt is what became of a transaction and what contracts said in it. Like Fate it
// hangs on a final block that a quorum has.
func (c *Chain) Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return chain.Receipt{}, err
	}
	s, err := same(ctx, c, func(d *Node) (standing, error) { return d.standing(tx, head.Final.Hash) })
	if err != nil {
		return chain.Receipt{}, err
	}
	r := chain.Receipt{Tx: tx, Block: s.block, Fate: chain.Missing}
	switch {
	case s.landed && s.block.Height > head.Final.Height:
		r.Fate = chain.Included
	case s.landed && s.failed:
		r.Fate = chain.Reverted
	case s.landed:
		r.Fate = chain.Final
	case s.pending:
		r.Fate = chain.Pending
	}
	if s.said != "" && !s.failed {
		for i, line := range strings.Split(s.said, "\n") {
			r.Logs = append(r.Logs, chain.Log{Data: []byte(line), Tx: tx, Block: s.block, Index: uint64(i)})
		}
	}
	return r, nil
}
