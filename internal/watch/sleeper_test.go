package watch_test

import (
	"fmt"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
)

// TestAWatcherThatSleptRevivesNothing: one watcher sleeps before its n-th call; the
// payments vanish, within or beyond what was believed, and another watcher notes
// that; the first one goes on.
func TestAWatcherThatSleptRevivesNothing(t *testing.T) {
	t.Parallel()
	for name, depth := range map[string]int{"shallow": 2, "deep": 5} {
		t.Run(name, func(t *testing.T) {
			db := openStore(t)
			calls := 1
			for n := 1; n <= calls; n++ {
				r := newRig(t, db, sim.Config{ID: chain.ID(fmt.Sprintf("sim:%03d", n)), Shape: sim.Nonces, FinalDepth: 6, Nodes: 1, Quorum: 1}, 3, 4)
				calls = max(calls, r.slept(n, func(r *rig) {
					r.net.EvictAll()
					r.reorg(depth, sim.ReorgOptions{DropAll: true})
					r.step()
					r.step()
				}))
				r.net.Mine(10)
				r.quiet()
				r.checkCredited()
				r.checkPending()
				if t.Failed() {
					t.Fatalf("stopped before call %d; told: %q; halted: %q", n, r.told, r.halted())
				}
			}
		})
	}
}
