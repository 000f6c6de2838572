package send_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/testseed"
)

// scripts are what the first worker goes through.
var scripts = []struct {
	name string
	run  func(*rig)
}{
	{"pays", func(r *rig) {
		for i := range finalDepth + 2 {
			r.stepA(time.Duration(i) * time.Second)
			r.net.Mine(1)
		}
		r.stepA(time.Minute)
	}},
	{"raises and gives up", func(r *rig) {
		r.stepA(0)
		r.net.SetFees(money.FromUint64(1_000))
		for _, after := range []time.Duration{4 * time.Minute, 9 * time.Minute, giveUp, giveUp + time.Second} {
			r.stepA(after)
			r.net.Mine(1)
		}
		r.net.SetFees(money.FromUint64(10))
		for range finalDepth + 1 {
			r.stepA(giveUp + time.Minute)
			r.net.Mine(1)
		}
		r.stepA(giveUp + time.Minute)
	}},
}

// intruders are what the second worker does while the first one stands still
// between two of its calls.
var intruders = []struct {
	name string
	run  func(*rig)
}{
	{"steps once", func(r *rig) { r.stepB(time.Second) }},
	{"steps between blocks", func(r *rig) {
		r.stepB(time.Second)
		r.net.Mine(1)
		r.stepB(2 * time.Second)
	}},
	{"goes on to the end", func(r *rig) {
		for i := range finalDepth + 3 {
			r.stepB(time.Duration(i) * time.Second)
			r.net.Mine(1)
		}
		r.stepB(time.Minute)
	}},
	{"raises the price", func(r *rig) {
		r.stepB(0)
		r.net.SetFees(money.FromUint64(40))
		r.stepB(9 * time.Minute)
		r.net.Mine(1)
		r.stepB(9 * time.Minute)
		r.net.SetFees(money.FromUint64(10))
	}},
	{"raises the price until it lands", func(r *rig) {
		r.stepB(0)
		r.net.SetFees(money.FromUint64(40))
		for range finalDepth + 2 {
			r.stepB(9 * time.Minute)
			r.net.Mine(1)
		}
		r.stepB(9 * time.Minute)
		r.net.SetFees(money.FromUint64(10))
	}},
	{"gives up", func(r *rig) {
		r.net.SetFees(money.FromUint64(40))
		for range finalDepth + 3 {
			r.stepB(time.Hour)
			r.net.Mine(1)
		}
		r.stepB(time.Hour)
	}},
	{"signs anew when all is forgotten and has expired", func(r *rig) {
		r.net.EvictAll()
		r.net.MineEmpty(30)
		for range finalDepth + 2 {
			r.stepB(time.Minute)
			r.net.Mine(1)
		}
	}},
}

// TestTwoWorkersPayOnceSweep stops the first worker before every one of its calls
// and lets the second one work; then the first goes on with what it knew.
func TestTwoWorkersPayOnceSweep(t *testing.T) {
	t.Parallel()
	first := 1 + testseed.Rand(t).IntN(sweepStride)
	for _, script := range scripts {
		for _, intruder := range intruders {
			t.Run(fmt.Sprintf("the first %s, the second %s", script.name, intruder.name), func(t *testing.T) {
				t.Parallel()
				eachShape(t, func(t *testing.T, s sim.Shape) {
					db := openStore(t)
					calls := 1
					next := func(n int) int {
						if n == 0 { // nobody came between: now they do
							return first
						}
						return n + sweepStride
					}
					for n := 0; n <= calls; n = next(n) {
						r := newRig(t, db, chain.ID(fmt.Sprintf("sim:%03d", n)), s)
						r.wish(true)
						r.wish(false)
						r.onA = func(string) {
							if r.calls == n {
								intruder.run(r)
							}
						}
						script.run(r)
						calls = max(calls, r.calls)
						r.resume()
						r.quiet(time.Hour)
						r.check()
						if t.Failed() {
							t.Fatalf("stopped before call %d; trouble on the way: %v", n, r.trouble)
						}
					}
					if calls < 20 {
						t.Errorf("the first worker made only %d calls", calls)
					}
				})
			})
		}
	}
}

// resume is the operator. A worker that was overtaken may take an attempt of the
// other one, which it has not read yet, for a stranger's, and stop the chain: that
// is early, and never too late.
func (r *rig) resume() {
	r.t.Helper()
	if err := r.db.Resume(r.t.Context(), r.net.ID()); err != nil {
		r.t.Fatal(err)
	}
}

// stopAt makes the first worker stand still before the first call of that name
// after another, while something happens.
func (r *rig) stopAt(call, behind string, happens func()) {
	passed, done := behind == "", false
	r.onA = func(name string) {
		if !done && passed && name == call {
			done = true
			happens()
		}
		passed = passed || name == behind
	}
	r.t.Cleanup(func() {
		if !done {
			r.t.Errorf("the worker never came to %s behind %q", call, behind)
		}
	})
}

