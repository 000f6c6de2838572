package limit

import (
	"fmt"
	"sync/atomic"

	"ferry/internal/fault"
)

// Gate is the ceiling of the whole process: it holds whatever limits are turned off.
type Gate struct {
	room   int64
	inside atomic.Int64
}

// errFull is made once: a house that is full has no time to write.
var errFull = func() *fault.Error {
	f := fault.New(fault.Unavailable, "service_unavailable",
		"The service has more to do than it can. Nothing was done; try again in a second.")
	f.Detail = map[string]any{detailSeconds: 1}
	return f
}()

// NewGate makes a gate for so many requests at once. There is no gate without end.
func NewGate(room int64) (*Gate, error) {
	if room < 1 {
		return nil, fmt.Errorf("limit: room for %d requests at once would let none in; give at least 1", room)
	}
	return &Gate{room: room}, nil
}

// Enter lets a request in, which must Leave, or says that there is no room: then
// answer with Full.
func (g *Gate) Enter() bool {
	for {
		n := g.inside.Load()
		if n >= g.room {
			return false
		}
		if g.inside.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Leave ends what Enter began.
func (g *Gate) Leave() {
	if g.inside.Add(-1) < 0 {
		g.inside.Add(1) // or one more than there is room for would get in
		panic("limit: a request left the gate that never entered it")
	}
}

// Inside is how many are in now, for a gauge.
func (g *Gate) Inside() int64 { return g.inside.Load() }

// Full is the refusal of a request that did not get in; it is 503 and nobody's limit.
func (g *Gate) Full() *fault.Error { return errFull }
