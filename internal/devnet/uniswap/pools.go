package uniswap

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
)

// never is a deadline that does not come.
var never = big.NewInt(1 << 40)

// Stake is an amount of a token.
type Stake struct {
	Token  common.Address
	Amount *big.Int
}

// CreatePair makes the pair of two tokens.
func (u *Uniswap) CreatePair(ctx context.Context, a, b common.Address) (common.Address, error) {
	return u.PairAt(a, b), u.call(ctx, "UniswapV2Factory", u.FactoryV2, nil, "createPair", a, b)
}

// Add puts tokens of the sender into their pair, at any price.
func (u *Uniswap) Add(ctx context.Context, a, b Stake) error {
	pair := u.PairAt(a.Token, b.Token)
	for _, s := range []Stake{a, b} {
		if err := u.call(ctx, "WETH9", s.Token, nil, "transfer", pair, s.Amount); err != nil {
			return err
		}
	}
	return u.call(ctx, "UniswapV2Pair", pair, nil, "mint", u.sender.Address())
}

// Remove takes shares of the sender out of a pair.
func (u *Uniswap) Remove(ctx context.Context, a, b common.Address, shares *big.Int) error {
	pair := u.PairAt(a, b)
	if err := u.call(ctx, "UniswapV2Pair", pair, nil, "transfer", pair, shares); err != nil {
		return err
	}
	return u.call(ctx, "UniswapV2Pair", pair, nil, "burn", u.sender.Address())
}

// SwapV2 sells a token of the sender for another, through the pairs on the way.
func (u *Uniswap) SwapV2(ctx context.Context, amount *big.Int, way ...common.Address) error {
	return u.call(ctx, "UniswapV2Router02", u.RouterV2, nil, "swapExactTokensForTokens", amount, new(big.Int), way, u.sender.Address(), never)
}

// CreatePool makes the pool of two tokens with a fee in millionths, at a price: the root
// of how much of the second a unit of the first costs, times 2^96.
func (u *Uniswap) CreatePool(ctx context.Context, a, b common.Address, fee uint32, root *big.Int) (common.Address, error) {
	zero, one := Sorted(a, b)
	pool := u.PoolAt(a, b, fee)
	if err := u.call(ctx, "UniswapV3Factory", u.FactoryV3, nil, "createPool", zero, one, big.NewInt(int64(fee))); err != nil {
		return pool, err
	}
	return pool, u.call(ctx, "UniswapV3Pool", pool, nil, "initialize", root)
}

// Remember has a pool keep so many of its prices, one of a block at most: what its mean
// over a time is made of.
func (u *Uniswap) Remember(ctx context.Context, pool common.Address, prices uint16) error {
	return u.call(ctx, "UniswapV3Pool", pool, nil, "increaseObservationCardinalityNext", prices)
}

// Position is liquidity between two ticks of a pool, in the order of its tokens.
type Position struct {
	Zero, One Stake
	Fee       uint32
	Low, High int32
}

// mintParams is what the contract calls a position; the names are the contract's.
type mintParams struct {
	Token0, Token1                 common.Address
	Fee, TickLower, TickUpper      *big.Int
	Amount0Desired, Amount1Desired *big.Int
	Amount0Min, Amount1Min         *big.Int
	Recipient                      common.Address
	Deadline                       *big.Int
}

// Mint puts tokens of the sender into a pool, as much of both as fits the price. The
// sender approved them before.
func (u *Uniswap) Mint(ctx context.Context, p Position) error {
	return u.call(ctx, "NonfungiblePositionManager", u.Positions, nil, "mint", mintParams{
		Token0: p.Zero.Token, Token1: p.One.Token,
		Fee: big.NewInt(int64(p.Fee)), TickLower: big.NewInt(int64(p.Low)), TickUpper: big.NewInt(int64(p.High)),
		Amount0Desired: p.Zero.Amount, Amount1Desired: p.One.Amount, Amount0Min: new(big.Int), Amount1Min: new(big.Int),
		Recipient: u.sender.Address(), Deadline: never,
	})
}

// Burn takes liquidity out of a position, which has the number of its making.
func (u *Uniswap) Burn(ctx context.Context, position int64, liquidity *big.Int) error {
	return u.call(ctx, "NonfungiblePositionManager", u.Positions, nil, "decreaseLiquidity", struct {
		TokenId                *big.Int //nolint:revive,staticcheck // the contract's name
		Liquidity              *big.Int
		Amount0Min, Amount1Min *big.Int
		Deadline               *big.Int
	}{big.NewInt(position), liquidity, new(big.Int), new(big.Int), never})
}

// Swap sells a token of the sender for another in the pool with a fee.
func (u *Uniswap) Swap(ctx context.Context, in Stake, out common.Address, fee uint32) error {
	return u.call(ctx, "SwapRouter02", u.Router, nil, "exactInputSingle", struct {
		TokenIn, TokenOut          common.Address
		Fee                        *big.Int
		Recipient                  common.Address
		AmountIn, AmountOutMinimum *big.Int
		SqrtPriceLimitX96          *big.Int
	}{in.Token, out, big.NewInt(int64(fee)), u.sender.Address(), in.Amount, new(big.Int), new(big.Int)})
}

// Approve lets the routers and the keeper of positions take a token of the sender.
func (u *Uniswap) Approve(ctx context.Context, tokens ...common.Address) error {
	for _, t := range tokens {
		for _, who := range []common.Address{u.RouterV2, u.Router, u.Positions} {
			if err := u.call(ctx, "WETH9", t, nil, "approve", who, math.MaxBig256); err != nil {
				return err
			}
		}
	}
	return nil
}

// Wrap turns coins of the sender into WETH.
func (u *Uniswap) Wrap(ctx context.Context, amount *big.Int) error {
	return u.call(ctx, "WETH9", u.WETH, amount, "deposit")
}
