package bitcoin

import (
	"errors"
	"fmt"
	"strings"

	"ferry/internal/family/rpc"
)

// What nodes say, as types. Only this file knows their codes and words.
var (
	// errNotThere: the node has it neither on the chain nor waiting, and it would know.
	errNotThere = errors.New("bitcoin: the node has no such thing")
	// errHigh: the node's branch is not that high.
	errHigh = errors.New("bitcoin: the node's branch ends below")
	// errKnown: the transaction is there already.
	errKnown = errors.New("bitcoin: the transaction is there already")
	// errSpent: a coin that it spends is not there, or is spent.
	errSpent = errors.New("bitcoin: a coin of the transaction is not there or spent")
	// errReplaced: another that pays more waits in its place, or it pays too little more.
	errOutbid = errors.New("bitcoin: a transaction that spends the same pays as much")
	// errCheap: the node relays nothing so cheap.
	errCheap = errors.New("bitcoin: the transaction pays less than is relayed")
	// errRejected: the rules forbid the transaction, or it is no transaction.
	errRejected = errors.New("bitcoin: the transaction is against the rules")
	// errNoMethod: the node does not know the question.
	errNoMethod = errors.New("bitcoin: the node does not know the question")
	// errNoIndex: the node does not know transactions that have landed.
	errNoIndex = errors.New("bitcoin: the node keeps no index of transactions; set txindex=1")
)

// Core's codes.
const (
	codeMisc        = -1
	codeNotFound    = -5
	codeParameter   = -8
	codeDecode      = -22
	codeVerifyError = -25
	codeRejected    = -26
	codeKnown       = -27
	codeNoMethod    = -32601
)

// classify adds to an error of a node what it means. Whatever is not known for sure
// stays an error that says nothing about the chain.
func classify(err error) error {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return err
	}
	if kind := meaning(e); kind != nil {
		return fmt.Errorf("%w: %w", kind, err)
	}
	return err
}

func meaning(e *rpc.Error) error {
	says := func(s string) bool { return strings.Contains(strings.ToLower(e.Message), s) }
	if e.Code == codeMisc && says("block number out of range") { // as btcd says it
		return errHigh
	}
	switch e.Code {
	case codeNoMethod:
		return errNoMethod
	case codeNotFound:
		switch {
		case says("use -txindex"), says("still in the process of being indexed"):
			return errNoIndex // it does not know, which is not that there is none
		case says("no such mempool or blockchain transaction"), says("transaction not in mempool"), says("block not found"):
			return errNotThere
		}
	case codeParameter:
		if says("out of range") {
			return errHigh
		}
	case codeDecode:
		return errRejected
	case codeKnown:
		return errKnown
	case codeVerifyError:
		if says("missingorspent") || says("missing inputs") {
			return errSpent
		}
		return errRejected
	case codeRejected:
		switch {
		case says("txn-already-in-mempool"), says("txn-already-known"):
			return errKnown
		case says("txn-mempool-conflict"), says("insufficient fee"), says("too many potential replacements"):
			return errOutbid
		case says("min relay fee not met"), says("mempool min fee not met"):
			return errCheap
		}
		return errRejected
	}
	return nil
}
