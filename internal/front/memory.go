package front

import "runtime/debug"

// How much the heap may grow before it is collected, in percent of what lives. What
// lives in a service is small, and most of what a request makes is dead when it is
// answered: with Go's own a busy process collects all the time.
const (
	goGrowth   = 100
	heapGrowth = 400
)

// Roomy lets the process use memory for speed, unless whoever runs it has set GOGC.
// What GOMEMLIMIT says is kept to either way.
func Roomy() {
	if set := debug.SetGCPercent(heapGrowth); set != goGrowth {
		debug.SetGCPercent(set)
	}
}
