// Package bitcoin is the family of Bitcoin's networks. So far it reads and writes
// their addresses and the links that wallets pay from.
//
// It guarantees that an address has one canonical form; that an address of another
// network is refused and named as such; that a checksum of the wrong sort is as
// wrong as a wrong checksum; and that only the kinds which can be spent today are
// taken: P2PKH, P2SH, P2WPKH, P2WSH and P2TR. Whether somebody has the key of an
// address, no codec can tell.
//
// It must never ask the network to read an address, never guess a network, and
// never put an address into a refusal.
package bitcoin
