package limit

import "time"

const (
	second = int64(time.Second)
	span   = int64(Window)
	// A minute touches at most 61 seconds of the clock; the next power of two.
	wholeRing = 64
	firstRing = 4
)

// bucket is what was taken within one second of the clock.
type bucket struct {
	last int64 // when the last of them was taken
	n    int64
}

// window is what was taken of one subject in the last 60 seconds.
//
// All units of a bucket count until 60 s after the last of them was taken. So a unit
// taken at u counts at every t < u+60 s: its bucket's last is u or later. A unit is
// given at t only while fewer than the limit count, hence at most the limit were
// taken in (t-60 s, t] with it. Any 60 s that hold a unit end no earlier than the
// newest unit in them, say at t, and what they hold lies in (t-60 s, t]: never more
// than the limit. A unit may count up to a second too long, never too short; and as
// no last lies in the future, everything is free again after 60 s, not 61.
//
// The newest bucket is kept apart from the ring of older ones, and so is the time at
// which something is free again: most requests touch one line of memory of a window.
type window struct {
	until int64  // when the oldest bucket counts no more
	used  int64  // what counts
	now   bucket // the newest; none if nothing was taken in it
	ring  []bucket
	moved uint32 // see shard.find
	first uint8  // the oldest of the ring, whose length is a power of two
	n     uint8  // how many the ring has
}

func (w *window) at(i uint8) *bucket { return &w.ring[(w.first+i)&uint8(len(w.ring)-1)] }

// empty reports whether nothing counts any more.
func (w *window) empty() bool { return w.used == 0 }

// expire forgets what counts no more. Every bucket is forgotten once, so it costs a
// request no more than it once cost to put it there.
func (w *window) expire(t int64) {
	for w.used > 0 && t >= w.until {
		if w.n == 0 {
			w.used, w.now = 0, bucket{}
			return
		}
		w.used -= w.at(0).n
		w.first++
		w.n--
		w.until = w.oldest().last + span
	}
}

// oldest is the bucket that is forgotten next.
func (w *window) oldest() *bucket {
	if w.n > 0 {
		return w.at(0)
	}
	return &w.now
}

// take counts one more. Times never fall, and what counts no more was forgotten.
func (w *window) take(t int64) {
	w.used++
	if w.now.n > 0 && w.now.last/second != t/second {
		if int(w.n) == len(w.ring) {
			w.grow()
		}
		w.n++
		*w.at(w.n - 1) = w.now
		w.now.n = 0
	}
	w.now.last = t
	w.now.n++
	if w.n == 0 {
		w.until = t + span
	}
}

// grow doubles the ring, which happens four times at most.
func (w *window) grow() {
	ring := make([]bucket, 2*len(w.ring))
	for i := range w.n {
		ring[i] = *w.at(i)
	}
	w.ring, w.first = ring, 0
}

// free is how long until so many units count no more; zero if nothing counts.
func (w *window) free(units, t int64) time.Duration {
	if w.used == 0 {
		return 0
	}
	until := w.until
	if units > 1 { // one is free with the oldest bucket
		for i := uint8(0); i < w.n && units > 0; i++ {
			b := w.at(i)
			until = b.last + span
			units -= b.n
		}
		if units > 0 {
			until = w.now.last + span
		}
	}
	return time.Duration(until - t)
}

// wholeSeconds rounds up: after so many seconds the time is over, a second earlier
// it is not.
func wholeSeconds(d time.Duration) int32 {
	if d <= 0 {
		return 0
	}
	return int32((d + time.Second - 1) / time.Second)
}
