package daemon_test

import (
	"context"
	"testing"
	"time"

	"ferry/internal/daemon"
	"ferry/internal/house"
)

// TestLoopsWakeOneAnother: a payout is on its way as soon as its deposit is believed,
// however seldom the loops that make it look by themselves.
func TestLoopsWakeOneAnother(t *testing.T) {
	t.Parallel()
	w := newTownOf(t, house.Options{}, 1, daemon.Pace{Watch: 5 * time.Millisecond, Settle: time.Hour, Send: time.Hour, Feed: time.Hour})
	if err := w.swap(1, house.EVMUSD, house.Sol); err != nil {
		t.Fatal(err)
	}
	to := w.Net(house.SOL).User("to-ord_001")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for w.Net(house.SOL).Balance(to, house.Sol).IsZero() {
		select {
		case <-ctx.Done():
			t.Fatal("nothing was paid")
		case <-time.After(time.Millisecond):
		}
	}
}
