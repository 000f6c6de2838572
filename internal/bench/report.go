package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// result is one line of the table.
type result struct {
	Bench string  `json:"bench"`
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Ours  float64 `json:"ours"`
	// Floor is what Ours is compared with, and Ratio the median of the rounds'
	// ratios; zero where there is nothing to compare with.
	Floor    float64 `json:"floor,omitempty"`
	Ratio    float64 `json:"ratio,omitempty"`
	Low      float64 `json:"low,omitempty"`
	High     float64 `json:"high,omitempty"`
	Rounds   int     `json:"rounds,omitempty"`
	Repeated int     `json:"repeated,omitempty"`
	Steal    float64 `json:"steal_percent,omitempty"`
	// AtLeast and AtMost are goals for the ratio; zero is none.
	AtLeast float64 `json:"at_least,omitempty"`
	AtMost  float64 `json:"at_most,omitempty"`
	// Within is a goal for Ours itself; nil is none.
	Within *float64 `json:"within,omitempty"`
	Missed bool     `json:"missed"`
}

// within gives a figure that is not compared with anything a goal.
func (r result) within(most float64) result {
	r.Within, r.Missed = &most, r.Ours > most
	return r
}

// judged fills in what a duel says and whether the goal is met.
func (r result) judged(d duel) result {
	ratios := d.ratios()
	r.Ours, r.Floor, r.Ratio = median(d.ours), median(d.floor), median(ratios)
	r.Low, r.High = ratios[0], ratios[len(ratios)-1]
	r.Rounds, r.Repeated, r.Steal = len(ratios), d.repeated, d.steal
	r.Missed = (r.AtLeast > 0 && r.Ratio < r.AtLeast) || (r.AtMost > 0 && r.Ratio > r.AtMost)
	return r
}

// report is everything that was measured, and on what.
type report struct {
	Machine  map[string]string `json:"machine"`
	Steal    float64           `json:"steal_percent"`
	Seconds  float64           `json:"seconds"`
	Results  []result          `json:"results"`
	Missed   []string          `json:"missed"`
	Skipped  []string          `json:"skipped,omitempty"` // what could not be measured, and why
	versions map[string]string
}

func (r *report) add(one result) {
	r.Results = append(r.Results, one)
	if one.Missed {
		r.Missed = append(r.Missed, one.Bench+" "+one.Name)
	}
}

// skip notes what is not measured: a goal that nobody looked at is not one that is met.
func (r *report) skip(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	progress("SKIPPED: %s", text)
	r.Skipped = append(r.Skipped, text)
}

// version remembers what an engine calls itself.
func (r *report) version(engine, v string) {
	if r.versions == nil {
		r.versions = map[string]string{}
	}
	r.versions[engine] = v
}

// machine notes on what it ran.
func (r *report) machine(load string, steal float64, took time.Duration) {
	r.Machine = map[string]string{
		"go":    runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		"cpu":   field("/proc/cpuinfo", "model name"),
		"cores": fmt.Sprint(runtime.NumCPU()),
		"ram":   field("/proc/meminfo", "MemTotal"),
		"load":  load, // before it began: others on the machine
	}
	for engine, v := range r.versions {
		r.Machine[engine] = v
	}
	r.Steal, r.Seconds = steal, took.Seconds()
}

func (r *report) missed() error {
	if len(r.Missed) == 0 {
		return nil
	}
	return fmt.Errorf("%d goals missed: %s", len(r.Missed), strings.Join(r.Missed, "; "))
}

func (r *report) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	m := r.Machine
	fmt.Fprintf(w, "%s, %s × %s, %s\n", m["go"], m["cores"], m["cpu"], m["ram"])
	for _, engine := range slices.Sorted(maps.Keys(r.versions)) {
		fmt.Fprintf(w, "%s %s, ", engine, m[engine])
	}
	fmt.Fprintf(w, "%.0f s, load %s before, steal %.1f %%\n\n", r.Seconds, m["load"], r.Steal)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "bench\tcase\tours\tfloor\tunit\tratio\tgoal\tsteal\t")
	for _, one := range r.Results {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", one.Bench, one.Name, one.ours(), number(one.Floor), one.Unit, one.ratio(), one.goal(), one.stolen())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, text := range r.Skipped {
		fmt.Fprintf(w, "SKIPPED: %s\n", text)
	}
	return nil
}

// ours is the figure; nothing of what has a goal is worth writing too.
func (r result) ours() string {
	if r.Within != nil && r.Ours == 0 {
		return "0"
	}
	return number(r.Ours)
}

func (r result) ratio() string {
	if r.Ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", r.Ratio, r.Low, r.High)
}

func (r result) goal() string {
	verdict := "ok"
	if r.Missed {
		verdict = "MISSED"
	}
	switch {
	case r.AtLeast > 0:
		return fmt.Sprintf("≥ %.2f %s", r.AtLeast, verdict)
	case r.Within != nil:
		return fmt.Sprintf("≤ %g %s", *r.Within, verdict)
	case r.AtMost > 0:
		return fmt.Sprintf("≤ %.2f %s", r.AtMost, verdict)
	}
	return ""
}

func (r result) stolen() string {
	switch {
	case r.Rounds == 0:
		return ""
	case r.Repeated > 0:
		return fmt.Sprintf("%.0f %%, %d repeated", r.Steal, r.Repeated)
	}
	return fmt.Sprintf("%.0f %%", r.Steal)
}

// number writes a figure with as many digits as mean anything; zero is nothing.
func number(n float64) string {
	switch {
	case n == 0:
		return ""
	case n >= 100:
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.3g", n)
}
