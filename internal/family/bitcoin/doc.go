// Package bitcoin is the family of Bitcoin's networks: their addresses and payment
// links, their blocks and deposits, and payments from our coins, over nodes that
// speak Bitcoin Core's JSON-RPC.
//
// Of addresses it guarantees that each has one canonical form; that one of another
// network is refused and named as such; that a checksum of the wrong sort is as wrong
// as a wrong checksum; and that only the kinds which can be spent today are taken.
//
// Of blocks it guarantees that enough nodes say which block stands at a height, and
// that what is in it is proven by its hash: work, root, witnesses. A node that is of
// another chain, catches up or keeps no index of transactions has no say; nodes that
// fall behind never take back what was final. Coins of a coinbase, dust, and whatever
// only looks like a payment to us are not counted, and are told to Config.Noticed.
//
// Of payments it guarantees that every attempt spends coins which enough nodes have
// seen final, and nobody's that are held; that two attempts of one transfer share a
// coin, so that one of them lands at most; that the recipient's amount never changes,
// whatever a bump costs; that the fee is what was meant and within its budget, read
// back from what the signer signed; and that an attempt is called dead only when a
// coin of it was spent by another at final depth.
//
// Of balances it guarantees that they are those of one block, whatever stands on it: what
// was made above is taken away, and what was spent above is put back.
//
// It must never hold a key, never ask the network to read an address, never guess a
// network, never put an address into a refusal, and never take silence of a node for
// an answer. It is woken by watch and send.
package bitcoin
