// Package cctp moves a native stablecoin from one chain to another by Circle's
// Cross-Chain Transfer Protocol, version 2: it is burned on the one, attested by Circle,
// and minted on the other.
//
// As a venue it plans routes and says, again and again, what a running step needs next:
// approve, burn, wait, mint, done. For bridges that users run themselves it makes the
// calldata of each step and reads where a transfer stands. Version 1 is not spoken:
// Circle phases it out from July 2026 and takes new integrations only on version 2.
//
// It guarantees: what was burned and what was minted is read from final receipts, out of
// logs of the contracts that were configured, and never from what was expected; nothing
// that the attestation service says is believed: its message must be the one that the
// burn emitted, and its signatures must be those that the contract on the other side
// asks for; a step is a function of its plan, of the calls it asked for before and of
// what is on chain, so that it can be asked twice and after a crash; once a burn is final
// a step never fails, because what it was given is gone, and goes on until it is minted.
//
// Only standard transfers are made, which are attested when the burn is final: a fast
// one would be attested before, for a fee, and expire.
//
// It must never sign, send, or know keys, nonces or orders. The market and the settler
// wake it; it has no loop of its own.
package cctp
