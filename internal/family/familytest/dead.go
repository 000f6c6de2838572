package familytest

import (
	"ferry/internal/chain"
	"ferry/internal/money"
)

var deadCases = []kase{
	{"An attempt whose slot another took is dead only when that is final", bumps, deadWhenFinal},
	{"An attempt whose slot another took lives again when that one is reorganised away", bumps, notDeadAfterReorg},
	{"An attempt whose bytes say nothing is an error", always, foreignBytes},
}

func deadWhenFinal(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	thief := h.Usurp(a)
	for range h.powers.FinalDepth {
		h.Mine(1)
		if !h.Landed(thief) {
			h.Fatal("the other did not land")
		}
		if f := h.fate(a).Fate; f.Settled() {
			h.Fatalf("it is %v, and the other is not final", f)
		}
	}
	h.Mine(1)
	h.mustBe(a, chain.Dead)
	h.has(bob, money.Amount{})
	b := h.draft(h.call(bob), a.Slots...)
	h.broadcast(b)
	h.Mine(1)
	h.has(bob, h.powers.Amount)
}

func notDeadAfterReorg(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.Usurp(a)
	h.Mine(1)
	h.Reorg(1, true)
	if f := h.fate(a).Fate; f != chain.Missing {
		h.Fatalf("it is %v", f)
	}
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Final)
	h.has(bob, h.powers.Amount)
}

func foreignBytes(h *hand) {
	a := h.draft(h.call(h.Address("bob")))
	a.Raw = []byte("nonsense")
	if _, err := h.ports.Sender.Fate(h.ctx(), a); err == nil {
		h.Fatal("bytes that say nothing have a fate")
	}
	if _, err := h.ports.Sender.Redraft(h.ctx(), h.call(h.Address("bob")), a, h.powers.Budget); err == nil {
		h.Fatal("bytes that say nothing were replaced")
	}
}
