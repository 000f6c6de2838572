// Package chain holds the words for what happens on chains: families, assets,
// addresses, blocks, deposits, calls, attempts and their fates.
//
// It holds words, not machinery: the ports to real chains are declared by the
// rooms that use them.
package chain
