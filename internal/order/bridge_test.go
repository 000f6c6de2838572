package order

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/quote"
	"ferry/internal/testseed"
)

// legs are the steps of a withdrawal.
func legs() []quote.Leg {
	return []quote.Leg{
		{ID: "initiate", Actor: quote.ByUser, Chain: give.Chain},
		{ID: "prove", Actor: quote.ByUser, Chain: get.Chain, Claim: true},
		{ID: "wait", Actor: quote.ByNetwork, Chain: get.Chain},
		{ID: "finalize", Actor: quote.ByUser, Chain: get.Chain, Claim: true},
	}
}

var claimFee = n(7)

func bridgeAsk(auto bool, fee uint64) Ask {
	q := quote.Quote{
		ID: "quo_1", Give: give, Get: far, In: n(1000), Out: n(1000), MinIn: n(10), MaxIn: n(5000), Mode: quote.Float,
		Tolerance: quote.Tolerance{UnderAction: quote.Hold, OverAction: quote.Hold, WrongAsset: quote.Hold},
	}
	return Ask{
		ID: "ord_1", Quote: q, DepositTo: addr("dep"), PayTo: addr("pay"), RefundTo: addr("back"), FundingTime: time.Hour, Patience: patience(),
		Origin: Origin{Bridge: "b"}, Bridge: &BridgeAsk{Legs: legs(), Auto: auto, Fee: n(fee)},
	}
}

