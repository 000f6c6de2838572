package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// order is what a lever is given; each takes what it needs.
type order struct {
	N       int      `json:"n"`       // mine: how many blocks
	Empty   bool     `json:"empty"`   // mine: without what waits
	Txs     []string `json:"txs"`     // mine: just these, whatever the mempool thinks of them
	To      string   `json:"to"`      // mine: to whom the new coins go
	Depth   int      `json:"depth"`   // reorg
	Lose    bool     `json:"lose"`    // reorg: what stood there does not wait again
	Tx      string   `json:"tx"`      // evict, divert
	K       uint64   `json:"k"`       // price: how many times the one of the start
	Address string   `json:"address"` // fund
	Amount  int64    `json:"amount"`  // fund, in satoshis
	Outs    []out    `json:"outs"`    // pay, make
	Final   bool     `json:"final"`   // pay: it does not say that it can be replaced
	EveryMs int      `json:"everyMs"` // auto; 0 stops
}

// Do moves a lever of the chain.
func (n *Node) Do(_ context.Context, op string, text json.RawMessage) (any, error) {
	var o order
	if len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch op {
	case "head":
		return n.head()
	case "mine":
		return n.doMine(o)
	case "reorg":
		if err := n.reorg(o.Depth, o.Lose); err != nil {
			return nil, err
		}
		return n.head()
	case "evict":
		return n.evict(o.Tx)
	case "divert":
		id, err := chainhash.NewHashFromStr(o.Tx)
		if err != nil {
			return nil, err
		}
		tx, err := n.divert(*id)
		return named(tx, err)
	case "price":
		if o.K == 0 {
			return nil, errors.New("a price is at least once the one of the start")
		}
		n.times = o.K
		return n.head()
	case "fund":
		return n.pay([]out{{Address: o.Address, Amount: o.Amount}}, o.Final)
	case "pay":
		return n.pay(o.Outs, o.Final)
	case "make":
		return n.make(o)
	case "auto":
		n.auto(time.Duration(o.EveryMs) * time.Millisecond)
		return map[string]int{"everyMs": o.EveryMs}, nil
	}
	return nil, fmt.Errorf("a Bitcoin chain has no lever %q", op)
}

func (n *Node) head() (any, error) {
	best := n.chain.BestSnapshot()
	return map[string]any{"height": best.Height, "hash": best.Hash.String(), "faucet": n.faucet.addr.EncodeAddress()}, nil
}

func (n *Node) doMine(o order) (any, error) {
	to := n.faucet.script
	if o.To != "" {
		outs, err := n.outputs([]out{{Address: o.To}})
		if err != nil {
			return nil, err
		}
		to = outs[0].PkScript
	}
	pick := n.best
	if o.Empty {
		pick = func() []*btcutil.Tx { return nil }
	}
	if len(o.Txs) > 0 {
		var txs []*btcutil.Tx
		for _, text := range o.Txs {
			tx, f := parseTx(text)
			if f != nil {
				return nil, f
			}
			txs = append(txs, tx)
		}
		pick = func() []*btcutil.Tx { return txs }
	}
	if o.N == 0 {
		o.N = 1
	}
	if _, err := n.mine(o.N, to, pick); err != nil {
		return nil, err
	}
	return n.head()
}

// evict makes the node forget a waiting transaction and what stands on it.
func (n *Node) evict(text string) (any, error) {
	id, err := chainhash.NewHashFromStr(text)
	if err != nil {
		return nil, err
	}
	tx, err := n.pool.FetchTransaction(id)
	if err != nil {
		return map[string]bool{"evicted": false}, nil // it landed, or is gone already
	}
	n.pool.RemoveTransaction(tx, true)
	return map[string]bool{"evicted": true}, nil
}

func (n *Node) pay(outs []out, final bool) (any, error) {
	list, err := n.outputs(outs)
	if err != nil {
		return nil, err
	}
	tx, err := n.payment(list, final)
	if err != nil {
		return nil, err
	}
	if err := n.accept(tx); err != nil {
		return nil, refusal(err)
	}
	return named(tx, nil)
}

// make is a payment that nobody is told of yet.
func (n *Node) make(o order) (any, error) {
	list, err := n.outputs(o.Outs)
	if err != nil {
		return nil, err
	}
	return named(n.payment(list, o.Final))
}

func named(tx *btcutil.Tx, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return map[string]string{"tx": tx.Hash().String(), "raw": hexTx(tx.MsgTx())}, nil
}

func hexTx(tx *wire.MsgTx) string {
	var b bytes.Buffer
	_ = tx.Serialize(&b) // a buffer takes everything
	return hex.EncodeToString(b.Bytes())
}

// auto mines a block every so often, with what waits.
func (n *Node) auto(every time.Duration) {
	if n.stopAuto != nil {
		n.stopAuto()
		n.stopAuto = nil
	}
	if every <= 0 {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	n.stopAuto = stop
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			n.mu.Lock()
			if ctx.Err() == nil {
				_, _ = n.mine(1, n.faucet.script, n.best) // the next tick tries again
			}
			n.mu.Unlock()
		}
	}()
}
