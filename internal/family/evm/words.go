package evm

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

// quantity is a number as nodes write it.
type quantity = hexutil.Uint64

// word is an answer of a contract: one number of 32 bytes, and nothing else.
type word uint256.Int

// UnmarshalText reads exactly 32 bytes.
func (w *word) UnmarshalText(text []byte) error {
	var b hexutil.Bytes
	if err := b.UnmarshalText(text); err != nil {
		return err
	}
	if len(b) != 32 {
		return fmt.Errorf("the contract answered %d bytes", len(b))
	}
	(*uint256.Int)(w).SetBytes32(b)
	return nil
}

// message is a call that is asked about and not sent.
type message struct {
	From  *common.Address `json:"from,omitempty"`
	To    *common.Address `json:"to,omitempty"`
	Value *hexutil.U256   `json:"value,omitempty"`
	Data  hexutil.Bytes   `json:"data,omitempty"`
}

// at names a block by its hash, so that a branch is never taken for another.
type at struct {
	BlockHash string `json:"blockHash"`
}

// mostAtOnce is how many questions are asked in one request: some nodes take no more.
const mostAtOnce = 100

// askAll asks one node many questions. Where may is nil every one must be answered.
func askAll(ctx context.Context, n *rpc.Node, q []rpc.Query, may func(err error) bool) error {
	for part := range slices.Chunk(q, mostAtOnce) {
		if err := n.Batch(ctx, part); err != nil {
			return err
		}
		for _, x := range part {
			if x.Err != nil && (may == nil || !may(x.Err)) {
				return fmt.Errorf("%s: %s: %w", n.Name(), x.Method, x.Err)
			}
		}
	}
	return nil
}

func ptr[T any](v T) *T { return &v }

// selector is how the data of a call to a function begin.
func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// canonical is an address as the house writes it.
func canonical(a common.Address) chain.Address {
	return chain.CanonicalAddress(chain.EVM, prefix+hex.EncodeToString(a[:]))
}

func toInt(a money.Amount) *uint256.Int {
	n := uint256.Int(a.Words())
	return &n
}

func toAmount(v *uint256.Int) money.Amount { return money.FromWords(*v) }

// isHash reports whether a text is a hash as nodes write it.
func isHash(s string) bool {
	b, err := hexutil.Decode(s)
	return err == nil && len(b) == common.HashLength
}
