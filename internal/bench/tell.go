package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/order"
)

// tells are the cases: so many orders are told something at once, beside so many
// bare inserts at once. The goals are about one insert at a time, which is how fast
// the engine makes one thing durable after the other; beside as many inserters as
// there are callers is what the engine could do at most with both processors.
var tells = []struct {
	callers, inserters int
	atLeast            float64
}{{1, 1, 0.5}, {16, 1, 0}, {64, 1, 1.0}, {16, 16, 0}, {64, 64, 0}}

// runTell measures moves of orders beside bare inserts, on each engine.
func runTell(ctx context.Context, o options) error {
	return places(ctx, o, func(p *place) error {
		for _, c := range tells {
			name := fmt.Sprintf("%s, %d at once", p.name, c.callers)
			if c.inserters > 1 {
				name += fmt.Sprintf(" beside %d inserts", c.inserters)
			}
			d, err := tellBeside(ctx, p, name, c.callers, c.inserters, o)
			if err != nil {
				return err
			}
			o.report.add(result{Bench: "tell", Name: name, Unit: "commits/s", AtLeast: c.atLeast}.judged(d))
		}
		return nil
	})
}

// stall is a shop with fresh orders in stock.
type stall struct {
	*shop
	callers     int
	made, moved int
	pace        float64 // of the fastest slice
}

func tellBeside(ctx context.Context, p *place, name string, callers, inserters int, o options) (d duel, err error) {
	address, err := p.fresh(ctx)
	if err != nil {
		return d, err
	}
	s, err := open(ctx, address)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	if err := s.stock(ctx, time.Now().UTC()); err != nil {
		return d, err
	}
	b, err := openBare(ctx, p, inserters)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, b.close()) }()

	ours, length := &stall{shop: s, callers: callers, pace: 1000}, o.length/slicesOfRound
	sides := [2]side{
		func(int, int) (int, time.Duration, error) { return ours.slice(ctx, length) },
		func(int, int) (int, time.Duration, error) { return b.slice(inserters, length) },
	}
	for _, warm := range sides { // connections, plans and caches
		for range 2 {
			if _, _, err := warm(0, 0); err != nil {
				return d, err
			}
		}
	}
	if d, err = interleave("tell: "+name, o.rounds, pace, sides); err != nil {
		return d, err
	}
	return d, errors.Join(ours.check(ctx), b.check(ctx))
}

// slice moves fresh orders for a while. They are made before it begins.
func (s *stall) slice(ctx context.Context, length time.Duration) (int, time.Duration, error) {
	now := time.Now().UTC()
	if want := int(2*s.pace*length.Seconds()) + s.callers; s.made-s.moved < want {
		more := want * slicesOfRound // so that most slices need not wait for it
		if err := s.create(ctx, s.made, s.made+more, now); err != nil {
			return 0, 0, err
		}
		s.made += more
	}
	from := s.moved
	done, took, err := together(s.callers, s.made-from, length, func(i int) error { return s.tell(ctx, orderID(from+i), now) })
	s.moved += done
	s.pace = max(s.pace, pace(done, took))
	return done, took, err
}

// check makes sure that exactly those orders moved that were told something, and
// that the books are sound.
func (s *stall) check(ctx context.Context) error {
	c, err := s.db.Counts(ctx)
	if err != nil {
		return err
	}
	if c.Orders[order.Confirming] != int64(s.moved) || c.Orders[order.Awaiting] != int64(s.made-s.moved) {
		return fmt.Errorf("%d of %d orders were moved, and the store says %v", s.moved, s.made, c.Orders)
	}
	return s.db.Audit(ctx)
}
