// Package send carries out wishes on chains: it signs attempts, offers them to
// the network, raises their price, and reports how each wish ended.
//
// It guarantees that a wish lands at most once: signed bytes are stored before
// anybody may broadcast them, a new attempt is made only where it cannot land
// beside an older one, and a wish is given up only when it is proven that it can
// no longer land. Many transfers are gone on with at once; one at a time chooses the
// slots of an attempt, until it is stored. Nothing is done before it is final. It must never decide
// whether or how much to pay; it is woken by the daemon's loop.
package send
