package opbridge_test

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/venue/opbridge"
)

// trip follows a transfer of coins downwards.
type trip struct {
	*rig
	trips *opbridge.Trips
	quote.Trip
}

func (r *rig) trip() *trip {
	r.Helper()
	over, err := opbridge.NewTrips(r.bridge, []quote.Lane{{Give: belowID.Native(), Get: aboveID.Native()}},
		opbridge.TripConfig{Poll: time.Second, Relay: time.Second, Told: time.Second, Challenge: time.Second})
	if err != nil {
		r.Fatal(err)
	}
	return &trip{r, over, quote.Trip{
		Give: aboveID.Native(), Get: belowID.Native(), To: canon(common.Address{0xb0}), Amount: money.FromUint64(1000),
	}}
}

// does has the transaction of a step made and sent.
func (x *trip) does(leg string) {
	x.Helper()
	calls := ok[[]chain.Call](x.T)(x.trips.Build(x.Context(), x.Trip, leg, time.Now()))
	x.Told = append(x.Told, quote.Told{Leg: leg, Tx: x.act(calls[len(calls)-1]), At: time.Now()})
}

// stood is how a step stands.
func (x *trip) stood(leg string) quote.LegStands {
	x.Helper()
	s := ok[quote.Standing](x.T)(x.trips.Look(x.Context(), x.Trip, time.Now()))
	if x.Began == "" && len(s.Proofs) > 0 {
		x.Began = s.Proofs[0]
	}
	for _, l := range s.Legs {
		if l.ID == leg {
			return l
		}
	}
	return quote.LegStands{ID: leg, Status: quote.LegPending}
}

// until makes blocks until a step stands so.
func (x *trip) until(leg string, want quote.LegStatus) {
	x.Helper()
	for range 40 {
		if x.stood(leg).Status == want {
			return
		}
		x.both(1)
	}
	x.Fatalf("%s is never %s", leg, want)
}

// TestWhatIsProvenIsNotProvenOnceMore: a second proof of the same account ends its first,
// and the time to wait begins anew.
func TestWhatIsProvenIsNotProvenOnceMore(t *testing.T) {
	t.Parallel()
	twice(t, func(t *testing.T, r *rig) {
		x := r.trip()
		x.does("initiate")
		x.until("initiate", quote.LegConfirmed)
		if _, err := x.trips.Build(t.Context(), x.Trip, "finalize", time.Now()); !errors.Is(err, quote.ErrNotReady) {
			t.Errorf("it is finalized before it is proven: %v", err)
		}
		x.until("prove", quote.LegReady)
		x.does("prove")
		x.until("prove", quote.LegConfirmed)
		if calls, err := x.trips.Build(t.Context(), x.Trip, "prove", time.Now()); !errors.Is(err, quote.ErrNotReady) {
			t.Errorf("it is proven once more, by %d calls: %v", len(calls), err)
		}
	})
}

// TestAProofThatWasDisputedIsMadeAgain: the step is open again, also where what was said
// to do it is final.
func TestAProofThatWasDisputedIsMadeAgain(t *testing.T) {
	t.Parallel()
	twice(t, func(t *testing.T, r *rig) {
		tip := func() uint64 { return ok[chain.Head](t)(r.l2.read.Head(t.Context())).Tip.Height }
		for tip()%every != 0 { // so that it is told of a later block than its own
			r.both(1)
		}
		x := r.trip()
		x.does("initiate")
		r.mine(r.l2, deep)
		x.until("initiate", quote.LegConfirmed)
		began := ok[chain.Receipt](t)(r.l2.read.Receipt(t.Context(), x.Told[0].Tx)).Block.Height
		x.until("prove", quote.LegReady)
		x.does("prove")
		r.mine(r.l1, deep)
		if s := x.stood("prove"); s.Status != quote.LegConfirmed {
			t.Fatalf("proven, the step is %s", s.Status)
		}
		r.do(r.l2, "reorg", map[string]any{"depth": tip() - began, "lose": true}, nil)
		x.until("prove", quote.LegFailed)
		x.does("prove")
		x.until("finalize", quote.LegWaiting)
	})
}

// TestNobodyHasTheServiceRunHisCode: whoever begins a withdrawal says how much gas must be
// given when it is finalized, to whatever contract he names, and how long its message is.
// Where the service finalizes, that is paid by the service.
func TestNobodyHasTheServiceRunHisCode(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	for name, one := range map[string]struct {
		gas   uint32
		extra int
		want  quote.LegStatus
	}{
		"as it is made here":  {200_000, 0, quote.LegConfirmed},
		"with a word":         {200_000, 32, quote.LegConfirmed},
		"much gas":            {10_000_000, 0, quote.LegFailed},
		"a message that long": {200_000, 20_000, quote.LegFailed},
	} {
		x := r.trip()
		amount, _ := new(big.Int).SetString(x.Amount.String(), 10)
		data := pack(t, "bridgeETHTo(address,uint32,bytes)", common.Address{0xb0}, one.gas, make([]byte, one.extra))
		tx := r.send(r.l2, common.HexToAddress("0x4200000000000000000000000000000000000010"), amount, data)
		r.mine(r.l2, deep)
		x.Told = []quote.Told{{Leg: "initiate", Tx: tx, At: time.Now()}}
		if s := x.stood("initiate"); s.Status != one.want || (x.Began != "") != (one.want == quote.LegConfirmed) {
			t.Errorf("%s: it is %s: %s", name, s.Status, s.Why)
		}
	}
}
