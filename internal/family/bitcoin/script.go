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
	var err error
	switch kind {
	case P2WPKH, P2WSH:
		text, err = c.segwit(0, body)
	case P2TR:
		text, err = c.segwit(1, body)
	case P2PKH:
		text = base58.CheckEncode(body, c.marks.p2pkh)
	case P2SH:
		text = base58.CheckEncode(body, c.marks.p2sh)
	default:
		return chain.Address{}
	}
	if err != nil {
		return chain.Address{}
	}
	return chain.CanonicalAddress(chain.Bitcoin, text)
}

func (c Codec) segwit(version byte, body []byte) (string, error) {
	words, err := bech32.ConvertBits(body, 8, 5, true)
	if err != nil {
		return "", err
	}
	words = append([]byte{version}, words...)
	if version == 0 {
		return bech32.Encode(c.marks.human, words)
	}
	return bech32.EncodeM(c.marks.human, words)
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
