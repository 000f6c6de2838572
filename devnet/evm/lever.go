package evm

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// Do moves a lever: mine, reorg, evict, price, fund, send, deploy, auto or head, and of a
// rollup also rollup, propose and pair. Those that change the chain answer with its new
// head.
func (n *Node) Do(ctx context.Context, op string, in json.RawMessage) (any, error) {
	lever, ok := levers[op]
	if !ok {
		return nil, fmt.Errorf("there is no lever %q", op)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return lever(ctx, n, in)
}

var levers = map[string]func(ctx context.Context, n *Node, in json.RawMessage) (any, error){
	"head": with(func(_ context.Context, n *Node, _ struct{}) (any, error) { return n.head(), nil }),
	"mine": with(func(ctx context.Context, n *Node, m making) (any, error) { return n.after(n.mine(ctx, m)) }),
	"reorg": with(func(ctx context.Context, n *Node, in struct {
		Depth int  `json:"depth"`
		Lose  bool `json:"lose"`
	},
	) (any, error) {
		return n.after(n.reorg(ctx, in.Depth, in.Lose))
	}),
	"evict": with(func(_ context.Context, n *Node, in struct {
		Tx common.Hash `json:"tx"`
	},
	) (any, error) {
		return n.after(n.evict(in.Tx))
	}),
	"price": with(func(ctx context.Context, n *Node, in struct {
		K uint64 `json:"k"`
	},
	) (any, error) {
		return n.after(n.ask(ctx, in.K))
	}),
	"fund":   with(func(_ context.Context, n *Node, f funding) (any, error) { return n.fund(f) }),
	"send":   with(func(_ context.Context, n *Node, w wish) (any, error) { return n.send(n.faucet, w) }),
	"deploy": with(func(_ context.Context, n *Node, w wish) (any, error) { return n.send(n.faucet, wish{Data: w.Data}) }),
	"auto": with(func(_ context.Context, n *Node, in struct {
		EveryMs int `json:"everyMs"`
	},
	) (any, error) {
		n.auto(time.Duration(in.EveryMs) * time.Millisecond)
		return n.head(), nil
	}),
	"rollup":  with(func(_ context.Context, n *Node, _ struct{}) (any, error) { return n.card() }),
	"propose": with(func(ctx context.Context, n *Node, p proposing) (any, error) { return n.after(n.let(ctx, p)) }),
	"pair":    with(func(ctx context.Context, n *Node, p pairing) (any, error) { return n.pair(ctx, p) }),
}

// with reads what a lever is given.
func with[T any](do func(ctx context.Context, n *Node, in T) (any, error)) func(context.Context, *Node, json.RawMessage) (any, error) {
	return func(ctx context.Context, n *Node, raw json.RawMessage) (any, error) {
		var in T
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, err
		}
		return do(ctx, n, in)
	}
}

// Place is the head of the chain.
type Place struct {
	Height uint64      `json:"height"`
	Hash   common.Hash `json:"hash"`
	Final  uint64      `json:"final"`
	Time   uint64      `json:"time"`
}

func (n *Node) head() Place {
	h, f := n.eth.BlockChain().CurrentBlock(), n.eth.BlockChain().CurrentFinalBlock()
	p := Place{Height: h.Number.Uint64(), Hash: h.Hash(), Time: h.Time}
	if f != nil {
		p.Final = f.Number.Uint64()
	}
	return p
}

func (n *Node) after(err error) (any, error) { return n.head(), err }

// wish is a transaction of ours; without To it makes a contract.
type wish struct {
	To    *common.Address `json:"to"`
	Value *hexutil.Big    `json:"value"`
	Data  hexutil.Bytes   `json:"data"`

	gas uint64 // zero is what anything of ours takes
}

// sent is a transaction that waits, and the contract that it makes.
type sent struct {
	Tx      common.Hash    `json:"tx"`
	Address common.Address `json:"address"`
}

// send puts a transaction into the pool, behind those that wait.
func (n *Node) send(key *ecdsa.PrivateKey, w wish) (sent, error) {
	return n.sendAt(key, n.eth.TxPool().PoolNonce(crypto.PubkeyToAddress(key.PublicKey)), w)
}

func (n *Node) sendAt(key *ecdsa.PrivateKey, nonce uint64, w wish) (sent, error) {
	from := crypto.PubkeyToAddress(key.PublicKey)
	value := new(big.Int)
	if w.Value != nil {
		value = w.Value.ToInt()
	}
	gas := w.gas
	switch {
	case gas > 0:
	case len(w.Data) > 0:
		gas = 8_000_000
	default:
		gas = 30_000
	}
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(new(big.Int).SetUint64(n.spec.ChainID)), &types.DynamicFeeTx{
		ChainID: new(big.Int).SetUint64(n.spec.ChainID), Nonce: nonce, To: w.To, Value: value, Data: w.Data, Gas: gas,
		GasTipCap: n.tip(), GasFeeCap: new(big.Int).Mul(n.tip(), big.NewInt(1000)),
	})
	if err != nil {
		return sent{}, err
	}
	if err := errors.Join(n.eth.TxPool().Add([]*types.Transaction{tx}, true)...); err != nil {
		return sent{}, fmt.Errorf("send: %w", err)
	}
	return sent{Tx: tx.Hash(), Address: crypto.CreateAddress(from, nonce)}, nil
}

// funding gives somebody coins, or units of a test token that can be minted.
type funding struct {
	Address common.Address  `json:"address"`
	Amount  *big.Int        `json:"amount"`
	Token   *common.Address `json:"token"`
}

// mint is how "mint(address,uint256)" begins.
var mint = crypto.Keccak256([]byte("mint(address,uint256)"))[:4]

func (n *Node) fund(f funding) (any, error) {
	switch {
	case f.Amount == nil || f.Amount.Sign() <= 0:
		return nil, errors.New("amount is missing")
	case f.Token == nil:
		return n.send(n.faucet, wish{To: &f.Address, Value: (*hexutil.Big)(f.Amount)})
	}
	data := append(append(append([]byte{}, mint...), common.LeftPadBytes(f.Address[:], 32)...), common.LeftPadBytes(f.Amount.Bytes(), 32)...)
	return n.send(n.faucet, wish{To: f.Token, Data: data})
}

// auto mines by itself from now on; never with no time between blocks.
func (n *Node) auto(every time.Duration) {
	n.rest()
	if every <= 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	go func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			n.mu.Lock()
			if ctx.Err() == nil {
				_ = n.mine(ctx, making{N: 1}) // the next one comes soon
			}
			n.mu.Unlock()
		}
	}()
}

// rest ends mining by itself.
func (n *Node) rest() {
	if n.stop != nil {
		n.stop()
		n.stop = nil
	}
}
