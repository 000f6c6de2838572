package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/money"
	"ferry/internal/send"
)

// Address is the address of one of our keys.
func (c *Chain) Address(_ context.Context, id chain.ID, k chain.Key) (chain.Address, error) {
	if id != c.net.cfg.ID {
		return chain.Address{}, fmt.Errorf("%w: %s is not %s", ErrOtherChain, id, c.net.cfg.ID)
	}
	if k.Account == chain.DepositKeys {
		return c.net.Deposit(k.Index), nil
	}
	a := c.Own(k.Account)
	if a.IsZero() || k.Index != 0 {
		return chain.Address{}, fmt.Errorf("sim: %q has no key %d", k.Account, k.Index)
	}
	return a, nil
}

// Balance is what an address has at a block of the branch.
func (c *Chain) Balance(ctx context.Context, a chain.Address, x chain.Asset, at chain.Block) (money.Amount, error) {
	if x.Chain != c.net.cfg.ID {
		return money.Amount{}, fmt.Errorf("%w: %v", ErrOtherChain, x)
	}
	return same(ctx, c, func(d *Node) (money.Amount, error) { return d.balance(cell{a.Text(), x.Ref}, at.Hash) })
}

// Balances are what lies on each spot at a block of the branch.
func (c *Chain) Balances(ctx context.Context, spots []chain.Spot, at chain.Block) ([]money.Amount, error) {
	out := make([]money.Amount, len(spots))
	for i, s := range spots {
		var err error
		if out[i], err = c.Balance(ctx, s.Address, s.Asset, at); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Deposit is the deposit address with an index.
func (n *Net) Deposit(index uint32) chain.Address {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.depositKey(index).addr
}

func (n *Net) depositKey(index uint32) key {
	k, known := n.kept[index]
	if !known {
		k = newKey(n.codec, n.cfg.Seed, "deposit", strconv.FormatUint(uint64(index), 10))
		n.kept[index] = k
		n.keys[k.addr.Text()] = k
	}
	return k
}

// signers are the keys that must sign a body; none if one of them is not known.
func (n *Net) signers(b *body) keys {
	ks := make(keys, 0, 1+len(b.pulls))
	k, known := n.keys[b.from]
	ks = append(ks, k)
	for _, p := range b.pulls {
		k, found := n.keys[p.from]
		known = known && found
		ks = append(ks, k)
	}
	if !known {
		return nil
	}
	return ks
}

// spends reports whether a body may spend the coins of an address.
func (b *body) spends(owner string) bool {
	return slices.ContainsFunc(b.pulls, func(p pull) bool { return p.from == owner }) || (len(b.pulls) == 0 && owner == b.from)
}

// lacksPulls reports whether an address has less than a sweep takes from it.
func (n *Net) lacksPulls(b *body) bool {
	return slices.ContainsFunc(b.pulls, func(p pull) bool { return n.cells[cell{p.from, b.outs[0].asset}].Less(p.amount) })
}

// pullIn brings home what a sweep takes.
func (n *Net) pullIn(b *block, of *body) {
	asset := of.outs[0].asset
	for _, p := range of.pulls {
		n.debit(b, cell{p.from, asset}, p.amount)
		n.credit(b, cell{of.outs[0].to, asset}, p.amount)
	}
}

func pullsOf(call chain.Call) []pull {
	var out []pull
	for _, s := range call.Sources {
		out = append(out, pull{s.Address.Text(), s.Amount})
	}
	return out
}

// checkSources refuses a sweep that is not of our deposit addresses into our account,
// to the last unit.
func (c *Chain) checkSources(call chain.Call) error {
	var total money.Amount
	seen := map[uint32]bool{}
	for _, s := range call.Sources {
		var err error
		if total, err = total.Add(s.Amount); err != nil {
			return fmt.Errorf("%w: %w", send.ErrRefused, err)
		}
		switch {
		case seen[s.Index] || s.Amount.IsZero():
			return fmt.Errorf("%w: source %d comes twice or with nothing", send.ErrRefused, s.Index)
		case c.net.Deposit(s.Index) != s.Address:
			return fmt.Errorf("%w: %s is not our deposit address %d", send.ErrRefused, s.Address.Text(), s.Index)
		}
		seen[s.Index] = true
	}
	if call.To != c.Own(call.From) || total != call.Amount {
		return fmt.Errorf("%w: a sweep brings all of %s to our own account", send.ErrRefused, total)
	}
	return nil
}

// lie refuses a sweep of what does not lie there, counting only what is final and
// not gone again since.
func (c *Chain) lie(ctx context.Context, call chain.Call, head chain.Head) error {
	for _, s := range call.Sources {
		for _, at := range []chain.Block{head.Final, head.Tip} {
			have, err := c.Balance(ctx, s.Address, call.Asset, at)
			if err != nil {
				return err
			}
			if have.Less(s.Amount) {
				return fmt.Errorf("%w: deposit address %d has %s of %s", send.ErrRefused, s.Index, have, s.Amount)
			}
		}
	}
	return nil
}

// sweepWeight is what a sweep of coins weighs: each deposit is a coin, and one comes
// out.
func sweepWeight(call chain.Call) uint64 {
	ins := uint64(0)
	for _, s := range call.Sources {
		ins += uint64(len(s.Deposits))
	}
	return coinBase + coinIn*ins + coinOut
}

// owned is a coin with whose it is.
type owned struct {
	purse
	owner string
}

// draftSweep spends the coins that the deposits are. The fee comes out of them.
func (c *Chain) draftSweep(ctx context.Context, e errand) (chain.Attempt, error) {
	fee := times(e.price, sweepWeight(e.Call))
	if e.most.Less(fee) || !plus(fee, c.net.cfg.Dust).Less(e.Amount) {
		return chain.Attempt{}, fmt.Errorf("%w: it costs %s of %s to bring %s home", send.ErrTooDear, fee, e.most, e.Amount)
	}
	var refs []ref
	for _, s := range e.Sources {
		for _, d := range s.Deposits {
			r, ok := c.net.coinOf(d)
			if !ok || slices.Contains(refs, r) {
				return chain.Attempt{}, fmt.Errorf("%w: %q is no coin", send.ErrRefused, d)
			}
			refs = append(refs, r)
		}
	}
	coins, err := quorum.Agree(c.net.rule, ask(ctx, c, func(d *Node) ([]owned, error) { return d.named(refs, e.head) }), slices.Equal[[]owned])
	if err != nil {
		return chain.Attempt{}, err
	}
	b := &body{chain: c.net.cfg.ID, from: c.Own(e.From).Text(), pulls: pullsOf(e.Call)}
	have := map[string]money.Amount{}
	for _, coin := range coins {
		b.ins = append(b.ins, input(coin.purse))
		have[coin.owner] = plus(have[coin.owner], coin.amount)
	}
	for _, s := range e.Sources {
		if have[s.Address.Text()] != s.Amount {
			return chain.Attempt{}, fmt.Errorf("%w: the coins on deposit address %d are worth %s, not %s", send.ErrRefused, s.Index, have[s.Address.Text()], s.Amount)
		}
	}
	b.outs = []output{{to: b.from, amount: minus(e.Amount, fee)}}
	return c.sign(e.From, b)
}

// redraftSweep spends the same coins for a higher fee. Only a sweep may replace a
// sweep: a call that pays nobody would bring the coins home as well.
func (c *Chain) redraftSweep(call chain.Call, old *body, most money.Amount) (chain.Attempt, error) {
	if len(call.Sources) == 0 {
		return chain.Attempt{}, fmt.Errorf("%w: a sweep is replaced only by the same", send.ErrLive)
	}
	before, err := old.costs(Coins)
	if err != nil {
		return chain.Attempt{}, err
	}
	fee := money.Min(most, call.Amount.Less0(c.net.cfg.Dust))
	least := plus(before, times(c.net.cfg.MinFee, old.weigh(Coins)))
	if fee.Less(least) {
		return chain.Attempt{}, fmt.Errorf("%w: %s cannot replace a fee of %s", send.ErrTooDear, fee, before)
	}
	b := &body{chain: old.chain, from: old.from, ins: old.ins, pulls: old.pulls}
	b.outs = []output{{to: b.from, amount: minus(call.Amount, fee)}}
	return c.sign(call.From, b)
}

// coinOf is the coin that a deposit is.
func (n *Net) coinOf(d chain.DepositID) (ref, bool) {
	text, ok := strings.CutPrefix(string(d), string(n.cfg.ID)+":")
	id, index, cut := strings.Cut(text, ":")
	i, err := strconv.ParseUint(index, 10, 32)
	return ref{chain.TxID(id), uint32(i)}, ok && cut && err == nil
}

// named are those of some coins that are final and were not spent up to the tip.
func (d *Node) named(refs []ref, head chain.Head) ([]owned, error) {
	return serve(d, "Coins", func(f Fault, view *block) ([]owned, error) {
		b, err := d.net.onBranch(head.Tip.Hash, view)
		if err != nil {
			return nil, err
		}
		var list []owned
		for _, r := range refs {
			c := d.net.coins[r]
			if c == nil || c.made.Height > head.Final.Height || (c.spent != nil && c.spent.block.n <= b.n) {
				continue
			}
			amount := c.amount
			if f.lies(Wrong) {
				amount = plus(amount, maxMint)
			}
			list = append(list, owned{purse{r, amount}, c.owner})
		}
		return list, nil
	})
}
