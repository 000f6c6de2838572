// Package integrator holds who builds on the service: the company, and what it
// earns. It guarantees that a fee can only go to an address that the integrator
// gave for the family the money came from.
package integrator

import (
	"ferry/internal/chain"
	"ferry/internal/money"
)

// ID names an integrator; empty is nobody.
type ID string

// MaxFee is the highest fee an integrator may take.
const MaxFee = 5 * money.Whole / 100

// FeePolicy is what an integrator earns by default, and where it is paid.
type FeePolicy struct {
	Default money.Percent
	PayTo   map[chain.Family]chain.Address
}
