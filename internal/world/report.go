package world

import (
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"
)

// Report is what a simulation found.
type Report struct {
	Seed           uint64            `json:"seed"`
	Worlds         int               `json:"worlds"`
	Orders         int               `json:"orders"`
	Endings        map[string]int    `json:"endings"`
	Faults         map[string]int    `json:"faults"`
	Steps          map[string]int    `json:"steps"` // of routes through pools
	Reorgs         int               `json:"reorgs"`
	DeepReorgs     int               `json:"deepReorgs"`
	Crashes        int               `json:"crashes"`
	Conservation   map[string]string `json:"conservation"`
	DoublePayments int               `json:"doublePayments"`
	LostOrders     int               `json:"lostOrders"`
	Unfinished     int               `json:"unfinished"`
	Drift          int               `json:"drift"`  // numbers for people that are not what the orders say
	Points         map[string]int    `json:"points"` // entries of their ledger, by kind
	TraceHash      string            `json:"traceHash"`
	Failures       []Failure         `json:"failures"`
	Took           time.Duration     `json:"-"`
}

// Failure is a world that went wrong, with the command that shows it again.
type Failure struct {
	Seed   uint64 `json:"seed"`
	Orders int    `json:"orders"`
	Why    string `json:"why"`
	Replay string `json:"replay"`
}

// Sound reports whether nothing was lost, paid twice, left over or unexplained.
func (r Report) Sound() bool {
	for _, n := range r.Conservation {
		if n != "0" {
			return false
		}
	}
	return len(r.Failures) == 0 && r.DoublePayments == 0 && r.LostOrders == 0 && r.Unfinished == 0 && r.Drift == 0
}

// add takes the result of one world into the whole.
func (r *Report) add(o outcome) {
	r.Worlds++
	r.Orders += o.orders
	r.Reorgs += o.reorgs
	r.DeepReorgs += o.deepReorgs
	r.Crashes += o.crashes
	r.DoublePayments += o.doublePayments
	r.LostOrders += o.lost
	r.Unfinished += o.unfinished
	r.Drift += o.drift
	for k, n := range o.entries {
		r.Points[k] += int(n)
	}
	for k, n := range o.faults {
		r.Faults[k] += n
	}
	for k, n := range o.steps {
		r.Steps[k] += n
	}
	for k, n := range o.endings {
		r.Endings[k] += n
	}
	for asset, n := range o.conservation {
		sum, _ := new(big.Int).SetString(r.Conservation[asset], 10)
		if sum == nil {
			sum = new(big.Int)
		}
		one, ok := new(big.Int).SetString(n, 10)
		if !ok {
			one = big.NewInt(1) // a balance that is no number is not zero
		}
		// Differences of two worlds must not cancel out.
		r.Conservation[asset] = sum.Add(sum, one.Abs(one)).String()
	}
	if o.err != nil {
		r.Failures = append(r.Failures, Failure{
			Seed: o.seed, Orders: o.planned, Why: o.err.Error(),
			Replay: fmt.Sprintf("ferry sim --world %d --orders %d", o.seed, o.planned),
		})
	}
}

// Print tells the report to a person.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-16s %s\n", name, fmt.Sprintf(format, args...))
	}
	table := func(m map[string]int) string {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(m)) {
			parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
		}
		return strings.Join(parts, ", ")
	}
	b.WriteString("\nSimulation\n")
	line("seed", "%d (%d worlds)", r.Seed, r.Worlds)
	line("orders", "%d: %s", r.Orders, table(r.Endings))
	line("steps", "%s", table(r.Steps))
	line("faults", "%s", table(r.Faults))
	line("reorgs", "%d, of them %d below what was believed final", r.Reorgs, r.DeepReorgs)
	line("crashes", "%d", r.Crashes)
	for _, asset := range slices.Sorted(maps.Keys(r.Conservation)) {
		line("conservation", "%-24s %s", asset, r.Conservation[asset])
	}
	line("double payments", "%d", r.DoublePayments)
	line("lost orders", "%d", r.LostOrders)
	line("unfinished", "%d", r.Unfinished)
	line("points", "%s", table(r.Points))
	line("drift", "%d", r.Drift)
	line("trace hash", "%s", r.TraceHash)
	if r.Took > 0 {
		line("took", "%s", r.Took.Round(time.Millisecond))
	}
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "\nFAILED  world %d: %s\n        replay it with: %s\n", f.Seed, f.Why, f.Replay)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