// TestAWorkerThatSleptPastItsTurnPaysNothingTwice: one payout, and a worker that
// stands still where it hurts most, for longer than any lease.
func TestAWorkerThatSleptPastItsTurnPaysNothingTwice(t *testing.T) {
	t.Parallel()
	lands := func(after time.Duration) func(*rig) {
		return func(r *rig) {
			for range finalDepth + 2 {
				r.stepB(after)
				r.net.Mine(1)
			}
			r.stepB(after)
		}
	}
	expires := func(r *rig) {
		r.net.MineEmpty(30)
		lands(time.Minute)(r)
	}
	for _, c := range []struct {
		name         string
		call, behind string
		other        func(*rig)
		want         chain.Fate
		attempts     int
	}{
		{"between Draft and Keep, and the other lands", "Keep", "Draft", lands(5 * time.Minute), chain.Final, 1},
		{"between Draft and Keep, and the other signs and is not done", "Keep", "Draft", func(r *rig) { r.stepB(5 * time.Minute) }, chain.Final, 0},
		{"between Draft and Keep, and the other gives up", "Keep", "Draft", func(r *rig) { r.stepB(time.Hour) }, chain.Dead, 0},
		{"between Keep and Broadcast, and the other offers its bytes", "Broadcast", "Keep", lands(5 * time.Minute), chain.Final, 1},
		{"between Keep and Broadcast, until the bytes are old", "Broadcast", "Keep", expires, chain.Final, 0},
		{"before its first look", "Live", "", lands(5 * time.Minute), chain.Final, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachShape(t, func(t *testing.T, s sim.Shape) {
				r := newRig(t, openStore(t), "sim:slept", s)
				w := r.wish(true)
				r.stopAt(c.call, c.behind, func() { c.other(r) })
				r.stepA(0)
				r.quiet(5 * time.Minute)
				r.check()
				k := r.record(w.ID)
				if k.Result.Fate != c.want || (c.attempts > 0 && len(k.Attempts) != c.attempts) {
					t.Errorf("it ended as %s after %d attempts", k.Result.Fate, len(k.Attempts))
				}
				if why := r.halted(); why != "" {
					t.Errorf("halted: %s", why)
				}
			})
		})
	}
}

func TestAPayoutPausedBeforeItsBroadcastCannotFollowItsOwnCancel(t *testing.T) {
	t.Parallel()
	for _, s := range []sim.Shape{sim.Nonces, sim.Coins} { // the third has no slot to use up
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, openStore(t), "sim:cancel", s)
			w := r.wish(true)
			r.stopAt("Broadcast", "Keep", func() {
				for range finalDepth + 2 {
					r.stepB(time.Hour)
					r.net.Mine(1)
				}
				r.stepB(time.Hour)
			})
			r.stepA(0)
			r.quiet(time.Hour)
			r.check()
			if k := r.record(w.ID); k.Result.Fate != chain.Dead || len(k.Attempts) != 2 || !k.Attempts[1].Cancel || k.Result.Tx != k.Attempts[1].Tx {
				t.Errorf("it ended as %+v", k.Result)
			}
			if r.net.Balance(w.Call.To, w.Call.Asset) != (money.Amount{}) {
				t.Error("it was cancelled and paid")
			}
		})
	}
}

func TestASlotSpentByAStrangerHaltsTheChainAndPaysOnceAfterwards(t *testing.T) {
	t.Parallel()
	for _, s := range []sim.Shape{sim.Nonces, sim.Coins} { // the third has nothing to spend
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, openStore(t), "sim:stranger", s)
			w := r.wish(false)
			r.stepA(0)
			first := r.record(w.ID).Attempts[0]
			theirs, err := r.net.Usurp(first.Attempt)
			if err != nil {
				t.Fatal(err)
			}
			r.net.Mine(1)
			r.stepA(time.Minute)
			if why := r.halted(); why != "" {
				t.Fatalf("halted by what is not final yet: %s", why)
			}
			r.net.MineFinal()
			for i := range 4 {
				r.stepA(time.Duration(i) * time.Minute)
				r.stepB(time.Duration(i) * time.Minute)
				r.net.Mine(1)
			}
			if why := r.halted(); !strings.Contains(why, string(w.ID)) || !strings.Contains(why, "not ours") {
				t.Fatalf("halted because %q", why)
			}
			if k := r.record(w.ID); !k.Open || len(k.Attempts) != 1 || len(r.landings(w)) != 0 {
				t.Fatalf("it went on, on a halted chain: %+v", k)
			}
			r.resume()
			r.quiet(10 * time.Minute)
			if paid := r.landings(w); len(paid) != 1 {
				t.Errorf("it landed %d times", len(paid))
			}
			if k := r.record(w.ID); k.Result.Fate != chain.Final || k.Attempts[1].Slots[0] == first.Slots[0] {
				t.Errorf("it ended as %+v by %v, before by %v", k.Result, k.Attempts[1].Slots, first.Slots)
			}
			if !r.net.Canonical(theirs) {
				t.Error("the stranger's transaction is gone")
			}
		})
	}
}

