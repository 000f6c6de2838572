package evm

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// What contracts/ compiles to.
var (
	//go:embed contract/Sweeper.json
	sweeperFile []byte
	//go:embed contract/TestToken.json
	tokenFile []byte

	sweeperContract = mustContract(sweeperFile)
	tokenContract   = mustContract(tokenFile)
)

// contract is a compiled contract.
type contract struct {
	abi  abi.ABI
	code []byte
}

func readContract(file []byte) (c contract, err error) {
	var f struct {
		ABI  json.RawMessage `json:"abi"`
		Code hexutil.Bytes   `json:"code"`
	}
	if err = json.Unmarshal(file, &f); err != nil {
		return c, err
	}
	c.code = f.Code
	c.abi, err = abi.JSON(strings.NewReader(string(f.ABI)))
	return c, err
}

func mustContract(file []byte) contract {
	c, err := readContract(file)
	if err != nil {
		panic(err) // it is part of the program
	}
	return c
}

// SweeperCode is what deploys a sweeper that brings everything to one account.
func SweeperCode(home common.Address) []byte {
	args, err := sweeperContract.abi.Pack("", home)
	if err != nil {
		panic(err) // an address always fits
	}
	return append(append([]byte{}, sweeperContract.code...), args...)
}

// TestTokenCode is what deploys a worthless token on a local chain.
func TestTokenCode(name, symbol string, decimals uint8) ([]byte, error) {
	args, err := tokenContract.abi.Pack("", name, symbol, decimals)
	if err != nil {
		return nil, fmt.Errorf("token %s: %w", symbol, err)
	}
	return append(append([]byte{}, tokenContract.code...), args...), nil
}
