package solana

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

const (
	// maxAccounts is how many accounts a node tells of at a time.
	maxAccounts = 100
	// maxUndone is how many slots may lie between the block that is asked about and what
	// is final: each block of them is downloaded.
	maxUndone = 500
)

// errFar: too much is final above the block that is asked about.
var errFar = errors.New("solana: the block is too far below what is final")

// purse is where something lies: an address itself, or its account of a token.
type purse struct {
	key    string
	owner  string
	mint   *listing // nil is the chain's own coin
	native bool
}

// Balances are what lies on each spot at a final block. Nodes know only what is final
// now, so what the blocks since then did is undone. Enough nodes must come to the same,
// each by its own blocks.
func (c *Chain) Balances(ctx context.Context, spots []chain.Spot, at chain.Block) ([]money.Amount, error) {
	purses := make([]purse, len(spots))
	for i, s := range spots {
		var err error
		if purses[i], err = c.purse(ctx, s); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", s.Asset, s.Address.Text(), err)
		}
	}
	have, err := quorum.Agree(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) ([]uint64, error) {
		return balancesOf(ctx, n, purses, at)
	}), slices.Equal)
	if err != nil {
		return nil, fmt.Errorf("balances in slot %d: %w", at.Height, err)
	}
	out := make([]money.Amount, len(have))
	for i, n := range have {
		out[i] = money.FromUint64(n)
	}
	return out, nil
}

func (c *Chain) purse(ctx context.Context, s chain.Spot) (purse, error) {
	if s.Asset.Chain != c.cfg.ID {
		return purse{}, errors.New("it is on another chain")
	}
	owner, err := pubkey(s.Address)
	if err != nil {
		return purse{}, err
	}
	if s.Asset.IsNative() {
		return purse{key: owner.String(), owner: owner.String(), native: true}, nil
	}
	l, err := c.listed(ctx, s.Asset)
	if err != nil {
		return purse{}, err
	}
	key, err := l.account(owner)
	return purse{key: key.String(), owner: owner.String(), mint: &l}, err
}

// balancesOf asks one node.
func balancesOf(ctx context.Context, n *rpc.Node, purses []purse, at chain.Block) ([]uint64, error) {
	out := make([]int64, len(purses))
	u := undoing{Node: n, at: at, last: at, did: make([]int64, len(purses)), purses: purses, index: map[string][]int{}}
	for i, p := range purses {
		u.index[p.key] = append(u.index[p.key], i)
	}
	for i := 0; i < len(purses); i += maxAccounts {
		part := purses[i:min(i+maxAccounts, len(purses))]
		slot, has, err := accountsOf(ctx, n, part)
		if err != nil {
			return nil, err
		}
		// Each part may be of a later slot than the one before: what is undone of it is
		// what was done up to its own.
		if err := u.to(ctx, slot); err != nil {
			return nil, err
		}
		for j, w := range has {
			v, err := part[j].read(w)
			if err != nil {
				return nil, err
			}
			out[i+j] = v - u.did[i+j]
		}
	}
	sums := make([]uint64, len(out))
	for i, v := range out {
		if v < 0 {
			return nil, fmt.Errorf("%w: a balance below nothing", errTorn)
		}
		sums[i] = uint64(v)
	}
	return sums, nil
}

// accountsOf asks one node for accounts as they are final, and in which slot that is.
func accountsOf(ctx context.Context, n *rpc.Node, part []purse) (uint64, []*wireAccount, error) {
	var w struct {
		Context struct {
			Slot *uint64 `json:"slot"`
		} `json:"context"`
		Value []*wireAccount `json:"value"`
	}
	keys := make([]string, len(part))
	for i, p := range part {
		keys[i] = p.key
	}
	if err := typed(n.Call(ctx, &w, "getMultipleAccounts", keys, options{"encoding": "base64", "commitment": finalized})); err != nil {
		return 0, nil, err
	}
	if len(w.Value) != len(keys) || w.Context.Slot == nil {
		return 0, nil, fmt.Errorf("%w: accounts", errTorn)
	}
	return *w.Context.Slot, w.Value, nil
}

