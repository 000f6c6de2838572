package main

import (
	"fmt"
	"slices"
	"time"
)

// Rounds in which more than maxSteal percent of the time was stolen are repeated,
// at most as often as there are rounds.
const maxSteal = 20

// slicesOfRound is how often the sides take turns within a round. What disturbs the
// machine mostly lasts longer than a slice and so hits both.
const slicesOfRound = 5

// side is one of two things that take turns: it does a slice of a round and says
// how much it did in what time.
type side func(round, slice int) (done int, took time.Duration, err error)

// pace and cost are how a round is told: what was done in a second, or how many
// microseconds each took.
func pace(done int, took time.Duration) float64 { return float64(done) / took.Seconds() }

func cost(done int, took time.Duration) float64 {
	return float64(took.Nanoseconds()) / 1000 / float64(done)
}

// duel is what two sides did, round by round.
type duel struct {
	ours, floor []float64
	steal       float64 // the worst round that counts
	repeated    int
}

// interleave lets two sides take turns and swaps who is first each time.
func interleave(name string, rounds int, figure func(int, time.Duration) float64, sides [2]side) (duel, error) {
	var d duel
	for round := 0; len(d.ours) < rounds; round++ {
		start := readCPU()
		var done [2]int
		var took [2]time.Duration
		for slice := range slicesOfRound {
			for turn := range sides {
				who := (round + slice + turn) % 2
				n, t, err := sides[who](round, slice)
				if err != nil {
					return d, fmt.Errorf("%s: %w", name, err)
				}
				done[who] += n
				took[who] += t
			}
		}
		steal := readCPU().since(start)
		if steal > maxSteal && d.repeated < rounds {
			d.repeated++
			progress("%s: %.0f %% of the time was stolen, once more", name, steal)
			continue
		}
		a, b := figure(done[0], took[0]), figure(done[1], took[1])
		d.ours, d.floor, d.steal = append(d.ours, a), append(d.floor, b), max(d.steal, steal)
		progress("%s: round %d of %d: %.0f and %.0f, ratio %.2f", name, len(d.ours), rounds, a, b, a/b)
	}
	return d, nil
}

// ratios are those of the rounds, smallest first.
func (d duel) ratios() []float64 {
	var all []float64
	for i := range d.ours {
		all = append(all, d.ours[i]/d.floor[i])
	}
	slices.Sort(all)
	return all
}

// median is the middle of some numbers, or the mean of the two in the middle.
func median(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(numbers))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
