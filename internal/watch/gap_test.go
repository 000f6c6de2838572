package watch_test

import (
	"testing"

	"ferry/internal/family/sim"
)

func TestHeightsThatAreLeftOutConfirmNothing(t *testing.T) {
	t.Parallel()
	r := deepRig(t, sim.Expiring)
	id := r.create()
	r.pay(id, smallCents)
	r.net.Mine(1)
	r.step()
	if err := r.net.Skip(10); err != nil {
		t.Fatal(err)
	}
	r.net.Mine(1) // the payment's block and one more: two of three confirmations
	r.step()
	if len(r.credited) != 0 {
		t.Errorf("credited after 2 blocks, 3 are asked for: %q", r.told)
	}
}
