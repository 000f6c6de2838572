// Package bitcoin is a Bitcoin node for development and tests: btcd's own consensus,
// script, block store and mempool on the rules of regtest, behind a small JSON-RPC
// that speaks Bitcoin Core's dialect with Core's error codes.
//
// It guarantees that a block or a transaction stands only if btcd's rules take it, so
// that a reorganisation is a real one and a payment that vanishes has really vanished.
// What is not btcd's is what Core has and btcd has not: replacement of transactions
// that do not signal it, a miner that values a transaction together with the ones it
// stands on, and Core's words. It has no peers, and its faucet's key is in this file's
// neighbour: it must never hold anything of worth.
package bitcoin
