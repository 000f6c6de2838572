package sim

import (
	"errors"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/send"
)

// oneCoin is a net whose hot account has a single coin.
func oneCoin(t *testing.T, worth uint64) *Net {
	t.Helper()
	n := must(New(Config{ID: "sim:coins", Family: "coins", Shape: Coins, FinalDepth: 2}))
	if err := n.Faucet(n.Own(Hot), n.ID().Native(), amount(worth)); err != nil {
		t.Fatal(err)
	}
	n.Mine(2)
	return n
}

func (n *Net) testCall(v uint64) chain.Call {
	return chain.Call{Chain: n.ID(), From: Hot, To: n.Codec().Make("bob"), Asset: n.ID().Native(), Amount: amount(v)}
}

func TestDustChangeGoesToTheFee(t *testing.T) {
	t.Parallel()
	bare, change := uint64(coinBase+coinIn+coinOut), uint64(coinOut)
	for _, c := range []struct {
		worth, fee uint64
		outs       int
	}{
		{10_000 + bare, bare, 1},
		{10_000 + bare + change + 545, bare + change + 545, 1},
		{10_000 + bare + change + 546, bare + change, 2},
	} {
		n := oneCoin(t, c.worth)
		a := must(n.Chain().Draft(t.Context(), n.testCall(10_000), nil, amount(5_000)))
		b, _, _, err := decode(a.Raw)
		if err != nil || a.Fee != amount(c.fee) || len(b.outs) != c.outs || b.outs[0].amount != amount(10_000) {
			t.Errorf("a coin of %d: fee %s, outputs %v, %v", c.worth, a.Fee, b.outs, err)
		}
	}
	n := oneCoin(t, 10_000+bare-1)
	if _, err := n.Chain().Draft(t.Context(), n.testCall(10_000), nil, amount(5_000)); !errors.Is(err, send.ErrNoFunds) {
		t.Error(err)
	}
	n = oneCoin(t, 10_000+bare+change+500)
	if _, err := n.Chain().Draft(t.Context(), n.testCall(10_000), nil, amount(bare+change)); !errors.Is(err, send.ErrTooDear) {
		t.Error("the dust in the fee is above the budget:", err)
	}
}

func TestABumpNeverMakesDustAndNeverTouchesTheRecipient(t *testing.T) {
	t.Parallel()
	const worth, pays = 100_000, 60_000
	n := oneCoin(t, worth)
	c := n.Chain()
	a := must(c.Draft(t.Context(), n.testCall(pays), nil, amount(1_000)))
	for most := uint64(300); most <= worth; most += 17 {
		r, err := c.Redraft(t.Context(), n.testCall(pays), a, amount(most))
		if err != nil {
			t.Fatalf("%d: %v", most, err)
		}
		b, _, _, err := decode(r.Raw)
		if err != nil || b.outs[0].amount != amount(pays) || amount(most).Less(r.Fee) {
			t.Fatalf("%d: pays %s for %s, %v", most, b.outs[0].amount, r.Fee, err)
		}
		if len(b.outs) > 1 && b.outs[1].amount.Less(n.cfg.Dust) {
			t.Fatalf("%d: change of %s", most, b.outs[1].amount)
		}
		if _, err := n.Broadcast(r.Raw); err != nil {
			t.Fatalf("%d: %v", most, err)
		}
		n.EvictAll()
	}
	if _, err := c.Redraft(t.Context(), n.testCall(pays), a, amount(2*plain-1)); !errors.Is(err, send.ErrTooDear) {
		t.Fatal(err)
	}
}

// plain is the fee of an attempt with one coin and change at a price of one.
const plain = coinBase + coinIn + 2*coinOut

func TestAReplacementPaysForTheOneItReplaces(t *testing.T) {
	t.Parallel()
	n := oneCoin(t, 100_000)
	a := must(n.Chain().Draft(t.Context(), n.testCall(60_000), nil, amount(1_000)))
	must(n.Broadcast(a.Raw))
	old, _, _, err := decode(a.Raw)
	if err != nil {
		t.Fatal(err)
	}
	offer := func(fee uint64) error { // lighter, so its price is better even at the same fee
		b := &body{chain: old.chain, from: old.from, ins: old.ins, outs: []output{{to: old.from, amount: amount(100_000 - fee)}}}
		_, raw := n.wallet.keys[Hot].sign(b)
		_, err := n.Broadcast(raw)
		return err
	}
	enough := uint64(plain + coinBase + coinIn + coinOut)
	if err := offer(enough - 1); !errors.Is(err, errPriced) || !n.Waits(a.Tx) {
		t.Fatal(err)
	}
	if err := offer(enough); err != nil || n.Waits(a.Tx) {
		t.Fatal(err)
	}
}

func TestAnExpiringAttemptLandsToTheLastHeightAndNotAtTheNext(t *testing.T) {
	t.Parallel()
	for late, lands := range map[uint64]bool{1: true, 0: false} {
		n := newNet(t, Expiring)
		a := must(n.Chain().Draft(t.Context(), n.testCall(10), nil, amount(1_000_000)))
		if err := n.Chain().Broadcast(t.Context(), a.Raw); err != nil {
			t.Fatal(err)
		}
		if err := n.Skip(a.Expires - late - n.Height() - 1); err != nil {
			t.Fatal(err)
		}
		if b := n.Mine(1); b.Height != a.Expires-late || n.Canonical(a.Tx) != lands {
			t.Errorf("at %d of %d it landed: %v", b.Height, a.Expires, n.Canonical(a.Tx))
		}
	}
}
