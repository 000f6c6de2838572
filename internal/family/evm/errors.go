package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"ferry/internal/family/rpc"
)

// What nodes say, as types. Their texts are known here and nowhere else.
var (
	// ErrKnown: the node has the transaction already.
	ErrKnown = errors.New("evm: the node has it already")
	// ErrNonceUsed: another transaction of the account has that nonce.
	ErrNonceUsed = errors.New("evm: the nonce is used")
	// ErrUnderpriced: it pays too little to be taken, or to replace another.
	ErrUnderpriced = errors.New("evm: it pays too little")
	// ErrPoor: the account has not enough for it.
	ErrPoor = errors.New("evm: the account has not enough")
	// ErrFails: it would fail on the chain.
	ErrFails = errors.New("evm: it would fail on the chain")
)

// Errors of our own.
var (
	// ErrBytes: the bytes are no transaction of ours.
	ErrBytes = errors.New("evm: the bytes are no transaction of ours")
	// ErrForged: what a node said does not belong to the block's hash.
	ErrForged = errors.New("evm: the node's answer does not belong to the block")
	// ErrBehind: the node does not have the block it is asked about.
	ErrBehind = errors.New("evm: the node does not have that block")
	// ErrMismatch: payments that nodes agree on do not add up to what the state proves.
	ErrMismatch = errors.New("evm: the payments do not add up to the balance")
	// ErrReverted: a contract refused what it was asked. It is an answer, which a quorum
	// gave; Revert has its words.
	ErrReverted = errors.New("evm: the contract reverted")
)

// Revert is a refusal of a contract with what it said, as its ABI encodes it; Data is
// empty where it said nothing, or where nodes do not tell the same.
type Revert struct{ Data []byte }

func (r *Revert) Error() string {
	const most = 68 // a selector and two words
	return fmt.Sprintf("%s: %x", ErrReverted, r.Data[:min(len(r.Data), most)])
}

func (r *Revert) Unwrap() error { return ErrReverted }

// refusal reads the refusal of a contract from what a node answered; false is that it is
// none. Running out of gas is none: how much a question may burn is each node's own rule.
func refusal(err error) (data string, is bool) {
	var said *rpc.Error
	if !errors.As(err, &said) {
		return "", false
	}
	text := strings.ToLower(said.Message)
	if said.Code != reverted && !strings.Contains(text, "revert") && !strings.Contains(text, "invalid opcode") {
		return "", false
	}
	var told string
	if json.Unmarshal(said.Data, &told) != nil {
		return "", true
	}
	b, err := hexutil.Decode(strings.TrimPrefix(told, "Reverted "))
	if err != nil {
		return "", true
	}
	return string(b), true
}

// sayings are parts of the texts of geth, Erigon, Nethermind, Besu and Reth.
var sayings = []struct {
	text string
	kind error
}{
	{"already known", ErrKnown},
	{"alreadyknown", ErrKnown},
	{"known transaction", ErrKnown},
	{"already imported", ErrKnown},
	{"already in mempool", ErrKnown},
	{"nonce too low", ErrNonceUsed},
	{"oldnonce", ErrNonceUsed},
	{"nonce is too low", ErrNonceUsed},
	{"underpriced", ErrUnderpriced},
	{"fee too low", ErrUnderpriced},
	{"max fee per gas less than block base fee", ErrUnderpriced},
	{"insufficient funds", ErrPoor},
	{"insufficientfunds", ErrPoor},
	{"overshot", ErrPoor},
	{"execution reverted", ErrFails},
	{"transaction reverted", ErrFails},
	{"vm execution error", ErrFails},
	{"invalid opcode", ErrFails},
	{"out of gas", ErrFails},
	{"gas required exceeds allowance", ErrFails},
}

// reverted is the code that geth and others give a call that failed.
const reverted = 3

// typed gives an error of a node its type. What is not known stays as it is: unknown.
func typed(err error) error {
	var said *rpc.Error
	if !errors.As(err, &said) {
		return err
	}
	if said.Code == reverted {
		return errors.Join(ErrFails, err)
	}
	text := strings.ToLower(said.Message)
	for _, s := range sayings {
		if strings.Contains(text, s.text) {
			return errors.Join(s.kind, err)
		}
	}
	return err
}
