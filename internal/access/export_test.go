package access

import (
	"context"
	"net/netip"
	"time"
)

// Ask has a directory ask once, as Run does.
func (d *Directory) Ask(ctx context.Context) error { return d.ask(ctx) }

// Failures is the limiter of failed keys by itself.
type Failures struct{ f *failures }

// NewFailures makes one.
func NewFailures(limit int, now time.Time) Failures { return Failures{newFailures(limit, now)} }

// Take counts a failure.
func (f Failures) Take(from netip.Addr, now time.Time) time.Duration { return f.f.take(from, now) }

// Memory is how many times it remembers.
func (f Failures) Memory() (n int) {
	for i := range f.f.slots {
		n += cap(f.f.slots[i].at)
	}
	return n
}

// EndUser reads an end user's address.
func EndUser(text string) (netip.Addr, bool) { return endUser(text) }

// Tree is a tree with hashes that a test chooses.
type Tree struct{ t tree[uint64, uint64] }

// Put gives a tree with values, all in one edit.
func (t Tree) Put(hash func(uint64) uint64, pairs ...[2]uint64) Tree {
	e := new(edit)
	for _, p := range pairs {
		t.t = t.t.put(e, hash(p[0]), p[0], p[1])
	}
	return t
}

// Get is a value, if there is one.
func (t Tree) Get(hash func(uint64) uint64, key uint64) (uint64, bool) {
	v := t.t.get(hash(key), key)
	if v == nil {
		return 0, false
	}
	return *v, true
}
