package sim

import (
	"fmt"
	"slices"
	"sort"
	"strconv"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/watch"
)

// found is a block, or the answer that there is none.
type found struct {
	chain.Block
	ok bool
}

// standing is where a transaction stands on the branch of a node.
type standing struct {
	landed  bool
	pending bool
	failed  bool
	block   chain.Block
	fee     money.Amount
	said    string // by contracts, as one text
}

// purse is a coin that can be spent.
type purse struct {
	ref
	amount money.Amount
}

func (d *Node) head() (chain.Head, error) {
	return serve(d, "Head", func(f Fault, view *block) (chain.Head, error) {
		h := chain.Head{Tip: view.Block, Final: d.net.final(view).Block}
		if f.lies(FakeFinal) {
			h.Final = h.Tip
		}
		if f.lies(Forge) {
			h.Tip = forged(h.Tip)
		}
		return h, nil
	})
}

// forged is a block that is not there, on top of one that is.
func forged(b chain.Block) chain.Block {
	return chain.Block{Height: b.Height + 1, Hash: "forged-" + b.Hash, Parent: b.Hash, Time: b.Time}
}

func (d *Node) block(from uint64) (found, error) {
	return serve(d, "Next", func(f Fault, view *block) (found, error) {
		canon := d.net.canon[:view.n+1]
		i := sort.Search(len(canon), func(i int) bool { return canon[i].Height >= from })
		if f.lies(Hide) {
			return found{}, nil
		}
		if i == len(canon) {
			if f.lies(Forge) {
				return found{forged(view.Block), true}, nil
			}
			return found{}, nil
		}
		b := canon[i].Block
		if f.lies(Forge) {
			b.Hash = "forged-" + b.Hash
		}
		return found{b, true}, nil
	})
}

// at is the block with a hash, if the node has it.
func (n *Net) at(hash string, view *block) (*block, error) {
	b := n.blocks[hash]
	if b == nil || b.n > view.n {
		return nil, ErrBehind
	}
	return b, nil
}

// onBranch is a block on the branch of the node, for questions about state.
func (n *Net) onBranch(hash string, view *block) (*block, error) {
	b, err := n.at(hash, view)
	if err == nil && !n.canonical(b) {
		err = ErrBehind
	}
	return b, err
}

func (d *Node) deposits(hash string, to watch.Addresses) ([]chain.Deposit, error) {
	return serve(d, "Deposits", func(f Fault, view *block) ([]chain.Deposit, error) {
		b, err := d.net.at(hash, view)
		if err != nil {
			return nil, err
		}
		var list []chain.Deposit
		for _, r := range b.receipts {
			for i := range r.tx.body.outs {
				if d.net.pays(r, i) {
					list = d.net.addDeposit(list, place{r, i}, to)
				}
			}
		}
		return d.bend(f, list, b.Block), nil
	})
}

func (d *Node) pending(to watch.Addresses) ([]chain.Deposit, error) {
	return serve(d, "Pending", func(f Fault, _ *block) ([]chain.Deposit, error) {
		var list []chain.Deposit
		for _, w := range d.net.waiting {
			if !w.here() || w.body.flags&willFail != 0 {
				continue
			}
			r := &receipt{tx: w.tx, block: nowhere}
			for i := range w.body.outs {
				if d.net.pays(r, i) {
					list = d.net.addDeposit(list, place{r, i}, to)
				}
			}
		}
		return d.bend(f, list, chain.Block{}), nil
	})
}

// nowhere is where a waiting transaction stands.
var nowhere = &block{}

func (n *Net) addDeposit(list []chain.Deposit, p place, to watch.Addresses) []chain.Deposit {
	o := p.tx.body.outs[p.index]
	addr := chain.CanonicalAddress(n.cfg.Family, o.to)
	if to != nil && !to.Has(addr) {
		return list
	}
	return append(list, chain.Deposit{
		ID: depositID(n.cfg.ID, p.tx.id, p.index), To: addr, Asset: chain.Asset{Chain: n.cfg.ID, Ref: o.asset},
		Amount: o.amount, Tx: p.tx.id, Block: p.block.Block,
	})
}

func depositID(id chain.ID, t chain.TxID, i int) chain.DepositID {
	return chain.DepositID(string(id) + ":" + string(t) + ":" + strconv.Itoa(i))
}

// bend lists payments as the fault has it.
func (d *Node) bend(f Fault, list []chain.Deposit, b chain.Block) []chain.Deposit {
	switch {
	case f.Kind == Duplicate:
		return append(slices.Clone(list), list...)
	case f.Kind == Reorder:
		slices.Reverse(list)
	case f.lies(Forge):
		for i := range list {
			list[i].Amount = plus(list[i].Amount, list[i].Amount)
		}
		to := d.net.codec.Deposit("forged")
		if len(list) > 0 {
			to = list[0].To
		}
		t := chain.TxID("forged-" + b.Hash)
		list = append(list, chain.Deposit{
			ID: depositID(d.net.cfg.ID, t, 0), To: to, Asset: d.net.cfg.ID.Native(), Amount: money.FromUint64(1 << 40), Tx: t, Block: b,
		})
	case f.lies(Hide):
		return nil
	}
	return list
}

