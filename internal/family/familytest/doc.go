// Package familytest is the one suite that every chain family passes: the
// simulated ones now, the real ones as they come.
//
// It knows a family only by the ports of watch and send and by a Bench, the
// workbench on which a test mines, reorganises and pays. A case that needs a
// power the chain does not have is not run for it. What the suite guarantees is
// that a family which passes finds each payment once, under one name, only where
// it is; that no two attempts of one transfer land beside each other; and that it
// says nothing rather than something its nodes do not agree on.
package familytest
