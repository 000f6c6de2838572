package dev

import (
	"context"
	"encoding/json"
	"errors"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/money"
)

// errEnded is how a network ends whose nodes did.
var errEnded = errors.New("the local chains have ended by themselves; start again with ferry dev")

// node is a chain of a real node, of whatever family.
type node struct {
	on    *devnet.Chain
	ended <-chan struct{}
	auto  map[string]int // how it is told to make blocks by itself
}

func (n node) rpc() string { return n.on.RPC }

func (n node) mine(ctx context.Context, blocks int) error {
	return n.on.Do(ctx, "mine", map[string]int{"n": blocks}, nil)
}

func (n node) reorg(ctx context.Context, depth int) error {
	return n.on.Do(ctx, "reorg", map[string]any{"depth": depth, "lose": false}, nil)
}

func (n node) run(ctx context.Context) error {
	if err := n.on.Do(ctx, "auto", n.auto, nil); err != nil && ctx.Err() == nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-n.ended:
		return errEnded
	}
}

// number is an amount as JSON has numbers, of whatever size.
func number(n money.Amount) json.Number { return json.Number(n.String()) }

// sent is what a lever says of a payment.
type sent struct {
	Tx chain.TxID `json:"tx"`
}

// evmNode is an EVM chain.
type evmNode struct{ node }

func (g evmNode) pay(ctx context.Context, to chain.Address, x chain.Asset, n money.Amount) (chain.TxID, error) {
	in := map[string]any{"address": to.Text(), "amount": number(n)}
	if !x.IsNative() {
		in["token"] = x.Ref
	}
	var out sent
	err := g.on.Do(ctx, "fund", in, &out)
	return out.Tx, err
}

// bitcoinNode is a Bitcoin chain.
type bitcoinNode struct{ node }

func (g bitcoinNode) pay(ctx context.Context, to chain.Address, _ chain.Asset, n money.Amount) (chain.TxID, error) {
	var out sent
	err := g.on.Do(ctx, "fund", map[string]any{"address": to.Text(), "amount": number(n)}, &out)
	return out.Tx, err
}

// solanaNode is a Solana chain. It has no forks.
type solanaNode struct{ node }

func (g solanaNode) pay(ctx context.Context, to chain.Address, x chain.Asset, n money.Amount) (chain.TxID, error) {
	op, in := "fund", map[string]any{"address": to.Text(), "amount": number(n)}
	if !x.IsNative() {
		op, in = "mint", map[string]any{"mint": x.Ref, "owner": to.Text(), "amount": number(n)}
	}
	var out sent
	err := g.on.Do(ctx, op, in, &out)
	return out.Tx, err
}

func (solanaNode) reorg(context.Context, int) error {
	return errors.New("this Solana chain has no forks: what it has confirmed stays; reorganise another chain")
}
