package bitcoin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

// purse is which coins our hot address has by the final blocks. It is found by one
// scan of all coins and then followed block by block. It only says where to look:
// a coin is used only after enough nodes said that it is there.
type purse struct {
	mu    sync.Mutex
	known bool
	at    chain.Block // the final block up to which it is followed
	scan  chain.Block // the tip that the scan saw
	coins map[wire.OutPoint]int64
	busy  map[chain.Slot]bool // slots of other transfers, as far as we were told
}

// mostBehind is from how many blocks on a new scan is quicker than to follow.
const mostBehind = 500

// mostLooked is how many coins are looked at for one payment.
const mostLooked = 250

// refresh brings the purse up to the final block.
func (c *Chain) refresh(ctx context.Context, head chain.Head) error {
	p := &c.purse
	if p.known && p.at.Hash == head.Final.Hash {
		return nil
	}
	if p.known && head.Final.Height < p.at.Height {
		return nil // another caller was further; what is stale is found out by looking
	}
	if !p.known || head.Final.Height == p.at.Height || head.Final.Height-p.at.Height > mostBehind {
		return c.scan(ctx, head)
	}
	var path []chain.Block // newest first
	for b := head.Final; b.Height > p.at.Height; {
		path = append(path, b)
		up, err := c.header(ctx, b.Parent, b.Height-1)
		if err != nil {
			return err
		}
		b = up
		if b.Height == p.at.Height && b.Hash != p.at.Hash {
			return c.scan(ctx, head) // what was final was taken back
		}
	}
	for _, b := range slices.Backward(path) {
		if b.Height == p.scan.Height && b.Hash != p.scan.Hash {
			return c.scan(ctx, head) // the scan saw a branch that came to nothing
		}
		hash, err := chainhash.NewHashFromStr(b.Hash)
		if err != nil {
			return fmt.Errorf("bitcoin: %w", err)
		}
		body, err := c.body(ctx, *hash)
		if err != nil {
			return err
		}
		c.follow(body)
		p.at = b
	}
	return nil
}

// follow takes what a final block did to our coins.
func (c *Chain) follow(b *block) {
	for i, tx := range b.txs {
		for _, in := range tx.ins {
			delete(c.purse.coins, in.from)
		}
		for j, out := range tx.outs {
			if i > 0 && bytes.Equal(out.script, c.script) {
				c.purse.coins[wire.OutPoint{Hash: b.ids[i], Index: uint32(j)}] = out.value //nolint:gosec // an index of a list
			}
		}
	}
}

// scanned is one coin of a scan.
type scanned struct {
	TxID     string      `json:"txid"`
	Vout     uint32      `json:"vout"`
	Amount   json.Number `json:"amount"`
	Script   string      `json:"scriptPubKey"`
	Coinbase bool        `json:"coinbase"`
	Height   uint64      `json:"height"`
}

type scanResult struct {
	Success  bool      `json:"success"`
	Best     string    `json:"bestblock"`
	Height   uint64    `json:"height"`
	Unspents []scanned `json:"unspents"`
}

// scan asks the nodes for all coins of our address. Enough must list the same ones.
func (c *Chain) scan(ctx context.Context, head chain.Head) error {
	answers := c.scanAll(ctx, []string{c.own.Text()})
	r, err := quorum.Agree(c.pool.Rule(), answers, func(a, b scanResult) bool {
		return a.Best == b.Best && a.Height == b.Height && slices.Equal(a.Unspents, b.Unspents)
	})
	if err != nil {
		return fmt.Errorf("coins of our address: %w", err)
	}
	coins := make(map[wire.OutPoint]int64, len(r.Unspents))
	for _, u := range r.Unspents {
		if u.Coinbase || u.Height > head.Final.Height {
			continue // those above are found when their block is final
		}
		hash, err := chainhash.NewHashFromStr(u.TxID)
		if err != nil {
			return fmt.Errorf("bitcoin: %w", err)
		}
		if coins[wire.OutPoint{Hash: *hash, Index: u.Vout}], err = satoshis(u.Amount); err != nil {
			return err
		}
	}
	c.purse.known, c.purse.at, c.purse.coins = true, head.Final, coins
	c.purse.scan = chain.Block{Hash: r.Best, Height: r.Height}
	return nil
}

