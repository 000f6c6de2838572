// Package access turns what a request shows into who it is, and what proof of an
// order it shows into what may be done with the order.
//
// It guarantees that the checks are made in one order for every door: a key in the
// query, the key, its kind, the end user's address, in that order; that nothing but
// the deployment's trusted proxies says where a request came from; that a key which
// was revoked opens nothing a minute later, whatever the database does; and that a
// wrong proof and a missing order are the same work and the same answer. It never
// asks the database while a request waits.
//
// It must never keep, log or tell a key, a session or an end user's address, and it
// must never answer from what it knew a minute ago. Directory.Run asks the register
// by itself every so often, and at once when Wake is called.
package access
