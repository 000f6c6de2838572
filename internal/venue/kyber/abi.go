package kyber

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/contract"
)

// swapSignature is the router's one method that is called.
const swapSignature = "swap((address,address,bytes,(address,address,address[],uint256[],address[],uint256[],address,uint256,uint256,uint256,bytes),bytes))"

// protocol is what is called of the router and of tokens, and what they say.
var protocol = contract.Must(`[
{"type":"function","name":"allowance","inputs":[{"type":"address"},{"type":"address"}]},
{"type":"function","name":"approve","inputs":[{"type":"address"},{"type":"uint256"}]},
{"type":"function","name":"swap","inputs":[{"name":"execution","type":"tuple","components":[
 {"name":"callTarget","type":"address"},{"name":"approveTarget","type":"address"},{"name":"targetData","type":"bytes"},
 {"name":"desc","type":"tuple","components":[
  {"name":"srcToken","type":"address"},{"name":"dstToken","type":"address"},
  {"name":"srcReceivers","type":"address[]"},{"name":"srcAmounts","type":"uint256[]"},
  {"name":"feeReceivers","type":"address[]"},{"name":"feeAmounts","type":"uint256[]"},
  {"name":"dstReceiver","type":"address"},{"name":"amount","type":"uint256"},
  {"name":"minReturnAmount","type":"uint256"},{"name":"flags","type":"uint256"},{"name":"permit","type":"bytes"}]},
 {"name":"clientData","type":"bytes"}]}]},
{"type":"event","name":"Transfer","inputs":[{"name":"from","type":"address","indexed":true},{"name":"to","type":"address","indexed":true},{"name":"value","type":"uint256"}]},
{"type":"event","name":"Swapped","inputs":[{"name":"sender","type":"address"},{"name":"srcToken","type":"address"},{"name":"dstToken","type":"address"},{"name":"dstReceiver","type":"address"},{"name":"spentAmount","type":"uint256"},{"name":"returnAmount","type":"uint256"}]}
]`)

// What contracts say first in a log.
var (
	topicTransfer = protocol.Topic("Transfer")
	topicSwapped  = protocol.Topic("Swapped")
)

// coin is what the router calls the chain's own coin.
var coin = common.HexToAddress("0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee")

// execution is what the router's swap is told; the names are the router's.
type execution struct {
	CallTarget, ApproveTarget common.Address
	TargetData                []byte
	Desc                      description
	ClientData                []byte
}

// description is what a swap takes and gives.
type description struct {
	SrcToken, DstToken             common.Address
	SrcReceivers                   []common.Address
	SrcAmounts                     []*big.Int
	FeeReceivers                   []common.Address
	FeeAmounts                     []*big.Int
	DstReceiver                    common.Address
	Amount, MinReturnAmount, Flags *big.Int
	Permit                         []byte
}

// word reads an answer or a log that is one number.
func word(b []byte) (money.Amount, error) {
	if len(b) != 32 {
		return money.Amount{}, fmt.Errorf("%d bytes where a number should be", len(b))
	}
	return toAmount(new(big.Int).SetBytes(b)), nil
}

// tokenOf is an asset as the router calls it.
func tokenOf(a chain.Asset) (common.Address, bool) {
	if a.IsNative() {
		return coin, true
	}
	at, err := toCommon(chain.CanonicalAddress(chain.EVM, a.Ref))
	return at, err == nil && at != coin
}

// toCommon reads an address that is written as we write it.
func toCommon(a chain.Address) (common.Address, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(a.Text(), "0x"))
	at := common.BytesToAddress(b)
	if err != nil || a.Family() != chain.EVM || contract.Address(at) != a || at == (common.Address{}) {
		return common.Address{}, fmt.Errorf("%q is no EVM address", a.Text())
	}
	return at, nil
}

// known is toCommon of an address that New has read.
func known(a chain.Address) common.Address { return common.HexToAddress(a.Text()) }

// toAmount is a number of 256 bits at most, as the ABI has them.
func toAmount(n *big.Int) money.Amount { return money.MustParse(n.String()) }

func toBig(a money.Amount) *big.Int {
	n := uint256.Int(a.Words())
	return n.ToBig()
}
