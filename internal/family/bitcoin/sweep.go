package bitcoin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/rpc"
	"ferry/internal/send"
)

// mostAncestors is how many waiting transactions one may stand on, itself counted:
// nodes relay no longer rows.
const mostAncestors = 25

// sweep brings deposits home: their coins in, one output to our hot address, and the
// fee out of them. A coin of our hot address among them lifts what it waits in.
func (c *Chain) sweep(ctx context.Context, e errand, head chain.Head, held []chain.Slot) (chain.Attempt, error) {
	coins, waits, err := c.named(ctx, e, held)
	if err != nil {
		return chain.Attempt{}, err
	}
	below := rival{}
	if len(waits) > 0 {
		if coins, below, err = c.lift(ctx, lifting{coins, waits, head, held}); err != nil {
			return chain.Attempt{}, err
		}
	}
	var total int64
	for _, k := range coins {
		total += k.value
	}
	size := sizeOf(len(coins), c.script)
	// What is below pays what it pays; the rest of the way is ours.
	fee := max(feeAt(e.rate, size), feeAt(e.rate, size+below.size)-below.fee)
	if fee > e.most || total-fee < dust(P2WPKH) {
		return chain.Attempt{}, fmt.Errorf("%w: %d of %d, for coins of %d", send.ErrTooDear, fee, e.most, total)
	}
	return c.sign(ctx, e, plan{coins: coins, change: total - fee, fee: fee})
}

// named are the coins that a sweep names, with the transactions of those that wait.
func (c *Chain) named(ctx context.Context, e errand, held []chain.Slot) (coins []coin, waits []string, err error) {
	var list []wire.OutPoint
	owner := map[wire.OutPoint]int{} // which source names it
	left := make([]int64, len(e.Sources))
	for i, s := range e.Sources {
		left[i] = budget(s.Amount)
		for _, id := range s.Deposits {
			text, ok := strings.CutPrefix(string(id), string(c.cfg.ID)+":")
			o, err := outpoint(text)
			if !ok || err != nil {
				return nil, nil, fmt.Errorf("%w: %s is no deposit of this chain", send.ErrRefused, id)
			}
			if _, twice := owner[o]; twice {
				return nil, nil, fmt.Errorf("%w: %s is named twice", send.ErrRefused, id)
			}
			if slices.Contains(held, slot(o)) {
				return nil, nil, fmt.Errorf("%w: %s is on its way home already", send.ErrNoFunds, id)
			}
			list, owner[o] = append(list, o), i
		}
	}
	if len(list) == 0 || len(list) > maxInputs {
		return nil, nil, fmt.Errorf("%w: %d deposits in one transaction; at most %d", send.ErrRefused, len(list), maxInputs)
	}
	seen, err := c.look(ctx, list, true)
	if err != nil {
		return nil, nil, err
	}
	var total int64
	for _, o := range list {
		k, from := seen[o], e.Sources[owner[o]]
		script, err := c.codec.Script(from.Address)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", send.ErrRefused, err)
		}
		lifts := bytes.Equal(script, c.script)
		switch {
		case !k.there, !k.final && !lifts:
			return nil, nil, fmt.Errorf("%w: %v is not there or not final", send.ErrRefused, o)
		case !bytes.Equal(k.script, script):
			return nil, nil, fmt.Errorf("%w: %v belongs to another address than is said", send.ErrRefused, o)
		case !k.final:
			waits = append(waits, o.Hash.String())
		}
		left[owner[o]] -= k.value
		coins, total = append(coins, k.coin), total+k.value
	}
	if e.Amount != amount(total) || slices.ContainsFunc(left, func(n int64) bool { return n != 0 }) {
		return nil, nil, fmt.Errorf("%w: the coins are worth %d and not %s", send.ErrRefused, total, e.Amount)
	}
	return coins, waits, c.keyed(ctx, e.Sources)
}

// keyed refuses sources whose key is another one: nobody could sign for them.
func (c *Chain) keyed(ctx context.Context, sources []chain.Source) error {
	for _, s := range sources {
		if s.Address == c.own {
			continue
		}
		a, err := c.signer.Address(ctx, c.cfg.ID, chain.Key{Account: chain.DepositKeys, Index: s.Index})
		if err != nil {
			return fmt.Errorf("deposit address %d: %w", s.Index, err)
		}
		if a != s.Address {
			return fmt.Errorf("%w: deposit address %d is another one", send.ErrRefused, s.Index)
		}
	}
	return nil
}

// lifting is what lift is given.
type lifting struct {
	coins []coin
	waits []string
	head  chain.Head
	held  []chain.Slot
}

// lift makes a sweep of our own change pay for the transaction that it waits in
// (CPFP): for one that can not be replaced, because its change is too small or the
// recipient has spent it on. A final coin of ours goes in besides: it pays, and by
// spending it the sweep can be cancelled whatever becomes of the change.
func (c *Chain) lift(ctx context.Context, l lifting) ([]coin, rival, error) {
	var below rival
	for _, tx := range slices.Compact(slices.Sorted(slices.Values(l.waits))) {
		type entry struct {
			fee, size int64
			row       int
		}
		got, err := same(ctx, c, func(ctx context.Context, n *rpc.Node) (entry, error) {
			var m struct {
				Row  int   `json:"ancestorcount"`
				Size int64 `json:"ancestorsize"`
				Fees struct {
					Ancestor json.Number `json:"ancestor"`
				} `json:"fees"`
			}
			if err := n.Call(ctx, &m, "getmempoolentry", tx); err != nil {
				return entry{}, classify(err)
			}
			fee, err := satoshis(m.Fees.Ancestor)
			return entry{fee, m.Size, m.Row}, err
		})
		if err != nil {
			return nil, rival{}, fmt.Errorf("what %s stands on: %w", tx, err)
		}
		if got.row >= mostAncestors {
			return nil, rival{}, fmt.Errorf("%w: %s stands on %d others", send.ErrTooDear, tx, got.row-1)
		}
		below.fee, below.size = below.fee+got.fee, below.size+got.size
	}
	held := slices.Clone(l.held)
	for _, k := range l.coins {
		held = append(held, slot(k.at))
	}
	more, err := c.free(ctx, l.head, held)
	if err != nil {
		return nil, rival{}, err
	}
	if len(more) == 0 {
		return nil, rival{}, fmt.Errorf("%w: no final coin is free to lift with", send.ErrNoFunds)
	}
	return slices.Concat(l.coins, more[:1]), below, nil
}
