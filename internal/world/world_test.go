package world

import (
	"context"
	"strings"
	"testing"

	"ferry/internal/report"
	"ferry/internal/store/pgtest"
)

// sound runs a simulation that must find no trouble.
func sound(t *testing.T, cfg Config) Report {
	t.Helper()
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	t.Log(b.String())
	if !r.Sound() {
		t.Fatal("the simulation found trouble")
	}
	if len(r.Conservation) == 0 {
		t.Error("nothing was audited")
	}
	return r
}

func TestACalmWorldIsSound(t *testing.T) {
	t.Parallel()
	r := sound(t, Config{Seed: 1, Orders: 60, Calm: true})
	if len(r.Faults) > 0 && r.Faults["fail_before"]+r.Reorgs+r.Crashes > 0 {
		t.Errorf("a calm world had faults: %v", r.Faults)
	}
}

func TestWildWorldsSweep(t *testing.T) {
	t.Parallel()
	r := sound(t, Config{Seed: 20260101, Orders: wildOrders})
	if r.Orders != wildOrders {
		t.Errorf("%d orders, not %d", r.Orders, wildOrders)
	}
	for _, kind := range []string{
		"fail_before", "fail_after", "delay", "duplicate", "reorder", "stale", "lie", "partition", "eclipse",
		"disk_full", "commit_unknown", "slow_database", "clock_step", "pause", "operator_resume", "evict",
	} {
		if r.Faults[kind] == 0 && wildOrders > 1000 {
			t.Errorf("no fault of kind %s", kind)
		}
	}
	if r.Points[report.Earned] == 0 || (r.Points[report.Reversed] == 0 && wildOrders > 1000) {
		t.Errorf("points: %v", r.Points)
	}
	if r.Steps["done"] == 0 || r.Steps["calls_failed"] == 0 && wildOrders > 1000 {
		t.Errorf("steps: %v", r.Steps)
	}
	if r.Reorgs == 0 || r.Crashes == 0 {
		t.Errorf("%d reorgs, %d crashes", r.Reorgs, r.Crashes)
	}
}

func TestOneSeedGivesOneHistory(t *testing.T) {
	t.Parallel()
	const orders = 50
	first := sound(t, Config{Seed: 5, Orders: orders})
	again := sound(t, Config{Seed: 5, Orders: orders, Parallel: 1})
	if first.TraceHash != again.TraceHash {
		t.Errorf("the same seed gave %s and %s", first.TraceHash, again.TraceHash)
	}
	other := sound(t, Config{Seed: 6, Orders: orders})
	if first.TraceHash == other.TraceHash {
		t.Error("two seeds gave one history")
	}
	alone := sound(t, Config{World: worldSeed(5, 0), Orders: orders})
	if alone.TraceHash != first.TraceHash {
		t.Error("a world that is replayed alone has another history")
	}
}

func TestAWildWorldOnPostgres(t *testing.T) {
	t.Parallel()
	sound(t, Config{Seed: 9, Orders: 30, Open: func(context.Context, uint64) (string, error) { return pgtest.URL(t), nil }})
}

func TestAFailureSaysHowToSeeItAgain(t *testing.T) {
	r := Report{Endings: map[string]int{}, Points: map[string]int{}, Faults: map[string]int{}, Steps: map[string]int{}, Conservation: map[string]string{}}
	r.add(outcome{seed: 42, planned: 7, err: errDisk, conservation: map[string]string{"a": "-3"}})
	r.add(outcome{seed: 43, conservation: map[string]string{"a": "3"}})
	if r.Sound() || r.Conservation["a"] != "6" {
		t.Errorf("differences of two worlds cancelled out: %v", r.Conservation)
	}
	var b strings.Builder
	if err := r.Print(&b); err != nil || !strings.Contains(b.String(), "ferry sim --world 42 --orders 7") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestNoOrdersAreRefused(t *testing.T) {
	if _, err := Run(t.Context(), Config{Orders: 0}); err == nil {
		t.Error("a simulation of nothing was run")
	}
}
