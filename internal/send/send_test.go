package send

import (
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/testseed"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestRampRisesToTheBudgetAndNeverBeyond(t *testing.T) {
	n := money.FromUint64
	r := Ramp{First: n(100), Max: n(900), Started: t0, Deadline: t0.Add(80 * time.Minute)}
	for _, c := range []struct {
		after time.Duration
		want  uint64
	}{{-time.Hour, 100}, {0, 100}, {10 * time.Minute, 200}, {79 * time.Minute, 890}, {80 * time.Minute, 900}, {9 * time.Hour, 900}} {
		if got := r.At(t0.Add(c.after)); got != n(c.want) {
			t.Errorf("after %s: %s, want %d", c.after, got, c.want)
		}
	}
	rng := testseed.Rand(t)
	for range 10_000 {
		r := Ramp{First: n(rng.Uint64N(1e6)), Max: n(rng.Uint64N(1e6)), Started: t0, Deadline: t0.Add(time.Duration(rng.Int64N(int64(time.Hour))))}
		a := t0.Add(time.Duration(rng.Int64N(int64(2*time.Hour))) - 30*time.Minute)
		b := a.Add(time.Duration(rng.Int64N(int64(time.Hour))))
		if r.Max.Less(r.At(a)) || r.At(b).Less(r.At(a)) {
			t.Fatalf("%+v: %s at %s, %s at %s", r, r.At(a), a, r.At(b), b)
		}
	}
}

func TestABumpIsAnEighthMore(t *testing.T) {
	n := money.FromUint64
	for _, c := range []struct {
		prev, offer uint64
		want        bool
	}{{100, 112, false}, {100, 113, true}, {8, 9, true}, {8, 8, false}, {0, 0, false}, {0, 1, true}, {100, 50, false}} {
		if got := worthBump(n(c.prev), n(c.offer)); got != c.want {
			t.Errorf("%d to %d: %v", c.prev, c.offer, got)
		}
	}
}

func TestDecideFoldsAllFates(t *testing.T) {
	at := func(f chain.Fate, cancels bool) seen {
		return seen{Kept{Cancel: cancels}, chain.Status{Fate: f}}
	}
	late := Transfer{GiveUp: t0}
	patient := Transfer{}
	for _, c := range []struct {
		name string
		t    Transfer
		all  []seen
		want next
	}{
		{"nothing yet", patient, nil, draft},
		{"nothing yet and too late", late, nil, abandon},
		{"all dead", patient, []seen{at(chain.Dead, false)}, draft},
		{"all dead and too late", late, []seen{at(chain.Dead, false), at(chain.Dead, true)}, abandon},
		{"an old one is final", patient, []seen{at(chain.Final, false), at(chain.Pending, false)}, finish},
		{"the cancel is final", late, []seen{at(chain.Dead, false), at(chain.Final, true)}, finish},
		{"it failed on chain", patient, []seen{at(chain.Reverted, false)}, finish},
		{"one stands in a block", late, []seen{at(chain.Included, false), at(chain.Missing, false)}, wait},
		{"nobody knows it", patient, []seen{at(chain.Missing, false)}, offer},
		{"it waits", patient, []seen{at(chain.Pending, false)}, bump},
		{"it waits too long", late, []seen{at(chain.Pending, false)}, cancel},
		{"nobody knows it and too late", late, []seen{at(chain.Missing, false)}, cancel},
		{"the cancel waits", late, []seen{at(chain.Pending, false), at(chain.Pending, true)}, bump},
		{"nobody knows the cancel", late, []seen{at(chain.Pending, false), at(chain.Missing, true)}, offer},
	} {
		if got, _ := decide(c.t, c.all, t0); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestACancelThatLandsIsNotAPayment(t *testing.T) {
	r := seen{Kept{Cancel: true, Attempt: chain.Attempt{Tx: "x"}}, chain.Status{Fate: chain.Final, Fee: money.FromUint64(7)}}.result()
	if r.Fate != chain.Dead || r.Tx != "x" || r.Cost != money.FromUint64(7) {
		t.Errorf("%+v", r)
	}
}
