package uniswap

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/contract"
)

// protocol is what is called of the contracts, and what they say.
var protocol = contract.Must(`[
{"type":"function","name":"WETH9","inputs":[]},
{"type":"function","name":"factory","inputs":[]},
{"type":"function","name":"factoryV2","inputs":[]},
{"type":"function","name":"getPair","inputs":[{"type":"address"},{"type":"address"}]},
{"type":"function","name":"getPool","inputs":[{"type":"address"},{"type":"address"},{"type":"uint24"}]},
{"type":"function","name":"getReserves","inputs":[]},
{"type":"function","name":"slot0","inputs":[]},
{"type":"function","name":"liquidity","inputs":[]},
{"type":"function","name":"tickSpacing","inputs":[]},
{"type":"function","name":"tickBitmap","inputs":[{"type":"int16"}]},
{"type":"function","name":"ticks","inputs":[{"type":"int24"}]},
{"type":"function","name":"aggregate3","inputs":[{"type":"tuple[]","components":[{"name":"target","type":"address"},{"name":"allowFailure","type":"bool"},{"name":"callData","type":"bytes"}]}],"outputs":[{"type":"tuple[]","components":[{"name":"success","type":"bool"},{"name":"returnData","type":"bytes"}]}]},
{"type":"function","name":"allowance","inputs":[{"type":"address"},{"type":"address"}]},
{"type":"function","name":"approve","inputs":[{"type":"address"},{"type":"uint256"}]},
{"type":"function","name":"multicall","inputs":[{"type":"uint256"},{"type":"bytes[]"}]},
{"type":"function","name":"exactInput","inputs":[{"type":"tuple","components":[{"name":"path","type":"bytes"},{"name":"recipient","type":"address"},{"name":"amountIn","type":"uint256"},{"name":"amountOutMinimum","type":"uint256"}]}]},
{"type":"function","name":"swapExactTokensForTokens","inputs":[{"type":"uint256"},{"type":"uint256"},{"type":"address[]"},{"type":"address"}]},
{"type":"function","name":"unwrapWETH9","inputs":[{"type":"uint256"},{"type":"address"}]},
{"type":"function","name":"sweepToken","inputs":[{"type":"address"},{"type":"uint256"},{"type":"address"}]},
{"type":"function","name":"refundETH","inputs":[]},
{"type":"event","name":"Sync","inputs":[{"name":"zero","type":"uint112"},{"name":"one","type":"uint112"}]},
{"type":"event","name":"Initialize","inputs":[{"name":"root","type":"uint160"},{"name":"tick","type":"int24"}]},
{"type":"event","name":"Swap","inputs":[{"name":"sender","type":"address","indexed":true},{"name":"to","type":"address","indexed":true},{"name":"zero","type":"int256"},{"name":"one","type":"int256"},{"name":"root","type":"uint160"},{"name":"liquidity","type":"uint128"},{"name":"tick","type":"int24"}]},
{"type":"event","name":"Mint","inputs":[{"name":"sender","type":"address"},{"name":"owner","type":"address","indexed":true},{"name":"low","type":"int24","indexed":true},{"name":"high","type":"int24","indexed":true},{"name":"amount","type":"uint128"},{"name":"zero","type":"uint256"},{"name":"one","type":"uint256"}]},
{"type":"event","name":"Burn","inputs":[{"name":"owner","type":"address","indexed":true},{"name":"low","type":"int24","indexed":true},{"name":"high","type":"int24","indexed":true},{"name":"amount","type":"uint128"},{"name":"zero","type":"uint256"},{"name":"one","type":"uint256"}]},
{"type":"event","name":"Transfer","inputs":[{"name":"from","type":"address","indexed":true},{"name":"to","type":"address","indexed":true},{"name":"value","type":"uint256"}]},
{"type":"event","name":"Deposit","inputs":[{"name":"who","type":"address","indexed":true},{"name":"value","type":"uint256"}]},
{"type":"event","name":"Withdrawal","inputs":[{"name":"who","type":"address","indexed":true},{"name":"value","type":"uint256"}]}
]`)

// What contracts say first in a log. Flashes, collected fees and what the protocol takes
// change nothing that a quote depends on.
var (
	topicSync     = protocol.Topic("Sync")
	topicInit     = protocol.Topic("Initialize")
	topicSwap     = protocol.Topic("Swap")
	topicMint     = protocol.Topic("Mint")
	topicBurn     = protocol.Topic("Burn")
	topicTransfer = protocol.Topic("Transfer")
	topicDeposit  = protocol.Topic("Deposit")
	topicWithdraw = protocol.Topic("Withdrawal")
)

// words reads an answer that must have so many words.
func words(b []byte, n int) ([]uint256.Int, error) {
	if len(b) < 32*n {
		return nil, fmt.Errorf("an answer of %d bytes, want %d words", len(b), n)
	}
	out := make([]uint256.Int, n)
	for i := range out {
		out[i].SetBytes32(b[32*i:])
	}
	return out, nil
}

// signed24 is a word that holds a signed number of 24 bits.
func signed24(w *uint256.Int) int32 { return int32(uint32(w[0])<<8) >> 8 } //nolint:gosec // the bits are meant

func toCommon(a chain.Address) (common.Address, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(a.Text(), "0x"))
	if err != nil || len(b) != common.AddressLength || a.Family() != chain.EVM {
		return common.Address{}, fmt.Errorf("%q is no EVM address", a.Text())
	}
	return common.BytesToAddress(b), nil
}

// known is toCommon of an address that New has read.
func known(a chain.Address) common.Address { return common.HexToAddress(a.Text()) }

func fromAmount(a money.Amount) uint256.Int { return a.Words() }

func toAmount(x *uint256.Int) money.Amount { return money.FromWords(*x) }
