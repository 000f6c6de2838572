package opbridge_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/venue/opbridge"
)

func TestCoinsAndTokensGoUpAndComeDown(t *testing.T) {
	t.Parallel()
	twice(t, func(t *testing.T, r *rig) {
		r.act(ok[chain.Call](t)(r.bridge.Approval(r.tokens(r.me, 1_000_000))))
		bob := common.Address{0xb0}
		for _, one := range []struct {
			name           string
			up, down       opbridge.Transfer
			below, above   common.Address
			wantUp, wantDn string
		}{
			{"coins", r.coins(bob, ether(3)), r.coins(bob, ether(2)), common.Address{}, common.Address{}, ether(3).String(), ether(2).String()},
			{"tokens", r.tokens(r.me, 700), r.tokens(bob, 400), r.token, r.twin, "700", "400"},
		} {
			r.up(one.up)
			if got := r.has(r.l2, one.above, common.HexToAddress(one.up.To.Text())); got != one.wantUp {
				t.Fatalf("%s: above are %s", one.name, got)
			}
			r.down(one.down, true)
			if got := r.has(r.l1, one.below, bob); got != one.wantDn {
				t.Fatalf("%s: below are %s", one.name, got)
			}
		}
	})
}

// up brings something up and checks every state on the way.
func (r *rig) up(t opbridge.Transfer) {
	r.Helper()
	tx := r.act(ok[chain.Call](r.T)(r.bridge.Deposit(t)))
	if _, err := r.bridge.Deposits(r.Context(), tx); !errors.Is(err, opbridge.ErrNotFinal) {
		r.Fatalf("a deposit that may be orphaned: %v", err)
	}
	r.mine(r.l1, deep)
	d := must1[opbridge.Deposit](r.T)(r.bridge.Deposits(r.Context(), tx))
	if d.Transfer != t {
		r.Fatalf("it is %+v, and not %+v", d.Transfer, t)
	}
	r.arrives(d, opbridge.Underway)
	r.mine(r.l2, 1)
	r.arrives(d, opbridge.Underway)
	r.mine(r.l2, deep)
	if a := r.arrives(d, opbridge.Paid); a.Amount != t.Amount {
		r.Fatalf("%s were paid of %s", a.Amount, t.Amount)
	}
}

func (r *rig) arrives(d opbridge.Deposit, want opbridge.Arriving) opbridge.Arrival {
	r.Helper()
	a, err := r.bridge.Arrived(r.Context(), d)
	if err != nil || a.Stage != want {
		r.Fatalf("the deposit is %s, and not %s: %v", a.Stage, want, err)
	}
	return a
}

// began is a withdrawal that began for good.
func (r *rig) began(t opbridge.Transfer) opbridge.Withdrawal {
	r.Helper()
	tx := r.act(ok[chain.Call](r.T)(r.bridge.Withdraw(t)))
	if _, err := r.bridge.Withdrawals(r.Context(), tx); !errors.Is(err, opbridge.ErrNotFinal) {
		r.Fatalf("a withdrawal that may be orphaned: %v", err)
	}
	r.mine(r.l2, deep)
	w := must1[opbridge.Withdrawal](r.T)(r.bridge.Withdrawals(r.Context(), tx))
	if w.Transfer != t {
		r.Fatalf("it is %+v, and not %+v", w.Transfer, t)
	}
	return w
}

func (r *rig) stands(w opbridge.Withdrawal, want opbridge.Stage) opbridge.Standing {
	r.Helper()
	s, err := r.bridge.Where(r.Context(), w)
	if err != nil || s.Stage != want {
		r.Fatalf("the withdrawal is %s, and not %s: %v", s.Stage, want, err)
	}
	return s
}

// ready makes blocks until a withdrawal can be proven.
func (r *rig) ready(w opbridge.Withdrawal) {
	r.Helper()
	for range 4 * (every + deep) {
		s, err := r.bridge.Where(r.Context(), w)
		if err != nil {
			r.Fatal(err)
		}
		if s.Stage == opbridge.ReadyToProve {
			return
		}
		r.both(1)
	}
	r.Fatal("its state is never told below")
}

// undisputed makes blocks until a withdrawal can be finalized.
func (r *rig) undisputed(w opbridge.Withdrawal) opbridge.Standing {
	r.Helper()
	for range 20 {
		s, err := r.bridge.Where(r.Context(), w)
		if err != nil {
			r.Fatal(err)
		}
		if s.Stage == opbridge.ReadyToFinalize {
			return s
		}
		r.do(r.l1, "mine", map[string]int{"skipSeconds": challenge}, nil)
		r.both(deep + 1)
	}
	r.Fatal("it may be disputed for ever")
	return opbridge.Standing{}
}

