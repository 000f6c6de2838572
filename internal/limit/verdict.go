package limit

import (
	"cmp"
	"slices"
	"time"
)

// MaxClaims is how many claims one request can make.
const MaxClaims = 8

// State is how one claim stands after it was judged.
type State struct {
	Limit int64
	Left  int64 // what may still be taken
	// Seconds is after how many of them one more is free than now, from 1 to 60; zero
	// if nothing is used. Of a claim that is exhausted it is how long to wait.
	Seconds   int32
	Resource  Resource
	Exhausted bool
}

// Verdict is what became of a request's claims.
type Verdict struct {
	states [MaxClaims]State
	n      uint8
	worst  uint8 // one more than the index of the exhausted claim with the longest wait
	away   bool  // no limit is used up, but nobody could be asked
}

// add writes down a claim that was judged; e is nil if nothing of it was ever taken.
func (v *Verdict) add(c *Claim, e *entry, over, t int64) {
	s := &v.states[v.n]
	v.n++
	s.Resource, s.Limit, s.Left, s.Exhausted = c.Resource, c.Limit, c.Limit, over > 0
	if e != nil {
		s.Left = max(c.Limit-e.used, 0)
		s.Seconds = wholeSeconds(e.free(max(over, 1), t))
	}
	if !s.Exhausted {
		return
	}
	if s.Seconds == 0 { // more at once than there ever is
		s.Seconds = int32(Window / time.Second)
	}
	if v.worst == 0 || s.Seconds > v.states[v.worst-1].Seconds {
		v.worst = v.n
	}
}

// Allowed reports whether every limit allowed the request.
func (v *Verdict) Allowed() bool { return v.worst == 0 }

// States are all claims, in the order they were made.
func (v *Verdict) States() []State { return v.states[:v.n] }

// Worst is the exhausted claim with the longest wait; the first made, of equal ones.
// It is zero if the request was allowed.
func (v *Verdict) Worst() State {
	if v.worst == 0 {
		return State{}
	}
	return v.states[v.worst-1]
}

// Exhausted are all claims that are used up, the longest wait first.
func (v *Verdict) Exhausted() []State {
	var all []State
	for _, s := range v.States() {
		if s.Exhausted {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b State) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return all
}
