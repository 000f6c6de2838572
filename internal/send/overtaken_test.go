package send_test

import (
	"testing"
	"time"

	"ferry/internal/family/sim"
	"ferry/internal/money"
)

// TestAWorkerThatWasOvertakenHaltsNothing: worker A reads its jobs and sleeps before
// Fate; worker B raises the price, and its attempt becomes final. A has not read
// B's attempt and must not take it for a stranger's.
func TestAWorkerThatWasOvertakenHaltsNothing(t *testing.T) {
	t.Parallel()
	for _, s := range []sim.Shape{sim.Nonces, sim.Coins} {
		r := newRig(t, openStore(t), "sim:halt", s)
		r.wish(false)
		r.stepA(0)
		r.net.SetFees(money.FromUint64(40))
		r.stopAt("Fate", "Live", func() {
			for range finalDepth + 2 {
				r.stepB(9 * time.Minute)
				r.net.Mine(1)
			}
			r.stepB(9 * time.Minute)
		})
		r.stepA(9 * time.Minute)
		if why := r.halted(); why != "" {
			t.Errorf("%s: halted: %s", s, why)
		}
	}
}
