package tail_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ferry/internal/tail"
	"ferry/internal/testseed"
)

var errCut = errors.New("cut")

// shaky is a service with a log that is cut all the time, tells what was told before and
// leaves something out.
type shaky struct {
	rng  *rand.Rand
	ends int64
	asks int
}

func (s *shaky) Hear(_ context.Context, from tail.From, tell func(tail.Item) error) error {
	s.asks++
	next := int64(1)
	if from.After != nil {
		next = max(1, *from.After+1-s.rng.Int64N(3))
	}
	for ; next <= s.ends; next++ {
		switch s.rng.IntN(8) {
		case 0:
			return errCut
		case 1:
			next++ // one is left out
		case 2:
			return tail.Later(errCut)
		}
		if err := tell(tail.Item{Kind: tail.Event, Seq: next, Finished: next >= s.ends}); err != nil {
			return err
		}
	}
	return errCut
}

func TestWhateverBreaksEachEventIsShownOnceAndInOrder(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			s := &shaky{rng: rng, ends: 1 + rng.Int64N(60)}
			begin := rng.Int64N(s.ends)
			var shown []int64
			f := tail.New(tail.Config{Source: s, From: tail.From{After: &begin}, Dense: true, Show: func(i tail.Item) error {
				shown = append(shown, i.Seq)
				return nil
			}})
			// Until it hears for the first time a plain cut is an error, which is asked again.
			for err := f.Run(t.Context()); err != nil; err = f.Run(t.Context()) {
				if f.Heard() || !errors.Is(err, errCut) {
					t.Fatal(err)
				}
			}
			var want []int64
			for n := begin + 1; n <= s.ends; n++ {
				want = append(want, n)
			}
			if !slices.Equal(shown, want) {
				t.Fatalf("after %d of %d: shown %v", begin, s.ends, shown)
			}
			if n, known := f.After(); !known || n != s.ends {
				t.Fatalf("to go on after %d %t", n, known)
			}
		})
	}
}

// script answers each connection with the next of its parts.
type script struct {
	parts []func(from tail.From, tell func(tail.Item) error) error
	froms []string
}

func (s *script) Hear(_ context.Context, from tail.From, tell func(tail.Item) error) error {
	text := fmt.Sprintf("last %d", from.Last)
	if from.After != nil {
		text = fmt.Sprintf("after %d", *from.After)
	}
	s.froms = append(s.froms, text)
	if len(s.parts) == 0 {
		return &tail.Refusal{Code: "over", Text: "there is nothing more."}
	}
	part := s.parts[0]
	s.parts = s.parts[1:]
	return part(from, tell)
}

func TestHowATailGoesOn(t *testing.T) {
	t.Parallel()
	type part = func(tail.From, func(tail.Item) error) error
	told := func(end error, items ...tail.Item) part {
		return func(_ tail.From, tell func(tail.Item) error) error {
			for _, i := range items {
				if err := tell(i); err != nil {
					return err
				}
			}
			return end
		}
	}
	event := func(n int64) tail.Item { return tail.Item{Kind: tail.Event, Seq: n} }
	mark := func(n int64) tail.Item { return tail.Item{Kind: tail.Mark, Seq: n} }
	last := tail.Item{Kind: tail.Event, Seq: 3, Finished: true}
	for _, c := range []struct {
		name  string
		cfg   tail.Config
		parts []part
		froms string
		shown string
		err   string
	}{
		{"nobody answers at first", tail.Config{}, []part{told(errCut)}, "last 0", "", "cut"},
		{"asked to come later at first", tail.Config{}, []part{told(tail.Later(errCut))}, "last 0, last 0", "", "over"},
		{"cut before an event", tail.Config{}, []part{told(errCut, mark(7))}, "last 0, after 7", "", "over"},
		{"the last few become a number", tail.Config{From: tail.From{Last: 5}}, []part{told(errCut, event(4), event(5))}, "last 5, after 5", "4 5", "over"},
		{"told again", tail.Config{}, []part{told(nil, event(1), event(2)), told(nil, event(1), event(2), event(3))}, "last 0, after 2, after 3", "1 2 3", "over"},
		{"a gap", tail.Config{Dense: true}, []part{told(nil, mark(1), event(3)), told(nil, event(2), event(3))}, "last 0, after 1, after 3", "2 3", "over"},
		{"numbers with gaps", tail.Config{}, []part{told(nil, mark(1), event(3), event(9))}, "last 0, after 9", "3 9", "over"},
		{"the end", tail.Config{}, []part{told(nil, event(2), last, event(4))}, "last 0", "2 3", ""},
		{"beyond the end", tail.Config{Keep: true}, []part{told(nil, event(2), last, event(4))}, "last 0, after 4", "2 3 4", "over"},
		{"at its end before", tail.Config{}, []part{told(nil, tail.Item{Kind: tail.Mark, Seq: 9, Finished: true})}, "last 0", "", ""},
		{"a snapshot", tail.Config{}, []part{told(nil, tail.Item{Kind: tail.Snapshot, Seq: 6}, event(6), event(7))}, "last 0, after 7", "6 7", "over"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &script{parts: c.parts}
				var shown []string
				c.cfg.Source = s
				c.cfg.Show = func(i tail.Item) error {
					shown = append(shown, strconv.FormatInt(i.Seq, 10))
					return nil
				}
				err := tail.New(c.cfg).Run(t.Context())
				if (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
					t.Errorf("ended with %v, want %q", err, c.err)
				}
				if got := strings.Join(s.froms, ", "); got != c.froms {
					t.Errorf("asked %q, want %q", got, c.froms)
				}
				if got := strings.Join(shown, " "); got != c.shown {
					t.Errorf("shown %q, want %q", got, c.shown)
				}
			})
		})
	}
}

func TestPausesGrowAndEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		s := &script{}
		for range 12 {
			s.parts = append(s.parts, func(tail.From, func(tail.Item) error) error {
				at = append(at, time.Now())
				return tail.Later(errCut)
			})
		}
		_ = tail.New(tail.Config{Source: s}).Run(t.Context())
		for i := range at[1:] {
			least, most := 250*time.Millisecond<<i, 500*time.Millisecond<<i
			if i > 5 {
				least, most = 15*time.Second, 30*time.Second
			}
			if d := at[i+1].Sub(at[i]); d < least || d > most {
				t.Errorf("pause %d is %s, not from %s to %s", i, d, least, most)
			}
		}
	})
}

func TestAnOutputThatFailsEndsIt(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	s := &script{parts: []func(tail.From, func(tail.Item) error) error{func(_ tail.From, tell func(tail.Item) error) error {
		return tell(tail.Item{Kind: tail.Event, Seq: 1})
	}}}
	f := tail.New(tail.Config{Source: s, Show: func(tail.Item) error { return broken }})
	if err := f.Run(t.Context()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if n, known := f.After(); known {
		t.Fatalf("what was not shown counts: %d", n)
	}
}
