package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/watch"
)

// Chain is a net as our house sees it: through nodes that may fail, behind a
// quorum, with the wallet of our accounts.
type Chain struct {
	net *Net

	mu    sync.Mutex
	final chain.Block // the highest block that a quorum ever called final
}

var (
	_ watch.Reader  = (*Chain)(nil)
	_ watch.Mempool = (*Chain)(nil)
	_ send.Chain    = (*Chain)(nil)
)

// NewChain is a second adapter over the same net, as after a restart: it
// remembers nothing.
func NewChain(n *Net) *Chain { return &Chain{net: n} }

// ID is the chain's name.
func (c *Chain) ID() chain.ID { return c.net.cfg.ID }

// Family is the family of its addresses.
func (c *Chain) Family() chain.Family { return c.net.cfg.Family }

// Parse reads an address of the chain's family.
func (c *Chain) Parse(s string) (chain.Address, error) { return c.net.codec.Parse(s) }

// DepositAddress is the address that belongs to an order.
func (c *Chain) DepositAddress(_ context.Context, id chain.ID, o order.ID) (chain.Address, error) {
	return c.net.depositAddress(id, o)
}

// Own is the address of one of our accounts; the zero address if it is not ours.
func (c *Chain) Own(from chain.Account) chain.Address { return c.net.wallet.Own(from) }

// ask asks every node.
func ask[T any](ctx context.Context, c *Chain, call func(d *Node) (T, error)) []quorum.Answer[T] {
	return quorum.Ask(ctx, c.net.rule, func(i int) (T, error) { return call(c.net.nodes[i]) })
}

// same is what a quorum of nodes says.
func same[T comparable](ctx context.Context, c *Chain, call func(d *Node) (T, error)) (T, error) {
	return quorum.Same(c.net.rule, ask(ctx, c, call))
}

// Head is how far the chain is. Nodes that are behind can make the tip older than
// it is, but never take back what was final: then nothing is known.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	heads := ask(ctx, c, (*Node).head)
	h, err := quorum.Same(c.net.rule, heads)
	if err != nil { // they are at different heights, or one of them lies
		h, err = c.common(ctx, heads)
	}
	if err != nil {
		return chain.Head{}, err
	}
	return c.keepFinal(ctx, h)
}

// common is the highest head that a quorum has reached.
func (c *Chain) common(ctx context.Context, heads []quorum.Answer[chain.Head]) (h chain.Head, err error) {
	height := func(of func(chain.Head) chain.Block) (chain.Block, error) {
		said := make([]quorum.Answer[uint64], len(heads))
		for i, a := range heads {
			said[i] = quorum.Answer[uint64]{Value: of(a.Value).Height, Err: a.Err}
		}
		n, err := quorum.Reached(c.net.rule, said)
		if err != nil {
			return chain.Block{}, err
		}
		b, err := same(ctx, c, func(d *Node) (found, error) { return d.block(n) })
		if err == nil && (!b.ok || b.Height != n) {
			err = fmt.Errorf("%w: no block at height %d", quorum.ErrUnknown, n)
		}
		return b.Block, err
	}
	if h.Tip, err = height(func(h chain.Head) chain.Block { return h.Tip }); err != nil {
		return chain.Head{}, err
	}
	h.Final, err = height(func(h chain.Head) chain.Block { return h.Final })
	return h, err
}

// keepFinal never lets what was final move back, unless a quorum shows another
// block in its place: then the chain broke its word, and the caller must see that.
func (c *Chain) keepFinal(ctx context.Context, h chain.Head) (chain.Head, error) {
	c.mu.Lock()
	kept := c.final
	c.mu.Unlock()
	if h.Final.Height < kept.Height {
		b, err := same(ctx, c, func(d *Node) (found, error) { return d.block(kept.Height) })
		if err != nil {
			return chain.Head{}, err
		}
		if !b.ok || (b.Hash == kept.Hash && h.Tip.Height < kept.Height) {
			return chain.Head{}, fmt.Errorf("%w: the nodes are behind height %d, which is final", quorum.ErrUnknown, kept.Height)
		}
		if b.Hash == kept.Hash {
			h.Final = kept
			return h, nil
		}
	}
	if h.Tip.Height < h.Final.Height {
		return chain.Head{}, fmt.Errorf("%w: the tip is below what is final", quorum.ErrUnknown)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.final == kept {
		c.final = h.Final
	}
	return h, nil
}

// Next is the lowest block at or above from; watch.ErrNoBlock only when a quorum
// says that there is none.
func (c *Chain) Next(ctx context.Context, from uint64) (chain.Block, error) {
	b, err := same(ctx, c, func(d *Node) (found, error) { return d.block(from) })
	if err == nil && !b.ok {
		err = watch.ErrNoBlock
	}
	return b.Block, err
}

// Deposits returns the payments in b to the addresses, each once, by their id.
func (c *Chain) Deposits(ctx context.Context, b chain.Block, to watch.Addresses) ([]chain.Deposit, error) {
	answers := ask(ctx, c, func(d *Node) ([]chain.Deposit, error) {
		list, err := d.deposits(b.Hash, to)
		if err != nil {
			return nil, err
		}
		return tidy(list)
	})
	return quorum.Agree(c.net.rule, answers, slices.Equal[[]chain.Deposit])
}

// Pending returns the payments that a quorum of mempools shows.
func (c *Chain) Pending(ctx context.Context, to watch.Addresses) ([]chain.Deposit, error) {
	answers := ask(ctx, c, func(d *Node) ([]chain.Deposit, error) {
		list, err := d.pending(to)
		if err != nil {
			return nil, err
		}
		return tidy(list)
	})
	list, err := quorum.Shown(c.net.rule, answers)
	slices.SortFunc(list, byDeposit)
	return list, err
}

var errTwoFaced = errors.New("sim: the node shows one payment in two ways")

// tidy puts a node's list in the one order and drops what it lists twice.
func tidy(list []chain.Deposit) ([]chain.Deposit, error) {
	slices.SortFunc(list, byDeposit)
	list = slices.Compact(list)
	for i := 1; i < len(list); i++ {
		if list[i].ID == list[i-1].ID {
			return nil, errTwoFaced
		}
	}
	return list, nil
}

func byDeposit(a, b chain.Deposit) int {
	return cmp.Or(strings.Compare(string(a.ID), string(b.ID)), a.Amount.Cmp(b.Amount))
}

// Broadcast offers the bytes to every node. It is done when a quorum took them:
// one node alone might have swallowed them.
func (c *Chain) Broadcast(ctx context.Context, raw []byte) error {
	return quorum.Heard(c.net.rule, ask(ctx, c, func(d *Node) (struct{}, error) {
		return struct{}{}, d.broadcast(raw)
	}))
}

// goingPrice is what a unit of weight costs now.
func (c *Chain) goingPrice(ctx context.Context) (money.Amount, error) {
	p, err := quorum.Middle(c.net.rule, ask(ctx, c, (*Node).price), money.Amount.Cmp)
	return money.Max(p, c.net.cfg.MinFee), err
}
