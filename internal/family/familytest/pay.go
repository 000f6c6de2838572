package familytest

import (
	"ferry/internal/chain"
	"ferry/internal/money"
)

func mempool(h *hand) bool { return h.ports.Mempool != nil }

var payCases = []kase{
	{"One payment to many addresses is many deposits", always, manyOutputs},
	{"Two outputs to one address are two deposits", always, twoOutputs},
	{"A payment that fails on the chain is no deposit", reverts, failedIgnored},
	{"A payment of nothing is no deposit", reverts, zeroIgnored},
	{"A payment in a token that is not listed is no deposit", tokens, foreignIgnored},
	{"A payment in a listed token is a deposit of that token", tokens, tokenFound},
	{"A payment by a contract is a deposit", tokens, contractFound},
	{"A payment that is replaced is never found", bumps, replacedPayment},
	{"A payment that is dropped is never found", always, droppedPayment},
	{"The mempool shows a waiting payment without a block and no longer once it is mined", always, mempoolShows},
	{"The mempool no longer shows what was evicted or replaced", always, mempoolForgets},
}

func manyOutputs(h *hand) {
	var p Payment
	var all []chain.Address
	for _, name := range []string{"a", "b", "c", "d"} {
		to := h.Address(name)
		all = append(all, to)
		p.Outs = append(p.Outs, Out{to, h.native(), h.powers.Amount})
	}
	p.From = "stranger"
	h.Pay(p)
	h.Mine(1)
	seen := make(map[chain.DepositID]bool)
	for _, to := range all {
		d := h.one(to)
		if seen[d.ID] || d.Amount != h.powers.Amount {
			h.Fatalf("found %v", d)
		}
		seen[d.ID] = true
	}
	if list := h.scan(all...); len(list) != len(all) {
		h.Fatalf("found %d payments, want %d", len(list), len(all))
	}
}

func twoOutputs(h *hand) {
	to := h.Address("deposit")
	twice := sum(h.powers.Amount, h.powers.Amount)
	h.Pay(Payment{From: "stranger", Outs: []Out{{to, h.native(), h.powers.Amount}, {to, h.native(), twice}}})
	h.Mine(1)
	if h.powers.Sums {
		if d := h.one(to); d.Amount != sum(twice, h.powers.Amount) {
			h.Fatalf("found %v", d)
		}
		return
	}
	list := h.scan(to)
	if len(list) != 2 || list[0].ID == list[1].ID || list[0].Tx != list[1].Tx {
		h.Fatalf("found %v", list)
	}
	if got := sum(list[0].Amount, list[1].Amount); got != sum(twice, h.powers.Amount) {
		h.Fatalf("together they are %s", got)
	}
}

func failedIgnored(h *hand) {
	to := h.Address("deposit")
	tx := h.Pay(Payment{From: "stranger", Outs: []Out{{to, h.native(), h.powers.Amount}}, Kind: Failing})
	h.Mine(1)
	if !h.Landed(tx) {
		h.Fatal("it did not land")
	}
	h.none(to)
}

func zeroIgnored(h *hand) {
	to := h.Address("deposit")
	tx := h.Pay(Payment{From: "stranger", Outs: []Out{{to, h.native(), money.Amount{}}}})
	h.Mine(1)
	if !h.Landed(tx) {
		h.Fatal("it did not land")
	}
	h.none(to)
}

func foreignIgnored(h *hand) {
	to := h.Address("deposit")
	tx := h.Pay(Payment{From: "stranger", Outs: []Out{{to, h.powers.Token, h.powers.Amount}}, Kind: Foreign})
	h.Mine(1)
	if !h.Landed(tx) {
		h.Fatal("it did not land")
	}
	h.none(to)
}

func tokenFound(h *hand) {
	to := h.Address("deposit")
	h.Pay(Payment{From: "stranger", Outs: []Out{{to, h.powers.Token, h.powers.Amount}}})
	h.Mine(1)
	if d := h.one(to); d.Asset != h.powers.Token || d.Amount != h.powers.Amount {
		h.Fatalf("found %v", d)
	}
}

func contractFound(h *hand) {
	to := h.Address("deposit")
	h.Pay(Payment{From: "stranger", Outs: []Out{{to, h.native(), h.powers.Amount}}, Kind: Contract})
	h.Mine(1)
	if d := h.one(to); d.Asset != h.native() || d.Amount != h.powers.Amount {
		h.Fatalf("found %v", d)
	}
}

func replacedPayment(h *hand) {
	to := h.Address("deposit")
	tx := h.pay(to)
	other := h.Divert(tx)
	h.Mine(1)
	if h.Landed(tx) || !h.Landed(other) {
		h.Fatal("it was not replaced")
	}
	h.none(to)
}

func droppedPayment(h *hand) {
	to := h.Address("deposit")
	h.Evict(h.pay(to))
	h.Mine(2)
	h.none(to)
}

func (h *hand) pending(to chain.Address) []chain.Deposit {
	h.Helper()
	list, err := h.ports.Mempool.Pending(h.ctx(), set{to})
	h.ok(err)
	return list
}

func mempoolShows(h *hand) {
	if !mempool(h) {
		return
	}
	to := h.Address("deposit")
	h.pay(h.Address("somebody else"))
	h.pay(to)
	list := h.pending(to)
	if len(list) != 1 || !list[0].Block.IsZero() || list[0].Amount != h.powers.Amount {
		h.Fatalf("the mempool shows %v", list)
	}
	h.Mine(1)
	if d := h.one(to); d.ID != list[0].ID {
		h.Fatalf("in the mempool it was %v, now it is %v", list[0].ID, d.ID)
	}
	if list := h.pending(to); len(list) != 0 {
		h.Fatalf("the mempool still shows %v", list)
	}
}

func mempoolForgets(h *hand) {
	if !mempool(h) {
		return
	}
	to := h.Address("deposit")
	h.Evict(h.pay(to))
	if list := h.pending(to); len(list) != 0 {
		h.Fatalf("the mempool shows %v", list)
	}
	if h.powers.Bumps {
		h.Divert(h.pay(to))
		if list := h.pending(to); len(list) != 0 {
			h.Fatalf("the mempool shows %v", list)
		}
	}
	h.pay(to)
	h.Mine(1)
	h.Reorg(1, false)
	if list := h.pending(to); len(list) != 1 {
		h.Fatalf("after the reorg the mempool shows %v", list)
	}
}
