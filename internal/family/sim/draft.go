package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// Cost is what a call would cost now, if it took the coins a draft would take.
func (c *Chain) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	if err := c.check(call); err != nil {
		return money.Amount{}, err
	}
	price, err := c.goingPrice(ctx)
	if err != nil {
		return money.Amount{}, err
	}
	if c.net.cfg.Shape != Coins {
		b := c.body(call)
		b.price = price
		return b.costs(c.net.cfg.Shape)
	}
	if len(call.Sources) > 0 {
		return times(price, sweepWeight(call)), nil
	}
	head, err := c.Head(ctx)
	if err != nil {
		return money.Amount{}, err
	}
	coins, err := c.coins(ctx, errand{Call: call, head: head, price: price})
	if err != nil {
		return money.Amount{}, err
	}
	p, err := c.pick(coins, call.Amount, price, money.Amount{})
	if errors.Is(err, send.ErrNoFunds) { // then two coins and change are a fair guess
		return times(price, coinBase+2*coinIn+2*coinOut), nil
	}
	return p.fee, err
}

// check refuses calls that can never succeed.
func (c *Chain) check(call chain.Call) error {
	n := c.net
	own := c.Own(call.From)
	if len(call.Sources) > 0 {
		if err := c.checkSources(call); err != nil {
			return err
		}
	}
	parsed, err := n.codec.Parse(call.To.Text())
	switch {
	case call.Chain != n.cfg.ID || call.Asset.Chain != n.cfg.ID:
		return fmt.Errorf("%w: it is for another chain", send.ErrRefused)
	case own.IsZero():
		return fmt.Errorf("%w: %q is none of our accounts", send.ErrRefused, call.From)
	case err != nil || parsed != call.To:
		return fmt.Errorf("%w: the recipient is no address", send.ErrRefused)
	case !n.listed[call.Asset.Ref]:
		return fmt.Errorf("%w: %v is not listed", send.ErrRefused, call.Asset)
	case len(call.Data) > 0 && (n.cfg.Shape != Nonces || len(call.Sources) > 0 || !n.isContract(call.To)):
		return fmt.Errorf("%w: it calls no contract", send.ErrRefused)
	case call.Amount.IsZero() && len(call.Data) == 0 && call.To != own:
		return fmt.Errorf("%w: it pays nothing", send.ErrRefused)
	case n.cfg.Shape == Coins && !call.Amount.IsZero() && call.Amount.Less(n.cfg.Dust):
		return fmt.Errorf("%w: %s is dust", send.ErrRefused, call.Amount)
	}
	return nil
}

func (c *Chain) body(call chain.Call) *body {
	return &body{
		chain: c.net.cfg.ID, from: c.Own(call.From).Text(), pulls: pullsOf(call), data: call.Data,
		outs: []output{{to: call.To.Text(), asset: call.Asset.Ref, amount: call.Amount}},
	}
}

