package evm

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// answer is what a contract answered: its words, or that it refused. It can be compared.
type answer struct {
	refused bool
	data    string
}

// View asks a contract in the state of a tip that a quorum has. What it answers may be
// orphaned with that tip. An address without code answers nothing, which is no error
// here: whoever asks knows how long an answer must be.
func (c *Chain) View(ctx context.Context, to chain.Address, data []byte) ([]byte, error) {
	e, err := c.ends(ctx)
	if err != nil {
		return nil, fmt.Errorf("view of %s: %w", to.Text(), err)
	}
	return c.ViewAt(ctx, to, data, e.tip.Block)
}

// ViewAt asks a contract in the state of a block, as a quorum answers that has the block
// on its branch. A refusal of the contract is ErrReverted, with a Revert.
func (c *Chain) ViewAt(ctx context.Context, to chain.Address, data []byte, at chain.Block) ([]byte, error) {
	if !(Codec{}).made(to) {
		return nil, fmt.Errorf("%q is no address of %s", to.Text(), c.cfg.ID)
	}
	if !isHash(at.Hash) {
		return nil, fmt.Errorf("%q is no hash of a block", at.Hash)
	}
	msg := message{To: ptr(common.HexToAddress(to.Text())), Data: data}
	said := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (answer, error) {
		var out hexutil.Bytes
		err := n.Call(ctx, &out, "eth_call", msg, branch{at.Hash, true})
		if words, is := refusal(err); is {
			return answer{refused: true, data: words}, nil
		}
		return answer{data: string(out)}, err
	})
	a, err := quorum.Same(c.pool.Rule(), said)
	if err != nil { // nodes of different makers tell the words of a refusal differently
		a, err = quorum.Agree(c.pool.Rule(), said, func(a, b answer) bool { return a == b || a.refused && b.refused })
		if a.refused {
			a.data = ""
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("view of %s at %s: %w", to.Text(), at.Hash, err)
	case a.refused:
		return nil, fmt.Errorf("view of %s at %s: %w", to.Text(), at.Hash, &Revert{Data: []byte(a.data)})
	}
	return []byte(a.data), nil
}
