package contract

import (
	"encoding/hex"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
)

// Interface is what contracts are called with, and what they say.
type Interface struct{ abi.ABI }

// Must reads an interface that is part of the program.
func Must(text string) Interface {
	a, err := abi.JSON(strings.NewReader(text))
	if err != nil {
		panic(err)
	}
	return Interface{a}
}

// Data is the data of a call; its arguments are ours and always fit.
func (i Interface) Data(method string, args ...any) []byte {
	b, err := i.Pack(method, args...)
	if err != nil {
		panic(err)
	}
	return b
}

// Topic is what stands first in the logs of an event.
func (i Interface) Topic(event string) chain.Word { return chain.Word(i.Events[event].ID) }

// Address is an address of a contract's as the house writes it.
func Address(a common.Address) chain.Address {
	return chain.CanonicalAddress(chain.EVM, "0x"+hex.EncodeToString(a[:]))
}
