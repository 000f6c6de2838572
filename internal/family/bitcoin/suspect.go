package bitcoin

import (
	"bytes"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

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

// suspect looks whether an output that pays none of the addresses seems to.
func (c *Chain) suspect(o *wire.TxOut, to watch.Addresses, at where) {
	// Of key is the address that we would have given for a key with this hash.
	ofHash := func(hash []byte) (chain.Address, bool) {
		a := c.codec.AddressOf(append([]byte{opFalse, opData20}, hash...))
		return a, !a.IsZero() && to.Has(a)
	}
	say := func(r Reason, hash []byte) {
		if a, ok := ofHash(hash); ok {
			c.notice(at.suspect(r, a, o.Value))
		}
	}
	if kind, body := program(o.PkScript); kind != "" {
		if kind == P2PKH {
			say(OtherForm, body)
		}
		return
	}
	switch txscript.GetScriptClass(o.PkScript) {
	case txscript.PubKeyTy, txscript.MultiSigTy:
		reason := Multisig
		if txscript.GetScriptClass(o.PkScript) == txscript.PubKeyTy {
			reason = BareKey
		}
		pushes, _ := txscript.PushedData(o.PkScript) // what can not be read holds no key
		for _, p := range pushes {
			if len(p) >= 33 {
				say(reason, address.Hash160(p))
			}
		}
	case txscript.NullDataTy:
		pushes, _ := txscript.PushedData(o.PkScript)
		for _, p := range pushes {
			p = bytes.TrimSpace(p)
			if len(p) == hashBytes {
				say(Message, p)
			}
			if a, err := c.codec.Parse(string(p)); err == nil && to.Has(a) {
				c.notice(at.suspect(Message, a, o.Value))
			}
		}
	}
}