// Draft signs a first attempt at the going price.
func (c *Chain) Draft(ctx context.Context, call chain.Call, slots send.Held, most money.Amount) (chain.Attempt, error) {
	if err := c.check(call); err != nil {
		return chain.Attempt{}, err
	}
	price, err := c.goingPrice(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	head, err := c.Head(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	held, err := slots.Slots(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	switch e := (errand{Call: call, head: head, held: held, price: price, most: most}); {
	case c.net.cfg.Shape == Coins && len(call.Sources) > 0:
		return c.draftSweep(ctx, e)
	case c.net.cfg.Shape == Coins:
		return c.draftCoins(ctx, e)
	}
	b := c.body(call)
	b.price = price
	fee, err := b.costs(c.net.cfg.Shape)
	if err != nil || most.Less(fee) {
		return chain.Attempt{}, fmt.Errorf("%w: it costs %s of %s", send.ErrTooDear, fee, most)
	}
	if err := c.affords(ctx, b, head, fee); err != nil {
		return chain.Attempt{}, err
	}
	if err := c.lie(ctx, call, head); err != nil {
		return chain.Attempt{}, err
	}
	if err := c.simulate(ctx, b, head); err != nil {
		return chain.Attempt{}, err
	}
	if c.net.cfg.Shape == Expiring {
		c.net.mu.Lock()
		b.salt = c.net.next()
		c.net.mu.Unlock()
		b.recent, b.expires = head.Final.Hash, head.Final.Height+c.net.cfg.Window
		return c.sign(call.From, b)
	}
	if b.nonce, err = same(ctx, c, func(d *Node) (uint64, error) { return d.count(b.from, head.Tip.Hash) }); err != nil {
		return chain.Attempt{}, err
	}
	for _, s := range held {
		if n, ok := s.Nonce(call.From); ok && n >= b.nonce {
			b.nonce = n + 1
		}
	}
	return c.sign(call.From, b)
}

// affords says whether the account has what an attempt takes, counting only what
// is final and not gone again since.
func (c *Chain) affords(ctx context.Context, b *body, head chain.Head, fee money.Amount) error {
	need := map[string]money.Amount{"": fee}
	o := b.outs[0]
	if len(b.pulls) > 0 { // the rest comes from others
		o = output{}
	}
	sum, err := need[o.asset].Add(o.amount)
	if err != nil {
		return fmt.Errorf("%w: %w", send.ErrNoFunds, err)
	}
	need[o.asset] = sum
	for _, asset := range []string{"", o.asset} {
		for _, at := range []chain.Block{head.Final, head.Tip} {
			have, err := same(ctx, c, func(d *Node) (money.Amount, error) { return d.balance(cell{b.from, asset}, at.Hash) })
			if err != nil {
				return err
			}
			if have.Less(need[asset]) {
				return fmt.Errorf("%w: it has %s of the %s it needs of %q", send.ErrNoFunds, have, need[asset], asset)
			}
		}
		if o.asset == "" {
			break
		}
	}
	return nil
}

// sign makes an attempt of a body and reads it back from its own bytes: what is
// signed is what was meant.
func (c *Chain) sign(from chain.Account, b *body) (chain.Attempt, error) {
	if _, ours := c.net.wallet.keys[from]; !ours {
		return chain.Attempt{}, fmt.Errorf("%w: %q is none of our accounts", send.ErrRefused, from)
	}
	c.net.mu.Lock()
	signers := c.net.signers(b)
	c.net.mu.Unlock()
	id, raw := signers.sign(b)
	back, _, _, err := decode(raw)
	if err != nil {
		return chain.Attempt{}, err
	}
	fee, err := back.costs(c.net.cfg.Shape)
	if err != nil {
		return chain.Attempt{}, err
	}
	a := chain.Attempt{Tx: id, Raw: raw, Fee: fee, Expires: back.expires}
	switch c.net.cfg.Shape {
	case Nonces:
		a.Slots = []chain.Slot{chain.NonceSlot(from, back.nonce)}
	case Coins:
		for _, in := range back.ins {
			a.Slots = append(a.Slots, coinSlot(in.ref))
		}
	}
	return a, nil
}

func coinSlot(r ref) chain.Slot {
	return chain.Slot("coin:" + string(r.tx) + ":" + strconv.FormatUint(uint64(r.index), 10))
}

// Redraft signs an attempt that cannot land beside prev.
func (c *Chain) Redraft(ctx context.Context, call chain.Call, prev chain.Attempt, most money.Amount) (chain.Attempt, error) {
	if err := c.check(call); err != nil {
		return chain.Attempt{}, err
	}
	old, err := c.readBack(call, prev)
	if err != nil {
		return chain.Attempt{}, err
	}
	switch c.net.cfg.Shape {
	case Nonces:
		return c.redraftNonce(ctx, call, old, most)
	case Coins:
		if len(old.pulls) > 0 {
			return c.redraftSweep(call, old, most)
		}
		return c.redraftCoins(call, old, most)
	}
	s, err := c.Fate(ctx, prev)
	if err != nil {
		return chain.Attempt{}, err
	}
	if s.Fate != chain.Dead {
		return chain.Attempt{}, fmt.Errorf("%w: it is %v until height %d is final", send.ErrLive, s.Fate, prev.Expires)
	}
	return c.Draft(ctx, call, nil, most)
}

// readBack reads an attempt of ours from its bytes.
func (c *Chain) readBack(call chain.Call, prev chain.Attempt) (*body, error) {
	b, signed, sig, err := decode(prev.Raw)
	if err != nil {
		return nil, err
	}
	c.net.mu.Lock()
	signers := c.net.signers(b)
	c.net.mu.Unlock()
	if b.from != c.Own(call.From).Text() || !signers.signed(signed, sig) || txID(prev.Raw) != prev.Tx || b.chain != c.net.cfg.ID {
		return nil, fmt.Errorf("%w: %s is no attempt of %s", ErrBytes, prev.Tx, call.From)
	}
	if len(call.Sources) > 0 && !slices.Equal(b.pulls, pullsOf(call)) {
		return nil, fmt.Errorf("%w: %s does not bring home the same", send.ErrRefused, prev.Tx)
	}
	return b, nil
}

// redraftNonce takes the same nonce at the whole budget, which must be an eighth
// more than before: less is not relayed by all.
func (c *Chain) redraftNonce(ctx context.Context, call chain.Call, old *body, most money.Amount) (chain.Attempt, error) {
	b := c.body(call)
	b.nonce = old.nonce
	price, err := most.MulDiv(money.FromUint64(1), money.FromUint64(b.weigh(Nonces)), money.Down)
	if err != nil {
		return chain.Attempt{}, err
	}
	least, err := old.price.MulDiv(money.FromUint64(9), money.FromUint64(8), money.Up)
	if err != nil || price.Less(least) {
		return chain.Attempt{}, fmt.Errorf("%w: a price of %s cannot replace %s", send.ErrTooDear, price, old.price)
	}
	b.price = price
	fee, err := b.costs(Nonces)
	if err != nil {
		return chain.Attempt{}, err
	}
	head, err := c.Head(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	if err := c.affords(ctx, b, head, fee); err != nil {
		return chain.Attempt{}, err
	}
	return c.sign(call.From, b)
}
