package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// ErrNoBlock: a quorum says that there is no block at the height yet.
var ErrNoBlock = errors.New("evm: there is no such block yet")

// Proof is what a contract had stored at a height, with the way to it from the root of
// the state. The block is the one that a quorum has; the proof is any node's, and is
// believed only as far as it leads there. What is above the final block may be orphaned.
func (c *Chain) Proof(ctx context.Context, of chain.Address, slot chain.Word, height uint64) (chain.Proof, error) {
	if !(Codec{}).made(of) {
		return chain.Proof{}, fmt.Errorf("%q is no address of %s", of.Text(), c.cfg.ID)
	}
	h, err := c.height(ctx, height)
	if err == nil && !h.ok {
		err = ErrNoBlock
	}
	if err != nil {
		return chain.Proof{}, fmt.Errorf("proof at height %d: %w", height, err)
	}
	addr := common.HexToAddress(of.Text())
	p, err := first(ctx, c, func(ctx context.Context, n *rpc.Node) (chain.Proof, error) {
		return stored(ctx, n, h, addr, common.Hash(slot))
	})
	if err != nil {
		return chain.Proof{}, fmt.Errorf("proof of %s at %s: %w", of.Text(), h.Hash, err)
	}
	return p, nil
}

// stored asks one node and follows its proof.
func stored(ctx context.Context, n *rpc.Node, h header, addr common.Address, slot common.Hash) (chain.Proof, error) {
	var said *struct {
		AccountProof []hexutil.Bytes `json:"accountProof"`
		StorageProof []struct {
			Proof []hexutil.Bytes `json:"proof"`
		} `json:"storageProof"`
	}
	if err := n.Call(ctx, &said, "eth_getProof", addr, []common.Hash{slot}, at{h.Hash}); err != nil {
		return chain.Proof{}, err
	}
	if said == nil || len(said.StorageProof) != 1 {
		return chain.Proof{}, fmt.Errorf("%w: %s proves something else", ErrForged, n.Name())
	}
	found, err := follow(h.state, crypto.Keccak256(addr[:]), said.AccountProof)
	if err != nil {
		return chain.Proof{}, fmt.Errorf("%s: %w", n.Name(), err)
	}
	var a types.StateAccount
	if found == nil {
		return chain.Proof{}, fmt.Errorf("%w: nobody is there", quorum.ErrUnknown)
	}
	if err := rlp.DecodeBytes(found, &a); err != nil {
		return chain.Proof{}, fmt.Errorf("%w: what %s proves is no account", ErrForged, n.Name())
	}
	p := chain.Proof{Block: h.Block, State: chain.Word(h.state), Storage: chain.Word(a.Root), Slot: chain.Word(slot)}
	if found, err = follow(a.Root, crypto.Keccak256(slot[:]), said.StorageProof[0].Proof); err != nil {
		return chain.Proof{}, fmt.Errorf("%s: %w", n.Name(), err)
	}
	var value []byte
	if found != nil {
		if err := rlp.DecodeBytes(found, &value); err != nil || len(value) > len(p.Value) {
			return chain.Proof{}, fmt.Errorf("%w: what %s proves is no word", ErrForged, n.Name())
		}
	}
	copy(p.Value[len(p.Value)-len(value):], value)
	for _, node := range said.StorageProof[0].Proof {
		p.Nodes = append(p.Nodes, slices.Clone(node))
	}
	return p, nil
}

// follow leads from a root to what stands under a key; nil where nothing does.
func follow(root common.Hash, key []byte, nodes []hexutil.Bytes) ([]byte, error) {
	if root == types.EmptyRootHash {
		return nil, nil
	}
	db := memorydb.New()
	for _, n := range nodes {
		if err := db.Put(crypto.Keccak256(n), n); err != nil {
			return nil, err
		}
	}
	value, err := trie.VerifyProof(root, key, db)
	if err != nil {
		return nil, fmt.Errorf("%w: its proof leads nowhere: %w", ErrForged, err)
	}
	return value, nil
}
