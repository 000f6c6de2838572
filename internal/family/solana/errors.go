package solana

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"ferry/internal/family/rpc"
)

// What a node can answer instead of a result, as far as it makes a difference.
var (
	// errSkipped: the node says that a slot has no block. It may also just have lost it.
	errSkipped = errors.New("solana: the node has no block in that slot")
	// errMissing: the node does not have the block, or not yet.
	errMissing = errors.New("solana: the node does not have that block")
	// errVersion: a transaction of a kind that we cannot read stands in the block.
	errVersion = errors.New("solana: the block has a transaction of an unknown version")
	// errKnown: the transaction was executed before.
	errKnown = errors.New("solana: the network has it already")
	// errExpired: the blockhash that the transaction names is too old, or unknown.
	errExpired = errors.New("solana: its blockhash is not a recent one")
	// errRejected: the transaction fails when it is tried, or is no valid one.
	errRejected = errors.New("solana: the node does not take it")
)

// The numbers under which nodes answer errors.
const (
	blockCleanedUp      = -32001
	preflightFailed     = -32002
	signatureFailed     = -32003
	blockNotAvailable   = -32004
	slotSkipped         = -32007
	slotSkippedInStore  = -32009
	blockNotAvailable14 = -32014
	versionNotSupported = -32015
	invalidParams       = -32602
)

// typed gives a node's answer its type. Whatever is not known stays an error of which
// nothing follows.
func typed(err error) error {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return err
	}
	kind := error(nil)
	switch e.Code {
	case slotSkipped, slotSkippedInStore:
		kind = errSkipped
	case blockCleanedUp, blockNotAvailable, blockNotAvailable14:
		kind = errMissing
	case versionNotSupported:
		kind = errVersion
	case preflightFailed:
		kind = preflight(e.Data)
	case signatureFailed, invalidParams:
		kind = errRejected
	default:
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// preflight reads why a transaction failed when it was tried.
func preflight(data json.RawMessage) error {
	var d struct {
		Err json.RawMessage `json:"err"`
	}
	if len(data) > 0 && json.Unmarshal(data, &d) != nil {
		return errRejected
	}
	switch string(bytes.TrimSpace(d.Err)) {
	case `"AlreadyProcessed"`:
		return errKnown
	case `"BlockhashNotFound"`:
		return errExpired
	}
	return errRejected
}
