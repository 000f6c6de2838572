// Package solana is the family of Solana. So far it reads and writes its addresses
// and the links that wallets pay from.
//
// It guarantees that an address has one form, its exact base58 text of 32 bytes, and
// that the system program, which is all zeros, is refused. The text has no checksum:
// a mistyped address can be an address, and no codec can tell.
//
// It must never ask the network to read an address, and never put an address into
// a refusal.
package solana
