package order

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/testseed"
)

var (
	give  = chain.Asset{Chain: "sim:a", Ref: "usd"}
	wrong = chain.Asset{Chain: "sim:a", Ref: "eur"}
	get   = chain.Asset{Chain: "sim:b"}
	hub   = chain.Asset{Chain: "sim:a", Ref: "hub"}
	far   = chain.Asset{Chain: "sim:b", Ref: "hub"}
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	addr  = func(s string) chain.Address { return chain.CanonicalAddress(chain.EVM, s) }
	n     = money.FromUint64
)

func patience() Patience {
	return Patience{Confirming: time.Hour, Executing: time.Hour, Sending: time.Hour, Held: time.Hour, Refunding: time.Hour, Recovery: time.Hour}
}

func terms(r *rand.Rand) quote.Quote {
	pick := func(as ...quote.Action) quote.Action { return as[r.IntN(len(as))] }
	q := quote.Quote{
		ID: "quo_1", Give: give, Get: get, In: n(1000), Out: n(500), MinIn: n(10), MaxIn: n(5000), Mode: quote.Float,
		Tolerance: quote.Tolerance{
			Under: money.Whole / 200, Over: money.Whole / 200, UnderAction: pick(quote.Hold, quote.Refund),
			OverAction: pick(quote.Hold, quote.Refund, quote.ProcessAll), WrongAsset: pick(quote.Hold, quote.Refund),
		},
		USD: money.Dollar, ExpiresAt: start.Add(2 * time.Hour),
	}
	if r.IntN(2) == 0 {
		q.Integrator, q.Fee = "int_1", &quote.Fee{Percent: money.Whole / 100, PayTo: addr("fee"), Skipped: r.IntN(4) == 0}
	}
	leg := func(venue string, in, out chain.Asset) quote.Step {
		return quote.Step{Venue: venue, In: in, Out: out, Give: n(1000), Bring: n(900), MinOut: n(1)}
	}
	const inv = quote.Inventory
	q.Steps = [][]quote.Step{
		nil, nil, nil,
		{leg("v", give, get)},
		{leg("v", give, hub), leg("w", hub, get)},
		{leg(inv, give, get)},
		{leg("v", give, hub), leg(inv, hub, get)},
		{leg(inv, give, far), leg("w", far, get)},
		{leg("v", give, hub), leg(inv, hub, far), leg("w", far, get)},
	}[r.IntN(9)]
	if len(q.Steps) > 0 {
		q.Toll = quote.Toll{Share: money.Percent(r.IntN(3)) * money.Whole / 100, Flat: n(uint64(r.IntN(3)))}
	}
	return q
}

