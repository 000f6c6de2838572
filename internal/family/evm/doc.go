// Package evm is the family of Ethereum and the chains like it: addresses and payment
// links, deposits, payments and sweeps, asked of several nodes over JSON-RPC.
//
// Addresses. An address has one canonical form, in lower case, however it was written;
// a text in mixed case is taken only if its EIP-55 checksum is right; and nothing that
// may be nobody's is taken: the zero address, a text with a blank, a look-alike or a
// name. The network is never asked to read an address, and no address is put into a
// refusal.
//
// Reading. A block is named by a quorum of nodes. What stands in it is proven by the
// roots of its header, whoever tells it; where a chain's blocks cannot be read by the
// library, a quorum must tell the same. A payment of the chain's own coin is a change of
// a balance that a quorum traces to a transaction and that the roots of the state prove,
// never the value field of a transaction alone. A payment in a token is what a listed
// contract emitted in a transaction that did not fail, if what the contract says that the
// address has changed by the same. Everything else that names an address of ours is told
// to Noticed with its reason, and is no deposit. What it costs to read a block grows with
// the block and not with the number of addresses.
//
// The contract Intake passes payments on to our account and says which order each is for,
// by a reference. Its code is read at start and must be ours to the last byte, so that
// its word is believed for coins; of a token a transfer to our account must say the same,
// and our balance must have changed by all of them. Fund makes the calls, unsigned.
//
// Two limits. Payments that one transaction makes to one address are one deposit of
// their sum. Payments by contracts are not seen by nodes that trace nothing (NoTrace).
//
// Sending. One nonce is one slot. A replacement has the nonce of what it replaces, so
// that only one of them lands. Nothing is said of an attempt that does not hang on a
// final block which a quorum has: a node that is behind has no vote. Whether it went well
// is read from the proven receipt, and of a token from what the token emitted. A call that
// a quorum says would fail is refused before it is signed.
//
// Nodes must keep the state of blocks back to the final one, and to where reading begins:
// on a rollup whose finality lags by more than the usual 128 blocks that is an archive.
//
// Sweeping. Deposit addresses are emptied by one transaction of the account, through
// the contract Sweeper: each address gives its word once, by EIP-7702, to obey that
// contract, which pays nobody but the account. No address needs coins for gas. From then
// on the address has code, so that whoever sends exactly 21,000 gas cannot pay it any
// more: the payment fails and stays with its sender. Addresses should therefore be swept
// when their order is closed.
//
// Balances are those of a block that a quorum has on its branch, and of no other.
//
// Contracts. What a contract answers is what a quorum says of one block that it has; a
// refusal of the contract is an answer, and a node's trouble never is one. What a
// transaction said is read from its receipt under the root of a header, whoever sent it.
// What was said in a span of blocks is what a quorum tells that has the span whole.
//
// It must never hold a key, never believe fewer nodes than the rule says, and never take
// an error for the answer that something is not there. It is woken by watch, send,
// venues and prices.
package evm
