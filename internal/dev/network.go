package dev

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/front"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/prices"
)

// asset is an asset of the network with its price and what the treasury has of it.
type asset struct {
	market.Asset
	price string // dollars of a whole unit
	has   string // whole units
}

// ground is one chain of the network with the levers of whoever develops on it.
type ground interface {
	// pay sends money that nobody misses to an address.
	pay(ctx context.Context, to chain.Address, x chain.Asset, n money.Amount) (chain.TxID, error)
	// mine makes blocks at once.
	mine(ctx context.Context, n int) error
	// reorg replaces the newest blocks by others in which nothing stands.
	reorg(ctx context.Context, depth int) error
	// run makes blocks by itself until ctx ends.
	run(ctx context.Context) error
}

// Network is the chains of a development service.
type Network struct {
	chains  []front.Chain
	grounds map[chain.ID]ground
	assets  []asset
	rollup  *Rollup      // nil where no chain is a rollup of another
	shut    func() error // nil where nothing is to be let go of
	// sources are where prices come from; none are the fixed ones of the assets.
	sources []prices.Source
	guards  map[string]prices.Guard // of symbols that more sources know than most
	venues  front.Venues            // beside the treasury
	bridges []front.Bridge          // native ones
	// attester is of the bridge of dollars; nil where there is none.
	attester *attester
}

// Run makes blocks on every chain until ctx ends.
func (n *Network) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, on := range n.grounds {
		g.Go(func() error { return on.run(ctx) })
	}
	if n.attester != nil {
		g.Go(func() error { return n.attester.run(ctx) })
	}
	return g.Wait()
}

// Close lets go of the chains.
func (n *Network) Close() error {
	if n == nil || n.shut == nil {
		return nil
	}
	return n.shut()
}

// Pay pays an order what it asks for, or another amount of the same asset.
func (n *Network) Pay(ctx context.Context, o order.Order, amount money.Amount) (chain.TxID, error) {
	return n.Send(ctx, o.Quote.Give, o, amount)
}

// Send pays an order in whatever asset of its chain: to its address, or by a transaction
// of somebody who is made for it.
func (n *Network) Send(ctx context.Context, x chain.Asset, o order.Order, amount money.Amount) (chain.TxID, error) {
	on, ok := n.grounds[x.Chain]
	if !ok || x.Chain != o.Quote.Give.Chain {
		return "", errors.New("the order is paid on another chain")
	}
	if amount.IsZero() {
		amount = o.Quote.In
	}
	if _, is := o.DepositTo.Reference(); is {
		tx, err := n.call(ctx, o, x, amount)
		if err != nil {
			return "", fmt.Errorf("pay order %s: %w", o.ID, err)
		}
		return tx, nil
	}
	tx, err := on.pay(ctx, o.DepositTo, x, amount)
	if err != nil {
		return "", fmt.Errorf("pay order %s: %w", o.ID, err)
	}
	return tx, nil
}

// Give pays from the faucet to any address.
func (n *Network) Give(ctx context.Context, g Gift) (chain.TxID, error) {
	on, err := n.on(g.Chain)
	if err != nil {
		return "", err
	}
	amount, err := money.Parse(g.Amount)
	if err != nil || amount.IsZero() {
		return "", fmt.Errorf("amount %q: write how many smallest units, such as 100000", g.Amount)
	}
	for _, c := range n.chains {
		if c.Slug != g.Chain {
			continue
		}
		to, err := c.Codec.Parse(g.Address)
		if err != nil {
			return "", err
		}
		for _, a := range c.Assets {
			if desk.TokenName(a.Asset) == g.Token || strings.EqualFold(a.Symbol, g.Token) {
				return on.pay(ctx, to, a.Asset, amount)
			}
		}
	}
	return "", fmt.Errorf("there is no token %q on %s; write native, or a token's address or symbol", g.Token, g.Chain)
}

// Rollup is the bridge between the EVM chains; nil where there is none.
func (n *Network) Rollup() *Rollup { return n.rollup }

// RPC is where the node of a chain answers; empty where it is simulated.
func (n *Network) RPC(id chain.ID) string {
	if real, ok := n.grounds[id].(interface{ rpc() string }); ok {
		return real.rpc()
	}
	return ""
}

// Mine makes blocks of a chain at once.
func (n *Network) Mine(ctx context.Context, slug string, blocks int) error {
	on, err := n.on(slug)
	if err != nil {
		return err
	}
	if blocks < 1 || blocks > maxBlocks {
		return fmt.Errorf("%d blocks can not be made; write from 1 to %d", blocks, maxBlocks)
	}
	return on.mine(ctx, blocks)
}

// Reorg replaces the newest blocks of a chain by empty ones.
func (n *Network) Reorg(ctx context.Context, slug string, depth int) error {
	on, err := n.on(slug)
	if err != nil {
		return err
	}
	if depth < 1 || depth > maxBlocks {
		return fmt.Errorf("a reorganisation of %d blocks can not be made; write from 1 to %d", depth, maxBlocks)
	}
	return on.reorg(ctx, depth)
}

// maxBlocks bounds what is made at once: more is a typing error.
const maxBlocks = 1000

func (n *Network) on(slug string) (ground, error) {
	names := map[string]ground{}
	for _, c := range n.chains {
		names[c.Slug] = n.grounds[c.ID]
	}
	on, ok := names[slug]
	if !ok {
		return nil, fmt.Errorf("there is no chain %q here; write one of %s", slug, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	return on, nil
}

func (n *Network) prices() map[string]string {
	list := map[string]string{}
	for _, a := range n.assets {
		list[a.Symbol] = a.price
	}
	return list
}
