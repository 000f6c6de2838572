// Package signertest lets tests of a family run through a signer that judges: what the
// family drafts must be what a signer reads from the bytes, or nothing is signed.
//
// It is for tests only and never reaches the daemon.
package signertest
