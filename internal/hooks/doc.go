// Package hooks tells integrators of their orders: what the log of an integrator says is
// posted to the addresses that it named, signed.
//
// It guarantees that every event that an endpoint asked for is posted at least once, or
// for a day in vain and then written down as failed; that of one order no event is
// posted beside an earlier one, and none before an earlier one was delivered or given
// up; that an endpoint that is slow or gone holds up nobody else; and that all this
// holds however often and wherever a process dies, because what is to be posted is
// written down before it is, and what was posted after. The log is the truth: an
// endpoint that missed something is replayed from it.
//
// It must never follow an address into a private network, never say a secret but once,
// and never write down what an endpoint answered beyond its status. It posts from Run,
// which is woken by the log, by the end of a post and by itself.
package hooks
