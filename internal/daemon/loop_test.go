package daemon

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestALoopRestsLongerAfterTroubleAndNeverLooksMoreOften: one that looks seldom, such as
// an audit for which nodes look through all coins, is not hurried by its failures.
func TestALoopRestsLongerAfterTroubleAndNeverLooksMoreOften(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every time.Duration
		want  []time.Duration
	}{
		"often":  {time.Second, []time.Duration{2 * time.Second, 4 * time.Second, maxPause, maxPause}},
		"seldom": {10 * time.Minute, []time.Duration{10 * time.Minute, 10 * time.Minute, 10 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				d := &Daemon{log: slog.New(slog.DiscardHandler)}
				var gaps []time.Duration
				last := time.Now()
				first := true
				err := d.loop(ctx, beat{name: "test", every: c.every}, func() error {
					if !first {
						gaps = append(gaps, time.Since(last))
					}
					first, last = false, time.Now()
					if len(gaps) == len(c.want) {
						cancel()
					}
					return errors.New("trouble")
				})
				if err != nil || !slices.Equal(gaps, c.want) {
					t.Errorf("it rested %v, want %v, and ended with %v", gaps, c.want, err)
				}
			})
		})
	}
}

// A loop that has nothing to look after looks seldom, and at once when its bell rings.
func TestAnIdleLoopRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		d := &Daemon{log: slog.New(slog.DiscardHandler)}
		call := newBell()
		idle := []bool{true, false, true, true}
		want := []time.Duration{idlePace, 100 * time.Millisecond, 300 * time.Millisecond}
		var gaps []time.Duration
		last, steps := time.Now(), 0
		err := d.loop(ctx, beat{"test", 100 * time.Millisecond, call, func() bool { return idle[steps-1] }}, func() error {
			if steps > 0 {
				gaps = append(gaps, time.Since(last))
			}
			last = time.Now()
			steps++
			switch steps {
			case 3:
				time.AfterFunc(300*time.Millisecond, call.ring)
			case 4:
				cancel()
			}
			return nil
		})
		if err != nil || !slices.Equal(gaps, want) {
			t.Errorf("it rested %v, want %v, and ended with %v", gaps, want, err)
		}
	})
}
