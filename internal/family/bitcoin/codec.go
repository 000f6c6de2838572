package bitcoin

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"ferry/internal/chain"
	"ferry/internal/fault"
)

// The kinds of address, by the script that they stand for.
const (
	P2PKH  = "p2pkh"
	P2SH   = "p2sh"
	P2WPKH = "p2wpkh"
	P2WSH  = "p2wsh"
	P2TR   = "p2tr"
)

// Why an address is refused, as the detail "reason" of the refusal has it.
const (
	malformed    = "malformed"
	mixedCase    = "mixed_case"
	checksum     = "checksum"
	wrongNetwork = "wrong_network"
	unsupported  = "unsupported"
)

// maxLen is the length of the longest bech32 text. What is longer is not looked at,
// since the time to decode base58 grows with the square of its length.
const maxLen = 90

// hashBytes is how much of a key or a script stands in a short address; in base58 a
// version stands before it and a checksum behind it.
const (
	hashBytes   = 20
	base58Bytes = 1 + hashBytes + 4
)

func refuse(reason, text string, args ...any) error {
	return fault.New(fault.Invalid, "invalid_address", text, args...).With("reason", reason)
}

// Codec reads and writes the addresses of one network. It is pure.
type Codec struct{ marks marks }

// NewCodec is the codec of a network.
func NewCodec(n Network) (Codec, error) {
	m, err := marksOf(n)
	return Codec{marks: m}, err
}

// Family is the family whose addresses it reads.
func (Codec) Family() chain.Family { return chain.Bitcoin }

// Parse reads an address to which money may be sent and gives its one canonical
// form: bech32 in lower case, base58 as it is.
func (c Codec) Parse(s string) (chain.Address, error) {
	text, _, err := c.read(s)
	if err != nil {
		return chain.Address{}, err
	}
	return chain.CanonicalAddress(chain.Bitcoin, text), nil
}

// Matches reports whether a text names an address that is already known. It takes
// the same time wherever the two differ.
func (c Codec) Matches(a chain.Address, s string) bool {
	text, _, err := c.read(s)
	return err == nil && a.Family() == chain.Bitcoin &&
		subtle.ConstantTimeCompare([]byte(text), []byte(a.Text())) == 1
}

// Kind is the kind of an address; empty if it is none of the network.
func (c Codec) Kind(a chain.Address) string {
	text, kind, err := c.read(a.Text())
	if err != nil || a.Family() != chain.Bitcoin || text != a.Text() {
		return ""
	}
	return kind
}

// Show is the form for people, which is the canonical one.
func (Codec) Show(a chain.Address) string { return a.Text() }

// Make is the P2WPKH address that belongs to a seed. It is for simulated chains and
// tests only: nobody has a key to it.
func (c Codec) Make(seed []byte) chain.Address {
	h := sha256.Sum256(seed)
	words, err := bech32.ConvertBits(h[:hashBytes], 8, 5, true)
	if err != nil {
		panic("bitcoin: " + err.Error()) // it fails on widths that no byte has
	}
	text, err := bech32.Encode(c.marks.human, append([]byte{0}, words...))
	if err != nil {
		panic("bitcoin: " + err.Error())
	}
	return chain.CanonicalAddress(chain.Bitcoin, text)
}

// read gives the canonical form and the kind of an address of the codec's network.
func (c Codec) read(s string) (text, kind string, err error) {
	if c.marks.net == "" {
		return "", "", errors.New("bitcoin: a codec without a network; make it with NewCodec")
	}
	if len(s) > maxLen {
		return "", "", notAnAddress()
	}
	lower := strings.ToLower(s)
	for _, m := range networks {
		if strings.HasPrefix(lower, m.human+"1") {
			return c.readSegwit(s)
		}
	}
	return c.readBase58(s)
}

func notAnAddress() error {
	return refuse(malformed, "This is not a Bitcoin address. Give the address itself, without blanks and without bitcoin: before it.")
}

func wrongChecksum() error {
	return refuse(checksum, "The checksum of this address is wrong: some of its letters were changed. Copy it again from where it was first shown.")
}

// elsewhere refuses a good address of other networks, and names them.
func (c Codec) elsewhere(holds func(m marks) bool) error {
	return refuse(wrongNetwork, "This is an address of Bitcoin's %s. Give one of %s.", named(holds), c.marks.net)
}

// readSegwit reads what BIP-173 and BIP-350 describe.
func (c Codec) readSegwit(s string) (text, kind string, err error) {
	human, words, sort, err := bech32.DecodeGeneric(s)
	switch {
	case errors.As(err, new(bech32.ErrMixedCase)):
		return "", "", refuse(mixedCase, "This address mixes upper and lower case. Write it in lower case, and check it against where it was first shown.")
	case errors.As(err, new(bech32.ErrInvalidChecksum)):
		return "", "", wrongChecksum()
	case err != nil || len(words) == 0 || words[0] > 16:
		return "", "", notAnAddress()
	}
	program, err := bech32.ConvertBits(words[1:], 5, 8, false)
	if err != nil || len(program) < 2 || len(program) > 40 {
		return "", "", notAnAddress()
	}
	version := words[0]
	if (version == 0) != (sort == bech32.Version0) {
		return "", "", wrongChecksum() // the other sort of checksum does not protect this version
	}
	if version == 0 && len(program) != 20 && len(program) != 32 {
		return "", "", notAnAddress()
	}
	if human != c.marks.human {
		return "", "", c.elsewhere(func(m marks) bool { return m.human == human })
	}
	switch {
	case version == 0 && len(program) == 20:
		kind = P2WPKH
	case version == 0:
		kind = P2WSH
	case version == 1 && len(program) == 32:
		kind = P2TR
	default:
		return "", "", refuse(unsupported, "Addresses of this kind are not supported yet. Give one of the kind P2WPKH, P2WSH, P2TR, P2PKH or P2SH.")
	}
	return strings.ToLower(s), kind, nil
}

// readBase58 reads the addresses from before segregated witness.
func (c Codec) readBase58(s string) (text, kind string, err error) {
	if len(base58.Decode(s)) != base58Bytes {
		return "", "", notAnAddress() // to speak of its checksum would mislead
	}
	hash, version, err := base58.CheckDecode(s)
	switch {
	case errors.Is(err, base58.ErrChecksum):
		return "", "", wrongChecksum()
	case err != nil || base58.CheckEncode(hash, version) != s:
		return "", "", notAnAddress()
	}
	switch version {
	case c.marks.p2pkh:
		return s, P2PKH, nil
	case c.marks.p2sh:
		return s, P2SH, nil
	}
	of := func(m marks) bool { return version == m.p2pkh || version == m.p2sh }
	if named(of) == "" {
		return "", "", refuse(wrongNetwork, "This is an address of another chain than Bitcoin. Give one of Bitcoin's %s.", c.marks.net)
	}
	return "", "", c.elsewhere(of)
}
