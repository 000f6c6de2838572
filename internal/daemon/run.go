package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/treasury"
)

// Pace is how often the loops look by themselves.
type Pace struct{ Watch, Settle, Send, Feed, Sweep, Audit time.Duration }

// How often the treasury looks where nobody said: nothing waits for it.
const (
	sweepPace = 30 * time.Second
	auditPace = 10 * time.Minute
)

// sentAtOnce is how many transfers of a chain are gone on with at a time: each waits for
// nodes most of the time, and more would ask them too much at once.
const sentAtOnce = 8

// maxPause bounds how long a loop rests after trouble: one transfer that cannot be made
// must not keep the others waiting for long.
const maxPause = 5 * time.Second

// Run drives every room in its own loop until ctx ends. Trouble in reading or
// writing is reported and tried again, each time after a longer rest: the state
// is on disk, and nothing is believed meanwhile.
func (d *Daemon) Run(ctx context.Context, p Pace, now func() time.Time) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, w := range d.watchers {
		g.Go(func() error {
			return d.loop(ctx, beat{fmt.Sprintf("watch %s", d.names[i]), cmp.Or(d.every[i], p.Watch), d.looks[d.names[i]], nil}, func() error { return w.Step(ctx, now()) })
		})
	}
	for i, s := range d.senders {
		g.Go(func() error {
			return d.loop(ctx, beat{fmt.Sprintf("send %s", d.names[i]), p.Send, d.bells.send[d.names[i]], s.Idle}, func() error { return s.StepAtOnce(ctx, now(), sentAtOnce) })
		})
	}
	g.Go(func() error {
		return d.loop(ctx, beat{"settle", p.Settle, d.bells.settle, nil}, func() error { return d.Settler.Step(ctx, now()) })
	})
	if d.sweeper != nil {
		g.Go(func() error {
			return d.loop(ctx, beat{"sweep", cmp.Or(p.Sweep, sweepPace), d.bells.sweep, nil}, func() error { return d.sweeper.Step(ctx, now()) })
		})
	}
	if d.auditor != nil {
		g.Go(func() error {
			return d.loop(ctx, beat{"audit", cmp.Or(p.Audit, auditPace), nil, nil}, func() error { return d.audit(ctx, now()) })
		})
	}
	g.Go(func() error {
		d.Hub.Run(ctx, p.Feed, func(err error) {
			d.log.WarnContext(ctx, "step failed, will be tried again", "loop", "feed", "error", err)
		})
		return nil
	})
	return g.Wait()
}

// audit compares the books with the chains. That something is missing is no trouble of
// the audit: it is told, and the next one comes at its time and not sooner.
func (d *Daemon) audit(ctx context.Context, now time.Time) error {
	err := d.auditor.Step(ctx, now)
	if errors.Is(err, treasury.ErrMissing) {
		d.log.ErrorContext(ctx, "an audit found that money is missing", "error", err)
		return nil
	}
	return err
}

// beat is how a loop is called, how often it steps, and what makes it step at once.
type beat struct {
	name  string
	every time.Duration
	now   <-chan struct{} // nil: nothing does
	idle  func() bool     // nil: it never is; whether the last step had nothing to look after
}

// idlePace is how often a loop looks that has nothing to look after. Its bell calls it
// before that; only what another process left waits so long.
const idlePace = time.Second

// loop steps until ctx ends.
func (d *Daemon) loop(ctx context.Context, b beat, step func() error) error {
	pause := b.every
	for {
		if err := step(); err != nil && ctx.Err() == nil {
			d.log.WarnContext(ctx, "step failed, will be tried again", "loop", b.name, "error", err, "pause", pause)
			pause = max(b.every, min(2*pause, maxPause)) // a loop that looks seldom does not look more often for it
		} else {
			pause = b.every
			if b.idle != nil && b.idle() {
				pause = max(pause, idlePace)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-b.now:
		case <-time.After(pause):
		}
	}
}
