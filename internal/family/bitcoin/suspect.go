package bitcoin

import (
	"bytes"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"ferry/internal/chain"
	"ferry/internal/watch"
)

// Reason is why a payment that looks like a deposit is not counted.
type Reason string

// The reasons.
const (
	// Coinbase: the coins are new and can not be spent for a hundred blocks.
	Coinbase Reason = "coinbase"
	// Dust: it is worth less than it would cost to spend.
	Dust Reason = "dust"
	// OtherForm: it pays our key by another kind of address than the one we gave.
	OtherForm Reason = "other_form"
	// BareKey: it pays our public key itself.
	BareKey Reason = "bare_key"
	// Multisig: our key is one of several, and others can take the money.
	Multisig Reason = "multisig"
	// Message: our address stands in a message, which pays nobody.
	Message Reason = "message"
	// ForgedBlock: a node gave a block that is not what its hash says.
	ForgedBlock Reason = "forged_block"
)

// Suspect is a payment that looks like a deposit and is not counted.
type Suspect struct {
	Reason Reason
	To     chain.Address // which address it seems to pay; zero of a forged block
	Tx     chain.TxID
	Index  int
	Amount int64
	Block  string
	Detail string
}

func (c *Chain) notice(s Suspect) {
	if c.cfg.Noticed != nil {
		c.cfg.Noticed(s)
	}
}

func (w where) suspect(r Reason, to chain.Address, value int64) Suspect {
	return Suspect{Reason: r, To: to, Tx: chain.TxID(w.tx.String()), Index: w.index, Amount: value, Block: w.block.Hash}
}

// odd says whether a script of no usual kind is worth a closer look: it asks for a
// signature, or is a message that is as short as a hash or ends like an address.
func odd(s []byte) bool {
	const tail = 14
	s = bytes.TrimSpace(s)
	if len(s) < 2 {
		return false
	}
	if s[0] == txscript.OP_RETURN {
		return len(s) <= 2+hashBytes+2 || plain(s[len(s)-tail:])
	}
	last := s[len(s)-1]
	return last == txscript.OP_CHECKSIG || last == txscript.OP_CHECKMULTISIG
}

// suspect looks whether an output of no usual kind seems to pay us.
func (c *Chain) suspect(o *output, to watch.Addresses, at where) {
	// Say looks for the address that we would have given for a key with this hash.
	say := func(r Reason, hash []byte) {
		if a := c.codec.AddressOf(slices.Concat([]byte{opFalse, opData20}, hash)); !a.IsZero() && to.Has(a) {
			c.notice(at.suspect(r, a, o.value))
		}
	}
	s := o.script
	if len(s) < 2 {
		return
	}
	switch last := s[len(s)-1]; {
	case s[0] == txscript.OP_RETURN:
		c.message(s, to, func(a chain.Address) { c.notice(at.suspect(Message, a, o.value)) }, say)
	case last == txscript.OP_CHECKSIG && txscript.GetScriptClass(s) == txscript.PubKeyTy:
		c.keys(s, func(hash []byte) { say(BareKey, hash) })
	case last == txscript.OP_CHECKMULTISIG && txscript.GetScriptClass(s) == txscript.MultiSigTy:
		c.keys(s, func(hash []byte) { say(Multisig, hash) })
	}
}

// keys are the hashes of the public keys in a script.
func (c *Chain) keys(s []byte, say func(hash []byte)) {
	pushes, _ := txscript.PushedData(s) // what can not be read holds no key
	for _, p := range pushes {
		if len(p) >= 33 {
			say(address.Hash160(p))
		}
	}
}

// message looks for our addresses in what an output says.
func (c *Chain) message(s []byte, to watch.Addresses, found func(chain.Address), say func(r Reason, hash []byte)) {
	pushes, _ := txscript.PushedData(s)
	for _, p := range pushes {
		p = bytes.TrimSpace(p)
		if len(p) == hashBytes {
			say(Message, p)
		}
		if len(p) < 25 || len(p) > maxLen || !plain(p) {
			continue // to read every noise as base58 takes long
		}
		if a, err := c.codec.Parse(string(p)); err == nil && to.Has(a) {
			found(a)
		}
	}
}

// plain says whether a text has only letters and digits, as addresses do.
func plain(p []byte) bool {
	for _, b := range p {
		if (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') {
			return false
		}
	}
	return true
}
