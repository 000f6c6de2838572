package limit

import "sync"

// shard is a part of the subjects under one lock, in the order of their use.
type shard struct {
	mu             sync.Mutex
	clock          clock
	entries        map[uint64]*entry // by mark; twins are behind the first
	len            int
	newest, oldest *entry
	room           int      // how many it may hold; zero for companies, which all have room
	_              [64]byte // neighbours do not share a cache line
}

// entry is one subject that was used.
type entry struct {
	window
	subject      Subject
	mark         uint64
	twin         *entry // another subject of the same mark
	newer, older *entry
	few          [firstRing]bucket // enough for most addresses
	_            [32]byte          // a window is one line of the processor's cache, not parts of two
}

// clock makes a time that never falls out of readings that may.
type clock struct{ now, shift int64 }

// second is the second that the time is in.
func (c *clock) second() uint32 { return uint32(c.now / second) }

// How far a reading may lie behind an earlier one because its goroutine was late.
// Beyond that somebody set the clock back.
const (
	lateMonotonic = span
	lateWall      = second
)

// tick is the time now. A late reading counts as the newest one. If the clock was set
// back, time goes on from where it stood: otherwise everybody who spent just before
// would be locked out until the clock is there again.
func (c *clock) tick(reading, late int64) int64 {
	t := reading + c.shift
	if t < c.now {
		if c.now-t > late {
			c.shift += c.now - t
		}
		return c.now
	}
	c.now = t
	return t
}

// get is the entry of a subject, or nil. A mark is looked for, which is much faster
// than a subject; a twin is as good as never there.
func (s *shard) get(subject *Subject, mark uint64) *entry {
	e := s.entries[mark]
	for e != nil && e.subject != *subject {
		e = e.twin
	}
	return e
}

// find is the entry of a subject that was used before, or nil; it counts as used now,
// so that whoever knocks in vain is not forgotten for it.
func (s *shard) find(subject *Subject, mark uint64) *entry {
	e := s.get(subject, mark)
	if e == nil {
		return nil
	}
	e.expire(s.clock.now)
	// To move an entry touches its neighbours, too. Who is idle longest matters to the
	// second at most, until there is hardly any room left.
	if s.newest != e && (e.moved != s.clock.second() || s.crowded()) {
		s.unlink(e)
		s.link(e)
	}
	return e
}

// crowded reports whether something may have to go for what a request adds.
func (s *shard) crowded() bool { return s.room > 0 && s.len+MaxClaims >= s.room }

// findOrAdd is the entry of a subject, which is made if there is none. If there is no
// room, the one that was idle longest goes; those of the request itself were used
// just now and are fewer than there is room for.
func (s *shard) findOrAdd(subject *Subject, mark uint64) *entry {
	if e := s.find(subject, mark); e != nil {
		return e
	}
	if s.room > 0 && s.len >= s.room {
		s.drop(s.oldest)
	}
	e := &entry{subject: *subject, mark: mark}
	if e.ring = e.few[:]; s.room == 0 {
		e.ring = make([]bucket, wholeRing)
	}
	if s.entries == nil {
		s.entries = map[uint64]*entry{}
	}
	e.twin, s.entries[mark] = s.entries[mark], e
	s.len++
	s.link(e)
	return e
}

// tidy forgets up to two subjects of which nothing counts any more. One request adds
// few and all of them tidy, so that the idle do not pile up; and none pays for many.
func (s *shard) tidy() {
	for range 2 {
		e := s.oldest
		if e == nil {
			return
		}
		if e.expire(s.clock.now); !e.empty() {
			return
		}
		s.drop(e)
	}
}

func (s *shard) drop(e *entry) {
	s.unlink(e)
	s.len--
	first := s.entries[e.mark]
	switch {
	case first != e:
		for first.twin != e {
			first = first.twin
		}
		first.twin = e.twin
	case e.twin != nil:
		s.entries[e.mark] = e.twin
	default:
		delete(s.entries, e.mark)
	}
}

func (s *shard) link(e *entry) {
	e.moved = s.clock.second()
	e.older, e.newer = s.newest, nil
	if s.newest != nil {
		s.newest.newer = e
	} else {
		s.oldest = e
	}
	s.newest = e
}

func (s *shard) unlink(e *entry) {
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		s.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		s.oldest = e.newer
	}
}
