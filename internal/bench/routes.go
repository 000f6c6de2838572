package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"ferry/internal/venue/uniswap/ammtest"
	"ferry/internal/venue/uniswap/route"
)

// The goals of P12: of one call of QuoterV2, and how much more ten times the pools cost.
const (
	hubGoal    = 1.0
	tailGoal   = 0.15
	slowGoal   = 2.5
	growthGoal = 10
	routeHubs  = 8
	routeAsks  = 512
	routeWorth = 1e21
)

// runRoutes measures P12: the best way through many pools beside one call of QuoterV2.
func runRoutes(ctx context.Context, o options) error {
	ground, err := ammtest.New(ctx)
	if err != nil {
		o.report.skip("routes: %v", err)
		return nil
	}
	r := rand.New(rand.NewPCG(1, 12))
	asks, err := swapAsks(r, ground, 0, 1)
	if err != nil {
		return err
	}
	few, err := ammtest.NewWorld(r, ammtest.Size{Tokens: 500, Pools: 2000, Hubs: routeHubs})
	if err != nil {
		return err
	}
	many, err := ammtest.NewWorld(r, ammtest.Size{Tokens: 5000, Pools: 20_000, Hubs: routeHubs})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		hub  bool
		goal float64
	}{{"between hubs", true, hubGoal}, {"between others", false, tailGoal}} {
		small, large := routeSide(few, r, c.hub, o.length/10), routeSide(many, r, c.hub, o.length/10)
		d, err := interleave("routes: "+c.name, o.rounds, cost, [2]side{small.side, quoterSide(ground, asks, o.length/10)})
		if err != nil {
			return err
		}
		o.report.add(result{Bench: "routes", Name: c.name + ", 2000 pools, beside one call of QuoterV2", Unit: "µs", AtMost: c.goal}.judged(d))
		o.report.add(result{Bench: "routes", Name: c.name + ", p99 beside one call of QuoterV2", Unit: "µs", Ours: small.p99()}.beside(median(d.floor), slowGoal))
		if d, err = interleave("routes: growth "+c.name, o.rounds, cost, [2]side{large.side, small.side}); err != nil {
			return err
		}
		o.report.add(result{Bench: "routes", Name: c.name + ", 20000 pools beside 2000", Unit: "µs", AtMost: growthGoal}.judged(d))
	}
	return nil
}

// beside compares a figure with another that was measured in the same run.
func (r result) beside(floor, most float64) result {
	r.Floor, r.Ratio, r.AtMost = floor, r.Ours/floor, most
	r.Low, r.High, r.Missed = r.Ratio, r.Ratio, r.Ratio > most
	return r
}

// router asks a world again and again, and remembers what CPU each answer took.
type router struct {
	world  *ammtest.World
	asks   []*route.Ask
	length time.Duration
	at     int
	took   []float64 // of each question the least, in µs
}

func routeSide(w *ammtest.World, r *rand.Rand, hub bool, length time.Duration) *router {
	s := &router{world: w, length: length, took: make([]float64, routeAsks)}
	for len(s.asks) < routeAsks {
		in, out := r.IntN(routeHubs), r.IntN(routeHubs)
		if !hub {
			rest := len(w.Worth) - routeHubs
			in, out = routeHubs+r.IntN(rest), routeHubs+r.IntN(rest)
		}
		a := w.Ask(in, out, r.IntN(2) == 0, routeWorth*r.Float64())
		if _, err := w.Graph.Find(a); in != out && err == nil {
			s.asks = append(s.asks, a)
		}
	}
	return s
}

func (s *router) side(int, int) (n int, took time.Duration, err error) {
	start, before := time.Now(), cpuTime()
	for time.Since(start) < s.length {
		i := s.at % routeAsks
		s.world.Graph.Forget() // as the first of its pair in a block
		begun := cpuTime()
		if _, err := s.world.Graph.Find(s.asks[i]); err != nil {
			return 0, 0, fmt.Errorf("a way that was there: %w", err)
		}
		// Whatever else this process does only ever makes it dearer.
		if us := float64((cpuTime() - begun).Nanoseconds()) / 1000; s.took[i] == 0 || us < s.took[i] {
			s.took[i] = us
		}
		s.at++
		n++
	}
	return n, cpuTime() - before, nil
}

func (s *router) p99() float64 {
	all := slices.Clone(s.took)
	slices.Sort(all)
	return all[len(all)*99/100]
}
