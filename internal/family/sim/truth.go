package sim

import (
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// balanceAt is a balance as of any block that is kept: what the branch of b did
// to it since it left the canonical one, or what the canonical one had there.
func (n *Net) balanceAt(b *block, c cell) (money.Amount, error) {
	for ; !n.canonical(b); b = b.parent {
		if b.diff == nil || b.parent == nil {
			return money.Amount{}, ErrTooDeep
		}
		if d, changed := b.diff[c]; changed {
			return d.after, nil
		}
	}
	if len(n.canon)-1-b.n >= n.cfg.Keep {
		return money.Amount{}, ErrTooDeep
	}
	for _, above := range n.canon[b.n+1:] {
		if d, changed := above.diff[c]; changed {
			return d.before, nil
		}
	}
	return n.cells[c], nil
}

// countAt is how many transactions an account had sent at a canonical block.
func (n *Net) countAt(b *block, addr string) (uint64, error) {
	if len(n.canon)-1-b.n >= n.cfg.Keep {
		return 0, ErrTooDeep
	}
	for _, above := range n.canon[b.n+1:] {
		if d, changed := above.counts[addr]; changed {
			return d.before, nil
		}
	}
	return n.counts[addr], nil
}

// Tip is the newest block.
func (n *Net) Tip() chain.Block {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tip().Block
}

// Height is the height of the newest block.
func (n *Net) Height() uint64 { return n.Tip().Height }

// Final is the newest final block.
func (n *Net) Final() chain.Block {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.final(n.tip()).Block
}

// Balance is what an address has at the tip.
func (n *Net) Balance(a chain.Address, asset chain.Asset) money.Amount {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cells[cell{a.Text(), asset.Ref}]
}

// BalanceAt is what an address has at any kept block of the tree, by its hash.
func (n *Net) BalanceAt(hash string, a chain.Address, asset chain.Asset) (money.Amount, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.blocks[hash]
	if b == nil {
		return money.Amount{}, fmt.Errorf("sim: there is no block %s", hash)
	}
	return n.balanceAt(b, cell{a.Text(), asset.Ref})
}

// OnBranch reports whether a block, by its hash, is on the canonical branch.
func (n *Net) OnBranch(hash string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.blocks[hash]
	return b != nil && n.canonical(b)
}

// Landing is a transaction of one of our accounts on the canonical branch.
type Landing struct {
	Tx       chain.TxID
	From     chain.Address
	To       chain.Address // of its first transfer that is not change
	Asset    chain.Asset
	Amount   money.Amount
	Fee      money.Amount
	Reverted bool
	Block    chain.Block
	Nonce    uint64 // Nonces
	// Swept is what it brought home from deposit addresses, by address; empty for
	// whatever is no sweep.
	Swept map[chain.Address]money.Amount
	// Data says that it called a contract; Took and Gave are what that took of the account
	// and gave it, and Amount is the most it could have taken.
	Data       []byte
	Took, Gave []Sum
}

// Sum is an amount of an asset.
type Sum struct {
	Asset  chain.Asset
	Amount money.Amount
}

// Sent are all transactions of an account on the canonical branch, oldest first,
// from the skip-th on.
func (n *Net) Sent(a chain.Account, skip int) []Landing {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.sent[n.wallet.Own(a).Text()]
	if skip >= len(list) {
		return nil
	}
	out := make([]Landing, 0, len(list)-skip)
	for _, r := range list[skip:] {
		out = append(out, n.landing(r))
	}
	return out
}

func (n *Net) landing(r *receipt) Landing {
	b := r.tx.body
	pays := b.outs[0]
	for _, o := range b.outs {
		if o.to != b.from {
			pays = o
			break
		}
	}
	if pays.to == b.from && n.cfg.Shape == Coins {
		pays.amount = money.Amount{} // it pays nobody, it only moves our own coins
	}
	var swept map[chain.Address]money.Amount
	if len(b.pulls) > 0 {
		pays, swept = output{to: b.from, asset: pays.asset}, map[chain.Address]money.Amount{}
		for _, p := range b.pulls {
			swept[chain.CanonicalAddress(n.cfg.Family, p.from)] = p.amount
			pays.amount = plus(pays.amount, p.amount)
		}
	}
	took, gave := n.sums(r)
	return Landing{
		Swept: swept, Data: b.data, Took: took, Gave: gave,
		Tx: r.tx.id, From: chain.CanonicalAddress(n.cfg.Family, b.from), To: chain.CanonicalAddress(n.cfg.Family, pays.to),
		Asset: chain.Asset{Chain: n.cfg.ID, Ref: pays.asset}, Amount: pays.amount,
		Fee: r.fee, Reverted: r.failed, Block: r.block.Block, Nonce: b.nonce,
	}
}

// Landed is a transaction as it stands on the canonical branch; false if it does not.
func (n *Net) Landed(id chain.TxID) (Landing, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.txs[id]
	if t == nil || t.at == nil {
		return Landing{}, false
	}
	return n.landing(t.at), true
}

// Canonical reports whether a transaction stands on the canonical branch.
func (n *Net) Canonical(id chain.TxID) bool {
	_, landed := n.Landed(id)
	return landed
}

// Waits reports whether a transaction is in the mempool.
func (n *Net) Waits(id chain.TxID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.txs[id]
	return t != nil && t.pooled
}

// Received are the payments to an address on the canonical branch, oldest first.
func (n *Net) Received(a chain.Address) []chain.Deposit {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []chain.Deposit
	for _, p := range n.paid[a.Text()] {
		out = n.addDeposit(out, p, nil)
	}
	return out
}
