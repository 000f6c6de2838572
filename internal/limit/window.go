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
type window struct {
	ring  []bucket // its length is a power of two
	first uint32   // the oldest bucket
	n     uint32   // how many there are
	used  int64
}

func (w *window) at(i uint32) *bucket { return &w.ring[(w.first+i)&uint32(len(w.ring)-1)] }

// expire forgets what counts no more. Every bucket is forgotten once, so it costs a
// request no more than it once cost to put it there.
func (w *window) expire(t int64) {
	for w.n > 0 {
		b := w.at(0)
		if b.last+span > t {
			return
		}
		w.used -= b.n
		w.first++
		w.n--
	}
}

// take counts one more. Times never fall, and what counts no more was forgotten.
func (w *window) take(t int64) {
	w.used++
	if w.n > 0 {
		if b := w.at(w.n - 1); b.last/second == t/second {
			b.last = t
			b.n++
			return
		}
	}
	if int(w.n) == len(w.ring) {
		w.grow()
	}
	w.n++
	*w.at(w.n - 1) = bucket{last: t, n: 1}
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
	var until int64
	for i := range w.n {
		b := w.at(i)
		until = b.last + span - t
		if units -= b.n; units <= 0 {
			break
		}
	}
	return time.Duration(until)
}

// wholeSeconds rounds up: after so many seconds the time is over, a second earlier
// it is not.
func wholeSeconds(d time.Duration) int32 {
	if d <= 0 {
		return 0
	}
	return int32((d + time.Second - 1) / time.Second)
}