func newBridge(t *testing.T, r *rand.Rand) Change {
	t.Helper()
	a := bridgeAsk(r.IntN(3) > 0, uint64(r.IntN(2)*7))
	if r.IntN(2) == 0 {
		a.RefundTo = chain.Address{}
	}
	c, err := New(a, start)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// randomLegs is something a chain might tell: steps before a random one are done.
func randomLegs(r *rand.Rand) quote.Standing {
	var s quote.Standing
	at := r.IntN(len(legs()) + 1)
	for i, l := range legs() {
		one := quote.LegStands{ID: l.ID, Status: quote.LegPending}
		switch {
		case i < at:
			one.Status, one.Tx = quote.LegConfirmed, "tx"
		case i == at:
			some := []quote.LegStatus{quote.LegReady, quote.LegReady, quote.LegSubmitted, quote.LegWaiting, quote.LegFailed}
			one.Status, one.Why = some[r.IntN(len(some))], "w"
		}
		s.Legs = append(s.Legs, one)
	}
	if at > 0 || r.IntN(5) == 0 {
		s.Proofs, s.Moved, s.Brought = []string{"p"}, n(1000-uint64(r.IntN(6)/5)), n(999)
	}
	if r.IntN(12) == 0 {
		s.Broken = "it is stuck"
	}
	return s
}

func randomBridgeEvent(r *rand.Rand, o Order, now time.Time) Event {
	b := o.Bridge
	i := r.IntN(len(b.Steps))
	if s, ok := b.Next(); ok && r.IntN(2) == 0 {
		i, _ = b.Step(s.ID)
	}
	dep := chain.Deposit{ID: chain.DepositID(fmt.Sprintf("d%d", r.IntN(3))), Asset: give.Chain.Native(), Amount: n(7 + uint64(r.IntN(4)/3)), Tx: "t"}
	if r.IntN(6) == 0 {
		dep.Asset = wrong
	}
	sighting := 1
	if rec := o.deposit(dep.ID); rec != nil {
		dep.Asset, dep.Amount, sighting = rec.Asset, rec.Amount, rec.Sighting+r.IntN(2)
	}
	landed := Landed{Tx: "x", Cost: n(uint64(r.IntN(3)))}
	switch r.IntN(9) {
	case 0, 1:
		return StepSubmitted{Step: b.Steps[i].ID, N: b.Steps[i].Named - r.IntN(8)/7, Tx: chain.TxID(fmt.Sprint("t", r.IntN(9)))}
	case 2, 3:
		s := randomLegs(r)
		proof := ""
		if len(s.Proofs) > 0 {
			proof = s.Proofs[0]
		}
		ev, _ := o.SeenAs(s, proof)
		ev.Version -= int64(r.IntN(10) / 9)
		return ev
	case 4:
		return StepAsked{i, o.Asked(i), chain.Call{Chain: b.Steps[i].Chain, Asset: b.Steps[i].Chain.Native()}}
	case 5:
		if k := len(o.Calls); k > 0 {
			c := o.Calls[k-1]
			return StepCalled{c.Step, c.N, c.Asset.Chain, landed, []string{"", "w"}[r.IntN(2)]}
		}
		return DepositSeen{dep, sighting, now}
	case 6:
		return DepositFinal{dep, sighting, now, false}
	case 7:
		return DepositGone{dep, sighting, now, false, false}
	}
	return randomEvent(r, o, now)
}

// TestRandomBridgesSweep feeds random events to bridges that owners run: none completes
// before its last step is final, begins by two proofs, or leaves an ending; no fee is
// taken that was not earned, and none is taken and given back.
func TestRandomBridgesSweep(t *testing.T) {
	t.Parallel()
	base := testseed.Of(t)
	reached, earned, back := map[State]int{}, 0, 0
	for i := range sequences {
		seed := base + uint64(i)
		r := rand.New(rand.NewPCG(seed, 11))
		w := newWitness(t, seed)
		c := newBridge(t, r)
		w.see(c)
		o, now, claims := c.Now, start, 0
		for range 60 {
			now = now.Add(time.Duration(r.IntN(6)) * time.Minute)
			ev := randomBridgeEvent(r, o, now)
			before := o.clone()
			c, err := o.Apply(ev, now)
			if !reflect.DeepEqual(before, o.clone()) {
				w.fail("%s changed its receiver", ev.Name())
			}
			var turn *OutOfTurn
			if errors.Is(err, ErrKnown) || errors.Is(err, ErrNoRefundAddress) || errors.As(err, &turn) {
				continue
			}
			if err != nil {
				w.fail("%s in %s: %v", ev.Name(), o.State, err)
			}
			w.see(c)
			if c.Claim != "" {
				claims++
			}
			checkBridge(w, c, claims)
			o = c.Now
			reached[o.State]++
		}
		revenue := w.books.Balances[ledger.Key{Account: ledger.Revenue, Asset: give.Chain.Native()}]
		returned := o.RecoveryStatus() != ""
		if !revenue.IsZero() {
			earned++
		}
		if returned {
			back++
		}
	}
	for _, s := range []State{Awaiting, Confirming, Executing, Held, Completed, Expired} {
		if reached[s] == 0 {
			t.Errorf("state %s was never reached", s)
		}
	}
	if earned == 0 || back == 0 {
		t.Errorf("%d fees were earned and %d came back", earned, back)
	}
	t.Logf("reached %v, %d fees earned, %d with money going back", reached, earned, back)
}

func checkBridge(w *witness, c Change, claims int) {
	w.t.Helper()
	b := c.Now.Bridge
	last := b.Steps[len(b.Steps)-1]
	switch s := c.Now.State; {
	case s == Sending || s == Refunding || s == Refunded || s == Failed:
		w.fail("%s led a bridge to %s", c.Event.Name(), s)
	case s == Completed && (last.Status != quote.LegConfirmed || b.Proof == "" || b.Moved != c.Now.Quote.In):
		w.fail("completed, and its last step is %s, by %q of %s", last.Status, b.Proof, b.Moved)
	case s == Completed && b.Paid != "":
		w.fail("completed, and its fee is neither taken nor given back")
	case claims > 1:
		w.fail("it began twice")
	}
	for _, s := range b.Steps {
		if s.Claims > MaxClaims || s.Named > MaxSubmissions {
			w.fail("step %s was claimed %d times and named %d transactions", s.ID, s.Claims, s.Named)
		}
	}
}

// ride applies events in turn and fails on the first that has no place.
func ride(t *testing.T, o Order, at time.Time, evs ...func(Order) Event) Order {
	t.Helper()
	for i, ev := range evs {
		c, err := o.Apply(ev(o), at.Add(time.Duration(i)*time.Minute))
		if err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		o = c.Now
	}
	return o
}

func seen(proof string, all ...quote.LegStands) func(Order) Event {
	return func(o Order) Event {
		s := quote.Standing{Legs: all, Moved: n(1000), Brought: n(1000)}
		ev, _ := o.SeenAs(s, proof)
		return ev
	}
}

func stood(id string, s quote.LegStatus) quote.LegStands {
	return quote.LegStands{ID: id, Status: s, Why: "w"}
}

func submit(step, tx string) func(Order) Event {
	return func(o Order) Event {
		i, _ := o.Bridge.Step(step)
		return StepSubmitted{Step: step, N: o.Bridge.Steps[i].Named, Tx: chain.TxID(tx)}
	}
}

func always(ev Event) func(Order) Event { return func(Order) Event { return ev } }

func begun(t *testing.T, auto bool, fee uint64) Order {
	t.Helper()
	c, err := New(bridgeAsk(auto, fee), start)
	if err != nil {
		t.Fatal(err)
	}
	return c.Now
}

func TestABridgeThatItsOwnerRuns(t *testing.T) {
	t.Parallel()
	o := ride(t, begun(t, false, 0), start, submit("initiate", "a"))
	if o.State != Confirming {
		t.Fatalf("after the first transaction was named it is %s", o.State)
	}
	o = ride(t, o, start, seen("p", stood("initiate", quote.LegConfirmed), stood("prove", quote.LegWaiting)))
	if s, ok := o.Bridge.Next(); o.State != Executing || ok {
		t.Fatalf("while it waits it is %s, and %s is to be done", o.State, s.ID)
	}
	ev := seen("p", stood("initiate", quote.LegConfirmed), stood("prove", quote.LegReady))(o)
	if ev.Name() != "step_ready" {
		t.Errorf("a step that the owner can do is told as %s", ev.Name())
	}
	o = ride(t, o, start, always(ev), submit("prove", "b"), seen("p", stood("prove", quote.LegFailed)))
	if s, ok := o.Bridge.Next(); !ok || s.ID != "prove" || s.Attempts != 1 || s.Error != "w" || s.Actor != quote.ByUser {
		t.Fatalf("after a failure %+v is to be done", s)
	}
	o = ride(t, o, start, submit("prove", "c"), seen("p", stood("prove", quote.LegConfirmed), stood("wait", quote.LegConfirmed), stood("finalize", quote.LegConfirmed)))
	if o.State != Completed || o.Bridge.Brought != n(1000) {
		t.Fatalf("at its end it is %s and brought %s", o.State, o.Bridge.Brought)
	}
	if _, err := o.Apply(submit("prove", "d")(o), start); err == nil {
		t.Error("a finished order took another transaction")
	}
}

func TestAFirstTransactionThatFailedLeadsBackToTheStart(t *testing.T) {
	t.Parallel()
	o := ride(t, begun(t, false, 0), start, submit("initiate", "a"), seen("", stood("initiate", quote.LegFailed)))
	if o.State != Awaiting || o.Bridge.Steps[0].Attempts != 1 {
		t.Fatalf("it is %s after %d attempts", o.State, o.Bridge.Steps[0].Attempts)
	}
	o = ride(t, o, start, submit("initiate", "a")) // it may be named again
	if o.State != Confirming {
		t.Fatalf("named again it is %s", o.State)
	}
	o = ride(t, o, start.Add(2*time.Hour), seen("", stood("initiate", quote.LegFailed)))
	if o.State != Expired {
		t.Fatalf("failed after its time it is %s", o.State)
	}
}

// paid is a fee that arrived for good.
var paid = DepositFinal{Deposit: chain.Deposit{ID: "d", Asset: give.Chain.Native(), Amount: claimFee, Tx: "f"}, Sighting: 1, SeenAt: start}

func claim(o Order) Event {
	s, _ := o.Bridge.Next()
	i, _ := o.Bridge.Step(s.ID)
	return StepAsked{Index: i, N: o.Asked(i), Call: chain.Call{Chain: s.Chain, Asset: s.Chain.Native()}}
}

func claimed(why string) func(Order) Event {
	return func(o Order) Event {
		c := o.Calls[len(o.Calls)-1]
		return StepCalled{Index: c.Step, N: c.N, On: c.Asset.Chain, Landed: Landed{Tx: "x"}, Failed: why}
	}
}

func TestTheServiceClaimsForItsFee(t *testing.T) {
	t.Parallel()
	o := ride(t, begun(t, true, 7), start, submit("initiate", "a"),
		seen("p", stood("initiate", quote.LegConfirmed), stood("prove", quote.LegReady)))
	if s, _ := o.Bridge.Next(); s.Actor != quote.ByUser {
		t.Fatalf("before it is paid, the next step is of %s", s.Actor)
	}
	o = ride(t, o, start, always(paid))
	if s, _ := o.Bridge.Next(); s.Actor != quote.ByService || o.InHand.Amount != claimFee {
		t.Fatalf("after it is paid, the next step is of %s", s.Actor)
	}
	o = ride(t, o, start, claim, claimed(""), seen("p", stood("prove", quote.LegConfirmed), stood("finalize", quote.LegReady)), claim, claimed(""))
	c, err := o.Apply(seen("p", stood("wait", quote.LegConfirmed), stood("finalize", quote.LegConfirmed))(o), start)
	if err != nil || c.Now.State != Completed {
		t.Fatalf("it is %s: %v", c.Now.State, err)
	}
	want := ledger.Posting{Debit: o.owed(), Credit: ledger.Revenue, Asset: give.Chain.Native(), Amount: claimFee}
	if len(c.Entry.Postings) != 1 || c.Entry.Postings[0] != want {
		t.Errorf("the books get %v", c.Entry.Postings)
	}
}

func TestAServiceThatFailsGivesItsFeeBack(t *testing.T) {
	t.Parallel()
	o := ride(t, begun(t, true, 7), start, always(paid), submit("initiate", "a"),
		seen("p", stood("initiate", quote.LegConfirmed), stood("prove", quote.LegReady)))
	for range MaxClaims {
		o = ride(t, o, start, claim, claimed("reverted"))
	}
	s, ok := o.Bridge.Next()
	if !ok || s.Actor != quote.ByUser || s.Attempts != MaxClaims {
		t.Errorf("after %d failures the step is of %s", s.Attempts, s.Actor)
	}
	if o.Deposits[0].State != Detected || o.Deposits[0].Why != ClaimUnearned || !o.InHand.Amount.IsZero() {
		t.Errorf("the fee is %s", o.Deposits[0].State)
	}
	if _, err := o.Apply(claim(o), start); err == nil {
		t.Error("the service may try once more")
	}
}

// TestAProofThatIsWorthNothingAnyMoreIsMadeAgain: the game that a withdrawal was proven in
// may be lost, or be believed no more, days after the proof is final. Only a new proof
// helps then, so the step must be open to whoever does it.
func TestAProofThatIsWorthNothingAnyMoreIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, again := range []quote.LegStatus{quote.LegReady, quote.LegFailed, quote.LegWaiting} {
		for _, auto := range []bool{false, true} {
			o := ride(t, begun(t, auto, 0), start, submit("initiate", "a"), seen("p", stood("initiate", quote.LegConfirmed), stood("prove", quote.LegReady)))
			if auto {
				o = ride(t, o, start, claim, claimed(""))
			} else {
				o = ride(t, o, start, submit("prove", "b"))
			}
			o = ride(t, o, start, seen("p", stood("prove", quote.LegConfirmed), stood("finalize", quote.LegWaiting)),
				seen("p", stood("prove", again), stood("finalize", quote.LegPending)))
			if again == quote.LegWaiting {
				o = ride(t, o, start, seen("p", stood("prove", quote.LegReady), stood("finalize", quote.LegPending)))
			}
			s, ok := o.Bridge.Next()
			if !ok || s.ID != "prove" || s.Actor != map[bool]quote.Actor{false: quote.ByUser, true: quote.ByService}[auto] {
				t.Fatalf("%s, auto %v: %q of %s is to be done next: %+v", again, auto, s.ID, s.Actor, o.Bridge.Steps)
			}
			if auto {
				o = ride(t, o, start, claim, claimed(""))
			} else {
				o = ride(t, o, start, submit("prove", "c"))
			}
			o = ride(t, o, start, seen("p", stood("initiate", quote.LegFailed), stood("prove", quote.LegConfirmed), stood("wait", quote.LegConfirmed), stood("finalize", quote.LegConfirmed)))
			if o.State != Completed || o.Bridge.Steps[0].Status != quote.LegConfirmed {
				t.Fatalf("proven again it is %s: %+v", o.State, o.Bridge.Steps)
			}
		}
	}
}
