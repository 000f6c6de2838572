// Package sim is a small chain in memory, for tests and for the simulation of
// the whole house. It comes in three shapes: accounts with nonces, coins, and
// accounts whose transactions expire.
//
// Net is the truth: a tree of blocks with a state at each of them, a mempool
// with the rules of its shape, and users who pay, replace and fail. Node is one
// view of it, which may be slow, silent, behind or a liar. Chain is the adapter
// that the rooms see: it asks all nodes, believes what a quorum of them says,
// and holds the wallet. The addresses have a form of the sim's own, unless a net is
// given that of a real family.
//
// It guarantees that the same calls in the same order give the same chain, byte
// for byte: it reads no clock, starts no goroutine and has no order that comes
// from a map. All of it may be used by several goroutines at once. The cost of a
// transaction and of a block does not grow with the history behind them.
package sim
