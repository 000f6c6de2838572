// Package cctp puts a burn-and-mint bridge on local chains: contracts shaped as those of
// Circle's CCTP version 2, and an attester that answers as Circle's service does.
//
// It guarantees that deploying again continues where it stopped and gives the same
// addresses, and that the attester keeps nothing: what it says is read from the chains
// whenever it is asked. Its keys are known to everybody, so it must never be reached by
// a service that moves money of any worth.
package cctp
