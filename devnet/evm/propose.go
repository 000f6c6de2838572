package evm

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"ferry/devnet/evm/rollup"
)

// What is told below at once, and the gas that each takes.
const (
	maxOutputs = 32
	outputGas  = 900_000
)

// propose tells below what the final state of a rollup is. What was told is read from
// the chain below, so that whatever was orphaned or never taken is told again. It waits
// while something that it said before waits.
func (n *Node) propose(ctx context.Context) error {
	if n.up == nil || n.up.rests {
		return nil
	}
	u := n.up
	return u.below(func() error {
		nonce, err := u.base.nonce(u.self)
		if err != nil || u.base.eth.TxPool().PoolNonce(u.self) > nonce {
			return err
		}
		plan := u.outputs
		if u.terms.Games {
			plan = u.games
		}
		words, err := plan(ctx, n)
		if err != nil {
			return err
		}
		for i, w := range words {
			w.gas = outputGas
			if _, err := u.base.sendAt(u.key, nonce+uint64(i), w); err != nil { //nolint:gosec // a few
				return err
			}
		}
		return nil
	})
}

// outputs is what is to be said to the oracle.
func (u *above) outputs(ctx context.Context, n *Node) ([]wish, error) {
	next, bad, err := u.told(ctx, n)
	if err != nil {
		return nil, err
	}
	if bad != nil {
		return []wish{{To: &u.at.Oracle, Data: rollup.Retract(*bad)}}, nil
	}
	return u.each(n, next, func(h *types.Header) wish { return wish{To: &u.at.Oracle, Data: rollup.Propose(h)} }), nil
}

// each says something of every so many final blocks.
func (u *above) each(n *Node, next uint64, say func(h *types.Header) wish) (out []wish) {
	chain := n.eth.BlockChain()
	final := chain.CurrentFinalBlock()
	for len(out) < maxOutputs && final != nil && next <= final.Number.Uint64() {
		out = append(out, say(chain.GetHeaderByNumber(next)))
		next += u.terms.Every
	}
	return out
}

// told is which block is to be told of next, and the first output that is not true any
// more and can still be taken back.
func (u *above) told(ctx context.Context, n *Node) (next uint64, bad *uint64, err error) {
	answer, err := u.base.call(ctx, u.at.Oracle, rollup.AskOutputs())
	if err != nil {
		return 0, nil, err
	}
	count := common.BytesToHash(answer).Big().Uint64()
	next = u.terms.Every
	now := u.base.eth.BlockChain().CurrentBlock().Time
	for i := count; i > 0; i-- {
		answer, err := u.base.call(ctx, u.at.Oracle, rollup.AskOutput(i-1))
		if err != nil {
			return 0, nil, err
		}
		o, err := rollup.ReadOutput(answer)
		if err != nil {
			return 0, nil, err
		}
		if i == count {
			next = o.L2BlockNumber.Uint64() + u.terms.Every
		}
		h := n.eth.BlockChain().GetHeaderByNumber(o.L2BlockNumber.Uint64())
		if (h != nil && rollup.Output(h) == o.OutputRoot) || now+1 >= o.Timestamp.Uint64()+u.terms.Challenge {
			break
		}
		wrong := i - 1
		bad = &wrong
	}
	return next, bad, nil
}

// call asks a contract on the newest block.
func (n *Node) call(ctx context.Context, to common.Address, data []byte) ([]byte, error) {
	c := ethclient.NewClient(n.stack.Attach())
	defer c.Close()
	return c.CallContract(ctx, ethereum.CallMsg{To: &to, Data: data}, nil)
}

// proposing says whether the state of a rollup is told below.
type proposing struct {
	On bool `json:"on"`
}

func (n *Node) let(ctx context.Context, p proposing) error {
	if n.up == nil {
		return errNoRollup
	}
	n.up.rests = !p.On
	return n.propose(ctx)
}

// pairing asks for a token above that stands for one below.
type pairing struct {
	Below    common.Address `json:"below"`
	Name     string         `json:"name"`
	Symbol   string         `json:"symbol"`
	Decimals uint8          `json:"decimals"`
}

// pair makes a token of a rollup through the factory, which puts it where the call says.
func (n *Node) pair(ctx context.Context, p pairing) (sent, error) {
	if n.up == nil {
		return sent{}, errNoRollup
	}
	data := rollup.Pair(p.Below, p.Name, p.Symbol, p.Decimals)
	answer, err := n.call(ctx, rollup.Factory, data)
	if err != nil {
		return sent{}, fmt.Errorf("pair: %w", err)
	}
	s, err := n.send(n.faucet, wish{To: &rollup.Factory, Data: data})
	s.Address = common.BytesToAddress(answer)
	return s, err
}
