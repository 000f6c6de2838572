package limit

import (
	"cmp"
	"slices"
	"time"
)

// hearing is within what time a process hears that others want what it holds, and
// has given it back.
const hearing = 2 * time.Second

// maxBits is how many moments an account tells apart before it takes those of one
// second together.
const maxBits = 256

// Account is what the processes of a deployment hold and have spent of one subject.
// It is kept by the pool and changed by Trade alone.
//
// Units are in one of four places: free, held by a process that may spend them at any
// time, spent at a known time, or spent by a process that has not said so yet, which
// looks like held. Together they are never more than the limit, and what was spent at
// u is free again at u+60 s. So whoever spends a unit at t took it from a pool in which
// at most the limit were held or spent after t-60 s: the law that Memory keeps for one
// process holds for all of them together.
//
// What a process holds may be spent until its lease ends and counts for 60 s after
// that. Ages that a process tells are measured before the pool's clock is read, so a
// unit counts a little too long and never too short.
type Account struct {
	Clock   Tick              `json:"clock,omitzero"`
	Holders map[string]Holder `json:"holders,omitempty"`
	Spent   []Bit             `json:"spent,omitempty"` // the oldest first
	Wanted  int64             `json:"wanted,omitzero"` // until when somebody waits for what others hold
}

// Tick is where the clock of an account stands; it never goes back.
type Tick struct {
	Now   int64 `json:"now"`
	Shift int64 `json:"shift,omitzero"`
}

// Holder is what one process has.
type Holder struct {
	Held int64 `json:"held"`
	Seq  int64 `json:"seq"` // of its last trade: one that comes late changes nothing
	At   int64 `json:"at"`  // of its last trade
}

// Bit is so many units spent at one moment.
type Bit struct {
	At int64 `json:"at"`
	N  int64 `json:"n"`
}

// Offer is what a process says of a subject, and what it wants.
type Offer struct {
	Subject string
	Limit   int64
	Seq     int64
	Held    int64 // what it still has; it gives back the rest
	Spent   []Bit // since it said so last; At is how long ago
	Want    int64
	Spare   bool // nobody needs it yet: whoever waits comes first
}

// Deal is the answer to an offer.
type Deal struct {
	Granted int64
	Free    int64         // what is left for anybody
	Wait    time.Duration // where nothing was granted: after what time there may be something
	Lost    bool          // the lease of the process has run out: all it holds is lost
}

// Leases says until when a process holds its lease, and whether it is known.
type Leases func(process string) (until int64, known bool)

// Trade is one exchange of a process with the pool, at a time of the pool's clock.
func (a *Account) Trade(reading int64, process string, leases Leases, o Offer) Deal {
	c := clock{a.Clock.Now, a.Clock.Shift}
	t := c.tick(reading, lateWall)
	a.Clock = Tick{c.now, c.shift}
	// Leases are of the clock as it reads; the account's may have been shifted.
	if until, known := leases(process); !known || until <= reading {
		return Deal{Lost: true}
	}
	a.forget(t, reading, leases)
	own := a.Holders[process]
	if o.Seq <= own.Seq {
		return Deal{}
	}
	a.report(t, o.Spent)
	free, others := o.Limit-o.Held, int64(0)
	for _, b := range a.Spent {
		free -= b.N
	}
	for name, h := range a.Holders {
		if name != process {
			others += h.Held
		}
	}
	free -= others
	if o.Spare && a.Wanted > t {
		o.Want = 0
	}
	d := Deal{Granted: min(o.Want, free)}
	if (others > 0 || a.Wanted > t) && d.Granted > 1 {
		d.Granted = min(o.Want, max(free/2, 1)) // somebody else comes for the rest
	}
	d.Granted = max(d.Granted, 0)
	d.Free = max(free-d.Granted, 0)
	if a.Holders == nil {
		a.Holders = map[string]Holder{}
	}
	a.Holders[process] = Holder{Held: o.Held + d.Granted, Seq: o.Seq, At: t}
	if o.Want > 0 && d.Granted == 0 {
		d.Wait = a.wait(t, reading, process, leases, 1-free)
		a.Wanted = t + 2*int64(hearing) // he asks again after one
	}
	return d
}

// forget drops what counts no more.
func (a *Account) forget(t, reading int64, leases Leases) {
	gone := 0
	for gone < len(a.Spent) && a.Spent[gone].At+span <= t {
		gone++
	}
	a.Spent = slices.Delete(a.Spent, 0, gone)
	for name, h := range a.Holders {
		until, known := leases(name)
		if !known || until+span <= reading || (h.Held == 0 && h.At+span <= t) {
			delete(a.Holders, name)
		}
	}
}

// report enters what was spent, so long ago.
func (a *Account) report(t int64, spent []Bit) {
	for _, b := range spent {
		if at := t - max(b.At, 0); at+span > t && b.N > 0 {
			a.Spent = append(a.Spent, Bit{at, b.N})
		}
	}
	slices.SortFunc(a.Spent, func(x, y Bit) int { return cmp.Compare(x.At, y.At) })
	if len(a.Spent) <= maxBits {
		return
	}
	kept := a.Spent[:0]
	for _, b := range a.Spent {
		if n := len(kept); n > 0 && kept[n-1].At/second == b.At/second {
			kept[n-1] = Bit{b.At, kept[n-1].N + b.N} // counts until the later of them
			continue
		}
		kept = append(kept, b)
	}
	a.Spent = kept
}

// wait is when so many units may be free: spent ones a minute after, those of a dead
// process a minute after its lease, and those of a living one when it was heard of.
func (a *Account) wait(t, reading int64, process string, leases Leases, units int64) time.Duration {
	back := slices.Clone(a.Spent)
	for i := range back {
		back[i].At += span - t
	}
	for name, h := range a.Holders {
		if name == process || h.Held == 0 {
			continue
		}
		in := int64(hearing)
		if until, _ := leases(name); until <= reading {
			in = until + span - reading
		}
		back = append(back, Bit{in, h.Held})
	}
	slices.SortFunc(back, func(x, y Bit) int { return cmp.Compare(x.At, y.At) })
	for _, b := range back {
		if units -= b.N; units <= 0 {
			return time.Duration(max(b.At, 1))
		}
	}
	return Window
}