func newOrder(t *testing.T, r *rand.Rand) Change {
	t.Helper()
	a := Ask{ID: "ord_1", Quote: terms(r), DepositTo: addr("dep"), PayTo: addr("pay"), FundingTime: time.Hour, Patience: patience()}
	if r.IntN(2) == 0 {
		a.RefundTo = addr("back")
	}
	// Half of them are paid straight into the wallet; which does not change what is drawn.
	if tol := a.Quote.Tolerance; (tol.WrongAsset == quote.Refund) != (tol.UnderAction == quote.Refund) {
		a.DepositTo, a.PayFrom = chain.ReferenceTo(string(a.ID)).In(chain.EVM), addr("payer")
	}
	c, err := New(a, start)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// randomEvent draws an event that may or may not have its place now. It leans to
// those that an order in this state waits for, so that every state is reached.
func randomEvent(r *rand.Rand, o Order, now time.Time) Event {
	dep := func() (chain.Deposit, int) {
		i := r.IntN(4)
		asset := give
		if i == 3 {
			asset = wrong
		}
		amounts := []uint64{1000, 1000, 1000, 400, 600, 1003, 3000, 9000, 1}
		d := chain.Deposit{ID: chain.DepositID(fmt.Sprintf("d%d", i)), Asset: asset, Amount: n(amounts[r.IntN(len(amounts))]), Tx: "t"}
		sighting := 1
		if rec := o.deposit(d.ID); rec != nil {
			d.Asset, d.Amount = rec.Asset, rec.Amount
			sighting = rec.Sighting + r.IntN(2)
		}
		return d, sighting
	}
	d, s := dep()
	landed := Landed{Tx: "x", Cost: n(uint64(r.IntN(3)))}
	id := d.ID
	if len(o.Deposits) > 0 && r.IntN(2) == 0 {
		id = o.Deposits[r.IntN(len(o.Deposits))].ID
	}
	var waits time.Time
	if rec := o.deposit(id); rec != nil {
		waits = rec.Deadline
	}
	req := fmt.Sprint(r.Uint32())
	in := o.InHand.Amount
	if o.Step == 0 && !in.IsZero() {
		in, _, _ = o.Quote.Split(in)
	}
	q := o.Quote
	q.ID, q.In, q.MaxIn, q.ExpiresAt = quote.ID(req), o.InHand.Amount, n(100000), now.Add(time.Minute)
	all := []Event{
		DepositSeen{d, s, now},
		DepositFinal{d, s, now, r.IntN(10) == 0},
		DepositGone{d, s, now, false, false},
		FundingClosed{},
		Cancelled{},
		StepAsked{o.Step, o.Asked(o.Step), chain.Call{Chain: get.Chain, Asset: get}},
		StepCalled{o.Step, max(o.Asked(o.Step)-1, 0), get.Chain, landed, []string{"", "w"}[r.IntN(2)]},
		StepDone{o.Step, o.Asked(o.Step), in, n(490), r.IntN(10) == 0},
		StepFailed{o.Step, o.Asked(o.Step), "w"},
		PayoutFinal{landed},
		PayoutFailed{"w", landed},
		RefundPriced{n(2)},
		RefundBelowCost{n(2)},
		RefundFinal{landed},
		RefundFailed{"w", landed},
		FeePriced{},
		FeeSkipped{},
		FeePaid{landed},
		FeeFailed{"w", landed},
		RecoveryPriced{id, n(2)},
		RecoveryDust{id, n(2)},
		RecoveryFinal{id, landed},
		RecoveryFailed{id, "w", landed},
		RefundAddressGiven{addr("late")},
		RefundAsked{req},
		RequoteAccepted{q},
		DeadlinePassed{o.Deadline},
		RecoveryDue{id, waits},
		Stopped{req, ScreeningHold},
		Lifted{req, r.IntN(4) == 0},
	}
	if o.State == Awaiting && r.IntN(2) == 0 {
		return all[r.IntN(2)]
	}
	return all[r.IntN(len(all))]
}

// randomOffer is an offer of the order's hold, or now and then of one before it.
func randomOffer(r *rand.Rand, o Order) Event {
	return RequoteOffered{Hold: o.Hold.Since - int64(r.IntN(4)/3)}
}

// witness sees all changes of one order, as the books do.
type witness struct {
	t          *testing.T
	books      *ledger.Books
	wishes     map[string]int
	payoutDead bool
	seed       uint64
	ended      State
	feeSettled int
	came       map[chain.Asset]*big.Int // straight into the wallet, less what was taken back
}

func newWitness(t *testing.T, seed uint64) *witness {
	w := &witness{t: t, seed: seed, books: ledger.NewBooks(), wishes: map[string]int{}, came: map[chain.Asset]*big.Int{}}
	for _, a := range []chain.Asset{give, wrong, get, hub, far, give.Chain.Native()} {
		fund := ledger.Entry{Postings: []ledger.Posting{{Debit: ledger.Hot(a.Chain), Credit: ledger.Capital, Asset: a, Amount: n(1 << 40)}}}
		if err := w.books.Apply(fund); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *witness) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d: %s", w.seed, fmt.Sprintf(format, args...))
}

func (w *witness) see(c Change) {
	w.t.Helper()
	if err := w.books.Apply(c.Entry); err != nil {
		w.fail("%s in %s: %v", c.Event.Name(), c.From, err)
	}
	w.homecoming(c.Entry)
	if w.ended != "" && c.Now.State != w.ended {
		w.fail("%s led out of %s to %s", c.Event.Name(), w.ended, c.Now.State)
	}
	if c.Now.State.Finished() {
		w.ended = c.Now.State
	}
	if _, ok := c.Event.(PayoutFailed); ok {
		w.payoutDead = true
	}
	switch c.Event.(type) {
	case FeePaid, FeeSkipped:
		w.feeSettled++
	}
	for _, e := range c.Effects {
		wish, ok := e.(Wish)
		if !ok {
			continue
		}
		w.wishes[wish.ID]++
		if w.wishes[wish.ID] > 1 {
			w.fail("%s wished twice", wish.ID)
		}
		if wish.For == ForRefund && w.wishes["ord_1/payout"] > 0 && !w.payoutDead {
			w.fail("refund beside a payout that may land")
		}
	}
	if w.feeSettled > 1 {
		w.fail("fee settled twice")
	}
	w.settled(c.Now)
}

// homecoming adds up what came straight into the wallet. Steps bring other assets there.
func (w *witness) homecoming(e ledger.Entry) {
	for _, p := range e.Postings {
		if p.Asset != give && p.Asset != wrong {
			continue
		}
		sum := cmp.Or(w.came[p.Asset], new(big.Int))
		n, _ := new(big.Int).SetString(p.Amount.String(), 10)
		if p.Debit == ledger.Hot(give.Chain) || p.Debit == ledger.TakenBack(give.Chain) {
			sum.Add(sum, n)
		}
		if p.Credit == ledger.TakenBack(give.Chain) {
			sum.Sub(sum, n)
		}
		w.came[p.Asset] = sum
	}
}

// settled holds the books to the order.
func (w *witness) settled(o Order) {
	w.t.Helper()
	for _, a := range []chain.Asset{give, wrong, get, hub, far, give.Chain.Native()} {
		if sum, err := w.books.Sum(a); err != nil || sum.Debits != sum.Credits {
			w.fail("books of %s do not sum to zero: %s %v", a, sum, err)
		}
		var here money.Amount
		for _, d := range o.Deposits {
			if d.Asset == a && d.State.final() && !d.Lost {
				here, _ = here.Add(d.Amount)
			}
		}
		got := w.books.Balances[ledger.Key{Account: ledger.Deposits(give.Chain), Asset: a}].String()
		if _, home := o.DepositTo.Reference(); home {
			if got != "0" {
				w.fail("deposits of %s are %s, and nothing lies on a reference", a, got)
			}
			got = cmp.Or(w.came[a], new(big.Int)).String()
		}
		if a.Chain == give.Chain && got != here.String() {
			w.fail("deposits of %s are %s, the order knows %s", a, got, here)
		}
		owed := w.books.Balances[ledger.Key{Account: o.owed(), Asset: a}]
		if o.State.Finished() && !owed.IsZero() {
			w.fail("%s is %s and still owed %s of %s", o.ID, o.State, owed, a)
		}
	}
	for name := range w.books.Reservations {
		if running := name == o.stepName(o.Step) && o.State == Executing; strings.Contains(name, "/step/") && !running {
			w.fail("%s is reserved in %s", name, o.State)
		}
	}
	_, reserved := w.books.Reservations["ord_1/payout"]
	waits := o.State == Awaiting || o.State == Confirming || o.State == Sending
	if _, some, err := o.Quote.Reserve(); err != nil || some.IsZero() {
		waits = o.State == Sending
	}
	if o.State == Executing {
		waits = o.nextCrossing() >= 0
	}
	if o.Bridge != nil {
		waits = false
	}
	if reserved != waits {
		w.fail("payout reserved: %v in %s", reserved, o.State)
	}
}

// TestRandomSequencesSweep feeds random events to orders: no sequence of them pays
// twice, refunds twice, settles a fee twice, refunds beside a payout that may land,
// or leads out of an ending, and every state is reached.
func TestRandomSequencesSweep(t *testing.T) {
	const events = 30
	base := testseed.Of(t)
	reached, offers := map[State]int{}, 0
	for i := range uint64(sequences) {
		seed := base + i
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWitness(t, seed)
		c := newOrder(t, r)
		w.see(c)
		o, now := c.Now, start
		reached[o.State]++
		for range events {
			now = now.Add(time.Duration(r.IntN(20)) * time.Minute)
			ev := randomEvent(r, o, now)
			if r.IntN(10) == 0 {
				ev = randomOffer(r, o)
			}
			before := o.clone()
			c, err := o.Apply(ev, now)
			if !reflect.DeepEqual(before, o) {
				w.fail("%s changed its receiver", ev.Name())
			}
			var turn *OutOfTurn
			switch {
			case err == nil:
			case errors.Is(err, ErrKnown), errors.Is(err, ErrNoRefundAddress), errors.Is(err, quote.ErrIncomplete):
				continue
			case errors.As(err, &turn):
				if turn.State != before.State || turn.Event != ev.Name() {
					w.fail("refusal names %s in %s, not %s in %s", turn.Event, turn.State, ev.Name(), before.State)
				}
				continue
			default:
				w.fail("%s in %s: %v", ev.Name(), o.State, err)
			}
			if c.Now.Version != o.Version+1 || c.Was != o.Version {
				w.fail("version %d after %d", c.Now.Version, o.Version)
			}
			w.see(c)
			if _, ok := ev.(RequoteOffered); ok {
				offers++
			}
			o = c.Now
			reached[o.State]++
		}
	}
	for _, s := range States() {
		if reached[s] == 0 {
			t.Errorf("state %s was never reached", s)
		}
	}
	if offers == 0 {
		t.Error("no order was told of an offer")
	}
	t.Logf("reached %v, %d offers", reached, offers)
}
