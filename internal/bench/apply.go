package main

import (
	"context"
	"testing"
	"time"

	"ferry/internal/order"
)

// runApply measures decisions, without any store.
func runApply(_ context.Context, o options) error {
	now := time.Now().UTC()
	a := ask("ord_apply", now)
	made, err := order.New(a, now)
	if err != nil {
		return err
	}
	awaiting := made.Now
	d := payment(awaiting.ID)
	final := order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: now}
	paid := order.PayoutFinal{Landed: order.Landed{Tx: "0xpaid"}}
	confirming, err := awaiting.Apply(seen(awaiting.ID, now), now)
	if err != nil {
		return err
	}
	sending, err := confirming.Now.Apply(final, now)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		from order.Order
		ev   order.Event
	}{
		{"DepositSeen", awaiting, seen(awaiting.ID, now)},
		{"DepositFinal", confirming.Now, final},
		{"PayoutFinal", sending.Now, paid},
	} {
		var failed error
		apply := func() {
			if _, err := c.from.Apply(c.ev, now); err != nil {
				failed = err
			}
		}
		allocs := testing.AllocsPerRun(1000, apply)
		var times []float64
		for range o.rounds {
			times = append(times, nanoseconds(o.length/10, apply))
		}
		if failed != nil {
			return failed
		}
		progress("apply: %s takes %.0f ns", c.name, median(times))
		o.report.add(result{Bench: "apply", Name: c.name, Unit: "ns", Ours: median(times), Rounds: o.rounds})
		o.report.add(result{Bench: "apply", Name: c.name, Unit: "allocations", Ours: allocs})
	}
	return nil
}

// nanoseconds is how long a call takes, from calling it for about that long.
func nanoseconds(length time.Duration, f func()) float64 {
	const atOnce = 256
	start, n := time.Now(), 0
	for time.Since(start) < length {
		for range atOnce {
			f()
		}
		n += atOnce
	}
	return float64(time.Since(start)) / float64(n)
}
