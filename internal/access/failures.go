package access

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// failureWindow is the time in which failures are counted.
const failureWindow = time.Minute

// failureSlots is how many places addresses share. Two that share one are counted
// together, which costs neither of them a good key: those are never counted.
const failureSlots = 4096

// failures remembers the last failed keys of every address, never more than a fixed
// number of them, and lets no more than limit pass in any minute.
type failures struct {
	seed  maphash.Seed
	began time.Time
	limit int
	slots [failureSlots]failureSlot
}

// failureSlot has the times of the last failures, the oldest at next once it is full.
type failureSlot struct {
	mu   sync.Mutex
	at   []time.Duration
	next int
}

func newFailures(limit int, now time.Time) *failures {
	return &failures{seed: maphash.MakeSeed(), began: now, limit: limit}
}

// take counts a failure, or says how long the address has to wait before another is
// answered. The failure that came limit failures ago must be a whole minute old, so
// no minute ever has more than limit of them.
func (f *failures) take(from netip.Addr, now time.Time) time.Duration {
	at := now.Sub(f.began)
	slot := &f.slots[maphash.Comparable(f.seed, from)%failureSlots]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if len(slot.at) < f.limit {
		slot.at = append(slot.at, at)
		return 0
	}
	if wait := slot.at[slot.next] + failureWindow - at; wait > 0 {
		return min(wait, failureWindow) // a clock that went back locks nobody out for longer
	}
	slot.at[slot.next] = at
	slot.next = (slot.next + 1) % f.limit
	return 0
}
