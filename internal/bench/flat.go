package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"ferry/internal/order"
)

// The small table, and how many of its orders a slice moves after how many that
// warm up. A round needs a small database of its own, because an order is fresh
// only once.
const (
	fewOrders = 1000
	flatWarm  = 150
	flatMoves = 850 / slicesOfRound
	// flatOpen is how many orders are open in the large table.
	flatOpen = 20_000
)

// flatGoal is how much more a move may cost in the large table.
const flatGoal = 1.20

// runFlat measures whether a move costs the same in a large table.
func runFlat(ctx context.Context, o options) error {
	return places(ctx, o, func(p *place) error {
		name := fmt.Sprintf("%s, %d and %d orders", p.name, o.many, fewOrders)
		d, err := flatOn(ctx, p, name, o)
		if err == nil {
			o.report.add(result{Bench: "flat", Name: name, Unit: "µs", AtMost: flatGoal}.judged(d))
		}
		return err
	})
}

func flatOn(ctx context.Context, p *place, name string, o options) (d duel, err error) {
	many, err := p.table(ctx, o.many, 1)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, many.db.Close()) }()
	if _, _, err := many.move(ctx, 10*flatWarm); err != nil {
		return d, err
	}
	few := &table{}
	defer func() { err = errors.Join(err, few.close()) }()
	d, err = interleave("flat: "+name, o.rounds, cost, [2]side{
		func(_, slice int) (int, time.Duration, error) {
			if slice == 0 {
				if _, _, err := many.move(ctx, flatWarm); err != nil {
					return 0, 0, err
				}
			}
			return many.move(ctx, flatMoves)
		},
		func(round, slice int) (n int, took time.Duration, err error) {
			if slice == 0 {
				if err := few.close(); err != nil {
					return 0, 0, err
				}
				if few, err = p.table(ctx, fewOrders, uint64(round)); err != nil {
					return 0, 0, err
				}
				if _, _, err := few.move(ctx, flatWarm); err != nil {
					return 0, 0, err
				}
			}
			return few.move(ctx, flatMoves)
		},
	})
	if err != nil {
		return d, err
	}
	c, err := many.db.Counts(ctx)
	if err == nil && c.Orders[order.Confirming] != int64(many.moved) {
		err = fmt.Errorf("%d orders were moved, and the store says %v", many.moved, c.Orders)
	}
	return d, err
}

// table is a shop over a database whose newest orders are moved in a random order.
// The older ones are its history: in a service that has run for long they are
// finished, and nobody tells them anything.
type table struct {
	*shop
	numbers []int
	moved   int
}

func (p *place) table(ctx context.Context, n int, seed uint64) (*table, error) {
	newest := min(n, flatOpen)
	t := &table{numbers: rand.New(rand.NewPCG(seed, 2)).Perm(newest)}
	for i := range t.numbers {
		t.numbers[i] += n - newest
	}
	address, err := p.fresh(ctx)
	if err != nil {
		return t, err
	}
	if err := fill(ctx, address, n, time.Now().UTC()); err != nil {
		return t, err
	}
	t.shop, err = open(ctx, address)
	return t, err
}

func (t *table) close() error {
	if t.shop == nil {
		return nil
	}
	return t.db.Close()
}

// move moves some fresh orders, one after the other.
func (t *table) move(ctx context.Context, n int) (int, time.Duration, error) {
	now, next := time.Now().UTC(), t.numbers[t.moved:]
	done, took, err := together(1, min(n, len(next)), 0, func(i int) error { return t.tell(ctx, orderID(next[i]), now) })
	t.moved += done
	return done, took, err
}