// down brings something down and checks every state on the way.
func (r *rig) down(t opbridge.Transfer, pays bool) {
	r.Helper()
	r.do(r.l2, "propose", map[string]bool{"on": false}, nil)
	r.both(deep + 1)
	w := r.began(t)
	if s := r.stands(w, opbridge.WaitingToProve); s.ReadyAt.Before(w.Block.Time) {
		r.Fatalf("it was ready at %s", s.ReadyAt)
	}
	if _, err := r.bridge.Prove(r.Context(), w); !errors.Is(err, opbridge.ErrNoOutput) {
		r.Fatalf("it is proven by nothing: %v", err)
	}
	r.do(r.l2, "propose", map[string]bool{"on": true}, nil)
	r.ready(w)
	proof := r.act(ok[chain.Call](r.T)(r.bridge.Prove(r.Context(), w)))
	r.stands(w, opbridge.ReadyToProve)
	r.mine(r.l1, deep)
	s := r.stands(w, opbridge.WaitingToFinalize)
	proven := ok[chain.Receipt](r.T)(r.l1.read.Receipt(r.Context(), proof))
	if wait := s.ReadyAt.Sub(proven.Block.Time).Seconds(); wait < challenge+1 || !r.games && wait > challenge+1 {
		r.Fatalf("it is ready %v seconds after it was proven", wait)
	}
	if _, err := r.bridge.Finalize(w, s); err == nil {
		r.Fatal("it can be finalized while it may be disputed")
	}
	s = r.undisputed(w)
	paid := r.act(ok[chain.Call](r.T)(r.bridge.Finalize(w, s)))
	if _, err := r.bridge.Paid(r.Context(), w, paid); !errors.Is(err, opbridge.ErrNotFinal) {
		r.Fatalf("a payment that may be orphaned: %v", err)
	}
	r.stands(w, opbridge.ReadyToFinalize)
	r.mine(r.l1, deep)
	if s := r.stands(w, opbridge.Finalized); s.OK != pays {
		r.Fatalf("it was paid: %v", s.OK)
	}
	p := ok[opbridge.Payment](r.T)(r.bridge.Paid(r.Context(), w, paid))
	if p.OK != pays || pays && p.Amount != t.Amount {
		r.Fatalf("it was paid: %+v", p)
	}
	if _, err := r.bridge.Paid(r.Context(), w, proof); !errors.Is(err, opbridge.ErrForeign) {
		r.Fatalf("what proves it pays it: %v", err)
	}
}

func TestContractsThatDoNotBelongTogetherAreFoundAtStart(t *testing.T) {
	t.Parallel()
	twice(t, func(t *testing.T, r *rig) {
		r.both(deep)
		if err := r.bridge.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		other := newRig(t, r.games)
		for name, spoil := range map[string]func(p *places){
			"bridge":    func(p *places) { p.Bridge = p.Messenger },
			"messenger": func(p *places) { p.Messenger = p.Portal },
			"portal":    func(p *places) { p.Portal = p.Bridge },
			"oracle":    func(p *places) { p.Oracle, p.Games = p.Portal, p.Portal },
		} {
			at := r.at
			spoil(&r.at)
			err := r.over(r.l1.read, r.l2.read).Check(t.Context())
			if r.at = at; err == nil {
				t.Errorf("another %s is taken", name)
			}
		}
		// A chain with nothing on it.
		if err := r.over(r.l1.read, other.l1.read).Check(t.Context()); err == nil {
			t.Error("another chain is taken for the rollup")
		}
	})
}

func TestWhatTheOtherSideRefusesIsSeen(t *testing.T) {
	t.Parallel()
	twice(t, func(t *testing.T, r *rig) {
		r.act(ok[chain.Call](t)(r.bridge.Approval(r.tokens(r.me, 1_000_000))))
		bad := r.tokens(r.me, 50)
		bad.Twin = canon(common.Address{0xde, 0xad})
		tx := r.act(ok[chain.Call](t)(r.bridge.Deposit(bad)))
		r.both(2*deep + 1)
		d := must1[opbridge.Deposit](t)(r.bridge.Deposits(t.Context(), tx))
		r.arrives(d, opbridge.Stuck)
		// A token takes no coins.
		r.down(r.coins(r.token, ether(1)), false)
	})
}