// read is what an account has; one that is not there, or that is somebody else's, has
// nothing of ours. What is frozen is still there.
func (p purse) read(w *wireAccount) (int64, error) {
	if w == nil {
		return 0, nil
	}
	if p.native {
		return int64(w.Lamports), nil //nolint:gosec // there are not so many
	}
	if len(w.Data) != 2 || w.Data[1] != "base64" {
		return 0, fmt.Errorf("%w: an account", errTorn)
	}
	data, err := base64.StdEncoding.DecodeString(w.Data[0])
	if err != nil {
		return 0, fmt.Errorf("%w: an account", errTorn)
	}
	t, ok := readToken(w, data)
	if !ok || t.program != p.mint.program || t.mint != p.mint.mint || t.owner.String() != p.owner {
		return 0, nil
	}
	if t.units > 1<<62 {
		return 0, fmt.Errorf("%w: more units than can be counted", errTorn)
	}
	return int64(t.units), nil
}

// undoing goes through the blocks above one, as a node has them.
type undoing struct {
	*rpc.Node
	at     chain.Block
	last   chain.Block // the newest that was gone through
	began  bool
	purses []purse
	index  map[string][]int // which purses an account is
	did    []int64          // what was done to each since
}

// to goes on to a slot. Each block must stand on the one before, so that none is left
// out; the first stands on the block that is asked about, or the node has another there.
func (u *undoing) to(ctx context.Context, slot uint64) error {
	if !u.began {
		h, err := blockOf(ctx, u.Node, u.at.Height, finalized)
		if err != nil {
			return err
		}
		if h.skipped || h.hash != u.at.Hash {
			return fmt.Errorf("%w: another block stands in slot %d", errMissing, u.at.Height)
		}
		u.began = true
	}
	switch {
	case slot < u.last.Height:
		return fmt.Errorf("%w: only slot %d is final, and %d is asked about", errMissing, slot, u.last.Height)
	case slot == u.last.Height:
		return nil
	case slot-u.at.Height > maxUndone:
		return fmt.Errorf("%w: slot %d, and %d is final", errFar, u.at.Height, slot)
	}
	var slots []uint64
	if err := typed(u.Call(ctx, &slots, "getBlocks", u.last.Height+1, slot, options{"commitment": finalized})); err != nil {
		return err
	}
	slices.Sort(slots)
	for _, s := range slices.Compact(slots) {
		if s <= u.last.Height || s > slot {
			return fmt.Errorf("%w: a list of blocks", errTorn)
		}
		var w wireBlock
		if err := typed(u.Call(ctx, &w, "getBlock", s, options{
			"commitment": finalized, "encoding": "json", "transactionDetails": "accounts", "rewards": false, "maxSupportedTransactionVersion": newestVersion,
		})); err != nil {
			return err
		}
		h, err := w.wireHeader.read(s)
		if err != nil {
			return err
		}
		if h.prev != u.last.Hash || w.Transactions == nil {
			return fmt.Errorf("%w: the block before slot %d", errMissing, s)
		}
		if err := u.block(w); err != nil {
			return fmt.Errorf("slot %d: %w", s, err)
		}
		u.last = h.block()
	}
	if u.last.Height != slot {
		return fmt.Errorf("%w: the block in slot %d", errMissing, slot)
	}
	return nil
}

// block adds up what a block did. It does not hang on the order of its transactions.
func (u *undoing) block(w wireBlock) error {
	seen := map[string]bool{}
	for i := range w.Transactions {
		tx := &w.Transactions[i]
		m, keys := tx.Meta, tx.Transaction.AccountKeys
		if m == nil || len(tx.Transaction.Signatures) == 0 || len(m.PreBalances) != len(keys) || len(m.PostBalances) != len(keys) {
			return fmt.Errorf("%w: transaction %d", errTorn, i)
		}
		if seen[tx.Transaction.Signatures[0]] {
			continue // a node that says it twice says it once
		}
		seen[tx.Transaction.Signatures[0]] = true
		for k := range keys {
			for _, j := range u.index[keys[k].Pubkey] {
				n, err := u.purses[j].change(m, k)
				if err != nil {
					return fmt.Errorf("transaction %d: %w", i, err)
				}
				u.did[j] += n
			}
		}
	}
	return nil
}

// change is what a transaction did to a purse that is its k-th account.
func (p purse) change(m *wireMeta, k int) (int64, error) {
	if p.native {
		return int64(m.PostBalances[k]) - int64(m.PreBalances[k]), nil //nolint:gosec // there are not so many
	}
	var sum int64
	for sign, list := range map[int64][]wireToken{-1: m.PreTokenBalances, 1: m.PostTokenBalances} {
		for _, t := range list {
			if t.AccountIndex != k || t.Mint != p.mint.Mint || t.Owner != p.owner || t.ProgramID != p.mint.program.String() {
				continue
			}
			n, err := strconv.ParseInt(t.Amount.Units, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%w: an amount of a token", errTorn)
			}
			sum += sign * n
		}
	}
	return sum, nil
}
