package limit

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"ferry/internal/integrator"
)

// Times of a stock.
const (
	// idle is after what time without use a process gives back what it holds.
	idle = 30 * time.Second
	// silence is how long a process may hold anything and not say how it stands. The
	// pool forgets an account that nobody spoke of for much longer.
	silence = 45 * time.Second
	// sulk is for how long a pool that did not answer is not asked again.
	sulk = time.Second
)

// stock is what this process has of one subject. Times are readings of its clock.
type stock struct {
	subject Subject

	limit int64
	have  int64 // may be spent here
	free  int64 // was left for anybody when the pool was asked last
	other int64 // others held or had spent then
	spent []Bit // and not told yet

	since  int64 // when something was last granted: nothing is spent earlier than that
	used   int64 // when somebody last asked for it here
	told   int64 // when the pool last heard of it
	barren int64 // until when there is nothing to be had
	away   bool  // and that because the pool did not answer

	flight chan struct{} // closed when the trade under way is over; nil: there is none
}

// block is how much a process asks for at once: little enough that several find
// something, and much enough that the pool is asked a few times a minute.
func (s *stock) block() int64 { return max(s.limit/16, 1) }

// low reports whether it is time to ask before there is nothing left.
func (s *stock) low(t int64) bool {
	return s.flight == nil && s.free > 0 && s.have < (s.block()+1)/2 && t >= s.barren
}

// spend takes one unit out at a time, which there must be.
func (s *stock) spend(t int64) {
	s.have--
	t = max(t, s.since)
	if n := len(s.spent); n > 0 && s.spent[n-1].At/second == t/second {
		s.spent[n-1] = Bit{max(t, s.spent[n-1].At), s.spent[n-1].N + 1}
		return
	}
	s.spent = append(s.spent, Bit{t, 1})
}

// left is what may still be taken in all processes, as far as this one knows: what
// its memory says but for what others had, which is forgotten after a minute.
func (s *stock) left(here, t int64) int64 {
	known := here
	if t-s.told < span {
		known -= s.other
	}
	return max(known, min(s.have, here))
}

// empty reports whether the pool need not hear of it any more.
func (s *stock) empty() bool { return s.have == 0 && len(s.spent) == 0 && s.flight == nil }

// rack is the stocks of some companies under one lock. All that is a company's is in
// one rack, so that a request needs one; and on one shelf of it, which is searched from
// the front: a company has few limits and a few keys in use, and to look for five of
// them so costs less than to hash one.
type rack struct {
	mu      sync.Mutex
	shelves map[integrator.ID]*[]*stock
	_       [64]byte // neighbours do not share a cache line
}

// find is the stock of a subject, or nil.
func (r *rack) find(subject *Subject) *stock {
	if shelf := r.shelves[subject.Company]; shelf != nil {
		return onShelf(*shelf, subject)
	}
	return nil
}

func onShelf(shelf []*stock, subject *Subject) *stock {
	for _, s := range shelf {
		if s.subject.Resource == subject.Resource && s.subject.Name == subject.Name {
			return s
		}
	}
	return nil
}

// all calls for every stock, and forgets those for which it is told to.
func (r *rack) all(forget func(*stock) bool) {
	for id, shelf := range r.shelves {
		if *shelf = slices.DeleteFunc(*shelf, forget); len(*shelf) == 0 {
			delete(r.shelves, id)
		}
	}
}

// shelf is that of a company.
func (r *rack) shelf(id integrator.ID) *[]*stock {
	shelf := r.shelves[id]
	if shelf == nil {
		if r.shelves == nil {
			r.shelves = map[integrator.ID]*[]*stock{}
		}
		shelf = new([]*stock)
		r.shelves[id] = shelf
	}
	return shelf
}

// stock is that of a claim. A limit that was changed begins anew: what was held under
// the old one is given back with the next trade.
func (r *rack) stock(shelf *[]*stock, c *Claim, t int64) *stock {
	s := onShelf(*shelf, &c.Subject)
	if s == nil {
		s = &stock{subject: c.Subject, limit: c.Limit}
		*shelf = append(*shelf, s)
	}
	if s.limit != c.Limit {
		s.limit, s.have, s.free, s.other, s.barren, s.away = c.Limit, 0, 0, 0, 0, false
	}
	s.used = max(s.used, t)
	return s
}

func (s *Shared) rack(id integrator.ID) *rack {
	return &s.racks[maphash.String(s.seed, string(id))%shards]
}

// shared reports whether a subject is counted across processes: what belongs to a
// company and to no address.
func shared(s *Subject) bool { return s.Company != "" && !s.Client.IsValid() }

// text is the name of a subject in the pool, which has no address in it.
func (s *Subject) text() string {
	return s.Resource.String() + "/" + string(s.Company) + "/" + s.Name
}

// subjectNamed is the subject of a name; its resource is none if it is no such name.
func subjectNamed(text string) (s Subject) {
	part := strings.SplitN(text, "/", 3)
	if len(part) == 3 {
		s.Resource, s.Company, s.Name = ResourceNamed(part[0]), integrator.ID(part[1]), part[2]
	}
	return s
}
