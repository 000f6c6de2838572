// Package integrator holds who builds on the service: the company, its keys, what
// it may use and what it earns. It guarantees that a fee can only go to an address
// that the integrator gave for the family the money came from, that a key's kind
// never changes, and that a key is kept only as its digest. It reads no clock.
package integrator
