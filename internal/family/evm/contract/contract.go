// Package contract holds the compiled contracts of contracts/: what brings deposits
// home, and the worthless token of local chains. It is data, and asks nobody.
package contract

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

//go:embed Sweeper.json
var sweeper []byte

//go:embed TestToken.json
var testToken []byte

// compiled is a contract as the tree keeps it.
type compiled struct {
	ABI  json.RawMessage `json:"abi"`
	Code hexutil.Bytes   `json:"code"`
}

// Sweeper is the code that makes a contract which brings deposits home to one account,
// and to that one alone.
func Sweeper(home common.Address) ([]byte, error) { return creation(sweeper, home) }

// TestToken is the code that makes a worthless token.
func TestToken(name, symbol string, decimals uint8) ([]byte, error) {
	return creation(testToken, name, symbol, decimals)
}

// creation is a contract's code with what its constructor is given.
func creation(text []byte, args ...any) ([]byte, error) {
	var c compiled
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("compiled contract: %w", err)
	}
	parsed, err := abi.JSON(bytes.NewReader(c.ABI))
	if err != nil {
		return nil, fmt.Errorf("compiled contract: %w", err)
	}
	given, err := parsed.Pack("", args...)
	if err != nil {
		return nil, fmt.Errorf("compiled contract: %w", err)
	}
	return append(bytes.Clone(c.Code), given...), nil
}