func TestADepositThatIsOrphanedIsNone(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	bob := common.Address{0xb0}
	tx := r.act(ok[chain.Call](t)(r.bridge.Deposit(r.coins(bob, ether(1)))))
	r.do(r.l1, "reorg", map[string]any{"depth": 1, "lose": true}, nil)
	r.both(deep + 2)
	if _, err := r.bridge.Deposits(t.Context(), tx); !errors.Is(err, opbridge.ErrNotFinal) {
		t.Fatalf("what is lost is a deposit: %v", err)
	}
	// One that lands in another block arrives in another transaction.
	tx = r.act(ok[chain.Call](t)(r.bridge.Deposit(r.coins(bob, ether(1)))))
	r.do(r.l1, "reorg", map[string]any{"depth": 1, "lose": false}, nil)
	r.both(2*deep + 2)
	d := must1[opbridge.Deposit](t)(r.bridge.Deposits(t.Context(), tx))
	if a := r.arrives(d, opbridge.Paid); a.Amount != d.Amount {
		t.Fatalf("%s were paid", a.Amount)
	}
	if got := r.has(r.l2, common.Address{}, bob); got != ether(1).String() {
		t.Fatalf("bob has %s", got)
	}
}

func TestAProofThatWasDisputedIsNone(t *testing.T) {
	t.Parallel()
	twice(t, func(t *testing.T, r *rig) {
		tip := func() uint64 { return ok[chain.Head](t)(r.l2.read.Head(t.Context())).Tip.Height }
		for tip()%every != 0 { // so that it is told of a later block than its own
			r.both(1)
		}
		w := r.began(r.coins(common.Address{0xb0}, ether(1)))
		r.ready(w)
		r.act(ok[chain.Call](t)(r.bridge.Prove(t.Context(), w)))
		r.mine(r.l1, deep)
		r.stands(w, opbridge.WaitingToFinalize)
		// What was told of a block that is no more is taken back.
		r.do(r.l2, "reorg", map[string]any{"depth": tip() - w.Block.Height, "lose": true}, nil)
		r.ready(w)
		r.act(ok[chain.Call](t)(r.bridge.Prove(t.Context(), w)))
		r.mine(r.l1, deep)
		r.act(ok[chain.Call](t)(r.bridge.Finalize(w, r.undisputed(w))))
		r.mine(r.l1, deep)
		if s := r.stands(w, opbridge.Finalized); !s.OK {
			t.Fatal("it was not paid")
		}
	})
}

func TestOthersCanNotSpeakForTheBridge(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	messenger := common.HexToAddress("0x4200000000000000000000000000000000000007")
	above := common.HexToAddress("0x4200000000000000000000000000000000000010")
	nonce := new(big.Int).Lsh(big.NewInt(1), 240)
	gift := func() []byte {
		return pack(t, "finalizeBridgeETH(address,address,uint256,bytes)", r.me, r.me, ether(1), []byte{})
	}
	relay := func(from, to common.Address) []byte {
		return pack(t, "relayMessage(uint256,address,address,uint256,uint256,bytes)", nonce, from, to, ether(1), big.NewInt(200_000), gift())
	}
	up := map[string]chain.TxID{
		"a message that the messenger did not send": r.send(r.l1, r.at.Portal, ether(1), pack(t, "depositTransaction(address,uint256,uint64,bool,bytes)",
			messenger, ether(1), uint64(600_000), false, relay(r.at.Bridge, above))),
		"a message that the bridge did not send": r.send(r.l1, r.at.Messenger, ether(1), pack(t, "sendMessage(address,bytes,uint32)", above, gift(), uint32(200_000))),
		"nothing at all":                         r.send(r.l1, r.me, ether(1), nil),
	}
	r.both(deep + 1) // a deposit of one's own takes a nonce above
	down := map[string]chain.TxID{
		"a message that the messenger did not send": r.send(r.l2, passer, ether(1), pack(t, "initiateWithdrawal(address,uint256,bytes)",
			r.at.Messenger, big.NewInt(600_000), relay(above, r.at.Bridge))),
		"a message that the bridge did not send": r.send(r.l2, messenger, ether(1), pack(t, "sendMessage(address,bytes,uint32)", r.at.Bridge, gift(), uint32(200_000))),
		"nothing at all":                         r.send(r.l2, r.me, ether(1), nil),
		// Coins that are said to be tokens can not be withdrawn.
		"what failed": r.send(r.l2, above, nil, pack(t, "withdrawTo(address,address,uint256,uint32,bytes)", r.twin, r.me, big.NewInt(1), uint32(200_000), []byte{})),
	}
	r.both(deep + 1)
	for name, tx := range up {
		if got, err := r.bridge.Deposits(t.Context(), tx); !errors.Is(err, opbridge.ErrForeign) {
			t.Errorf("%s is a deposit: %+v, %v", name, got, err)
		}
	}
	for name, tx := range down {
		if got, err := r.bridge.Withdrawals(t.Context(), tx); !errors.Is(err, opbridge.ErrForeign) {
			t.Errorf("%s is a withdrawal: %+v, %v", name, got, err)
		}
	}
}
