package solana

import (
	"encoding/json"
	"fmt"
)

// block is a sealed one.
type block struct {
	Slot, Height, Parent uint64
	Hash, Prev           string
	Time                 int64
	sigs                 []string
}

// place is where a transaction stands.
type place struct {
	block int // in the ledger's order
	err   json.RawMessage
}

// touch is what an account had before a transaction wrote to it.
type touch struct {
	block    int
	lamports uint64
	token    string // of a token account: its units
}

// ledger is the history that the front tells. The virtual machine knows only now.
type ledger struct {
	blocks  []block
	at      map[string]place
	touched map[string][]touch
	bySlot  map[uint64]int
}

func newLedger(genesis string, now int64) *ledger {
	l := &ledger{at: map[string]place{}, touched: map[string][]touch{}, bySlot: map[uint64]int{}}
	l.add(block{Hash: genesis, Prev: "11111111111111111111111111111111", Time: now}, nil)
	return l
}

func (l *ledger) last() block { return l.blocks[len(l.blocks)-1] }

// executed is a transaction as the virtual machine tells it.
type executed struct {
	Transaction struct {
		Message    struct{ AccountKeys []string }
		Signatures []string
	}
	Meta struct {
		Err                       json.RawMessage
		PreBalances, PostBalances []uint64
		PreTokenBalances          []struct {
			AccountIndex  int
			UITokenAmount struct{ Amount string } `json:"uiTokenAmount"`
		}
		LoadedAddresses struct{ Writable, Readonly []string }
	}
}

func (x executed) keys() []string {
	keys := append([]string(nil), x.Transaction.Message.AccountKeys...)
	return append(append(keys, x.Meta.LoadedAddresses.Writable...), x.Meta.LoadedAddresses.Readonly...)
}

// add appends a sealed block with what was executed in it.
func (l *ledger) add(b block, all []executed) {
	n := len(l.blocks)
	for _, x := range all {
		sig := x.Transaction.Signatures[0]
		b.sigs = append(b.sigs, sig)
		l.at[sig] = place{n, x.Meta.Err}
		tokens := map[int]string{}
		for _, t := range x.Meta.PreTokenBalances {
			tokens[t.AccountIndex] = t.UITokenAmount.Amount
		}
		for i, key := range x.keys() {
			if i < len(x.Meta.PreBalances) {
				l.touched[key] = append(l.touched[key], touch{n, x.Meta.PreBalances[i], tokens[i]})
			}
		}
	}
	l.blocks, l.bySlot[b.Slot] = append(l.blocks, b), n
}

// since is what an account had when a block was sealed, if it was touched later.
func (l *ledger) since(account string, n int) (touch, bool) {
	for _, t := range l.touched[account] {
		if t.block > n {
			return t, true
		}
	}
	return touch{}, false
}

// view is a node's: where its tip is, and below which block everything is final.
type view struct{ tip, final int }

func (l *ledger) view(behind, depth int) view {
	tip := max(0, len(l.blocks)-1-behind)
	return view{tip, max(0, tip-depth)}
}

// at is the newest block that a commitment shows; without one that is a final one.
func (v view) at(commitment string) int {
	if commitment == "confirmed" || commitment == "processed" {
		return v.tip
	}
	return v.final
}

// find is the block of a slot as a view shows it, with the errors of a real node.
func (l *ledger) find(slot uint64, newest int) (int, error) {
	n, ok := l.bySlot[slot]
	switch {
	case slot > l.blocks[newest].Slot:
		return 0, &rpcError{Code: -32004, Message: fmt.Sprintf("Block not available for slot %d", slot)}
	case !ok:
		return 0, &rpcError{Code: -32007, Message: fmt.Sprintf("Slot %d was skipped, or missing due to ledger jump to recent snapshot", slot)}
	}
	return n, nil
}

// slots are those of produced blocks from a slot on, at most so many.
func (l *ledger) slots(from, to uint64, most, newest int) []uint64 {
	out := []uint64{}
	for _, b := range l.blocks[:newest+1] {
		if b.Slot >= from && b.Slot <= to && len(out) < most {
			out = append(out, b.Slot)
		}
	}
	return out
}
