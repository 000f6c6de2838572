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
	//go:embed contract/Intake.json
	intakeFile []byte
	//go:embed contract/TestToken.json
	tokenFile []byte

	sweeperContract = mustContract(sweeperFile)
	intakeContract  = mustContract(intakeFile)
	tokenContract   = mustContract(tokenFile)
)

// contract is a compiled contract.
type contract struct {
	abi       abi.ABI
	code      []byte
	runtime   []byte
	constants [][]int // where each constant stands in the runtime code
}

func readContract(file []byte) (c contract, err error) {
	var f struct {
		ABI  json.RawMessage `json:"abi"`
		Code hexutil.Bytes   `json:"code"`

		Runtime   hexutil.Bytes `json:"runtime"`
		Constants [][]int       `json:"constants"`
	}
	if err = json.Unmarshal(file, &f); err != nil {
		return c, err
	}
	c.code, c.runtime, c.constants = f.Code, f.Runtime, f.Constants
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
func SweeperCode(home common.Address) []byte { return sweeperContract.deploy(home) }

// IntakeCode is what deploys an intake that passes everything on to one account.
func IntakeCode(home common.Address) []byte { return intakeContract.deploy(home) }

// deploy is what deploys a contract that was made for one account.
func (c contract) deploy(home common.Address) []byte {
	args, err := c.abi.Pack("", home)
	if err != nil {
		panic(err) // an address always fits
	}
	return append(append([]byte{}, c.code...), args...)
}

// at is the code that a contract of ours has on a chain with its constants, in the order
// of the source.
func (c contract) at(constants ...common.Address) []byte {
	out := append([]byte{}, c.runtime...)
	for i, a := range constants {
		for _, start := range c.constants[i] {
			copy(out[start:], common.LeftPadBytes(a[:], word32))
		}
	}
	return out
}

// TestTokenCode is what deploys a worthless token on a local chain.
func TestTokenCode(name, symbol string, decimals uint8) ([]byte, error) {
	args, err := tokenContract.abi.Pack("", name, symbol, decimals)
	if err != nil {
		return nil, fmt.Errorf("token %s: %w", symbol, err)
	}
	return append(append([]byte{}, tokenContract.code...), args...), nil
}
