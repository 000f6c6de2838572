package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestTheMedianIsTheMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		numbers []float64
		want    float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.numbers); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.numbers, got, c.want)
		}
	}
}

func TestStealIsItsShareOfAllTime(t *testing.T) {
	t.Parallel()
	before := parseCPU("cpu  100 0 100 800 0 0 0 0 50 50")
	after := parseCPU("cpu  150 0 120 900 0 0 0 30 60 60") // guests are counted in user
	if before.all != 1000 || after.stolen != 30 {
		t.Errorf("read %+v and %+v", before, after)
	}
	if got := after.since(before); got != 15 {
		t.Errorf("%v %% were stolen, want 15", got)
	}
	if got := before.since(after); got != 0 {
		t.Errorf("%v %% were stolen in no time", got)
	}
}

func TestSidesTakeTurnsAndSwap(t *testing.T) {
	t.Parallel()
	var who strings.Builder
	mark := func(name string, n int) side {
		return func(int, int) (int, time.Duration, error) {
			who.WriteString(name)
			return n, time.Second, nil
		}
	}
	d, err := interleave("turns", 2, pace, [2]side{mark("a", 30), mark("b", 20)})
	if err != nil || len(d.ours) != 2 || d.ours[0] != 30 || d.floor[1] != 20 {
		t.Errorf("%+v, %v", d, err)
	}
	if got := who.String(); !strings.HasPrefix(got, "abbaabbaab"+"baabbaabba") {
		t.Errorf("they came as %s", got)
	}
	r := result{AtLeast: 1.6}.judged(d)
	if !r.Missed || r.Ratio != 1.5 {
		t.Errorf("%+v", r)
	}
	bad := errors.New("bad")
	fails := func(int, int) (int, time.Duration, error) { return 0, 0, bad }
	if _, err := interleave("turns", 2, pace, [2]side{fails, fails}); !errors.Is(err, bad) {
		t.Errorf("want what the side said, got %v", err)
	}
}

func TestEveryCallIsMadeOnceAndTroubleEndsThem(t *testing.T) {
	t.Parallel()
	made := make([]int32, 1000)
	done, _, err := together(8, len(made), 0, func(i int) error { made[i]++; return nil })
	if err != nil || done != len(made) {
		t.Errorf("%d done, %v", done, err)
	}
	for i, n := range made {
		if n != 1 {
			t.Errorf("%d was called %d times", i, n)
		}
	}
	bad := errors.New("bad")
	done, _, err = together(1, 10, 0, func(i int) error {
		if i == 3 {
			return bad
		}
		return nil
	})
	if done != 3 || !errors.Is(err, bad) {
		t.Errorf("%d done, %v", done, err)
	}
}
