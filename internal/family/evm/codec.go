package evm

import (
	"crypto/subtle"
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/sha3"

	"ferry/internal/chain"
	"ferry/internal/fault"
)

// An address is "0x" and twenty bytes as hexadecimal digits.
const (
	prefix    = "0x"
	bodyBytes = 20
	textLen   = len(prefix) + 2*bodyBytes
)

// Account is the one kind of address: by its text nobody can tell a person's
// account from a contract.
const Account = "account"

// Why an address is refused, as the detail "reason" of the refusal has it.
const (
	malformed  = "malformed"
	checksum   = "checksum"
	notPayable = "not_payable"
)

func refuse(reason, text string) error {
	return fault.New(fault.Invalid, "invalid_address", "%s", text).With("reason", reason)
}

// Codec reads and writes the addresses of every chain of the family. It is pure.
type Codec struct{}

// Family is the family whose addresses it reads.
func (Codec) Family() chain.Family { return chain.EVM }

// Parse reads an address to which money may be sent and gives its one canonical
// form. Mixed case must be the case that EIP-55 gives; lower or upper case alone
// carries no checksum and is taken as it is.
func (Codec) Parse(s string) (chain.Address, error) {
	lower, ok := read(s)
	if !ok {
		return chain.Address{}, refuse(malformed,
			"This is not an EVM address. Give 0x and 40 hexadecimal digits without blanks; names are not looked up.")
	}
	digits := s[len(prefix):]
	if digits != lower && digits != strings.ToUpper(lower) && digits != checksummed(lower) {
		return chain.Address{}, refuse(checksum,
			"The checksum of this address is wrong: a letter or its case was changed. Copy the address again from where it was first shown.")
	}
	if strings.Trim(lower, "0") == "" {
		return chain.Address{}, refuse(notPayable,
			"This is the zero address, which nobody owns. Give the address of an account that you can use.")
	}
	return chain.CanonicalAddress(chain.EVM, prefix+lower), nil
}

// Matches reports whether a text names an address that is already known, whatever
// the case of its digits: nothing is paid to what the text says, so its checksum
// protects nobody. It takes the same time wherever the two differ.
func (Codec) Matches(a chain.Address, s string) bool {
	lower, ok := read(s)
	return ok && a.Family() == chain.EVM &&
		subtle.ConstantTimeCompare([]byte(prefix+lower), []byte(a.Text())) == 1
}

// Kind is what sort of address it is; empty if it is none of the family.
func (c Codec) Kind(a chain.Address) string {
	if !c.made(a) {
		return ""
	}
	return Account
}

// Show is the form for people, with its EIP-55 checksum.
func (c Codec) Show(a chain.Address) string {
	if !c.made(a) {
		return a.Text()
	}
	return prefix + checksummed(a.Text()[len(prefix):])
}

// Make is the address that belongs to a seed. It is for simulated chains and tests
// only: nobody has a key to it.
func (Codec) Make(seed []byte) chain.Address {
	h := keccak(seed)
	return chain.CanonicalAddress(chain.EVM, prefix+hex.EncodeToString(h[len(h)-bodyBytes:]))
}

// made reports whether the codec could have made an address: anybody can put a text
// into one.
func (c Codec) made(a chain.Address) bool {
	same, err := c.Parse(a.Text())
	return err == nil && same == a
}

// read gives the digits of an address in lower case.
func read(s string) (lower string, ok bool) {
	if len(s) != textLen || s[:len(prefix)] != prefix {
		return "", false
	}
	for _, c := range []byte(s[len(prefix):]) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return "", false
		}
	}
	return strings.ToLower(s[len(prefix):]), true
}

// checksummed gives digits the case of EIP-55: a letter is upper where the hash of
// the digits has a high bit.
func checksummed(lower string) string {
	h := keccak([]byte(lower))
	out := []byte(lower)
	for i, c := range out {
		nibble := h[i/2] >> 4
		if i%2 == 1 {
			nibble = h[i/2] & 15
		}
		if c >= 'a' && nibble >= 8 {
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out)
}

func keccak(b []byte) [32]byte {
	var out [32]byte
	h := sha3.NewLegacyKeccak256()
	h.Write(b) // a hash never fails to take bytes
	h.Sum(out[:0])
	return out
}
