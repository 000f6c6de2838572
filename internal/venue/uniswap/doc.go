// Package uniswap is the venue of Uniswap's pools, versions 2 and 3, on one EVM chain: it
// keeps their state from events, finds the best way through them and says, call by call,
// how a step is carried out by Uniswap's own router.
//
// It guarantees that a quote is what the contracts themselves would answer in the block
// of its state, to the last unit; that no quote is made from a state older than was
// configured; that a block which vanished is forgotten; that a swap brings at least what
// its step says or does nothing; and that what a step brought is read from the logs of
// its final receipt. Tokens that are not listed are never routed: one that takes a fee
// of transfers, or changes balances by itself, must not be on the list.
//
// It plans and judges. It must never sign, send, or learn of keys, nonces and orders, and
// never take a pool's address from anybody but the factory of the router.
//
// Run wakes it with every new block; the market asks Best, the settler asks Next.
package uniswap
