package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// transaction is one of a block, as it stands in the block's bytes. A block has
// thousands of them, of which we want the outputs and what they spend: to make a
// wire.MsgTx of each takes as long as the download. A test holds the two together.
type transaction struct {
	span      []byte // all of it
	bare      []byte // of the span, its inputs and outputs: what stands before the witnesses
	witnessed bool
	ins       []input
	outs      []output
}

// input is what a transaction spends. Key is the public key of a witness of the kind
// that our keys make: a signature and a key.
type input struct {
	from wire.OutPoint
	key  []byte
}

// output is what a transaction pays.
type output struct {
	value  int64
	script []byte
}

// name is the hash of a transaction without its witnesses, which stand together
// before its last four bytes, and the two marks that say so after its first four.
func (t *transaction) name() chainhash.Hash {
	if !t.witnessed {
		return chainhash.DoubleHashH(t.span)
	}
	h := sha256.New()
	h.Write(t.span[:4])
	h.Write(t.bare)
	h.Write(t.span[len(t.span)-4:])
	var once [sha256.Size]byte
	return chainhash.Hash(sha256.Sum256(h.Sum(once[:0])))
}

// Least bytes of what can stand many times, so that no count makes us take more
// memory than was sent.
const (
	leastTx    = 10
	leastIn    = 41
	leastOut   = 9
	leastStack = 1
	keyBytes   = 33
)

// transactions reads those of a block, and nothing but them. Like wire it takes each
// count in its shortest form only and a witness only where there is one, so that every
// byte is part of what is hashed.
func transactions(raw []byte) ([]transaction, bool) {
	if len(raw) > wire.MaxBlockPayload {
		return nil, false
	}
	r := &reader{rest: raw}
	all := make([]transaction, r.count(leastTx))
	// Most have a few of each; what is beyond is added as it comes.
	ins, outs := make([]input, 0, 3*len(all)), make([]output, 0, 3*len(all))
	for i := range all {
		ins, outs = r.transaction(&all[i], ins, outs)
		if r.bad {
			return nil, false
		}
	}
	return all, len(r.rest) == 0 && !r.bad
}

// reader takes bytes from the front. What is not there makes it bad, and is empty.
type reader struct {
	rest []byte
	bad  bool
}

// transaction reads one. Its inputs and outputs are put behind those of others, so
// that a block has two lists and not thousands.
func (r *reader) transaction(t *transaction, ins []input, outs []output) ([]input, []output) {
	whole := r.rest
	r.take(4)
	if len(r.rest) > 0 && r.rest[0] == wire.TxFlagMarker {
		mark := r.take(2)
		t.witnessed = true
		r.bad = r.bad || mark[1] != byte(wire.WitnessFlag)
	}
	bare := r.rest
	n := len(ins)
	for range r.count(leastIn) {
		ins = append(ins, r.input())
	}
	t.ins = ins[n:len(ins):len(ins)]
	n = len(outs)
	for range r.count(leastOut) {
		outs = append(outs, r.output())
	}
	t.outs = outs[n:len(outs):len(outs)]
	t.bare = bare[:len(bare)-len(r.rest)]
	if t.witnessed {
		any := false
		for i := range t.ins {
			any = r.witness(&t.ins[i]) || any
		}
		r.bad = r.bad || !any
	}
	r.take(4)
	t.span = whole[:len(whole)-len(r.rest)]
	return ins, outs
}

func (r *reader) input() input {
	var in input
	b := r.take(chainhash.HashSize + 4)
	if !r.bad {
		in.from.Hash, in.from.Index = chainhash.Hash(b[:chainhash.HashSize]), binary.LittleEndian.Uint32(b[chainhash.HashSize:])
	}
	r.text()
	r.take(4)
	return in
}

func (r *reader) output() output {
	var o output
	if b := r.take(8); !r.bad {
		o.value = int64(binary.LittleEndian.Uint64(b)) //nolint:gosec // as wire has it; who wants a value looks at it
	}
	o.script = r.text()
	return o
}

// witness reads what proves the right to an input, and says whether there is any.
func (r *reader) witness(in *input) bool {
	n := r.count(leastStack)
	var last []byte
	for range n {
		last = r.text()
	}
	if n == 2 && len(last) == keyBytes {
		in.key = last
	}
	return n > 0
}

// take takes n bytes; when there are not so many, the reader is bad.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) || r.bad {
		r.bad, r.rest = true, nil
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

// text takes bytes with their count before them.
func (r *reader) text() []byte { return r.take(r.number()) }

// count takes a number of things of which each has at least so many bytes.
func (r *reader) count(least uint64) uint64 {
	n := r.number()
	if n > uint64(len(r.rest))/least {
		r.bad = true
	}
	if r.bad {
		return 0
	}
	return n
}

// number takes a count of the variable length that Bitcoin has, in its shortest form.
func (r *reader) number() uint64 {
	b := r.take(1)
	if r.bad {
		return 0
	}
	var n, above uint64
	switch b[0] {
	case 0xfd:
		if b = r.take(2); !r.bad {
			n, above = uint64(binary.LittleEndian.Uint16(b)), 0xfc
		}
	case 0xfe:
		if b = r.take(4); !r.bad {
			n, above = uint64(binary.LittleEndian.Uint32(b)), math.MaxUint16
		}
	case 0xff:
		if b = r.take(8); !r.bad {
			n, above = binary.LittleEndian.Uint64(b), math.MaxUint32
		}
	default:
		return uint64(b[0])
	}
	if r.bad || n <= above {
		r.bad = true
		return 0
	}
	return n
}
