package sim

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// ErrBytes: the bytes are no signed transaction of this net.
var ErrBytes = errors.New("sim: not a signed transaction")

// ref names a coin: an output of a transaction.
type ref struct {
	tx    chain.TxID
	index uint32
}

// input is a coin that is spent, with what it is worth, so that the fee can be
// read from the bytes alone.
type input struct {
	ref
	amount money.Amount
}

// output is one transfer inside a transaction.
type output struct {
	to     string
	asset  string // the Ref of a chain.Asset
	amount money.Amount
	void   bool // an inner call that failed: it is shown, and moves nothing
}

// Flags of a body.
const (
	viaContract byte = 1 << iota // the transfers are made inside a contract
	willFail                     // it fails on the chain whatever it does
)

// body is what is signed. Which fields are used depends on the shape.
type body struct {
	chain   chain.ID
	from    string
	flags   byte
	nonce   uint64 // Nonces
	salt    uint64 // Expiring: two equal payments must not be one transaction
	expires uint64 // Expiring
	recent  string // Expiring: a block that must be on the branch
	price   money.Amount
	ins     []input // Coins
	outs    []output
	pulls   []pull // of a sweep: whom else it takes from, with their signatures
	data    []byte // Nonces: what the contract is told that the first output names
}

// pull is a deposit address that a sweep empties into its sender's. On Coins its
// amount is what its inputs are worth.
type pull struct {
	from   string
	amount money.Amount
}

// magic begins every transaction.
const magic = "ferry-sim-1"

const sigBytes = 32

// Limits of a decoded transaction, so that no bytes can make the net work long.
const (
	maxParts = 4096
	maxRaw   = 1 << 20
)

func (b *body) encode() []byte {
	w := make([]byte, 0, 256+64*len(b.outs)+64*len(b.ins))
	w = append(w, magic...)
	w = putString(w, string(b.chain))
	w = putString(w, b.from)
	w = append(w, b.flags)
	w = binary.AppendUvarint(w, b.nonce)
	w = binary.AppendUvarint(w, b.salt)
	w = binary.AppendUvarint(w, b.expires)
	w = putString(w, b.recent)
	w = putString(w, b.price.String())
	w = binary.AppendUvarint(w, uint64(len(b.ins)))
	for _, in := range b.ins {
		w = putString(w, string(in.tx))
		w = binary.AppendUvarint(w, uint64(in.index))
		w = putString(w, in.amount.String())
	}
	w = binary.AppendUvarint(w, uint64(len(b.outs)))
	for _, o := range b.outs {
		w = putString(w, o.to)
		w = putString(w, o.asset)
		w = putString(w, o.amount.String())
		w = append(w, boolByte(o.void))
	}
	w = binary.AppendUvarint(w, uint64(len(b.pulls)))
	for _, p := range b.pulls {
		w = putString(w, p.from)
		w = putString(w, p.amount.String())
	}
	return putString(w, string(b.data))
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func putString(w []byte, s string) []byte {
	return append(binary.AppendUvarint(w, uint64(len(s))), s...)
}

// decode reads what encode wrote and a signature wrote after it. The body that is
// signed is returned as it stands in raw.
func decode(raw []byte) (b *body, signed, sig []byte, err error) {
	if len(raw) < len(magic)+sigBytes || len(raw) > maxRaw || string(raw[:len(magic)]) != magic {
		return nil, nil, nil, ErrBytes
	}
	cut := len(raw) - sigBytes
	r := reader{rest: raw[len(magic):cut]}
	b = &body{}
	b.chain = chain.ID(r.text())
	b.from = r.text()
	b.flags = r.octet()
	b.nonce, b.salt, b.expires = r.number(), r.number(), r.number()
	b.recent = r.text()
	b.price = r.amount()
	b.ins = make([]input, r.count())
	for i := range b.ins {
		b.ins[i].tx = chain.TxID(r.text())
		index := r.number()
		r.bad = r.bad || index > maxParts
		b.ins[i].index = uint32(index)
		b.ins[i].amount = r.amount()
	}
	b.outs = make([]output, r.count())
	for i := range b.outs {
		o := output{to: r.text(), asset: r.text(), amount: r.amount()}
		o.void = r.octet() == 1
		b.outs[i] = o
	}
	b.pulls = make([]pull, r.count())
	for i := range b.pulls {
		b.pulls[i] = pull{from: r.text(), amount: r.amount()}
	}
	if data := r.text(); data != "" {
		b.data = []byte(data)
	}
	if r.bad || len(r.rest) > 0 {
		return nil, nil, nil, fmt.Errorf("%w: it is cut or too long", ErrBytes)
	}
	return b, raw[:cut], raw[cut:], nil
}

// reader takes a body apart; after the first thing that is wrong it yields nothing.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) text() string {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *reader) octet() byte {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	v := r.rest[0]
	r.rest = r.rest[1:]
	return v
}

func (r *reader) amount() money.Amount {
	a, err := money.Parse(r.text())
	r.bad = r.bad || err != nil
	return a
}

func (r *reader) count() int {
	n := r.number()
	if n > maxParts {
		r.bad, r.rest = true, nil
		return 0
	}
	return int(n)
}
