// Package uniswap puts the real Uniswap contracts on a local chain: versions 2 and 3 from
// their published packages, with pools that have as much in them as is asked for.
//
// The packages are fetched by npm into a cache outside the tree, are the bytes that were
// tried (their digests are here) and are never part of the service. It guarantees that
// the addresses of pools are those which the routers compute themselves. It must never
// be given a key of any worth.
package uniswap
