package kyber

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// What tests write calls with.
type (
	Execution   = execution
	Description = description
)

// Coin is what the router calls the chain's own coin.
var Coin = coin

// PackSwap writes a call of the router.
func PackSwap(e Execution) []byte { return protocol.Data("swap", e) }

// ReadSwap reads one.
func ReadSwap(data []byte) (Execution, error) { return readSwap(data) }

// PackApprove writes an approval.
func PackApprove(who common.Address, n *big.Int) []byte { return protocol.Data("approve", who, n) }

// ToCommon is an address as contracts have it.
var ToCommon = known

// Limits of the client.
const (
	MaxAnswer = maxAnswer
	MaxFails  = maxFails
)