func (d *Node) price() (money.Amount, error) {
	return serve(d, "Price", func(f Fault, _ *block) (money.Amount, error) {
		if f.lies(Wrong) {
			return times(d.net.going, 1000), nil
		}
		return d.net.going, nil
	})
}

func (d *Node) count(addr, hash string) (uint64, error) {
	return serve(d, "Count", func(f Fault, view *block) (uint64, error) {
		b, err := d.net.onBranch(hash, view)
		if err != nil {
			return 0, err
		}
		c, err := d.net.countAt(b, addr)
		if f.lies(Wrong) {
			c += 7
		}
		return c, err
	})
}

func (d *Node) balance(c cell, hash string) (money.Amount, error) {
	return serve(d, "Balance", func(f Fault, view *block) (money.Amount, error) {
		b, err := d.net.onBranch(hash, view)
		if err != nil {
			return money.Amount{}, err
		}
		v, err := d.net.balanceAt(b, c)
		if f.lies(Wrong) {
			v = plus(v, maxMint)
		}
		return v, err
	})
}

// maxPurses is how many coins a node lists at most.
const maxPurses = 512

// want says which coins are asked for: those of an owner that stand at or below
// the final height, are not spent up to the tip and not taken, the largest first,
// as many as are worth enough.
type want struct {
	owner  string
	tip    string
	final  uint64
	taken  map[chain.Slot]bool
	enough money.Amount
}

func (d *Node) purses(w want) ([]purse, error) {
	return serve(d, "Coins", func(f Fault, view *block) ([]purse, error) {
		b, err := d.net.onBranch(w.tip, view)
		if err != nil {
			return nil, err
		}
		if f.lies(Wrong) {
			return []purse{{ref{"forged", 0}, maxMint}}, nil
		}
		var list []purse
		var worth money.Amount
		add := func(c *coin) {
			if c.owner == w.owner && c.made.Height <= w.final && !w.taken[coinSlot(c.ref)] {
				list, worth = append(list, purse{c.ref, c.amount}), plus(worth, c.amount)
			}
		}
		for _, above := range d.net.canon[b.n+1:] { // spent since then
			for _, r := range above.receipts {
				for _, in := range r.tx.body.ins {
					add(d.net.coins[in.ref])
				}
			}
		}
		for _, c := range d.net.owned[w.owner] {
			if len(list) >= maxPurses || !worth.Less(w.enough) {
				break
			}
			add(c)
		}
		return list, nil
	})
}

// standing says where a transaction stands. A node that does not have the anchor
// block on its branch knows nothing: its "not found" would only mean that it is behind.
func (d *Node) standing(id chain.TxID, anchor string) (standing, error) {
	return serve(d, "Status", func(f Fault, view *block) (standing, error) {
		b, err := d.net.onBranch(anchor, view)
		if err != nil {
			return standing{}, err
		}
		t := d.net.txs[id]
		switch {
		case f.lies(NotFound):
			return standing{}, nil
		case f.lies(FakeFinal):
			return standing{landed: true, block: b.Block}, nil
		case t == nil:
			return standing{}, nil
		case t.at != nil && t.at.block.n <= view.n:
			return standing{landed: true, failed: t.at.failed, block: t.at.block.Block, fee: t.at.fee, said: said(t.at.did)}, nil
		}
		return standing{pending: t.pooled || t.at != nil}, nil
	})
}

// spender is who spent a coin at or below a block; empty if nobody did.
func (d *Node) spender(r ref, hash string) (chain.TxID, error) {
	return serve(d, "Spender", func(f Fault, view *block) (chain.TxID, error) {
		b, err := d.net.onBranch(hash, view)
		if err != nil {
			return "", err
		}
		if f.lies(Wrong) {
			return "forged", nil
		}
		if c := d.net.coins[r]; c != nil && c.spent != nil && c.spent.block.n <= b.n {
			return c.spent.tx.id, nil
		}
		return "", nil
	})
}

func (d *Node) broadcast(raw []byte) error {
	_, err := serve(d, "Broadcast", func(f Fault, _ *block) (struct{}, error) {
		if f.lies(Hide) {
			return struct{}{}, nil
		}
		_, err := d.net.hear(raw)
		if f.Kind == Duplicate && err == nil {
			_, err = d.net.hear(raw)
		}
		if err != nil {
			err = fmt.Errorf("the net refuses: %w", err)
		}
		return struct{}{}, err
	})
	return err
}
