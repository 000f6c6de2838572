package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/order"
)

// ErrAddress: the text is no address of the family.
var ErrAddress = errors.New("sim: not an address")

// An address of the sim's own form is sixteen bytes and four of checksum, written as
// hex after "0x" (Nonces), in lower-case letters after "sim1" (Coins) or in letters
// whose case matters (Expiring).
const (
	bodyBytes  = 16
	sumBytes   = 4
	hexPrefix  = "0x"
	coinPrefix = "sim1"

	coinLetters  = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	exactLetters = "123ABCDEFGHJKLMNabcdefghijkmnopq"
)

// Codec reads and writes the addresses of one net. It is pure.
type Codec struct {
	family chain.Family
	form   Addresses
}

// NewCodec is the codec of a family whose chains have that shape and whose addresses
// have the sim's own form.
func NewCodec(f chain.Family, s Shape) Codec { return Codec{family: f, form: own{f, s}} }

// Family is the family whose addresses it reads.
func (c Codec) Family() chain.Family { return c.family }

// Parse reads an address and gives its one canonical form.
func (c Codec) Parse(s string) (chain.Address, error) {
	a, err := c.form.Parse(s)
	if err != nil && !errors.Is(err, ErrAddress) {
		err = fmt.Errorf("%w of %s: %w", ErrAddress, c.family, err)
	}
	return a, err
}

// Deposit is the address that belongs to an order.
func (c Codec) Deposit(o order.ID) chain.Address { return c.derive("deposit", string(o)) }

// Make is an address of nobody in particular, such as a recipient's.
func (c Codec) Make(name string) chain.Address { return c.derive("made", name) }

func (c Codec) derive(kind, name string) chain.Address {
	h := sha256.Sum256([]byte(string(c.family) + "/" + kind + "/" + name))
	return c.form.Make(h[:])
}

// check refuses a form with which money would go astray.
func (c Codec) check() error {
	a := c.Make("check")
	switch again, err := c.Parse(a.Text()); {
	case err != nil:
		return fmt.Errorf("sim: the form of the addresses does not read what it makes: %w", err)
	case again != a || a.Family() != c.family:
		return fmt.Errorf("sim: the form of the addresses makes an address of %s and reads one of %s, for a net of %s", a.Family(), again.Family(), c.family)
	}
	if c.Make("another") == a {
		return errors.New("sim: the form of the addresses has one address for two seeds")
	}
	return nil
}

// own is the sim's own form of addresses, one for each shape.
type own struct {
	family chain.Family
	shape  Shape
}

// Parse reads what Make writes.
func (c own) Parse(s string) (chain.Address, error) {
	text, raw, ok := c.read(s)
	if !ok {
		return chain.Address{}, fmt.Errorf("%w of %s", ErrAddress, c.family)
	}
	sum := c.sum(raw[:bodyBytes])
	if string(sum[:]) != string(raw[bodyBytes:]) {
		return chain.Address{}, fmt.Errorf("%w of %s: its checksum is wrong", ErrAddress, c.family)
	}
	return chain.CanonicalAddress(c.family, text), nil
}

func (c own) sum(body []byte) [sumBytes]byte {
	h := sha256.Sum256(append([]byte(c.family+"/sum/"), body...))
	return [sumBytes]byte(h[:sumBytes])
}

// Make writes how a seed begins.
func (c own) Make(seed []byte) chain.Address {
	body := seed[:bodyBytes]
	sum := c.sum(body)
	raw := append(append(make([]byte, 0, bodyBytes+sumBytes), body...), sum[:]...)
	var text string
	switch c.shape {
	case Nonces:
		text = hexPrefix + hex.EncodeToString(raw)
	case Coins:
		text = coinPrefix + letters(raw, coinLetters)
	default:
		text = letters(raw, exactLetters)
	}
	return chain.CanonicalAddress(c.family, text)
}

// read takes a text apart; what it returns as text is canonical.
func (c own) read(s string) (text string, raw []byte, ok bool) {
	switch c.shape {
	case Nonces:
		if len(s) != len(hexPrefix)+2*(bodyBytes+sumBytes) || s[:2] != hexPrefix {
			return "", nil, false
		}
		text = strings.ToLower(s)
		raw, err := hex.DecodeString(text[2:])
		return text, raw, err == nil
	case Coins:
		if text = strings.ToLower(s); s != text && s != strings.ToUpper(s) {
			return "", nil, false // as in bech32, the case is never mixed
		}
		rest, found := strings.CutPrefix(text, coinPrefix)
		raw, ok = unletters(rest, coinLetters)
		return text, raw, found && ok
	default:
		raw, ok = unletters(s, exactLetters)
		return s, raw, ok
	}
}

// letters writes five bits per letter.
func letters(raw []byte, alphabet string) string {
	out := make([]byte, 0, len(raw)*8/5)
	var acc, bits uint
	for _, b := range raw {
		acc, bits = acc<<8|uint(b), bits+8
		for bits >= 5 {
			bits -= 5
			out = append(out, alphabet[acc>>bits&31])
		}
	}
	return string(out)
}

func unletters(s, alphabet string) ([]byte, bool) {
	if len(s) != (bodyBytes+sumBytes)*8/5 {
		return nil, false
	}
	out := make([]byte, 0, bodyBytes+sumBytes)
	var acc, bits uint
	for i := range len(s) {
		v := strings.IndexByte(alphabet, s[i])
		if v < 0 {
			return nil, false
		}
		acc, bits = acc<<5|uint(v), bits+5
		if bits >= 8 {
			bits -= 8
			out = append(out, byte(acc>>bits))
		}
	}
	return out, true
}
