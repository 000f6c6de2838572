// Package desk is the counter: it quotes, makes orders, shows them to whoever has
// the proof, and takes what their owners ask for.
//
// It guarantees that an order is made of an offer that stands now, that its owner's
// secret is given out once and kept only as a digest, that an order which is not
// there and one that is not yours are the same answer after the same work, and that
// nothing is done for a proof that only reads. A transaction that pays an order is made
// for its owner's eyes, signed by nobody here. It moves no order itself: what an
// owner asks for is a fact like any other and goes to settle.
package desk
