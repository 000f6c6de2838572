package uniswap

import (
	"bytes"
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// Places is where the contracts stand.
type Places struct {
	WETH      common.Address `json:"weth"`
	FactoryV2 common.Address `json:"factoryV2"`
	RouterV2  common.Address `json:"routerV2"` // UniswapV2Router02
	FactoryV3 common.Address `json:"factoryV3"`
	Positions common.Address `json:"positions"` // NonfungiblePositionManager
	Quoter    common.Address `json:"quoter"`    // QuoterV2
	Router    common.Address `json:"router"`    // SwapRouter02, for both versions
	Multicall common.Address `json:"multicall"` // asks many at once, as Multicall3 does
}

// Uniswap is the contracts on a chain, moved by a sender.
type Uniswap struct {
	Places
	kit    Kit
	sender Sender
}

// New finds contracts that stand already.
func New(kit Kit, sender Sender, at Places) *Uniswap {
	return &Uniswap{Places: at, kit: kit, sender: sender}
}

// Deploy sends all that makes the contracts. They stand when what was sent has run.
func Deploy(ctx context.Context, kit Kit, sender Sender) (*Uniswap, error) {
	u := New(kit, sender, Places{})
	owner := sender.Address()
	for _, c := range []struct {
		name string
		at   *common.Address
		args func() []any
	}{
		{"WETH9", &u.WETH, func() []any { return nil }},
		{"UniswapV2Factory", &u.FactoryV2, func() []any { return []any{owner} }},
		{"UniswapV2Router02", &u.RouterV2, func() []any { return []any{u.FactoryV2, u.WETH} }},
		{"UniswapV3Factory", &u.FactoryV3, func() []any { return nil }},
		// Nobody asks for the picture of a position here, so nobody draws it.
		{"NonfungiblePositionManager", &u.Positions, func() []any { return []any{u.FactoryV3, u.WETH, common.Address{}} }},
		{"QuoterV2", &u.Quoter, func() []any { return []any{u.FactoryV3, u.WETH} }},
		{"SwapRouter02", &u.Router, func() []any { return []any{u.FactoryV2, u.FactoryV3, u.Positions, u.WETH} }},
		{"Multicall", &u.Multicall, func() []any { return nil }},
	} {
		contract := kit[c.name]
		args, err := contract.ABI.Pack("", c.args()...)
		if err == nil {
			*c.at, err = sender.Send(ctx, Tx{Data: append(bytes.Clone(contract.Code), args...)})
		}
		if err != nil {
			return nil, fmt.Errorf("deploy %s: %w", c.name, err)
		}
	}
	// The three fees are there from the first block; this one was added by a vote.
	return u, u.call(ctx, "UniswapV3Factory", u.FactoryV3, nil, "enableFeeAmount", big.NewInt(100), big.NewInt(1))
}

// call sends a call of a contract of the kit.
func (u *Uniswap) call(ctx context.Context, contract string, to common.Address, value *big.Int, method string, args ...any) error {
	spoken := u.kit[contract].ABI
	data, err := spoken.Pack(method, args...)
	if err == nil {
		_, err = u.sender.Send(ctx, Tx{To: &to, Value: value, Data: data})
	}
	if err != nil {
		return fmt.Errorf("%s.%s: %w", contract, method, err)
	}
	return nil
}

// Sorted is two tokens in the order in which a pool has them.
func Sorted(a, b common.Address) (zero, one common.Address) {
	if a.Cmp(b) < 0 {
		return a, b
	}
	return b, a
}

// PairAt is where the pair of two tokens stands, or would.
func (u *Uniswap) PairAt(a, b common.Address) common.Address {
	zero, one := Sorted(a, b)
	salt := crypto.Keccak256Hash(zero[:], one[:])
	return crypto.CreateAddress2(u.FactoryV2, salt, crypto.Keccak256(u.kit["UniswapV2Pair"].Code))
}

// PoolAt is where the pool of two tokens with a fee stands, or would.
func (u *Uniswap) PoolAt(a, b common.Address, fee uint32) common.Address {
	zero, one := Sorted(a, b)
	salt := crypto.Keccak256Hash(word(zero[:]), word(one[:]), word(big.NewInt(int64(fee)).Bytes()))
	return crypto.CreateAddress2(u.FactoryV3, salt, crypto.Keccak256(u.kit["UniswapV3Pool"].Code))
}

func word(b []byte) []byte { return common.LeftPadBytes(b, 32) }
