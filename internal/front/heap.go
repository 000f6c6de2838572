package front

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// roomyGarbage is how much may lie around before the collector runs. A service has
// little that lives and makes some ten kilobytes for each request, so that without it
// the collector would run many times a second and take a sixth of the processor.
const roomyGarbage = 64 << 20

var roomyOnce sync.Once

// roomy has the collector wait until there is as much garbage as there is alive, or
// roomyGarbage if that is more. What the operator sets in the environment stands.
func roomy() {
	roomyOnce.Do(func() {
		const usual = 100
		if was := debug.SetGCPercent(usual); was != usual || debug.SetMemoryLimit(-1) != math.MaxInt64 {
			debug.SetGCPercent(was)
			return
		}
		debug.SetGCPercent(roomyPercent(alive()))
		afterCollection(func() { debug.SetGCPercent(roomyPercent(alive())) })
	})
}

// roomyPercent is how much garbage there may be, as a percentage of what is alive.
func roomyPercent(alive uint64) int {
	const least, most = 100, 3200
	return int(min(max(roomyGarbage*100/max(alive, 1), least), most))
}

// alive is what the last collection left.
func alive() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterCollection calls f after every collection: nobody holds the thing whose end it
// waits for.
func afterCollection(f func()) {
	type thing struct{ _ [64]byte }
	runtime.SetFinalizer(&thing{}, func(*thing) {
		f()
		afterCollection(f)
	})
}
