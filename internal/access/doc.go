// Package access turns what a request shows into who it is, and what proof of an
// order it shows into what may be done with the order.
//
// It guarantees that the checks are made in one order for every door: a key in the
// query, the key, its kind, the end user's address, in that order; that nothing but
// the deployment's trusted proxies says where a request came from; that a key which
// was revoked opens nothing a minute later, whatever the database does; and that a
// wrong proof and a missing order are the same work and the same answer. It never
// asks the database while a request waits.
package access
