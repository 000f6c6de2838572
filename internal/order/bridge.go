package order

import (
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// PayFee is the step in which the service is paid for claiming.
const PayFee = "pay_fee"

// Bounds of one bridge.
const (
	// MaxClaims is how often the service tries a step before it leaves it to the owner.
	MaxClaims = 3
	// MaxSubmissions is how many transactions may be named for one step.
	MaxSubmissions = 32
)

// Bridge is a transfer over a native bridge that the order's owner runs himself: the
// service says what to send, follows it and tells, and never has the money.
type Bridge struct {
	Plan []byte        // what the bridge wants to know again
	From chain.Address // who sends; zero is anybody
	// Auto: the service does the steps that anybody may do, for Fee, which is paid to the
	// order's deposit address. Paid is that payment, and Earned that a claim of ours landed.
	Auto   bool
	Fee    Sum
	Paid   chain.DepositID
	Earned bool

	Steps          []BridgeStep
	Proof          string // what began it, for good; it begins no other order
	Moved, Brought money.Amount
	Turn           int // numbers looks, so that one at a time goes on
}

// BridgeStep is a step of it.
type BridgeStep struct {
	quote.Leg
	Status   quote.LegStatus
	ReadyAt  time.Time
	Estimate bool // ReadyAt is about when
	Tx       chain.TxID
	ToldAt   time.Time // when Tx was named
	Attempts int       // that failed
	Claims   int       // of them those of the service
	Named    int       // transactions that were named for it
	Error    string    // of the last that failed
}

func (b *Bridge) clone() *Bridge {
	if b == nil {
		return nil
	}
	c := *b
	c.Steps = slices.Clone(b.Steps)
	return &c
}

// Step finds a step by its name.
func (b *Bridge) Step(id string) (i int, ok bool) {
	i = slices.IndexFunc(b.Steps, func(s BridgeStep) bool { return s.ID == id })
	return i, i >= 0
}

// first is the step by which the transfer begins.
func (b *Bridge) first() int {
	if b.Steps[0].ID == PayFee {
		return 1
	}
	return 0
}

// claims reports whether the service does the steps that anybody may do.
func (b *Bridge) claims(s BridgeStep) bool {
	return s.Claim && b.Auto && (b.Fee.Amount.IsZero() || b.Paid != "") && s.Claims < MaxClaims
}

// Next is the step that somebody must do now, and by whom; not ok if nobody can.
func (b *Bridge) Next() (s BridgeStep, ok bool) {
	for i := b.first(); i < len(b.Steps); i++ {
		if b.Steps[i].Status == quote.LegReady {
			return b.Steps[i], true
		}
	}
	return BridgeStep{}, false
}

// Waits is until when the bridge only waits; zero is that it is not known.
func (b *Bridge) Waits() time.Time {
	for _, s := range b.Steps {
		if s.Status == quote.LegWaiting {
			return s.ReadyAt
		}
	}
	return time.Time{}
}

// Busy reports whether a transaction of the bridge is under way.
func (b *Bridge) Busy() bool {
	return slices.ContainsFunc(b.Steps[b.first():], func(s BridgeStep) bool { return s.Status == quote.LegSubmitted })
}

// Trip is the transfer in the words of bridges.
func (o Order) Trip() quote.Trip {
	b := o.Bridge
	t := quote.Trip{
		Bridge: o.Origin.Bridge, Give: o.Quote.Give, Get: o.Quote.Get, From: b.From, To: o.PayTo, Amount: o.Quote.In, Plan: b.Plan, Began: b.Proof,
	}
	for _, s := range b.Steps[b.first():] {
		if s.Tx != "" {
			t.Told = append(t.Told, quote.Told{Leg: s.ID, Tx: s.Tx, At: s.ToldAt})
		}
	}
	return t
}

// BridgeAsk is what a bridge is begun with.
type BridgeAsk struct {
	Plan []byte
	From chain.Address
	Legs []quote.Leg
	Auto bool
	Fee  money.Amount // in the coin of the chain where it begins; zero is free
}

// begin makes the steps of a new bridge: the first can be done at once, and so can paying.
func (a BridgeAsk) begin(on chain.ID) *Bridge {
	b := &Bridge{Plan: a.Plan, From: a.From, Auto: a.Auto}
	add := func(l quote.Leg, status quote.LegStatus) {
		b.Steps = append(b.Steps, BridgeStep{Leg: l, Status: status})
	}
	if a.Auto && !a.Fee.IsZero() {
		b.Fee = Sum{on.Native(), a.Fee}
		add(quote.Leg{ID: PayFee, Title: "Pay for the service to claim", Actor: quote.ByUser, Chain: on}, quote.LegReady)
	}
	for i, l := range a.Legs {
		status := quote.LegPending
		if i == 0 {
			status = quote.LegReady
		}
		add(l, status)
	}
	for i := range b.Steps {
		if b.claims(b.Steps[i]) {
			b.Steps[i].Actor = quote.ByService
		}
	}
	return b
}

// submitted finds a step whose transaction is under way.
func (o Order) submitted(id string) (int, bool) {
	if o.Bridge == nil {
		return 0, false
	}
	i, ok := o.Bridge.Step(id)
	return i, ok && o.Bridge.Steps[i].Status == quote.LegSubmitted
}
