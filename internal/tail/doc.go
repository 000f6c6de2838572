// Package tail follows what happens to orders from outside of the service: one order, an
// integration or everything, over the live socket or the operators' API.
//
// It guarantees that every event after the number at which it began is shown once, in the
// order of its number, however often the connection breaks: it comes back by itself, goes
// on after the last number that was shown, and shows nothing twice. Where something can
// not be told any more it says so. What the service refuses for good ends it, with what
// to do about it.
//
// It must never send a secret where others can read it, nor put one into a URL, an error
// or its output, and it changes nothing.
package tail
