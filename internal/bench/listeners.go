package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ferry/internal/feed"
)

// How many listen, and how much more a commit may cost for it: nothing but noise.
const (
	manyListeners = 10_000
	listenersGoal = 1.10
	listenedMoves = 1700 / slicesOfRound
)

// runListeners measures whether a commit costs more when somebody listens.
func runListeners(ctx context.Context, o options) error {
	return places(ctx, o, func(p *place) error {
		name := fmt.Sprintf("%s, a commit with %d listeners and with none", p.name, manyListeners)
		d, err := listenersOn(ctx, p, name, o)
		if err == nil {
			o.report.add(result{Bench: "listeners", Name: name, Unit: "µs", AtMost: listenersGoal}.judged(d))
		}
		return err
	})
}

// heardBy counts what a listener hears.
type heardBy struct{ n *atomic.Int64 }

// Heard implements feed.Listener.
func (h heardBy) Heard(*feed.Entry) { h.n.Add(1) }

func listenersOn(ctx context.Context, p *place, name string, o options) (d duel, err error) {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	var heard [2]atomic.Int64
	var tables [2]*table
	var sides [2]side
	for i, listeners := range []int{manyListeners, 0} {
		t, err := p.table(ctx, flatOpen, uint64(i+1))
		if err != nil {
			return d, err
		}
		defer func() { err = errors.Join(err, t.close()) }()
		hub, err := feed.NewHub(ctx, t.db)
		if err != nil {
			return d, err
		}
		// Each listens to an order of its own, and half of all that are moved have one.
		for n := range listeners {
			hub.Listen(feed.OfOrder(orderID(t.numbers[2*n%len(t.numbers)])), heardBy{&heard[i]})
		}
		running.Go(func() { hub.Run(ctx, time.Second, func(error) {}) })
		tables[i] = t
		sides[i] = func(_, slice int) (int, time.Duration, error) {
			if slice == 0 {
				if _, _, err := t.move(ctx, flatWarm); err != nil {
					return 0, 0, err
				}
			}
			return t.move(ctx, listenedMoves)
		}
	}
	if d, err = interleave("listeners: "+name, o.rounds, cost, sides); err != nil {
		return d, err
	}
	for want := int64(tables[0].moved / 2); heard[0].Load() < want; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			return d, ctx.Err()
		}
	}
	if heard[1].Load() != 0 {
		err = errors.New("somebody heard something where nobody listened")
	}
	return d, err
}
