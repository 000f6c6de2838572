package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"
)

// Pace is how often the loops look by themselves.
type Pace struct{ Watch, Settle, Send, Feed time.Duration }

// maxPause bounds how long a loop rests after trouble.
const maxPause = 30 * time.Second

// Run drives every room in its own loop until ctx ends. Trouble in reading or
// writing is reported and tried again, each time after a longer rest: the state
// is on disk, and nothing is believed meanwhile.
func (d *Daemon) Run(ctx context.Context, p Pace, now func() time.Time) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, w := range d.watchers {
		g.Go(func() error {
			return loop(ctx, fmt.Sprintf("watch %s", d.names[i]), p.Watch, func() error { return w.Step(ctx, now()) })
		})
	}
	for i, s := range d.senders {
		g.Go(func() error {
			return loop(ctx, fmt.Sprintf("send %s", d.names[i]), p.Send, func() error { return s.Step(ctx, now()) })
		})
	}
	g.Go(func() error {
		return loop(ctx, "settle", p.Settle, func() error { return d.Settler.Step(ctx, now()) })
	})
	g.Go(func() error {
		d.Hub.Run(ctx, p.Feed, func(err error) {
			slog.WarnContext(ctx, "step failed, will be tried again", "loop", "feed", "error", err)
		})
		return nil
	})
	return g.Wait()
}

// loop steps until ctx ends.
func loop(ctx context.Context, name string, every time.Duration, step func() error) error {
	pause := every
	for {
		if err := step(); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "step failed, will be tried again", "loop", name, "error", err, "pause", pause)
			pause = min(2*pause, maxPause)
		} else {
			pause = every
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
