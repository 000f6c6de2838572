package limit

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"time"
)

// shards is how many locks each half has: a bit in a word for each.
const shards = 64

// The halves. Companies are locked before addresses, so that whoever waits for a busy
// company holds up nobody else's address.
const (
	companies = iota
	passing
	halves
)

// MinEntries and DefaultEntries are how many addresses and orders are remembered, at
// least and unless the operator says otherwise.
const (
	MinEntries     = shards * 2 * MaxClaims
	DefaultEntries = 1 << 17
)

// Memory is a Counter for one process.
type Memory struct {
	shards    [halves][shards]shard // first, so that each begins a line of the cache
	start     time.Time
	monotonic bool
	seed      maphash.Seed // nobody can aim at a shard
}

var _ Counter = (*Memory)(nil)

// NewMemory makes a counter that remembers up to so many addresses and orders.
func NewMemory(now time.Time, entries int) (*Memory, error) {
	if entries < MinEntries {
		return nil, fmt.Errorf("limit: a memory of %d entries is too small; give it at least %d", entries, MinEntries)
	}
	m := &Memory{start: now, monotonic: isMonotonic(now), seed: maphash.MakeSeed()}
	for i := range m.shards[passing] {
		m.shards[passing][i].room = entries / shards
	}
	return m, nil
}

// isMonotonic reports whether a time has a monotonic reading, which Round strips.
func isMonotonic(t time.Time) bool { return t != t.Round(0) }

// Take takes one of every claim, or nothing at all if one of them is used up.
func (m *Memory) Take(now time.Time, claims []Claim) Verdict { return m.judge(now, claims, true) }

// Look judges as Take does and takes nothing.
func (m *Memory) Look(now time.Time, claims []Claim) Verdict { return m.judge(now, claims, false) }

func (m *Memory) judge(now time.Time, claims []Claim, take bool) Verdict {
	if len(claims) > MaxClaims {
		panic(fmt.Sprintf("limit: %d claims at once; a verdict has room for %d", len(claims), MaxClaims))
	}
	var (
		held  locks
		homes [MaxClaims]home
		found [MaxClaims]*entry
		over  [MaxClaims]int64 // by how much a claim is more than there is
	)
	for i := range claims {
		m.find(claims, &homes, i, &held)
	}
	m.lock(now, &held)
	var seen uint32 // resources, so that a claim made twice is noticed
	for i := range claims {
		c := &claims[i]
		if c.Limit <= 0 {
			continue
		}
		over[i] = 1 - c.Limit
		if seen&(1<<c.Resource) != 0 {
			over[i] += twins(claims[:i], c)
		}
		seen |= 1 << c.Resource
		if found[i] = homes[i].shard.find(&c.Subject, homes[i].mark); found[i] != nil {
			over[i] += found[i].used
		}
		take = take && over[i] <= 0
	}
	if take {
		for i := range claims {
			if claims[i].Limit <= 0 {
				continue
			}
			if found[i] == nil {
				found[i] = homes[i].shard.findOrAdd(&claims[i].Subject, homes[i].mark)
			}
			found[i].take(homes[i].shard.clock.now)
		}
	}
	var v Verdict
	for i := range claims {
		if claims[i].Limit > 0 {
			v.add(&claims[i], found[i], over[i], homes[i].shard.clock.now)
		}
	}
	m.unlock(&held)
	return v
}

// home is where a subject is counted: a shard, and its mark there.
type home struct {
	shard   *shard
	company uint64 // hash of the company
	all     uint64 // hash of company and address
	mark    uint64 // hash of the whole subject
}

// find says where a claim is counted. What an earlier claim found of the same company
// and address is not hashed again.
func (m *Memory) find(claims []Claim, homes *[MaxClaims]home, i int, need *locks) {
	s, h := &claims[i].Subject, &homes[i]
	known := false
	for j := i - 1; j >= 0 && s.Company != ""; j-- {
		o := &claims[j].Subject
		if s.Company != o.Company {
			continue
		}
		h.company = homes[j].company
		if s.Client == o.Client {
			*h, known = homes[j], true
			break
		}
	}
	if !known {
		m.home(s, h, need)
	}
	h.mark = m.mark(s, h)
}

// mark is the hash of a whole subject. Its parts are hashes with a secret seed, so that
// nobody can aim at a mark either.
func (m *Memory) mark(s *Subject, h *home) uint64 {
	const odd = 0x9e3779b97f4a7c15 // spreads the few resources over all bits
	mark := h.all + uint64(s.Resource)*odd
	if s.Name != "" {
		mark ^= bits.RotateLeft64(maphash.String(m.seed, s.Name), 17)
	}
	return mark
}

// twins is how many of some claims are of the same subject as c.
func twins(claims []Claim, c *Claim) int64 {
	n := int64(0)
	for i := range claims {
		if claims[i].Limit > 0 && claims[i].Subject == c.Subject {
			n++
		}
	}
	return n
}

// Used is how much of each subject counts at the moment, all at the same one.
func (m *Memory) Used(now time.Time, subjects ...Subject) []int64 {
	var held locks
	homes := make([]home, len(subjects))
	for i := range subjects {
		h := &homes[i]
		m.home(&subjects[i], h, &held)
		h.mark = m.mark(&subjects[i], h)
	}
	used := make([]int64, len(subjects))
	m.lock(now, &held)
	defer m.unlock(&held)
	for i := range subjects {
		s := homes[i].shard
		if e := s.get(&subjects[i], homes[i].mark); e != nil {
			e.expire(s.clock.now)
			used[i] = e.used
		}
	}
	return used
}

// Len is how many subjects are remembered.
func (m *Memory) Len() int {
	n := 0
	for half := range m.shards {
		for i := range m.shards[half] {
			s := &m.shards[half][i]
			s.mu.Lock()
			n += s.len
			s.mu.Unlock()
		}
	}
	return n
}

// locks is which shards a request needs, a bit for each.
type locks [halves]uint64

// home finds the shard of a subject. All that is a company's is in one shard, and
// all that is an address's too, so that a request needs one or two locks.
func (m *Memory) home(s *Subject, h *home, need *locks) {
	if s.Company != "" && h.company == 0 {
		h.company = maphash.String(m.seed, string(s.Company))
	}
	half, hash := passing, uint64(0)
	switch {
	case s.Client.IsValid():
		at := s.Client.As16()
		hash = maphash.Bytes(m.seed, at[:])
		h.all = hash ^ bits.RotateLeft64(h.company, 31)
	case s.Company != "":
		half, hash = companies, h.company
		h.all = hash
	default:
		hash = maphash.String(m.seed, s.Name)
		h.all = hash
	}
	i := hash % shards
	need[half] |= 1 << i
	h.shard = &m.shards[half][i]
}

// lock takes the locks in one order for all, so that no two requests wait for each
// other, and tells the shards the time.
func (m *Memory) lock(now time.Time, need *locks) {
	late := lateWall
	if m.monotonic && isMonotonic(now) {
		late = lateMonotonic
	}
	reading := int64(now.Sub(m.start))
	for half, set := range need {
		for ; set != 0; set &= set - 1 {
			s := &m.shards[half][bits.TrailingZeros64(set)]
			s.mu.Lock()
			s.clock.tick(reading, late)
			s.tidy()
		}
	}
}

func (m *Memory) unlock(need *locks) {
	for half, set := range need {
		for ; set != 0; set &= set - 1 {
			m.shards[half][bits.TrailingZeros64(set)].mu.Unlock()
		}
	}
}
