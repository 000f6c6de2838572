package opbridge

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// What is used of the interfaces of the OP stack's contracts.
//
//go:embed abi.json
var abiFile []byte

var (
	portalABI    = mustABI("portal")
	portal2ABI   = mustABI("portal2")
	oracleABI    = mustABI("oracle")
	factoryABI   = mustABI("factory")
	gameABI      = mustABI("game")
	bridgeABI    = mustABI("bridge")
	bridge2ABI   = mustABI("bridge2")
	messengerABI = mustABI("messenger")
	passerABI    = mustABI("passer")
	tokenABI     = mustABI("token")
	registryABI  = mustABI("registry")
	linksABI     = mustABI("links")
)

func mustABI(name string) abi.ABI {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(abiFile, &all); err != nil {
		panic(err) // it is part of the program
	}
	c, err := abi.JSON(strings.NewReader(string(all[name])))
	if err != nil {
		panic(fmt.Errorf("abi of %s: %w", name, err))
	}
	return c
}

// address reads an address of the house; none is an error.
func address(a chain.Address) (common.Address, error) {
	if a.Family() != chain.EVM || !common.IsHexAddress(a.Text()) || common.HexToAddress(a.Text()) == (common.Address{}) {
		return common.Address{}, fmt.Errorf("%.80q is no address", a.Text())
	}
	return common.HexToAddress(a.Text()), nil
}

func toBig(a money.Amount) *big.Int {
	return uint256.MustFromDecimal(a.String()).ToBig() // an amount has at most 256 bits
}

// toAmount reads a number of a contract, which has at most 256 bits.
func toAmount(n *big.Int) money.Amount { return money.MustParse(n.String()) }

// seconds is a moment or a span as contracts write it.
func seconds(v any) (int64, error) {
	switch n := v.(type) {
	case uint64:
		if n>>62 == 0 {
			return int64(n), nil
		}
	case *big.Int:
		if n.IsInt64() {
			return n.Int64(), nil
		}
	}
	return 0, fmt.Errorf("%w: %v is no time", ErrAnswer, v)
}

// number is a number of a contract that counts something.
func number(v any) (uint64, error) {
	if n, ok := v.(*big.Int); ok && n.IsUint64() {
		return n.Uint64(), nil
	}
	return 0, fmt.Errorf("%w: %v counts nothing", ErrAnswer, v)
}

func when(unix int64) time.Time { return time.Unix(unix, 0).UTC() }
