// Package operator is the operators' door: HTTP under /admin/v1/ for what the
// office does, and the client that the command line uses for it.
//
// It guarantees that nothing is answered but to a token of a person who is in the
// configuration, that this name stands in the log of whatever was changed, that a
// field or parameter nobody knows is refused and never passed over, and that a key is
// in one answer only, the one of its issue. A stream of events tells each of them after
// its commit, in the order of its number, once and without a gap, and keeps nothing for
// a reader that is slow. It must never be reachable for anybody but operators: whoever
// makes the listener binds it to the loopback address, and it has no CORS, so that no
// page in a browser can use it. It knows tokens only as their digests.
package operator
