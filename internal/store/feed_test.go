package store

import (
	"testing"

	"ferry/internal/feed"
)

func TestFreshEntriesAreWithoutAGap(t *testing.T) {
	t.Parallel()
	batch := func(from, to int64) (es []feed.Entry) {
		for seq := from; seq <= to; seq++ {
			es = append(es, feed.Entry{Seq: seq})
		}
		return es
	}
	var f fresh
	want := func(after int64, n int, first, last int64) {
		t.Helper()
		got := f.since(after, n)
		switch {
		case first == 0 && len(got) == 0:
		case first == 0 || len(got) == 0 || got[0].Seq != first || got[len(got)-1].Seq != last || int64(len(got)) != last-first+1:
			t.Errorf("after %d: %v, want %d to %d", after, got, first, last)
		}
	}
	want(0, 10, 0, 0)
	f.add(batch(5, 7))
	want(3, 10, 0, 0) // 4 is somebody else's
	want(4, 10, 5, 7)
	want(5, 1, 6, 6)
	want(7, 10, 0, 0) // who knows whether there is more
	f.add(batch(8, 9))
	want(4, 10, 5, 9)
	f.add(batch(11, 12)) // 10 is somebody else's
	want(4, 10, 0, 0)
	want(9, 10, 0, 0)
	want(10, 10, 11, 12)
	for seq := int64(13); seq < 20*freshEntries; seq += 64 {
		f.add(batch(seq, seq+63))
	}
	last := f.entries[len(f.entries)-1].Seq
	want(last-freshEntries, 2*freshEntries, last-freshEntries+1, last)
	want(10, 10, 0, 0)
	if n := len(f.entries); n > 3*freshEntries {
		t.Errorf("%d entries are kept", n)
	}
	f.since(last-1, 1)[0].Seq = 1 // it is the caller's own
	want(last-1, 1, last, last)
}
