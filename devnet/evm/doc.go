// Package evm runs a real Ethereum node, geth, as a library, for development and
// tests: its own chain number, its JSON-RPC on a port of this machine, in memory or
// in a folder.
//
// Blocks are built by geth's own miner from its own pool and checked by its own rules
// before they are taken; what is not genuine is who says when: blocks come when a lever
// is moved, on which parent, and which block is final is told by their number, where a
// real network votes. It must never hold a key of any worth.
package evm
