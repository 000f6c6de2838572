package solana

import (
	"crypto/sha256"
	"crypto/subtle"

	"filippo.io/edwards25519"
	"github.com/btcsuite/btcd/address/v2/base58"

	"ferry/internal/chain"
	"ferry/internal/fault"
)

// An address is 32 bytes; in base58 that is at least as many characters, when all of
// them are zero, and at most 44.
const (
	bodyBytes = 32
	minLen    = 32
	maxLen    = 44
)

// The kinds of address.
const (
	Account  = "account"   // a point of the curve: somebody can have its key
	OffCurve = "off_curve" // made by a program: nobody can sign for it
)

// Why an address is refused, as the detail "reason" of the refusal has it.
const (
	malformed  = "malformed"
	notPayable = "not_payable"
)

func refuse(reason, text string) error {
	return fault.New(fault.Invalid, "invalid_address", "%s", text).With("reason", reason)
}

// Codec reads and writes the addresses of the family. It is pure.
type Codec struct{}

// Family is the family whose addresses it reads.
func (Codec) Family() chain.Family { return chain.Solana }

// Parse reads an address to which money may be sent. Its case matters, so the
// canonical form is the text itself.
func (Codec) Parse(s string) (chain.Address, error) {
	body, ok := read(s)
	if !ok {
		return chain.Address{}, refuse(malformed,
			"This is not a Solana address. Give 32 to 44 base58 characters, in the case in which they were shown and without blanks; names are not looked up.")
	}
	if body == [bodyBytes]byte{} {
		return chain.Address{}, refuse(notPayable,
			"This is the system program, which cannot be paid. Give the address of an account that you can use.")
	}
	return chain.CanonicalAddress(chain.Solana, s), nil
}

// Matches reports whether a text names an address that is already known. It takes
// the same time wherever the two differ.
func (c Codec) Matches(a chain.Address, s string) bool {
	_, err := c.Parse(s)
	return err == nil && a.Family() == chain.Solana && subtle.ConstantTimeCompare([]byte(s), []byte(a.Text())) == 1
}

// Kind is the kind of an address; empty if it is none of the family.
func (c Codec) Kind(a chain.Address) string {
	if same, err := c.Parse(a.Text()); err != nil || same != a {
		return "" // anybody can put a text into an address
	}
	if body, _ := read(a.Text()); onCurve(body) {
		return Account
	}
	return OffCurve
}

// Show is the form for people, which is the canonical one.
func (Codec) Show(a chain.Address) string { return a.Text() }

// Make is the address of kind Account that belongs to a seed. It is for simulated
// chains and tests only: nobody has a key to it.
func (Codec) Make(seed []byte) chain.Address {
	body := sha256.Sum256(seed)
	for !onCurve(body) { // every second hash is
		body = sha256.Sum256(body[:])
	}
	return chain.CanonicalAddress(chain.Solana, base58.Encode(body[:]))
}

func onCurve(body [bodyBytes]byte) bool {
	_, err := new(edwards25519.Point).SetBytes(body[:])
	return err == nil
}

// read gives the bytes of an address; only the one text that they have is taken.
func read(s string) (body [bodyBytes]byte, ok bool) {
	if len(s) < minLen || len(s) > maxLen {
		return body, false
	}
	raw := base58.Decode(s)
	if len(raw) != bodyBytes || base58.Encode(raw) != s {
		return body, false
	}
	return [bodyBytes]byte(raw), true
}
