package front

import (
	"context"
	"sync"
	"testing"
	"time"

	"ferry/internal/integrator"
)

func TestUsesOfKeysAreWrittenOnceWithTheLastTime(t *testing.T) {
	t.Parallel()
	var u uses
	start := time.Unix(1_000_000, 0).UTC()
	a, again, b := &integrator.Key{ID: "key_a"}, &integrator.Key{ID: "key_a"}, &integrator.Key{ID: "key_b"}
	u.saw(nil, start)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { u.saw(b, start.Add(time.Duration(i)*time.Millisecond)) })
	}
	wg.Wait()
	u.saw(a, start.Add(2*time.Second))
	u.saw(again, start.Add(time.Second)) // the same key, changed meanwhile
	var got map[integrator.KeyID]time.Time
	keep := func(_ context.Context, times map[integrator.KeyID]time.Time) error { got = times; return nil }
	if err := u.flush(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || !got["key_a"].Equal(start.Add(2*time.Second)) || !got["key_b"].Equal(start) {
		t.Errorf("got %v", got)
	}
	got = nil
	if err := u.flush(t.Context(), keep); err != nil || got != nil {
		t.Errorf("what was written was written again: %v, %v", got, err)
	}
}

func TestASeenKeyCostsARequestNothing(t *testing.T) {
	var u uses
	k, now := &integrator.Key{ID: "key_a"}, time.Unix(1_000_000, 0)
	if n := testing.AllocsPerRun(100, func() { u.saw(k, now) }); n > 0 {
		t.Errorf("a request pays %.0f allocations", n)
	}
}
