// Package opbridge is the canonical bridge of a rollup of the OP stack: what must be
// called to bring coins and tokens up and down, and where something that is under way
// stands.
//
// A deposit begins below with a call of the bridge and arrives above by itself, in a
// transaction whose hash follows from the deposit's own log. A withdrawal begins above;
// below it is proven once the state of the rollup was told there, waits until nobody may
// dispute it any more, and is then finalized. Both ways of telling are known: by an
// L2OutputOracle, and by the games of a DisputeGameFactory (OptimismPortal2).
//
// It guarantees: nothing is believed that is not final, on either chain. What moved is
// read from what the contracts of the configuration themselves said, never from what was
// expected, and the same words from another contract are nobody's. A root that was told
// below is proven against only if our own nodes have the same state: a lying proposer
// gets no transaction of ours. Everything is a function of what it is given and of what is
// on the chains, so that it may be asked twice, and after a crash.
//
// Games of super roots, which several rollups share, and those of other makers are not
// known: a portal that was moved to them refuses what is made here, which CheckGames finds
// at start.
//
// Nodes above must prove the state of blocks as old as the roots that are told, which
// takes an archive where that is seldom.
//
// It must never sign, never send, never know a key, a nonce or an order. It is asked by
// whoever runs a bridge's steps.
package opbridge
