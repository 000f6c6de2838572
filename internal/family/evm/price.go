package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/send"
)

// price is what a unit of gas costs: what the chain burns, and what is given to
// whoever builds the block.
type price struct{ base, tip *uint256.Int }

// newest is how many blocks the going price is read from.
const newest = 4

// price is the going price. Nodes differ little on it; what one of them says alone
// moves nothing, and nothing is paid beyond the bounds.
func (c *Chain) price(ctx context.Context, tip header) (price, error) {
	t, err := quorum.Middle(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (*uint256.Int, error) {
		var h struct {
			Reward [][]hexutil.U256 `json:"reward"`
		}
		if err := n.Call(ctx, &h, "eth_feeHistory", hexutil.EncodeUint64(newest), hexutil.EncodeUint64(tip.Height), []float64{50}); err != nil {
			return nil, err
		}
		most := new(uint256.Int)
		for _, r := range h.Reward { // an empty block has none
			if len(r) > 0 && (*uint256.Int)(&r[0]).Gt(most) {
				most = (*uint256.Int)(&r[0])
			}
		}
		return most, nil
	}), (*uint256.Int).Cmp)
	if err != nil {
		return price{}, fmt.Errorf("going price: %w", err)
	}
	if t.Lt(c.minTip) {
		t = c.minTip
	}
	if t.Gt(c.maxTip) {
		t = c.maxTip
	}
	return price{base: &tip.baseFee, tip: t}, nil
}

// wanted lets the base fee double before a transaction waits.
func (p price) wanted() *uint256.Int {
	return new(uint256.Int).Add(p.tip, new(uint256.Int).Lsh(p.base, 1))
}

// least is enough for the next block, whose base fee is at most an eighth higher.
func (p price) least() *uint256.Int {
	rise := new(uint256.Int).AddUint64(new(uint256.Int).Rsh(p.base, 3), 1)
	return rise.Add(rise, p.base).Add(rise, p.tip)
}

// bid is what an attempt offers per unit of gas: at most cap, of which tip.
type bid struct{ cap, tip *uint256.Int }

// first is the bid of a first attempt within a budget.
func (p price) first(gas uint64, most money.Amount) (bid, error) {
	limit := perGas(most, gas)
	b := bid{cap: p.wanted(), tip: p.tip}
	if limit.Lt(b.cap) {
		b.cap = limit
	}
	if b.cap.Lt(p.least()) {
		return bid{}, fmt.Errorf("%w: %s per unit of gas, and the budget gives %s", send.ErrTooDear, p.least().Dec(), limit.Dec())
	}
	return b, nil
}

// next is the bid that replaces another: the whole budget, of which as much as can be
// is a tip, and both an eighth above what was, since less is not relayed by all.
func (p price) next(old *types.Transaction, gas uint64, most money.Amount) (bid, error) {
	b := bid{cap: perGas(most, gas), tip: eighthMore(uint256.MustFromBig(old.GasTipCap()))}
	if least := eighthMore(uint256.MustFromBig(old.GasFeeCap())); b.cap.Lt(least) || b.cap.Lt(b.tip) {
		return bid{}, fmt.Errorf("%w: %s per unit of gas cannot replace %s", send.ErrTooDear, b.cap.Dec(), old.GasFeeCap())
	}
	if burnt := new(uint256.Int).Lsh(p.base, 1); b.cap.Gt(burnt) {
		if rest := new(uint256.Int).Sub(b.cap, burnt); rest.Gt(b.tip) {
			b.tip = rest
		}
	}
	return b, nil
}

func eighthMore(v *uint256.Int) *uint256.Int {
	more := new(uint256.Int).AddUint64(v, 7)
	return more.Rsh(more, 3).Add(more, v)
}

// perGas is what a budget gives for each unit of gas, rounded down.
func perGas(most money.Amount, gas uint64) *uint256.Int {
	return new(uint256.Int).Div(toInt(most), uint256.NewInt(gas))
}

// fee is the most that gas can cost.
func fee(gas uint64, each *uint256.Int) (money.Amount, error) {
	v, over := new(uint256.Int).MulOverflow(uint256.NewInt(gas), each)
	if over {
		return money.Amount{}, fmt.Errorf("%w: it costs more than can be counted", send.ErrTooDear)
	}
	return toAmount(v), nil
}

// Gas is estimated on the newest block and used in a later one, so it gets head-room;
// what is not used is not paid.
func roomy(gas uint64) uint64 { return gas + gas/4 }

// verdict is what a node says that a call would do.
type verdict struct {
	gas   uint64
	fails bool
}

// simulate asks what a call would use on the newest block. It fails only if a quorum
// says that it would fail.
func (c *Chain) simulate(ctx context.Context, m message, on header, extra map[common.Address]any) (uint64, error) {
	query := []any{m, at{on.Hash}}
	if len(extra) > 0 {
		query = append(query, extra)
	}
	said := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (verdict, error) {
		var gas quantity
		err := typed(n.Call(ctx, &gas, "eth_estimateGas", query...))
		switch {
		case errors.Is(err, ErrFails):
			return verdict{fails: true}, nil
		case errors.Is(err, ErrPoor):
			return verdict{}, err
		case err == nil && (uint64(gas) < params.TxGas || uint64(gas) > maxGas):
			err = fmt.Errorf("%d is no amount of gas", uint64(gas))
		}
		return verdict{gas: uint64(gas)}, err
	})
	v, err := quorum.Agree(c.pool.Rule(), said, func(a, b verdict) bool { return a.fails == b.fails })
	if err != nil {
		return 0, fmt.Errorf("gas: %w", err)
	}
	if v.fails {
		return 0, fmt.Errorf("%w: it would fail on the chain", send.ErrRefused)
	}
	for i, a := range said {
		if a.Err == nil && a.Value.fails {
			said[i].Err = ErrFails // outvoted
		}
	}
	v, err = quorum.Middle(c.pool.Rule(), said, func(a, b verdict) int { return cmp.Compare(a.gas, b.gas) }) // no two kinds of nodes estimate alike
	return v.gas, err
}

// maxGas is more than any call of ours can use.
const maxGas = 16_000_000
