package bitcoin

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/testseed"
)

// sameTransactions compares ours with wire's.
func sameTransactions(t *testing.T, got []transaction, want []*wire.MsgTx) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d transactions, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		var whole bytes.Buffer
		_ = w.Serialize(&whole) // a buffer takes everything
		if g.name() != w.TxHash() || !bytes.Equal(g.span, whole.Bytes()) || g.witnessed != w.HasWitness() || len(g.ins) != len(w.TxIn) || len(g.outs) != len(w.TxOut) {
			t.Fatalf("transaction %d is read as %+v, and is %+v", i, g, w)
		}
		for j, in := range w.TxIn {
			key := []byte(nil)
			if len(in.Witness) == 2 && len(in.Witness[1]) == 33 {
				key = in.Witness[1]
			}
			if g.ins[j].from != in.PreviousOutPoint || !bytes.Equal(g.ins[j].key, key) {
				t.Fatalf("input %d of transaction %d is read as %+v, and is %+v", j, i, g.ins[j], in)
			}
		}
		for j, out := range w.TxOut {
			if g.outs[j].value != out.Value || !bytes.Equal(g.outs[j].script, out.PkScript) {
				t.Fatalf("output %d of transaction %d is read as %+v, and is %+v", j, i, g.outs[j], out)
			}
		}
	}
}

// anyTx is a transaction of any form that wire writes and reads again.
func anyTx(r *rand.Rand) *wire.MsgTx {
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	tx := wire.NewMsgTx(int32(r.Uint32()))
	tx.LockTime = r.Uint32()
	long := func() int { // each way to write a count that fits into a test, long ones seldom
		return []int{r.IntN(40), r.IntN(40), 0xfc, 0xfd, 0xffff, 0x10000}[min(r.IntN(6), r.IntN(12), r.IntN(24))]
	}
	witnessed := r.IntN(2) == 0
	for range 1 + r.IntN(3) {
		var prev wire.OutPoint
		copy(prev.Hash[:], noise(32))
		prev.Index = r.Uint32()
		in := &wire.TxIn{PreviousOutPoint: prev, SignatureScript: noise(long()), Sequence: r.Uint32()}
		if witnessed {
			in.Witness = [][][]byte{nil, {noise(64)}, {noise(72), noise(33)}, {noise(33), noise(72)}, {{}, noise(33)}, {noise(1), noise(2), noise(33)}}[r.IntN(6)]
		}
		tx.AddTxIn(in)
	}
	for range r.IntN(4) {
		tx.AddTxOut(wire.NewTxOut(int64(r.Uint64()), noise(long())))
	}
	return tx
}

// TestTransactionsAreReadAsWireReadsThem: whatever wire takes is taken and is the same,
// and nothing else is taken, also of bytes in which something was changed.
func TestTransactionsAreReadAsWireReadsThem(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	taken, refused := 0, 0
	for range 500 {
		var m wire.MsgBlock
		for range r.IntN(4) {
			m.Transactions = append(m.Transactions, anyTx(r))
		}
		head, body := write(&m)[:wire.MaxBlockHeaderPayload], write(&m)[wire.MaxBlockHeaderPayload:]
		switch r.IntN(5) {
		case 0: // as it is
		case 1: // shorter, which a count or an end may not survive
			body = body[:r.IntN(len(body)+1)]
		case 2: // longer
			body = append(body, byte(r.Uint32()))
		default: // near the beginning stand counts and marks
			body[min(r.IntN(60), len(body)-1)] = []byte{0, 1, 2, 0xfc, 0xfd, 0xfe, 0xff, byte(r.Uint32())}[r.IntN(8)]
		}
		var want wire.MsgBlock
		rest := bytes.NewReader(slices.Concat(head, body))
		err := want.Deserialize(rest)
		good := err == nil && rest.Len() == 0
		got, ok := transactions(body)
		if ok != good {
			t.Fatalf("taken is %t, and wire says %v with %d bytes left: %x", ok, err, rest.Len(), body)
		}
		if !ok {
			refused++
			continue
		}
		taken++
		sameTransactions(t, got, want.Transactions)
	}
	if taken < 100 || refused < 100 {
		t.Errorf("%d were taken and %d refused: too few of one to say anything", taken, refused)
	}
}

// TestWhatOnlyPretendsToBeATransactionIsRefused: forms that hash like another.
func TestWhatOnlyPretendsToBeATransactionIsRefused(t *testing.T) {
	t.Parallel()
	in := append(make([]byte, 36), 0, 0xff, 0xff, 0xff, 0xff) // no script
	out := append(make([]byte, 8), 0)
	tx := func(parts ...[]byte) []byte {
		return bytes.Join(append([][]byte{{1, 2, 0, 0, 0}}, append(parts, []byte{0, 0, 0, 0})...), nil)
	}
	for name, c := range map[string]struct {
		raw  []byte
		good bool
	}{
		"none":                               {[]byte{0}, true},
		"nothing":                            {nil, false},
		"a plain one":                        {tx([]byte{1}, in, []byte{1}, out), true},
		"with a witness":                     {tx([]byte{0, 1, 1}, in, []byte{1}, out, []byte{1, 1, 7}), true},
		"marked and without a witness":       {tx([]byte{0, 1, 1}, in, []byte{1}, out, []byte{0}), false},
		"with another mark":                  {tx([]byte{0, 2, 1}, in, []byte{1}, out, []byte{1, 1, 7}), false},
		"without inputs":                     {tx([]byte{0}, []byte{1}, out), false},
		"a count in three bytes":             {tx([]byte{0xfd, 1, 0}, in, []byte{1}, out), false},
		"a count in five bytes":              {tx([]byte{0xfe, 1, 0, 0, 0}, in, []byte{1}, out), false},
		"a count in nine bytes":              {tx([]byte{0xff, 1, 0, 0, 0, 0, 0, 0, 0}, in, []byte{1}, out), false},
		"more inputs than there are bytes":   {tx([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, in, []byte{1}, out), false},
		"more of them than there are bytes":  {[]byte{0xfe, 0xff, 0xff, 0xff, 0xff}, false},
		"one more byte":                      {append(tx([]byte{1}, in, []byte{1}, out), 0), false},
		"larger than any block":              {append(tx([]byte{1}, in, []byte{1}, out), make([]byte, wire.MaxBlockPayload)...), false},
		"a witness of more items than bytes": {tx([]byte{0, 1, 1}, in, []byte{1}, out, []byte{0xfe, 0, 0, 0, 1, 7}), false},
	} {
		if _, ok := transactions(c.raw); ok != c.good {
			t.Errorf("%s: taken is %t", name, ok)
		}
	}
}
