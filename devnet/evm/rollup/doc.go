// Package rollup is what makes one local EVM chain a rollup of another: the published
// contracts of the OP stack, how they are set up on both chains, how deposits are read
// from the lower chain and become transactions of the upper one, and what is said below
// of the state above.
//
// It is pure: it reads no chain and sends nothing. The same blocks below give the same
// deposits above, so that whoever starts again neither loses nor doubles one.
//
// Not genuine are the keys (one of a known text has every role), that no batches are
// posted, that nobody disputes a root and how soon one is believed. Nothing here may
// guard money of any worth.
package rollup
