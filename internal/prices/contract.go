package prices

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
)

// What is asked of contracts.
var (
	aggregator = mustABI(`[
		{"type":"function","name":"decimals","inputs":[],"outputs":[{"type":"uint8"}]},
		{"type":"function","name":"latestRoundData","inputs":[],"outputs":[{"name":"round","type":"uint80"},{"name":"answer","type":"int256"},{"name":"started","type":"uint256"},{"name":"updated","type":"uint256"},{"name":"answered","type":"uint80"}]}]`)
	poolV3 = mustABI(`[
		{"type":"function","name":"token0","inputs":[],"outputs":[{"type":"address"}]},
		{"type":"function","name":"token1","inputs":[],"outputs":[{"type":"address"}]},
		{"type":"function","name":"observe","inputs":[{"type":"uint32[]"}],"outputs":[{"type":"int56[]"},{"type":"uint160[]"}]}]`)
	pairV2 = mustABI(`[
		{"type":"function","name":"token0","inputs":[],"outputs":[{"type":"address"}]},
		{"type":"function","name":"token1","inputs":[],"outputs":[{"type":"address"}]},
		{"type":"function","name":"getReserves","inputs":[],"outputs":[{"type":"uint112"},{"type":"uint112"},{"type":"uint32"}]},
		{"type":"function","name":"price0CumulativeLast","inputs":[],"outputs":[{"type":"uint256"}]},
		{"type":"function","name":"price1CumulativeLast","inputs":[],"outputs":[{"type":"uint256"}]}]`)
)

func mustABI(text string) abi.ABI {
	a, err := abi.JSON(strings.NewReader(text))
	if err != nil {
		panic(err) // it is part of the program
	}
	return a
}

// usualLag is how old the newest block may be for what contracts say in it to be of now.
const usualLag = time.Minute

// Errors of contracts.
var (
	errLag  = errors.New("the chain's newest block is too old")
	errForm = errors.New("the contract answered in another form; is it the right address?")
)

// reader asks contracts about one block.
type reader struct {
	from Contracts
	at   chain.Block
}

// readAt is a reader of the newest block, if that is new enough.
func readAt(ctx context.Context, from Contracts, lag time.Duration, now time.Time) (reader, error) {
	if lag == 0 {
		lag = usualLag
	}
	h, err := from.Head(ctx)
	if err != nil {
		return reader{}, fmt.Errorf("head of the chain: %w", err)
	}
	if now.Sub(h.Tip.Time) > lag {
		return reader{}, errLag
	}
	return reader{from, h.Tip}, nil
}

// ask gives the answer of a contract in its parts.
func (r reader) ask(ctx context.Context, of abi.ABI, to chain.Address, method string, args ...any) ([]any, error) {
	data, err := of.Pack(method, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	said, err := r.from.ViewAt(ctx, to, data, r.at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	out, err := of.Unpack(method, said)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, errForm)
	}
	return out, nil
}

// number is a part of an answer that is a number.
func number(v any) *big.Int {
	switch n := v.(type) {
	case *big.Int:
		return n
	case uint8:
		return big.NewInt(int64(n))
	case uint32:
		return big.NewInt(int64(n))
	}
	return new(big.Int)
}

// decimals are those of a token or a feed.
func (r reader) decimals(ctx context.Context, of chain.Address) (int, error) {
	out, err := r.ask(ctx, aggregator, of, "decimals")
	if err != nil {
		return 0, err
	}
	return int(number(out[0]).Int64()), nil
}

// token is which token stands on a side of a pool.
func (r reader) token(ctx context.Context, pool chain.Address, side string) (chain.Address, error) {
	out, err := r.ask(ctx, pairV2, pool, side)
	if err != nil {
		return chain.Address{}, err
	}
	a, ok := out[0].(common.Address)
	if !ok {
		return chain.Address{}, errForm
	}
	return chain.CanonicalAddress(chain.EVM, strings.ToLower(a.Hex())), nil
}
