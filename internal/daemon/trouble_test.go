package daemon_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ferry/internal/daemon"
	"ferry/internal/house"
)

func TestTroubleInTheFeedEndsNoLoop(t *testing.T) {
	t.Parallel()
	h, err := house.New(t.Context(), house.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fails, steps := 1, 0
	d, err := h.Daemon(ctx, func(c house.Crossing) error {
		if c.Name == "Since" && !c.After && fails > 0 {
			fails--
			return errors.New("the database is away for a moment")
		}
		if c.Name == "TakeWork" && c.After {
			if steps++; steps == 50 {
				cancel()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Run(ctx, pace, time.Now); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
}

func TestAClockAheadStandsStillUntilItIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var skew time.Duration
		c, err := daemon.NewClock(t.Context(), func(context.Context) (time.Time, error) { return time.Now().Add(skew), nil })
		if err != nil {
			t.Fatal(err)
		}
		skew = time.Hour
		_ = c.Sync(t.Context())
		skew = 0
		for range 1000 {
			time.Sleep(time.Minute)
			_ = c.Sync(t.Context())
		}
		if ahead := time.Until(c.Now()); ahead != 0 {
			t.Errorf("after %s the clock is still %s ahead of the database", 1000*time.Minute, ahead)
		}
	})
}
