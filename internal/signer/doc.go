// Package signer holds the keys, and signs only what was wished.
//
// A Ring turns a seed into keys (BIP-32, 44 and 84; SLIP-10 for Solana) and signs
// whatever it is given: it judges nothing and is for a Signer and for tests of
// families. A Signer reads each transaction again from its bytes, with code that no
// family shares, and compares it with the stored wish before its Ring may sign.
//
// Guarantees: every signature is deterministic (RFC 6979, Ed25519), so that no bad
// luck of a random source can give a key away; what cannot be read is refused; an
// error of a port is a refusal.
//
// It must never: sign what it cannot read whole, believe a field of a paper that it
// can read from the transaction itself, write a seed, a mnemonic, a passphrase or a
// key into an error, a log or a printed value.
package signer
