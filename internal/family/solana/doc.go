// Package solana is the family of Solana: its addresses and payment links, and a chain
// that is read block by block and sent to.
//
// It guarantees that an address has one form, its exact base58 text of 32 bytes, and
// that the system program, which is all zeros, is refused. The text has no checksum:
// a mistyped address can be an address, and no codec can tell.
//
// A payment is what the balance of a watched account rose by in a transaction that did
// not fail: lamports of the address itself, or units of a listed mint of the listed
// token program in the one account that is derived from the address. Amounts that
// instructions, logs or memos name are never looked at. Heights are slots; a slot is
// taken for skipped only because the block after it names an older parent, never
// because nodes do not have it. What was not credited though it names one of our
// addresses is told to Noticed.
//
// A payment into our own account counts for an order whose reference is among the accounts
// that the transaction names, if no other order's is, and if nobody lost anything of the
// asset who did not sign: else what others pay us could be claimed by naming an order
// beside it. Fund makes such a transaction, unsigned.
//
// A transaction can land for 150 blocks after the block whose hash it names. It is
// declared dead, and may be made anew, only when enough nodes have a final height
// beyond that, still have every block in which it could have landed, and then do not
// find it. That height is counted from a block which enough nodes showed, and is not
// one node's word.
//
// A balance at a block is what is final now without what each block since then did; a
// node that leaves one of them out has no say in it.
//
// It must never hold a key, ask the network to read an address, put an address into a
// refusal, or believe fewer nodes than the rule needs.
package solana
