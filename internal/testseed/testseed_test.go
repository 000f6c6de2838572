package testseed_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"ferry/internal/testseed"
)

// said is a test that only remembers what it was told.
type said struct{ logs, deaths []string }

func (s *said) Helper() {}

func (s *said) Logf(format string, args ...any) {
	s.logs = append(s.logs, fmt.Sprintf(format, args...))
}

func (s *said) Fatalf(format string, args ...any) {
	s.deaths = append(s.deaths, fmt.Sprintf(format, args...))
}

// The line is taken as it stands, as somebody would copy it before a command.
func TestTheLoggedLineGivesTheSameRunAgain(t *testing.T) {
	t.Setenv("FERRY_TEST_SEED", "")
	first := &said{}
	want := testseed.Rand(first)
	if len(first.logs) != 1 || len(first.deaths) != 0 {
		t.Fatalf("told %q, died of %q", first.logs, first.deaths)
	}
	variable, value, _ := strings.Cut(first.logs[0], "=")
	t.Setenv(variable, value)
	again := &said{}
	got := testseed.Rand(again)
	for i := range 100 {
		if a, b := want.Uint64(), got.Uint64(); a != b {
			t.Fatalf("with %s: number %d was %d and is now %d", first.logs[0], i, a, b)
		}
	}
	if len(again.logs) != 1 || again.logs[0] != first.logs[0] {
		t.Errorf("%q is told when it runs again, want %q", again.logs, first.logs)
	}
	if seed := testseed.Of(again); strconv.FormatUint(seed, 10) != value {
		t.Errorf("the seed of %q is %d", first.logs, seed)
	}
}

func TestTheVariableIsRead(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "7": 7, "18446744073709551615": math.MaxUint64} {
		t.Setenv("FERRY_TEST_SEED", text)
		s := &said{}
		if got := testseed.Of(s); got != want || len(s.deaths) != 0 {
			t.Errorf("%q gives %d, died of %q", text, got, s.deaths)
		}
	}
	for _, text := range []string{"x", "-1", "1.5", " 1", "18446744073709551616"} {
		t.Setenv("FERRY_TEST_SEED", text)
		s := &said{}
		if testseed.Of(s); len(s.deaths) != 1 || !strings.Contains(s.deaths[0], "FERRY_TEST_SEED") {
			t.Errorf("%q is no seed, died of %q", text, s.deaths)
		}
	}
}

func TestEveryRunHasAnotherSeed(t *testing.T) {
	t.Setenv("FERRY_TEST_SEED", "") // so that it is as it was afterwards
	if err := os.Unsetenv("FERRY_TEST_SEED"); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]bool{}
	for range 100 {
		seen[testseed.Of(&said{})] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d seeds of 100 are different", len(seen))
	}
}
