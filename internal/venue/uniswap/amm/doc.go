// Package amm computes what the pools of Uniswap, versions 2 and 3, give and take, to
// the last unit: every rounding is that of the contracts, and what they refuse is an
// error here.
//
// It guarantees that a quote allocates nothing, changes nothing and can be taken by many
// at once. It knows no chain, no clock and no money beyond numbers, and must never
// answer with a number where the contract would revert.
package amm
