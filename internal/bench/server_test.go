package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestWhatAProcessUsedIsReadPastItsName(t *testing.T) {
	t.Parallel()
	const line = "4711 (a) b (c)) S 1 1 1 0 -1 4194304 100 0 0 0 250 50 7 7 20 0 4 0 100 1 1"
	if got, err := parseUsed(line); err != nil || got != 3*time.Second {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "4711 (x) S 1 2", strings.Replace(line, " 250 ", " many ", 1)} {
		if got, err := parseUsed(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestAGoalOfItsOwnAndASkippedOneAreTold(t *testing.T) {
	t.Parallel()
	r := &report{}
	r.version("nginx", "1.2")
	r.add(result{Bench: "door", Name: "kept", Unit: "ns", Ours: 0}.within(0))
	r.add(result{Bench: "door", Name: "broken", Unit: "ns", Ours: 1501}.within(1500))
	r.skip("gateway: %s is not there", "nginx")
	r.machine("0", 0, time.Second)
	var text bytes.Buffer
	if err := r.print(&text, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"nginx 1.2", "≤ 0 ok", "≤ 1500 MISSED", "SKIPPED: gateway: nginx is not there"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if err := r.missed(); err == nil || !strings.Contains(err.Error(), "1 goals missed: door broken") {
		t.Errorf("missed: %v", err)
	}
}

func TestAdmissionOfTheBenchTakesAllSixLimits(t *testing.T) {
	t.Parallel()
	e, err := newEntrance(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := e.admit(); err != nil { // which counts the limits
			t.Fatal(err)
		}
	}
}
