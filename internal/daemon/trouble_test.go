package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ferry/internal/daemon"
	"ferry/internal/house"
)

func TestTroubleInTheFeedEndsNoLoop(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer // a handler writes one line at a time
	h, err := house.New(t.Context(), house.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
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
	if !strings.Contains(log.String(), "loop=feed") || !strings.Contains(log.String(), "away for a moment") {
		t.Errorf("the trouble was not told to the daemon's own log, which holds %q", log.String())
	}
}

func TestAClockThatIsOffIsToldToItsOwnLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	off := func(context.Context) (time.Time, error) { return time.Now().Add(time.Minute), nil }
	if _, err := daemon.NewClock(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), off); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "skew=") {
		t.Errorf("the log holds %q", log.String())
	}
}

func TestAClockAheadStandsStillUntilItIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var skew time.Duration
		c, err := daemon.NewClock(t.Context(), slog.Default(), func(context.Context) (time.Time, error) { return time.Now().Add(skew), nil })
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
