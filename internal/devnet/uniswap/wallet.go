package uniswap

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/family/rpc"
)

const (
	// gas is enough for the largest of the contracts.
	gas = 7_000_000
	// look is how often a receipt is asked for.
	look = 20 * time.Millisecond
	// maxLooks is after how many of them a transaction is given up.
	maxLooks = 1000
)

// leastTip is what a local chain's blocks take at least.
var leastTip = big.NewInt(1_000_000_000)

// Wallet sends over JSON-RPC with a key of a local chain.
type Wallet struct {
	// Mine makes a block where the chain makes none by itself; nil where it does.
	Mine func(ctx context.Context) error

	node  *rpc.Node
	key   *ecdsa.PrivateKey
	id    *big.Int
	nonce uint64
	tip   *big.Int
	most  *big.Int
	open  []common.Hash
}

// Open makes a wallet of a key on the chain that answers at a URL.
func Open(ctx context.Context, url string, key *ecdsa.PrivateKey) (*Wallet, error) {
	pool, err := rpc.New(rpc.Config{URLs: []string{url}, Need: 1})
	if err != nil {
		return nil, err
	}
	w := &Wallet{node: pool.Nodes()[0], key: key}
	var id, suggested hexutil.Big
	if err := w.node.Call(ctx, &id, "eth_chainId"); err != nil {
		return nil, err
	}
	if err := w.Renew(ctx); err != nil {
		return nil, err
	}
	if err := w.node.Call(ctx, &suggested, "eth_gasPrice"); err != nil {
		return nil, err
	}
	w.id = id.ToInt()
	// Whoever makes blocks takes nothing below a tip, which empty blocks do not show.
	price := suggested.ToInt()
	if price.Cmp(leastTip) < 0 {
		price = leastTip
	}
	// A local chain may ask for more in a drill; a node takes no transaction that could
	// cost more than a whole coin.
	w.tip, w.most = price, new(big.Int).Mul(price, big.NewInt(50))
	return w, nil
}

// Renew forgets what was sent and counts from what the chain knows, after a branch on
// which it was lost.
func (w *Wallet) Renew(ctx context.Context) error {
	w.open = nil
	var nonce hexutil.Uint64
	if err := w.node.Call(ctx, &nonce, "eth_getTransactionCount", w.Address(), "pending"); err != nil {
		return err
	}
	w.nonce = uint64(nonce)
	return nil
}

// Address is whose key it is.
func (w *Wallet) Address() common.Address { return crypto.PubkeyToAddress(w.key.PublicKey) }

// Send implements Sender.
func (w *Wallet) Send(ctx context.Context, tx Tx) (common.Address, error) {
	signed, err := types.SignNewTx(w.key, types.LatestSignerForChainID(w.id), &types.DynamicFeeTx{
		ChainID: w.id, Nonce: w.nonce, To: tx.To, Value: tx.Value, Data: tx.Data, Gas: gas, GasTipCap: w.tip, GasFeeCap: w.most,
	})
	if err != nil {
		return common.Address{}, err
	}
	raw, err := signed.MarshalBinary()
	if err != nil {
		return common.Address{}, err
	}
	if err := w.node.Call(ctx, nil, "eth_sendRawTransaction", hexutil.Bytes(raw)); err != nil {
		return common.Address{}, fmt.Errorf("send: %w", err)
	}
	made := crypto.CreateAddress(w.Address(), w.nonce)
	w.nonce++
	w.open = append(w.open, signed.Hash())
	return made, nil
}

// Wait waits until everything that was sent is in a block, and says what came of it, in
// the order of sending. One that failed is an error.
func (w *Wallet) Wait(ctx context.Context) ([]*types.Receipt, error) {
	var all []*types.Receipt
	for _, tx := range w.open {
		r, err := w.receipt(ctx, tx)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	w.open = nil
	for i, r := range all {
		if r.Status != types.ReceiptStatusSuccessful {
			return all, fmt.Errorf("transaction %d of %d, %s, failed on the chain with %d gas", i+1, len(all), r.TxHash, r.GasUsed)
		}
	}
	return all, nil
}

func (w *Wallet) receipt(ctx context.Context, tx common.Hash) (*types.Receipt, error) {
	for looks := 0; ; looks++ {
		var r *types.Receipt
		err := w.node.Call(ctx, &r, "eth_getTransactionReceipt", tx)
		// A node that has no block yet says that it is still making its index.
		if err != nil && !strings.Contains(err.Error(), "indexing is in progress") || r != nil {
			return r, err
		}
		if looks == maxLooks {
			var latest, pending hexutil.Uint64
			_ = w.node.Call(ctx, &latest, "eth_getTransactionCount", w.Address(), "latest")
			_ = w.node.Call(ctx, &pending, "eth_getTransactionCount", w.Address(), "pending")
			return nil, fmt.Errorf("transaction %s is in no block; %d of %d that wait are", tx, latest, pending)
		}
		if w.Mine != nil {
			if err := w.Mine(ctx); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(look):
		}
	}
}
