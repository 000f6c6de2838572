package familytest

import (
	"slices"

	"ferry/internal/chain"
	"ferry/internal/money"
)

var balanceCases = []kase{
	{"Balances at the final block are exact through deposits, payouts and sweeps", sweeps, balancesAreExact},
	{"Balances are those of the branch that stands, and of no other", func(p Powers) bool { return p.Sweeps && !p.NoForks }, balancesOfTheBranch},
	{"Balances need a quorum, and a minority changes none", func(p Powers) bool { return p.Sweeps && p.Faults }, balancesNeedAQuorum},
}

// album keeps what really lay on some spots at each block.
type album struct {
	*hand
	spots []chain.Spot
	truth map[string][]money.Amount
}

// album begins one of our account and of two deposit addresses, in every asset.
func (h *hand) album() *album {
	h.Helper()
	a := &album{hand: h, truth: map[string][]money.Amount{}}
	for _, who := range []chain.Address{h.ports.Sender.Own(hot), h.deposit(1), h.deposit(2)} {
		a.spots = append(a.spots, chain.Spot{Address: who, Asset: h.native()})
		if tokens(h.powers) {
			a.spots = append(a.spots, chain.Spot{Address: who, Asset: h.powers.Token})
		}
	}
	a.keep()
	return a
}

// keep notes the truth at the tip.
func (a *album) keep() {
	a.Helper()
	now := make([]money.Amount, len(a.spots))
	for i, s := range a.spots {
		now[i] = a.Balance(s.Address, s.Asset)
	}
	a.truth[a.head().Tip.Hash] = now
}

// mine makes blocks one by one, and looks after each at what is final there and at what
// was final the time before.
func (a *album) mine(n int) {
	a.Helper()
	for range n {
		before := a.head().Final
		a.Mine(1)
		a.keep()
		for _, at := range []chain.Block{a.head().Final, before} {
			a.compare(at)
		}
	}
}

// compare reports whether the truth at a block is known, and fails where it is another.
func (a *album) compare(at chain.Block) bool {
	a.Helper()
	want, known := a.truth[at.Hash]
	if !known { // it is older than the album
		return false
	}
	got, err := a.ports.Scales.Balances(a.ctx(), a.spots, at)
	a.ok(err)
	if !slices.Equal(got, want) {
		a.Fatalf("at height %d there is %v on %v, want %v", at.Height, got, a.spots, want)
	}
	return true
}

func balancesAreExact(h *hand) {
	a := h.album()
	assets := []chain.Asset{h.native()}
	if tokens(h.powers) {
		assets = append(assets, h.powers.Token)
	}
	for _, x := range assets {
		for i := uint32(1); i <= 2; i++ {
			h.Pay(Payment{From: "stranger", Outs: []Out{{h.deposit(i), x, h.powers.Amount}}})
		}
		a.mine(1)
	}
	for _, x := range assets {
		c := h.call(h.Address("bob"))
		if c.Asset = x; !x.IsNative() {
			c.Amount = money.FromUint64(1000)
		}
		h.broadcast(h.draft(c))
		a.mine(1)
	}
	a.mine(h.powers.FinalDepth)
	for _, x := range assets {
		h.broadcast(h.draft(h.sweep(x, 1, 2)))
		a.mine(1)
	}
	a.mine(h.powers.FinalDepth)
	if !a.compare(h.head().Final) {
		h.Fatal("the last of it is not final")
	}
	got, err := h.ports.Scales.Balances(h.ctx(), nil, h.head().Final)
	h.ok(err)
	if len(got) != 0 {
		h.Fatalf("nothing was asked about, and there is %v", got)
	}
	_, err = h.ports.Scales.Balances(h.ctx(), []chain.Spot{{Address: h.deposit(1), Asset: chain.ID("eip155:404").Native()}}, h.head().Final)
	if err == nil {
		h.Fatal("an asset of another chain has a balance")
	}
}

func balancesOfTheBranch(h *hand) {
	a := h.album()
	h.pay(h.deposit(1))
	a.mine(1)
	orphan := h.head().Tip
	h.broadcast(h.draft(h.call(h.Address("bob"))))
	a.mine(1)
	h.Reorg(2, true)
	a.keep()
	a.mine(h.powers.FinalDepth)
	if !a.compare(h.head().Final) {
		h.Fatal("the new branch is not final")
	}
	if got, err := h.ports.Scales.Balances(h.ctx(), a.spots, orphan); err == nil {
		h.Fatalf("a block that was orphaned has balances: %v", got)
	}
}

func balancesNeedAQuorum(h *hand) {
	a := h.album()
	h.pay(h.deposit(1))
	h.broadcast(h.draft(h.call(h.Address("bob"))))
	a.mine(1 + h.powers.FinalDepth)
	at := h.head().Final
	h.broadcast(h.draft(h.call(h.Address("bob")))) // above it something happens
	h.pay(h.deposit(2))
	a.mine(1)
	for _, trouble := range troubles {
		for node := range h.powers.Nodes {
			h.Break(node, trouble)
			if !a.compare(at) {
				h.Fatal("the block is not in the album")
			}
			h.Break(node, None)
		}
	}
	for _, trouble := range []Trouble{Down, Deaf} {
		h.breakFirst(h.powers.Nodes-h.powers.Quorum+1, trouble)
		if got, err := h.ports.Scales.Balances(h.ctx(), a.spots, at); err == nil {
			h.Fatalf("below the quorum there is %v", got)
		}
	}
}