// satoshis reads an amount as Core writes it. It is never a float on its way.
func satoshis(n json.Number) (int64, error) {
	a, err := money.ParseDecimal(n.String(), decimals)
	if err != nil {
		return 0, fmt.Errorf("bitcoin: amount: %w", err)
	}
	v, ok := a.Uint64()
	if !ok || v > maxSatoshis {
		return 0, fmt.Errorf("bitcoin: %s are more than there can be", a)
	}
	return int64(v), nil
}

// maxSatoshis is all there will ever be.
const maxSatoshis = 21_000_000 * 100_000_000

// free are the final coins of our hot address that are not held and wait nowhere,
// the largest first, each as enough nodes say.
func (c *Chain) free(ctx context.Context, head chain.Head, held []chain.Slot) ([]coin, error) {
	c.purse.mu.Lock()
	defer c.purse.mu.Unlock()
	if err := c.refresh(ctx, head); err != nil {
		return nil, err
	}
	taken := make(map[chain.Slot]bool, len(held))
	for _, s := range held {
		taken[s] = true
	}
	var list []coin
	for at, value := range c.purse.coins {
		if !taken[slot(at)] {
			list = append(list, coin{at: at, value: value, script: c.script})
		}
	}
	slices.SortFunc(list, byValue)
	list = list[:min(len(list), mostLooked)]
	seen, err := c.look(ctx, points(list), true)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(k coin) bool {
		s := seen[k.at]
		return !s.final || s.value != k.value || !bytes.Equal(s.script, c.script)
	}), nil
}

func byValue(a, b coin) int {
	return cmp.Or(cmp.Compare(b.value, a.value), bytes.Compare(a.at.Hash[:], b.at.Hash[:]), cmp.Compare(a.at.Index, b.at.Index))
}

func points(coins []coin) []wire.OutPoint {
	out := make([]wire.OutPoint, len(coins))
	for i, k := range coins {
		out[i] = k.at
	}
	return out
}

// state is what enough nodes say of a coin; nothing where it is spent or where they
// do not agree.
type state struct {
	coin
	there bool
	final bool
}

// look asks the nodes for coins. With the mempool, one that a waiting transaction
// spends is not there, and one that it makes is.
func (c *Chain) look(ctx context.Context, list []wire.OutPoint, mempool bool) (map[wire.OutPoint]state, error) {
	type view struct {
		value  int64
		script string
		there  bool
		final  bool
	}
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) ([]view, error) {
		outs := make([]*txOut, len(list))
		queries := make([]rpc.Query, len(list))
		for i, o := range list {
			queries[i] = rpc.Query{Method: "gettxout", Params: []any{o.Hash.String(), o.Index, mempool}, Out: &outs[i]}
		}
		if len(list) == 0 { // whether they answer at all still counts
			queries = []rpc.Query{{Method: "getblockcount"}}
		}
		if err := n.Batch(ctx, queries); err != nil {
			return nil, err
		}
		views := make([]view, len(list))
		for i := range queries {
			if queries[i].Err != nil {
				return nil, classify(queries[i].Err)
			}
			if i >= len(list) || outs[i] == nil {
				continue
			}
			value, err := satoshis(outs[i].Value)
			if err != nil {
				return nil, err
			}
			views[i] = view{value, outs[i].Script.Hex, true, outs[i].Confirmations > int64(c.cfg.FinalDepth) && !outs[i].Coinbase}
		}
		return views, nil
	})
	if err := quorum.Heard(c.pool.Rule(), answers); err != nil {
		return nil, fmt.Errorf("coins: %w", err)
	}
	out := make(map[wire.OutPoint]state, len(list))
	for i, o := range list {
		votes := make([]quorum.Answer[view], len(answers))
		for j, a := range answers {
			votes[j].Err = a.Err
			if a.Err == nil {
				votes[j].Value = a.Value[i]
			}
		}
		v, err := quorum.Same(c.pool.Rule(), votes)
		if err != nil || !v.there {
			continue
		}
		script, err := hex.DecodeString(v.script)
		if err != nil {
			continue
		}
		out[o] = state{coin{o, v.value, script}, true, v.final}
	}
	return out, nil
}

// txOut is a coin as Core tells it.
type txOut struct {
	Value         json.Number `json:"value"`
	Confirmations int64       `json:"confirmations"`
	Coinbase      bool        `json:"coinbase"`
	Script        struct {
		Hex string `json:"hex"`
	} `json:"scriptPubKey"`
}
