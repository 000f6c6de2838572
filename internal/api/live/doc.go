// Package live is the protocol of the live socket: who may follow what, what was missed,
// and what is told.
//
// It guarantees that an event is told only after it was committed, in the order of its
// number, without a gap and without going back: a subscription first reads the log from
// where the client is and then hears of what follows, and what it hears twice it says
// once. Whoever may not see an order gets the same refusal as for one that is missing.
// A client that does not keep up is told to begin anew and cut; nobody waits for it.
// Keys are looked at again all the time, and a connection whose key is no longer good
// ends. How deep payments are is looked at once for each block and order, whoever
// follows it, only while one may still vanish, and it is told to nobody but those who
// are told of the order itself; it is read where an order that is read takes it from.
//
// It must never put a secret into a message, a log or an error, and it decides nothing
// about orders.
package live
