package evm

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// account is what an address has in the state of a block. It can be compared.
type account struct {
	balance uint256.Int
	code    common.Hash
}

// accounts are those of the hands, each in the state of the parent and of the block.
func (s *scan) accounts(ctx context.Context, hands []*hand) ([]account, error) {
	if s.Height == 0 {
		return nil, errNoParent
	}
	if s.cfg.NoProof {
		return quorum.Agree(s.pool.Rule(), rpc.Each(ctx, s.pool, func(ctx context.Context, n *rpc.Node) ([]account, error) {
			return s.told(ctx, n, hands)
		}), slices.Equal)
	}
	return first(ctx, s.Chain, func(ctx context.Context, n *rpc.Node) ([]account, error) {
		parent, err := s.byHash(ctx, n, s.Parent)
		if err != nil {
			return nil, err
		}
		return s.proofs(ctx, n, parent, hands)
	})
}

// proof is an account as a node proves it.
type proof struct {
	AccountProof []hexutil.Bytes `json:"accountProof"`
}

// proofs asks one node, and believes it only as far as the state's roots go.
func (s *scan) proofs(ctx context.Context, n *rpc.Node, parent header, hands []*hand) ([]account, error) {
	said := make([]proof, 2*len(hands))
	q := make([]rpc.Query, 0, len(said))
	for i, h := range hands {
		for j, b := range []header{parent, s.header} {
			q = append(q, rpc.Query{Method: "eth_getProof", Params: []any{h.addr, []string{}, at{b.Hash}}, Out: &said[2*i+j]})
		}
	}
	if err := askAll(ctx, n, q, nil); err != nil {
		return nil, err
	}
	out := make([]account, len(said))
	for i := range out {
		root := []common.Hash{parent.state, s.state}[i%2]
		a, err := verify(root, hands[i/2].addr, said[i].AccountProof)
		if err != nil {
			s.notice(Suspect{Block: s.Block, To: canonical(hands[i/2].addr), Asset: s.cfg.ID.Native(), Reason: ProofForged})
			return nil, fmt.Errorf("%s: %w", n.Name(), err)
		}
		out[i] = a
	}
	return out, nil
}

// verify reads an account from a proof that leads to it from the root of the state.
func verify(root common.Hash, addr common.Address, nodes []hexutil.Bytes) (account, error) {
	value, err := follow(root, crypto.Keccak256(addr[:]), nodes)
	if err != nil {
		return account{}, err
	}
	if value == nil { // proven that nobody was ever there
		return account{code: types.EmptyCodeHash}, nil
	}
	var a types.StateAccount
	if err := rlp.DecodeBytes(value, &a); err != nil || a.Balance == nil {
		return account{}, fmt.Errorf("%w: what it proves is no account", ErrForged)
	}
	return account{balance: *a.Balance, code: common.BytesToHash(a.CodeHash)}, nil
}

// told asks one node for balances and code without proofs.
func (s *scan) told(ctx context.Context, n *rpc.Node, hands []*hand) ([]account, error) {
	balances := make([]hexutil.U256, 2*len(hands))
	codes := make([]hexutil.Bytes, 2*len(hands))
	var q []rpc.Query
	for i, h := range hands {
		for j, hash := range []string{s.Parent, s.Hash} {
			q = append(q, rpc.Query{Method: "eth_getBalance", Params: []any{h.addr, at{hash}}, Out: &balances[2*i+j]},
				rpc.Query{Method: "eth_getCode", Params: []any{h.addr, at{hash}}, Out: &codes[2*i+j]})
		}
	}
	if err := askAll(ctx, n, q, nil); err != nil {
		return nil, err
	}
	out := make([]account, len(balances))
	for i := range out {
		out[i] = account{balance: uint256.Int(balances[i]), code: crypto.Keccak256Hash(codes[i])}
	}
	return out, nil
}

// ours reports whether an address obeys nobody but us: it has no code, or that of our
// sweeper.
func (c *Chain) ours(a account) bool {
	return a.code == types.EmptyCodeHash ||
		c.sweeper != (common.Address{}) && a.code == crypto.Keccak256Hash(types.AddressToDelegation(c.sweeper))
}