// TestGivingUpUsesTheSameSlotAndWhatLandsDecides lets the cancel or the payment
// win, and lets the workers take turns.
func TestGivingUpUsesTheSameSlotAndWhatLandsDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		lost bool // the cancel never reaches the network
		want chain.Fate
	}{
		{"the cancel lands", false, chain.Dead},
		{"the cancel is lost and the payment lands", true, chain.Final},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range []sim.Shape{sim.Nonces, sim.Coins} {
				t.Run(s.String(), func(t *testing.T) {
					t.Parallel()
					r := newRig(t, openStore(t), "sim:giveup", s)
					w := r.wish(true)
					r.stepA(0)
					r.net.MineEmpty(1)
					if c.lost {
						r.net.SetHook(func(_ int, call string) sim.Fault {
							if call == "Broadcast" {
								return sim.Fault{Kind: sim.FailBefore}
							}
							return sim.Fault{}
						})
					}
					r.stepA(giveUp)
					r.stepB(giveUp)
					k := r.record(w.ID)
					if len(k.Attempts) != 2 || !k.Attempts[1].Cancel || k.Attempts[0].Cancel {
						t.Fatalf("%+v", k.Attempts)
					}
					for _, slot := range k.Attempts[0].Slots {
						if !strings.Contains(fmt.Sprint(k.Attempts[1].Slots), string(slot)) {
							t.Errorf("the cancel uses %v, the payment %v", k.Attempts[1].Slots, k.Attempts[0].Slots)
						}
					}
					r.net.Mine(1)
					r.net.SetHook(nil)
					r.quiet(giveUp)
					r.check()
					if k := r.record(w.ID); k.Result.Fate != c.want {
						t.Errorf("it ended as %s", k.Result.Fate)
					}
				})
			}
		})
	}
}

func TestAPayoutWithoutASlotIsGivenUpOnlyWhenItCanNoLongerLand(t *testing.T) {
	t.Parallel()
	r := newRig(t, openStore(t), "sim:giveup", sim.Expiring)
	w := r.wish(true)
	r.stepA(0)
	r.net.EvictAll()
	expires := r.record(w.ID).Attempts[0].Expires
	for r.net.Final().Height+1 < expires {
		r.net.MineEmpty(1)
		r.net.EvictAll()
		r.stepA(time.Hour)
		if !r.record(w.ID).Open {
			t.Fatalf("it was given up at final height %d, it may land until %d", r.net.Final().Height, expires)
		}
	}
	r.net.MineEmpty(2)
	r.stepB(time.Hour)
	if k := r.record(w.ID); k.Open || k.Result.Fate != chain.Dead || len(k.Attempts) != 1 {
		t.Errorf("%+v", k)
	}
	r.check()
}

func TestAFeeAboveTheBudgetIsWaitedOutAndNeverPaid(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, s sim.Shape) {
		r := newRig(t, openStore(t), "sim:dear", s)
		w := r.wish(false)
		r.net.SetFees(money.FromUint64(61)) // the budget is six times ten
		for i := range 10 {
			r.stepA(time.Duration(i) * 10 * time.Minute)
			r.stepB(time.Duration(i) * 10 * time.Minute)
			r.net.Mine(1)
		}
		if k := r.record(w.ID); !k.Open || len(k.Attempts) != 0 {
			t.Fatalf("signed above the budget: %+v", k.Attempts)
		}
		r.net.SetFees(money.FromUint64(59))
		r.quiet(2 * time.Hour)
		r.check()
		if k := r.record(w.ID); k.Result.Fate != chain.Final {
			t.Errorf("it ended as %s", k.Result.Fate)
		}
	})
}

// TestRandomFeesNeverCostMoreThanTheBudget lets the price wander below and above
// the budget while two workers raise what they offer.
func TestRandomFeesNeverCostMoreThanTheBudget(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	for _, s := range shapes {
		db := openStore(t)
		for n := range 25 {
			r := newRig(t, db, chain.ID(fmt.Sprintf("sim:%02d", n)), s)
			var wishes []send.Transfer
			for range 3 {
				wishes = append(wishes, r.wish(false))
			}
			after := time.Duration(0)
			for range 12 {
				r.net.SetFees(money.FromUint64(10 + rng.Uint64N(100)))
				after += time.Duration(rng.IntN(180)) * time.Second
				if rng.IntN(2) == 0 {
					r.stepA(after)
				} else {
					r.stepB(after)
				}
				r.net.Mine(rng.IntN(2))
			}
			r.net.SetFees(money.FromUint64(10))
			r.quiet(after)
			r.check()
			for _, w := range wishes {
				if k := r.record(w.ID); k.Result.Fate != chain.Final {
					t.Errorf("%s %s ended as %s", s, w.ID, k.Result.Fate)
				}
			}
			if why := r.halted(); why != "" {
				t.Errorf("halted: %s", why)
			}
			if t.Failed() {
				return
			}
		}
	}
}
