package evm

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/send"
)

// maxSources is how many addresses one sweep empties: more would not fit a block.
const maxSources = 100

// sweep makes the errand that empties deposit addresses into the account: one call of
// the account to the sweeper, and with it the word of each address, once in its life,
// that it obeys the sweeper's code. Nothing is needed on the addresses themselves.
func (c *Chain) sweep(ctx context.Context, call chain.Call, tip header) (*errand, error) {
	if err := c.sources(ctx, call); err != nil {
		return nil, err
	}
	token := common.HexToAddress(call.Asset.Ref) // zero is the chain's own coin
	from, amounts := make([]common.Address, len(call.Sources)), make([]*big.Int, len(call.Sources))
	for i, s := range call.Sources {
		from[i], amounts[i] = common.HexToAddress(s.Address.Text()), toInt(s.Amount).ToBig()
	}
	data, err := sweeperContract.abi.Pack("sweep", token, from, amounts)
	if err != nil {
		return nil, err
	}
	e := &errand{Call: call, to: c.sweeper, value: new(uint256.Int), data: data, keys: []chain.Key{{Account: call.From}}}
	states, err := c.delegates(ctx, from, tip)
	if err != nil {
		return nil, err
	}
	word := types.AddressToDelegation(c.sweeper)
	for i, s := range states {
		switch {
		case s.code == string(word):
			continue
		case s.code != "":
			return nil, fmt.Errorf("%w: a deposit address obeys code that is not ours", send.ErrRefused)
		}
		e.auths = append(e.auths, types.SetCodeAuthorization{ChainID: *uint256.NewInt(c.number), Address: c.sweeper, Nonce: s.nonce})
		e.keys = append(e.keys, chain.Key{Account: chain.DepositKeys, Index: call.Sources[i].Index})
		e.words = append(e.words, from[i])
		e.extra += params.CallNewAccountGas
		if e.codes == nil {
			e.codes = make(map[common.Address]any)
		}
		e.codes[from[i]] = map[string]any{"code": hexutil.Bytes(word)}
	}
	e.beside, err = c.beside(ctx, e, tip)
	return e, err
}

// sources refuses a sweep that is not of our own addresses into our own account.
func (c *Chain) sources(ctx context.Context, call chain.Call) error {
	switch {
	case c.sweeper == common.Address{}:
		return fmt.Errorf("%w: no sweeper is configured for %s", send.ErrRefused, c.cfg.ID)
	case call.To != c.Own(call.From):
		return fmt.Errorf("%w: what is brought home comes to the account itself", send.ErrRefused)
	case len(call.Sources) > maxSources:
		return fmt.Errorf("%w: %d addresses are too many for one sweep; take %d", send.ErrRefused, len(call.Sources), maxSources)
	}
	var sum money.Amount
	seen := make(map[chain.Address]bool)
	for _, s := range call.Sources {
		own, err := c.signer.Address(ctx, c.cfg.ID, chain.Key{Account: chain.DepositKeys, Index: s.Index})
		if err != nil {
			return fmt.Errorf("deposit address %d: %w", s.Index, err)
		}
		if own != s.Address || seen[own] || s.Amount.IsZero() {
			return fmt.Errorf("%w: deposit address %d is another, is there twice, or has nothing", send.ErrRefused, s.Index)
		}
		seen[own] = true
		if sum, err = sum.Add(s.Amount); err != nil {
			return fmt.Errorf("%w: %w", send.ErrRefused, err)
		}
	}
	if sum != call.Amount {
		return fmt.Errorf("%w: the addresses have %s together, and not %s", send.ErrRefused, sum, call.Amount)
	}
	return nil
}

// delegate is what an address obeys, and how often it has acted.
type delegate struct {
	code  string
	nonce uint64
}

// delegates asks which of the addresses obey the sweeper already.
func (c *Chain) delegates(ctx context.Context, from []common.Address, tip header) ([]delegate, error) {
	said, err := quorum.Agree(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) ([]delegate, error) {
		codes, nonces := make([]hexutil.Bytes, len(from)), make([]quantity, len(from))
		var q []rpc.Query
		for i, a := range from {
			q = append(q, rpc.Query{Method: "eth_getCode", Params: []any{a, at{tip.Hash}}, Out: &codes[i]},
				rpc.Query{Method: "eth_getTransactionCount", Params: []any{a, at{tip.Hash}}, Out: &nonces[i]})
		}
		if err := askAll(ctx, n, q, nil); err != nil {
			return nil, err
		}
		out := make([]delegate, len(from))
		for i := range out {
			out[i] = delegate{string(codes[i]), uint64(nonces[i])}
		}
		return out, nil
	}), slices.Equal)
	if err != nil {
		return nil, fmt.Errorf("deposit addresses: %w", err)
	}
	return said, nil
}

// swept reads what a call of the sweeper moves to the account.
func (c *Chain) swept(data []byte) []promise {
	m, err := sweeperContract.abi.MethodById(data)
	if err != nil || m.Name != "sweep" {
		return nil
	}
	args, err := m.Inputs.Unpack(data[4:])
	if err != nil || len(args) != 3 {
		return nil
	}
	token, _ := args[0].(common.Address)
	from, _ := args[1].([]common.Address)
	amounts, _ := args[2].([]*big.Int)
	if len(from) != len(amounts) {
		return nil
	}
	out := make([]promise, len(from))
	for i := range from {
		out[i] = promise{token, transfer{from: from[i], to: c.own, amount: number(amounts[i])}}
	}
	return out
}

// number is a number that was read from the data of a call.
func number(v any) *uint256.Int {
	b, ok := v.(*big.Int)
	if !ok {
		return new(uint256.Int)
	}
	n, _ := uint256.FromBig(b) // it has 32 bytes
	return n
}
