// Package solana runs a Solana chain on this machine: Surfpool, which is the real
// virtual machine of a validator, behind a front that speaks the dialect of a real
// node.
//
// What is genuine: every transaction is checked and executed by the validator's own
// code, with its fees, rent, programs, blockhashes and their age of 150 blocks.
// What is not: there is no vote and no fork. Blocks are sealed when a lever or a clock
// says so, and the front counts them final below a depth. It also puts right what
// Surfpool answers in its own way: times, parents and hashes of blocks, slots that
// were left out, and state as it was at a commitment.
//
// A chain that is kept writes down what it executed and executes it again when it is
// opened, so that every hash and signature is what it was. The package must never be
// used for anything of worth.
package solana
