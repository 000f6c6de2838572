package sim

import (
	"context"
	"fmt"
	"slices"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/money"
	"ferry/internal/send"
)

// errand is a call with all that decides which coins pay for it.
type errand struct {
	chain.Call
	head  chain.Head
	held  []chain.Slot
	price money.Amount // the going one
	most  money.Amount
}

// picked are the coins for a call and what they leave.
type picked struct {
	coins  []purse
	change money.Amount // zero: there is none
	fee    money.Amount
}

// coins are the final coins of an account that are not held, the largest first,
// as many as the amount takes with the budget for it and whatever the choice of
// them may cost at the going price.
func (c *Chain) coins(ctx context.Context, e errand) ([]purse, error) {
	w := want{owner: c.Own(e.From).Text(), tip: e.head.Tip.Hash, final: e.head.Final.Height, taken: make(map[chain.Slot]bool, len(e.held))}
	for _, s := range e.held {
		w.taken[s] = true
	}
	var err error
	if w.enough, err = money.Sum(e.Amount, e.most, times(e.price, coinBase+maxPurses*coinIn), c.net.cfg.Dust); err != nil {
		w.enough = maxMint
	}
	answers := ask(ctx, c, func(d *Node) ([]purse, error) {
		list, err := d.purses(w)
		slices.SortFunc(list, comparePurses)
		return list, err
	})
	return quorum.Agree(c.net.rule, answers, slices.Equal[[]purse])
}

func comparePurses(a, b purse) int {
	if by := b.amount.Cmp(a.amount); by != 0 {
		return by
	}
	return compareRefs(a.ref, b.ref)
}

// pick takes the largest coins until they pay the amount and the going fee. If it
// can, it takes so many that the whole budget fits too, because a bump has no
// other coins than these.
func (c *Chain) pick(coins []purse, amount, price, most money.Amount) (picked, error) {
	var least picked
	enough := false
	var total money.Amount
	for i, p := range coins {
		total = plus(total, p.amount)
		got, ok := c.split(coins[:i+1], total, amount, price)
		if !ok {
			continue
		}
		if !enough {
			least, enough = got, true
		}
		roomy, err := money.Sum(amount, most, c.net.cfg.Dust)
		if most.IsZero() || err != nil {
			break
		}
		if !total.Less(roomy) {
			if !most.Less(got.fee) {
				return got, nil
			}
			break
		}
	}
	if !enough {
		return picked{}, fmt.Errorf("%w: the free final coins are worth %s", send.ErrNoFunds, total)
	}
	return least, nil
}

// split says what an amount leaves of some coins at a price. Change that would be
// dust goes to the fee.
func (c *Chain) split(coins []purse, total, amount, price money.Amount) (picked, bool) {
	ins := uint64(len(coins))
	outs := uint64(1)
	if amount.IsZero() {
		outs = 0
	}
	bare := times(price, coinBase+coinIn*ins+coinOut*outs)
	withChange := plus(bare, times(price, coinOut))
	left, err := total.Sub(amount)
	if err != nil {
		return picked{}, false
	}
	if change := left.Less0(withChange); !change.Less(c.net.cfg.Dust) {
		return picked{coins: coins, change: change, fee: withChange}, true
	}
	if left.Less(bare) || outs == 0 {
		return picked{}, false
	}
	return picked{coins: coins, fee: left}, true
}

func (c *Chain) draftCoins(ctx context.Context, e errand) (chain.Attempt, error) {
	coins, err := c.coins(ctx, e)
	if err != nil {
		return chain.Attempt{}, err
	}
	p, err := c.pick(coins, e.Amount, e.price, e.most)
	if err != nil {
		return chain.Attempt{}, err
	}
	if e.most.Less(p.fee) {
		return chain.Attempt{}, fmt.Errorf("%w: it costs %s of %s", send.ErrTooDear, p.fee, e.most)
	}
	b := c.coinBody(e.Call, p.change)
	for _, coin := range p.coins {
		b.ins = append(b.ins, input(coin))
	}
	return c.sign(e.From, b)
}

// coinBody has the recipient's output first, if there is a recipient, and the
// change after it.
func (c *Chain) coinBody(call chain.Call, change money.Amount) *body {
	own := c.Own(call.From).Text()
	b := &body{chain: c.net.cfg.ID, from: own}
	if !call.Amount.IsZero() {
		b.outs = append(b.outs, output{to: call.To.Text(), amount: call.Amount})
	}
	if !change.IsZero() {
		b.outs = append(b.outs, output{to: own, amount: change})
	}
	return b
}

// redraftCoins spends the same coins. Only the change pays for the higher fee:
// what the recipient gets never changes.
func (c *Chain) redraftCoins(call chain.Call, old *body, most money.Amount) (chain.Attempt, error) {
	before, err := old.costs(Coins)
	if err != nil {
		return chain.Attempt{}, err
	}
	var total money.Amount
	for _, in := range old.ins {
		total = plus(total, in.amount)
	}
	left, err := total.Sub(call.Amount)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("%w: the coins of the attempt before are worth %s", send.ErrNoFunds, total)
	}
	oldWeight := old.weigh(Coins)
	try := func(change money.Amount) (*body, bool) {
		b := c.coinBody(call, change)
		if len(b.outs) == 0 || left.Less(change) {
			return nil, false
		}
		b.ins = old.ins
		fee, weight := minus(left, change), b.weigh(Coins)
		relayed := !fee.Less(plus(before, times(c.net.cfg.MinFee, weight)))
		better := times(before, weight).Less(times(fee, oldWeight)) // per weight
		return b, relayed && better && !most.Less(fee)
	}
	change := money.Max(left.Less0(most), c.net.cfg.Dust)
	if b, ok := try(change); ok {
		return c.sign(call.From, b)
	}
	if b, ok := try(money.Amount{}); ok {
		return c.sign(call.From, b)
	}
	return chain.Attempt{}, fmt.Errorf("%w: %s of %s cannot replace a fee of %s", send.ErrTooDear, most, left, before)
}
