package office_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ferry/internal/office"
	"ferry/internal/testseed"
)

// chained is a sound log of some length.
func chained(r *rand.Rand, n int) []office.Entry {
	text := func() string {
		b := make([]byte, r.IntN(5))
		for i := range b {
			b[i] = "ab{}\"\x00"[r.IntN(6)]
		}
		return string(b)
	}
	var log []office.Entry
	var prev office.Sum
	for i := range n {
		e := office.Entry{At: time.UnixMicro(r.Int64N(1 << 50)), By: text(), Action: text(), Target: text(), Before: text(), After: text()}
		e = e.Seal(int64(i+1), prev)
		log, prev = append(log, e), e.Sum
	}
	return log
}

func verify(log []office.Entry, end office.Verdict) error {
	var v office.Verifier
	for _, e := range log {
		if err := v.Next(e); err != nil {
			return err
		}
	}
	_, err := v.End(end)
	return err
}

func TestAnyChangedEntryIsFound(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 300 {
		log := chained(r, 1+r.IntN(8))
		last := log[len(log)-1]
		end := office.Verdict{Entries: last.Seq, Head: last.Sum}
		if err := verify(log, end); err != nil {
			t.Fatalf("a sound log is refused: %v", err)
		}
		at := r.IntN(len(log))
		for name, spoil := range map[string]func([]office.Entry) []office.Entry{
			"number": func(l []office.Entry) []office.Entry { l[at].Seq++; return l },
			"time":   func(l []office.Entry) []office.Entry { l[at].At = l[at].At.Add(time.Microsecond); return l },
			"by":     func(l []office.Entry) []office.Entry { l[at].By += "x"; return l },
			"action": func(l []office.Entry) []office.Entry { l[at].Action += "x"; return l },
			"target": func(l []office.Entry) []office.Entry { l[at].Target += "x"; return l },
			"before": func(l []office.Entry) []office.Entry { l[at].Before += "x"; return l },
			"after":  func(l []office.Entry) []office.Entry { l[at].After += "x"; return l },
			"prev":   func(l []office.Entry) []office.Entry { l[at].Prev[r.IntN(32)] ^= 1; return l },
			"sum":    func(l []office.Entry) []office.Entry { l[at].Sum[r.IntN(32)] ^= 1; return l },
			"moved": func(l []office.Entry) []office.Entry {
				l[at].By, l[at].Action = l[at].By+"x"+l[at].Action, ""
				return l
			},
			"gone":    func(l []office.Entry) []office.Entry { return slices.Delete(l, at, at+1) },
			"cut":     func(l []office.Entry) []office.Entry { return l[:at] },
			"doubled": func(l []office.Entry) []office.Entry { return slices.Insert(l, at, l[at]) },
			"sealed again": func(l []office.Entry) []office.Entry {
				l[at].By += "x"
				l[at] = l[at].Seal(l[at].Seq, l[at].Prev)
				return l
			},
			"longer": func(l []office.Entry) []office.Entry { return append(l, office.Entry{}.Seal(last.Seq+1, last.Sum)) },
		} {
			if err := verify(spoil(slices.Clone(log)), end); !errors.Is(err, office.ErrBroken) {
				t.Errorf("%s of entry %d of %d: got %v", name, at+1, len(log), err)
			}
		}
	}
}
