package sim

import (
	"cmp"
	"slices"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// cell names one balance.
type cell struct{ addr, asset string }

// span is what a block did to a value.
type span[T any] struct{ before, after T }

// coin is an output on the canonical branch, spent or not.
type coin struct {
	ref
	owner  string
	amount money.Amount
	made   *block
	spent  *receipt
}

// state is what the blocks up to the tip add up to.
type state struct {
	cells  map[cell]money.Amount
	counts map[string]uint64  // Nonces: how many transactions an account has sent
	coins  map[ref]*coin      // Coins
	owned  map[string][]*coin // of our accounts only: strangers may have very many
}

func newState() state {
	return state{
		cells:  make(map[cell]money.Amount),
		counts: make(map[string]uint64),
		coins:  make(map[ref]*coin),
		owned:  make(map[string][]*coin),
	}
}

// set writes a balance and notes in b what it was.
func (s *state) set(b *block, c cell, v money.Amount) {
	d, known := b.diff[c]
	if !known {
		d.before = s.cells[c]
	}
	d.after = v
	b.diff[c] = d
	s.cells[c] = v
}

func (s *state) credit(b *block, c cell, v money.Amount) { s.set(b, c, plus(s.cells[c], v)) }

func (s *state) debit(b *block, c cell, v money.Amount) { s.set(b, c, minus(s.cells[c], v)) }

// count notes one more transaction of an account.
func (s *state) count(b *block, addr string) {
	d, known := b.counts[addr]
	if !known {
		d.before = s.counts[addr]
	}
	s.counts[addr]++
	d.after = s.counts[addr]
	b.counts[addr] = d
}

// restore takes back what b did to balances and counts.
func (s *state) restore(b *block) {
	for c, d := range b.diff {
		s.cells[c] = d.before
	}
	for a, d := range b.counts {
		s.counts[a] = d.before
	}
}

// addCoin makes a coin that can be spent.
func (s *state) addCoin(c *coin) {
	s.coins[c.ref] = c
	s.offer(c)
}

func (s *state) offer(c *coin) {
	list, ours := s.owned[c.owner]
	if !ours {
		return
	}
	i, _ := slices.BinarySearchFunc(list, c, byWorth)
	s.owned[c.owner] = slices.Insert(list, i, c)
}

func (s *state) withdraw(c *coin) {
	list := s.owned[c.owner]
	if i, found := slices.BinarySearchFunc(list, c, byWorth); found {
		s.owned[c.owner] = slices.Delete(list, i, i+1)
	}
}

func (s *state) spend(c *coin, by *receipt) {
	c.spent = by
	s.withdraw(c)
}

func (s *state) unspend(c *coin) {
	c.spent = nil
	s.offer(c)
}

func (s *state) dropCoin(r ref) {
	if c := s.coins[r]; c != nil {
		s.withdraw(c)
		delete(s.coins, r)
	}
}

// byWorth orders coins: the largest first, and always the same way.
func byWorth(a, b *coin) int {
	return cmp.Or(b.amount.Cmp(a.amount), compareRefs(a.ref, b.ref))
}

func compareRefs(a, b ref) int {
	return cmp.Or(strings.Compare(string(a.tx), string(b.tx)), cmp.Compare(a.index, b.index))
}

// plus and minus are for sums that the net has checked before; supplies are
// bounded, so they cannot fail.
func plus(a, b money.Amount) money.Amount {
	v, err := a.Add(b)
	if err != nil {
		panic("sim: " + err.Error())
	}
	return v
}

func minus(a, b money.Amount) money.Amount {
	v, err := a.Sub(b)
	if err != nil {
		panic("sim: " + err.Error())
	}
	return v
}

func times(a money.Amount, n uint64) money.Amount {
	v, err := a.MulDiv(money.FromUint64(n), money.FromUint64(1), money.Down)
	if err != nil {
		panic("sim: " + err.Error())
	}
	return v
}

// receipt is a transaction in a block.
type receipt struct {
	tx     *tx
	block  *block
	fee    money.Amount
	failed bool
	did    []flow // what a contract took and gave
}

// tx is a transaction the net has heard of.
type tx struct {
	id     chain.TxID
	body   *body
	weight uint64
	fee    money.Amount // the most it can cost
	seq    uint64       // when the net heard of it
	pooled bool
	at     *receipt // where it stands on the canonical branch
}

// price orders transactions: the fee per weight that is offered, times 2^16 so
// that coins, whose fee is a whole, can be told apart.
func (t *tx) price() money.Amount {
	p, err := t.fee.MulDiv(money.FromUint64(1<<16), money.FromUint64(t.weight), money.Down)
	if err != nil {
		return t.fee
	}
	return p
}

// Weights: what a transaction takes up of a block.
const (
	transferGas = 21_000
	tokenGas    = 65_000
	innerGas    = 40_000
	callGas     = 150_000
	coinBase    = 10
	coinIn      = 68
	coinOut     = 31
	expireBase  = 5_000
)

func (b *body) weigh(s Shape) uint64 {
	switch s {
	case Coins:
		return coinBase + coinIn*uint64(len(b.ins)) + coinOut*uint64(len(b.outs))
	case Expiring:
		return expireBase * uint64(max(1, len(b.outs)+len(b.pulls)))
	}
	if len(b.data) > 0 {
		return callGas
	}
	w := uint64(transferGas)
	if len(b.outs) > 0 && b.outs[0].asset != "" {
		w = tokenGas
	}
	return w + innerGas*uint64(max(0, len(b.outs)-1)+len(b.pulls))
}

// costs is the most a body can cost; of coins it is what the outputs leave over.
func (b *body) costs(s Shape) (money.Amount, error) {
	if s != Coins {
		return b.price.MulDiv(money.FromUint64(b.weigh(s)), money.FromUint64(1), money.Down)
	}
	var in, out money.Amount
	var err error
	for _, i := range b.ins {
		if in, err = in.Add(i.amount); err != nil {
			return in, err
		}
	}
	for _, o := range b.outs {
		if out, err = out.Add(o.amount); err != nil {
			return out, err
		}
	}
	return in.Sub(out)
}

// moves adds up what a body takes of one asset from its sender.
func (b *body) moves(asset string) (money.Amount, error) {
	var sum money.Amount
	var err error
	if len(b.pulls) > 0 { // it takes from others
		return sum, nil
	}
	for _, o := range b.outs {
		if o.asset == asset && !o.void {
			if sum, err = sum.Add(o.amount); err != nil {
				return sum, err
			}
		}
	}
	return sum, nil
}
