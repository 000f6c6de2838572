package sim

import "ferry/internal/chain"

// Addresses is the form that a net's addresses have. A real family's codec can be
// one, so that a simulated chain looks like a chain of that family.
type Addresses interface {
	// Parse reads an address and gives its one canonical form.
	Parse(s string) (chain.Address, error)
	// Make is the address that belongs to a seed of 32 bytes: always the same, and
	// another for another seed.
	Make(seed []byte) chain.Address
}
