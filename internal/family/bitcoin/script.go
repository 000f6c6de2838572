package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"ferry/internal/chain"
)

// Opcodes of the scripts that addresses stand for.
const (
	opFalse       = 0x00
	opData20      = 0x14
	opData32      = 0x20
	op1           = 0x51
	opDup         = 0x76
	opEqual       = 0x87
	opEqualVerify = 0x88
	opHash160     = 0xa9
	opCheckSig    = 0xac
)

// program is the kind of a script with the hash or key in it.
func program(s []byte) (kind string, body []byte) {
	switch {
	case len(s) == 22 && s[0] == opFalse && s[1] == opData20:
		return P2WPKH, s[2:]
	case len(s) == 34 && s[0] == opFalse && s[1] == opData32:
		return P2WSH, s[2:]
	case len(s) == 34 && s[0] == op1 && s[1] == opData32:
		return P2TR, s[2:]
	case len(s) == 23 && s[0] == opHash160 && s[1] == opData20 && s[22] == opEqual:
		return P2SH, s[2:22]
	case len(s) == 25 && s[0] == opDup && s[1] == opHash160 && s[2] == opData20 && s[23] == opEqualVerify && s[24] == opCheckSig:
		return P2PKH, s[3:23]
	}
	return "", nil
}

// AddressOf is the address that a script stands for; the zero address if it is none.
func (c Codec) AddressOf(script []byte) chain.Address {
	kind, body := program(script)
	var text string
	switch kind {
	case P2WPKH, P2WSH:
		text = c.segwit(0, body)
	case P2TR:
		text = c.segwit(1, body)
	case P2PKH:
		text = base58.CheckEncode(body, c.marks.p2pkh)
	case P2SH:
		text = base58.CheckEncode(body, c.marks.p2sh)
	default:
		return chain.Address{}
	}
	return chain.CanonicalAddress(chain.Bitcoin, text)
}

const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// steps is what a step of the checksum of BIP-173 adds for the five bits that fall out.
var steps = func() (t [32]uint32) {
	for i := range t {
		for bit, g := range []uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if i>>bit&1 == 1 {
				t[i] ^= g
			}
		}
	}
	return t
}()

func step(sum uint32, v byte) uint32 { return (sum&0x1ffffff)<<5 ^ uint32(v) ^ steps[sum>>25] }

// segwit is the text of BIP-173 and BIP-350. It is written here and not by the library
// that reads it, because every output of every block passes through it and the library
// takes five times as long; a test holds the two together.
func (c Codec) segwit(version byte, body []byte) string {
	var buf [maxLen]byte
	out := append(append(buf[:0], c.marks.human...), '1')
	sum := uint32(1)
	for i := range len(c.marks.human) {
		sum = step(sum, c.marks.human[i]>>5)
	}
	sum = step(sum, 0)
	for i := range len(c.marks.human) {
		sum = step(sum, c.marks.human[i]&31)
	}
	put := func(v byte) {
		sum = step(sum, v)
		out = append(out, alphabet[v])
	}
	put(version)
	var bits uint32
	have := 0
	for _, b := range body {
		bits, have = bits<<8|uint32(b), have+8
		for ; have >= 5; have -= 5 {
			put(byte(bits >> (have - 5) & 31))
		}
	}
	if have > 0 {
		put(byte(bits << (5 - have) & 31))
	}
	for range 6 {
		sum = step(sum, 0)
	}
	if sum ^= 1; version > 0 {
		sum ^= 1 ^ uint32(bech32.VersionMConst)
	}
	for i := range 6 {
		out = append(out, alphabet[sum>>(5*(5-i))&31])
	}
	return string(out)
}

// Script is the output script that pays an address of the network.
func (c Codec) Script(a chain.Address) ([]byte, error) {
	kind := c.Kind(a)
	if kind == "" {
		return nil, fmt.Errorf("bitcoin: no address of %s", c.marks.net)
	}
	if kind == P2PKH || kind == P2SH {
		hash, _, err := base58.CheckDecode(a.Text())
		if err != nil {
			return nil, fmt.Errorf("bitcoin: %w", err)
		}
		if kind == P2SH {
			return append(append([]byte{opHash160, opData20}, hash...), opEqual), nil
		}
		return append(append([]byte{opDup, opHash160, opData20}, hash...), opEqualVerify, opCheckSig), nil
	}
	_, words, err := bech32.Decode(a.Text())
	if err != nil {
		return nil, fmt.Errorf("bitcoin: %w", err)
	}
	body, err := bech32.ConvertBits(words[1:], 5, 8, false)
	if err != nil {
		return nil, fmt.Errorf("bitcoin: %w", err)
	}
	version := byte(opFalse)
	if words[0] > 0 {
		version = op1 - 1 + words[0]
	}
	return append([]byte{version, byte(len(body))}, body...), nil
}
