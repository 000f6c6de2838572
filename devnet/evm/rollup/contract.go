package rollup

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// The contracts are those of @eth-optimism/contracts-bedrock 0.17.3, under the licence
// that stands beside them.
//
//go:embed contract/*.json
var files embed.FS

// Contract is a compiled contract: with Code where it is deployed, with Runtime where it
// is there from the first block.
type Contract struct {
	ABI     abi.ABI
	Code    []byte
	Runtime []byte
}

var (
	proxyContract      = must("Proxy")
	guardContract      = must("SuperchainConfig")
	oracleContract     = must("L2OutputOracle")
	systemContract     = must("SystemConfig")
	portalContract     = must("OptimismPortal")
	messengerContract  = must("L1CrossDomainMessenger")
	bridgeContract     = must("L1StandardBridge")
	messenger2Contract = must("L2CrossDomainMessenger")
	bridge2Contract    = must("L2StandardBridge")
	factoryContract    = must("OptimismMintableERC20Factory")
	attributesContract = must("L1Block")
	passerContract     = must("L2ToL1MessagePasser")
	feesContract       = must("GasPriceOracle")
	portal2Contract    = must("OptimismPortal2")
	factory2Contract   = must("DisputeGameFactory")
	registryContract   = must("AnchorStateRegistry")
	bondsContract      = must("DelayedWETH")
	gameContract       = must("FaultDisputeGame")
)

// must reads a contract that is part of the program.
func must(name string) Contract {
	c, err := read(name)
	if err != nil {
		panic(err)
	}
	return c
}

func read(name string) (Contract, error) {
	text, err := files.ReadFile("contract/" + name + ".json")
	if err != nil {
		return Contract{}, err
	}
	var f struct {
		ABI     json.RawMessage `json:"abi"`
		Code    hexutil.Bytes   `json:"code"`
		Runtime hexutil.Bytes   `json:"runtime"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return Contract{}, fmt.Errorf("contract %s: %w", name, err)
	}
	c := Contract{Code: f.Code, Runtime: f.Runtime}
	if c.ABI, err = abi.JSON(strings.NewReader(string(f.ABI))); err != nil {
		return Contract{}, fmt.Errorf("contract %s: %w", name, err)
	}
	return c, nil
}

// pack is a call of a contract that is part of the program, so it always fits.
func (c Contract) pack(method string, args ...any) []byte {
	data, err := c.ABI.Pack(method, args...)
	if err != nil {
		panic(fmt.Errorf("%s: %w", method, err))
	}
	return data
}
