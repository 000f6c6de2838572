package order

import (
	"slices"
	"strconv"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// The events of a bridge that the owner runs.
type (
	// StepSubmitted: a transaction is said to do a step of the bridge. It is believed no
	// more than that the chain is looked at. N is how many were named before.
	StepSubmitted struct {
		Step string
		N    int
		Tx   chain.TxID
	}
	// BridgeSeen: where the chains have the bridge, by whoever looked when the order was
	// of a version. Opens: a step that only the owner does can be done now.
	BridgeSeen struct {
		Version        int64
		Legs           []quote.LegStands
		Proof          string
		Moved, Brought money.Amount
		Broken         string
		Opens          bool
	}
)

// Key implements Event.
func (e StepSubmitted) Key() string { return "submit:" + e.Step + "/" + strconv.Itoa(e.N) }
func (e BridgeSeen) Key() string    { return "bridge:" + strconv.FormatInt(e.Version, 10) }

// Name implements Event.
func (StepSubmitted) Name() string { return "step_submitted" }

func (e BridgeSeen) Name() string {
	if e.Opens {
		return "step_ready"
	}
	return "step_changed"
}

// Claimed says that what began a bridge has begun another order's already.
type Claimed struct{ Proof string }

func (e *Claimed) Error() string { return "order: " + e.Proof + " began another order" }

// SeenAs is the event that a standing of the bridge is for the order, with one of its
// proofs; not ok where it says nothing new.
func (o Order) SeenAs(s quote.Standing, proof string) (ev BridgeSeen, ok bool) {
	ev = BridgeSeen{Version: o.Version, Legs: s.Legs, Proof: proof, Moved: s.Moved, Brought: s.Brought, Broken: s.Broken}
	b := o.Bridge.clone()
	changed, opens := b.see(ev)
	ev.Opens = opens
	broke := s.Broken != "" && o.State != Held
	return ev, changed || broke || b.done()
}

// sameTime is by how much an estimate must differ from the last to be told anew.
const sameTime = 30 * time.Second

// see takes over what was seen. It reports whether anything is new, and whether a step
// waits for the owner that did not before.
func (b *Bridge) see(ev BridgeSeen) (changed, opens bool) {
	for _, l := range ev.Legs {
		i, ok := b.Step(l.ID)
		if !ok || l.ID == PayFee {
			continue
		}
		s := &b.Steps[i]
		was := *s
		switch {
		case s.Status == quote.LegConfirmed && (l.Status == quote.LegConfirmed || b.holds(i)):
			continue
		case l.Status == quote.LegFailed:
			s.Status, s.Tx, s.ToldAt, s.Error = quote.LegReady, "", time.Time{}, l.Why
			s.Attempts++
			if s.Actor == quote.ByService {
				s.Claims++
			}
		case l.Status == quote.LegConfirmed:
			s.Status, s.Error = l.Status, ""
			if l.Tx != "" {
				s.Tx = l.Tx
			}
		case s.Status == l.Status && s.Estimate && l.Estimate && l.ReadyAt.Sub(s.ReadyAt).Abs() < sameTime: // no news
		default:
			s.Status, s.ReadyAt, s.Estimate = l.Status, l.ReadyAt, l.Estimate
		}
		b.act(s)
		changed = changed || was != *s
		opens = opens || s.Status == quote.LegReady && s.Actor == quote.ByUser && (was.Status != quote.LegReady || was.Actor != s.Actor)
	}
	if b.Proof == "" && ev.Proof != "" {
		b.Proof, b.Moved, changed = ev.Proof, ev.Moved, true
	}
	if b.done() {
		b.Brought = ev.Brought
	}
	return changed, opens
}

// holds reports whether a step that is done stays done. What began the transfer does, and
// so does what the network did. What somebody did in between may be worth nothing later: a
// proof in a game that is lost must be made again.
func (b *Bridge) holds(i int) bool { return i == b.first() || b.Steps[i].Actor == quote.ByNetwork }

// act says who does a step.
func (b *Bridge) act(s *BridgeStep) {
	switch {
	case !s.Claim:
	case b.claims(*s):
		s.Actor = quote.ByService
	default:
		s.Actor = quote.ByUser
	}
}

func (b *Bridge) actAll() {
	for i := range b.Steps {
		b.act(&b.Steps[i])
	}
}

// done reports whether the last step is done for good.
func (b *Bridge) done() bool { return b.Steps[len(b.Steps)-1].Status == quote.LegConfirmed }

// begun reports whether the first step is done for good.
func (b *Bridge) begun() bool { return b.Steps[b.first()].Status == quote.LegConfirmed }

func (t *turn) stepSubmitted(ev StepSubmitted) error {
	b := t.o.Bridge
	if b == nil {
		return t.out("its steps are the service's")
	}
	i, ok := b.Step(ev.Step)
	if !ok || ev.Step == PayFee || ev.Tx == "" {
		return t.out("it has no such step")
	}
	s := &b.Steps[i]
	switch {
	case t.o.State.Finished():
		return t.out("")
	case s.Status != quote.LegReady && s.Status != quote.LegSubmitted:
		return t.out("that step is " + string(s.Status))
	case t.o.Calling():
		return t.out("the service is about to do that step")
	case ev.N != s.Named || s.Named >= MaxSubmissions:
		return t.out("it is not the step's next transaction")
	}
	s.Status, s.Tx, s.ToldAt, s.Named = quote.LegSubmitted, ev.Tx, t.now, s.Named+1
	if t.o.State == Awaiting {
		t.to(Confirming)
	}
	t.look()
	return nil
}

// look has the chains asked where the bridge stands, from now on.
func (t *turn) look() {
	t.o.Bridge.Turn++
	t.do(LookBridge{Turn: t.o.Bridge.Turn})
}

func (t *turn) bridgeSeen(ev BridgeSeen) error {
	b := t.o.Bridge
	switch {
	case b == nil:
		return t.out("it is no bridge that its owner runs")
	case t.o.State != Confirming && t.o.State != Executing && t.o.State != Held:
		return t.out("")
	case ev.Version != t.o.Version:
		return t.out("the order has gone on since")
	case t.o.Calling():
		return t.out("the service is about to do a step")
	}
	fresh := b.Proof == ""
	changed, opens := b.see(ev)
	switch {
	case opens != ev.Opens:
		return t.out("that is not what it opens")
	case !changed && !b.done() && (ev.Broken == "" || t.o.State == Held):
		return t.out("nothing is new")
	case b.begun() != (b.Proof != "") || b.begun() && b.Moved != t.o.Quote.In:
		return t.out("nothing proves that it began, or it began with another amount")
	}
	if fresh && b.Proof != "" {
		t.ch.Claim = b.Proof
	}
	switch {
	case b.done():
		t.settleClaim()
		t.end(Completed)
	case ev.Broken != "" && t.o.State != Held:
		t.hold(BridgeBroke, false)
	case ev.Broken != "":
	case t.o.State == Confirming && b.begun(), t.o.State == Held:
		t.to(Executing)
		t.patient()
	case t.o.State == Executing:
		t.patient()
	case b.Steps[b.first()].Status == quote.LegReady:
		t.backToStart()
	}
	return nil
}

// backToStart is where a bridge goes whose first transaction did nothing.
func (t *turn) backToStart() {
	if t.now.After(t.o.ExpiresAt) {
		t.settleClaim()
		t.end(Expired)
		return
	}
	t.to(Awaiting)
}

// patient sets for how long the service or the network may take. An owner takes as long
// as he likes, and a wait that is part of the bridge is none too long.
func (t *turn) patient() {
	b := t.o.Bridge
	t.o.Deadline, t.o.Delayed = time.Time{}, false
	if s, ok := b.Next(); ok && s.Actor == quote.ByUser {
		return
	}
	from := t.now
	if w := b.Waits(); w.After(from) {
		from = w
	}
	t.o.Deadline = from.Add(t.o.Patience.Executing)
}

// bridgeAsked wishes a transaction by which the service does a step.
func (t *turn) bridgeAsked(ev StepAsked) error {
	b := t.o.Bridge
	if ev.Index < 0 || ev.Index >= len(b.Steps) {
		return t.out("it has no such step")
	}
	s := &b.Steps[ev.Index]
	switch {
	case t.o.State != Executing && t.o.State != Held:
		return t.out("")
	case s.Status != quote.LegReady || s.Actor != quote.ByService || !b.claims(*s):
		return t.out("that step is not the service's to do now")
	case t.o.Calling():
		return t.out("a transaction of the bridge is under way")
	case ev.N != t.o.Asked(ev.Index) || len(t.o.Calls) >= MaxCalls || ev.Call.Chain != s.Chain || !ev.Call.Amount.IsZero():
		return t.out("it is not the step's next transaction, or money would go with it")
	}
	call := ev.Call
	call.From, call.For = HotWallet, ""
	t.o.Calls = append(t.o.Calls, StepCall{Step: ev.Index, N: ev.N, Outflow: Outflow{Asset: call.Chain.Native(), State: OutWished}})
	s.Status, s.Tx, s.ToldAt = quote.LegSubmitted, "", t.now
	t.do(Wish{ID: t.o.callName(ev.Index, ev.N, call.Chain), For: ForStep, Call: call})
	return nil
}

// bridgeCalled notes how a transaction of ours ended, and has the chains asked what it did.
func (t *turn) bridgeCalled(ev StepCalled) {
	b := t.o.Bridge
	s := &b.Steps[ev.Index]
	if ev.Failed == "" {
		s.Tx, s.ToldAt, b.Earned = ev.Landed.Tx, t.now, true
	} else {
		s.Status, s.Tx, s.Error = quote.LegReady, "", ev.Failed
		s.Attempts++
		s.Claims++
		b.act(s)
		if s.Actor == quote.ByUser { // it did not work out
			b.Auto, b.Earned = false, false
			t.settleClaim()
			b.actAll()
		}
	}
	t.patient()
	t.look()
}

// settleClaim takes the fee for claiming if the service earned it, and gives it back if
// it did not.
func (t *turn) settleClaim() {
	b := t.o.Bridge
	rec := t.o.deposit(b.Paid)
	if b.Paid == "" || rec == nil {
		return
	}
	b.Paid, t.o.InHand = "", Sum{}
	switch {
	case b.Earned:
		t.post(t.o.owed(), ledger.Revenue, rec.Asset, rec.Amount)
	case rec.Lost: // the chain took it back: nothing is owed for it
		t.post(t.o.owed(), ledger.ReorgLoss, rec.Asset, rec.Amount)
		rec.Lost, rec.State = false, DepositDrop
	default:
		t.post(t.o.owed(), t.o.recovery(), rec.Asset, rec.Amount)
		t.enterRecovery(rec, ClaimUnearned)
	}
}

// bridgePaid books a payment to the deposit address of a bridge that its owner runs:
// the fee for claiming, to the last unit and in time, or money that goes back.
func (t *turn) bridgePaid(rec *Deposit) {
	b := t.o.Bridge
	fits := rec.Asset == b.Fee.Asset && rec.Amount == b.Fee.Amount
	switch {
	case !t.o.wanted(rec.SeenAt):
		t.recoverDeposit(rec, LateDeposit)
	case !fits && rec.Asset != b.Fee.Asset:
		t.recoverDeposit(rec, WrongToken)
	case t.o.State.Finished() || b.Paid != "" || !b.Auto:
		t.recoverDeposit(rec, DuplicateDeposit)
	case !fits:
		t.recoverDeposit(rec, ClaimMismatch)
	default:
		rec.State, b.Paid = DepositCounted, rec.ID
		t.post(ledger.Deposits(rec.Asset.Chain), t.o.owed(), rec.Asset, rec.Amount)
		t.o.InHand = Sum{rec.Asset, rec.Amount}
		b.Steps[0].Status, b.Steps[0].Tx = quote.LegConfirmed, rec.Tx
		b.actAll()
		if b.begun() && !t.o.Calling() {
			t.patient()
			t.look()
		}
	}
}

// bridgeSighted shows on the step of paying that the fee is in sight, or is no more.
func (t *turn) bridgeSighted() {
	b := t.o.Bridge
	if b.Steps[0].ID != PayFee || b.Steps[0].Status == quote.LegConfirmed {
		return
	}
	b.Steps[0].Status, b.Steps[0].Tx = quote.LegReady, ""
	i := slices.IndexFunc(t.o.Deposits, func(d Deposit) bool {
		return d.State == DepositPending && d.Asset == b.Fee.Asset && d.Amount == b.Fee.Amount && t.o.wanted(d.SeenAt)
	})
	if i >= 0 {
		b.Steps[0].Status, b.Steps[0].Tx = quote.LegSubmitted, t.o.Deposits[i].Tx
	}
}

// bridgeLost undoes a fee that was believed final; it reports whether it was that and
// nothing was done for it yet.
func (t *turn) bridgeLost(rec *Deposit) bool {
	b := t.o.Bridge
	if rec.ID != b.Paid || b.Earned || t.o.Calling() {
		return false
	}
	t.post(t.o.owed(), ledger.Deposits(rec.Asset.Chain), rec.Asset, rec.Amount)
	rec.State, b.Paid, t.o.InHand = DepositDrop, "", Sum{}
	b.Steps[0].Status, b.Steps[0].Tx = quote.LegReady, ""
	b.actAll()
	return true
}
