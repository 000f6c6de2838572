// Package feed hands the durable log of changes to live listeners.
//
// A listener names a topic: an order, a session, an integrator or everything. It
// guarantees that a listener hears every entry of its topic after the point where it
// began, in order and without gaps. Handing out an entry costs as much as it has
// listeners, however many there are of other topics. Listeners are never waited for:
// one that cannot take an entry says so to itself, and reads on from the log, which is
// the truth. It must never write.
package feed
