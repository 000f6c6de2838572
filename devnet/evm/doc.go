// Package evm runs a real Ethereum node, geth, as a library, for development and
// tests: its own chain number, its JSON-RPC on a port of this machine, in memory or
// in a folder. The library is op-geth, which is geth and can also be a rollup of another
// chain that runs here.
//
// Blocks are built by geth's own miner from its own pool and checked by its own rules
// before they are taken; what is not genuine is who says when: blocks come when a lever
// is moved, on which parent, and which block is final is told by their number, where a
// real network votes. It must never hold a key of any worth.
//
// A rollup takes deposits from the final blocks below it, and says in each block how far
// it took them, so that whoever starts again goes on from the chain alone. It tells its
// final state below every few blocks. No batches are posted, one known key deploys,
// proposes and disputes, and one block may take the deposits of several blocks below.
package evm
