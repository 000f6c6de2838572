package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// decode reads a transaction of ours from its bytes, in their only encoding.
func (c *Chain) decode(raw []byte) (*types.Transaction, error) {
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(raw); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBytes, err)
	}
	again, err := tx.MarshalBinary()
	if err != nil || !bytes.Equal(again, raw) || tx.To() == nil {
		return nil, fmt.Errorf("%w: they are not in their only encoding", ErrBytes)
	}
	from, err := types.Sender(c.rules, tx)
	if err != nil || from != c.own {
		return nil, fmt.Errorf("%w: another signed them", ErrBytes)
	}
	return tx, nil
}

// readBack reads an attempt of ours.
func (c *Chain) readBack(a chain.Attempt) (*types.Transaction, error) {
	tx, err := c.decode(a.Raw)
	if err != nil {
		return nil, err
	}
	if txID(tx.Hash()) != a.Tx {
		return nil, fmt.Errorf("%w: %s has other bytes", ErrBytes, a.Tx)
	}
	return tx, nil
}

// withAuths is what was meant with the authorizations as they were signed, if they
// are those that were meant.
func withAuths(meant, signed *types.Transaction) *types.Transaction {
	want, got := meant.SetCodeAuthorizations(), signed.SetCodeAuthorizations()
	if len(want) == 0 || len(want) != len(got) {
		return meant
	}
	for i := range want {
		if want[i].Address != got[i].Address || want[i].Nonce != got[i].Nonce || want[i].ChainID != got[i].ChainID {
			return meant
		}
	}
	return types.NewTx(&types.SetCodeTx{
		ChainID: uint256.MustFromBig(meant.ChainId()), Nonce: meant.Nonce(), Gas: meant.Gas(), To: *meant.To(), Data: meant.Data(),
		GasTipCap: uint256.MustFromBig(meant.GasTipCap()), GasFeeCap: uint256.MustFromBig(meant.GasFeeCap()),
		Value: uint256.MustFromBig(meant.Value()), AuthList: got,
	})
}

// authorised reports whether those who must have signed the authorizations.
func authorised(tx *types.Transaction, who []common.Address) bool {
	auths := tx.SetCodeAuthorizations()
	if len(auths) != len(who) {
		return false
	}
	for i, a := range auths {
		if from, err := a.Authority(); err != nil || from != who[i] {
			return false
		}
	}
	return true
}

// Broadcast offers the bytes to every node. It is done when a quorum took them or had
// them: one node alone might have swallowed them.
func (c *Chain) Broadcast(ctx context.Context, raw []byte) error {
	tx, err := c.decode(raw)
	if err != nil {
		return err
	}
	return quorum.Heard(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (struct{}, error) {
		return struct{}{}, c.offer(ctx, n, tx, raw)
	}))
}

func (c *Chain) offer(ctx context.Context, n *rpc.Node, tx *types.Transaction, raw []byte) error {
	err := typed(n.Call(ctx, nil, "eth_sendRawTransaction", hexutil.Bytes(raw)))
	if err == nil || errors.Is(err, ErrKnown) {
		return nil
	}
	// Its nonce may be used by itself, long ago; then the node knows it. Other errors may
	// mean the same, so the node is asked whatever it said.
	var known *struct{}
	if asked := n.Call(ctx, &known, "eth_getTransactionByHash", tx.Hash()); asked == nil && known != nil {
		return nil
	}
	return err
}
