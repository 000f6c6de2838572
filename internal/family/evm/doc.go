// Package evm is the family of Ethereum and the chains like it. So far it reads
// and writes their addresses and the links that wallets pay from.
//
// It guarantees that an address has one canonical form, in lower case, however it
// was written; that a text in mixed case is taken only if its EIP-55 checksum is
// right; and that nothing which may be nobody's is taken: the zero address, a text
// with a blank, a look-alike or a name.
//
// It must never ask the network to read an address, and never put an address into
// a refusal.
package evm
