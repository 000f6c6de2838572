package bitcoin

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
)

// blockShelf is how many bytes of blocks are kept.
const blockShelf = 64 << 20

// ErrForged: a block is not what its hash says. Whoever gave it lies or is broken.
var ErrForged = errors.New("bitcoin: the block is not what its hash says")

func forged(why string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrForged, fmt.Sprintf(why, args...))
}

// block is a block whose contents were proven by its hash.
type block struct {
	header wire.BlockHeader
	first  *wire.MsgTx // the coinbase, whole
	txs    []transaction
	ids    []chainhash.Hash
	pays   [][]mention // of each transaction
	size   int
}

// mention is an output that pays a key, with the address that we would have given for
// it, or one of which only its script can tell.
type mention struct {
	out  int
	kind string // P2WPKH, P2PKH, or empty
	to   chain.Address
}

// readBlock reads a block and proves that it is the one with a hash: the header has
// that hash and its work, the transactions have the header's root, and their
// witnesses the commitment in the first of them. What it gives points into raw.
func (c Codec) readBlock(raw []byte, want chainhash.Hash, limit *big.Int) (*block, error) {
	b := &block{size: len(raw)}
	r := bytes.NewReader(raw)
	if err := b.header.Deserialize(r); err != nil {
		return nil, forged("its header can not be read")
	}
	if err := proven(&b.header, want, limit); err != nil {
		return nil, err
	}
	var ok bool
	if b.txs, ok = transactions(raw[wire.MaxBlockHeaderPayload:]); !ok {
		return nil, forged("its transactions can not be read")
	}
	if len(b.txs) > 0 {
		b.first = &wire.MsgTx{}
		if err := b.first.Deserialize(bytes.NewReader(b.txs[0].span)); err != nil {
			return nil, forged("its first transaction can not be read")
		}
	}
	if b.first == nil || !isCoinbase(b.first) {
		return nil, forged("it does not begin with a coinbase")
	}
	b.ids, b.pays = make([]chainhash.Hash, len(b.txs)), make([][]mention, len(b.txs))
	witnesses := make([]chainhash.Hash, len(b.txs))
	each(len(b.txs), func(i int) {
		b.ids[i], b.pays[i] = b.txs[i].name(), c.mentions(b.txs[i].outs)
		if i > 0 { // the first one's counts as nothing
			witnesses[i] = b.ids[i]
			if b.txs[i].witnessed {
				witnesses[i] = chainhash.DoubleHashH(b.txs[i].span)
			}
		}
	})
	wait := make(chan chainhash.Hash, 1)
	go func() {
		root, _ := merkle(witnesses)
		wait <- root
	}()
	root, doubled := merkle(slices.Clone(b.ids))
	if doubled || root != b.header.MerkleRoot {
		return nil, forged("its transactions are not those of its header")
	}
	return b, b.witnessed(<-wait)
}

// mentions are the outputs that could pay us, or seem to.
func (c Codec) mentions(outs []output) []mention {
	out := make([]mention, 0, len(outs))
	for j, o := range outs {
		switch kind, body := program(o.script); kind {
		case P2WPKH, P2PKH:
			out = append(out, mention{j, kind, chain.CanonicalAddress(chain.Bitcoin, c.segwit(0, body))})
		case "":
			if odd(o.script) {
				out = append(out, mention{out: j})
			}
		}
	}
	return out
}

// proven says whether a header has a hash, and the work that it claims.
func proven(h *wire.BlockHeader, want chainhash.Hash, limit *big.Int) error {
	hash := h.BlockHash()
	if hash != want {
		return forged("its header has another hash")
	}
	target := compact(h.Bits)
	if target.Sign() <= 0 || target.Cmp(limit) > 0 {
		return forged("it claims work that the network does not allow")
	}
	if number(hash).Cmp(target) > 0 {
		return forged("it has no work")
	}
	return nil
}

// compact is the target that a header's bits stand for.
func compact(bits uint32) *big.Int {
	mantissa, shift := big.NewInt(int64(bits&0x007fffff)), 8*(int(bits>>24)-3)
	if bits&0x00800000 != 0 {
		return big.NewInt(-1) // negative, which nobody can reach
	}
	if shift < 0 {
		return mantissa.Rsh(mantissa, uint(-shift))
	}
	return mantissa.Lsh(mantissa, uint(shift))
}

// number is a hash as the number that work is measured by.
func number(h chainhash.Hash) *big.Int {
	for i := range len(h) / 2 {
		h[i], h[len(h)-1-i] = h[len(h)-1-i], h[i]
	}
	return new(big.Int).SetBytes(h[:])
}

// merkle is the root of a list. Doubled says that two neighbours are the same, by
// which a list can be made longer without changing its root (CVE-2012-2459).
func merkle(row []chainhash.Hash) (root chainhash.Hash, doubled bool) {
	var pair [2 * chainhash.HashSize]byte
	for len(row) > 1 {
		half := row[:0]
		for i := 0; i < len(row); i += 2 {
			left, right := row[i], row[i]
			if i+1 < len(row) {
				if right = row[i+1]; right == left {
					doubled = true
				}
			}
			copy(pair[:], left[:])
			copy(pair[chainhash.HashSize:], right[:])
			half = append(half, chainhash.DoubleHashH(pair[:]))
		}
		row = half
	}
	if len(row) == 1 {
		root = row[0]
	}
	return root, doubled
}

// mark stands before the commitment to the witnesses (BIP-141).
var mark = []byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}

// witnessed says whether the witnesses are those that the first transaction commits
// to. A block without witnesses needs no commitment, but one that has it must hold.
func (b *block) witnessed(root chainhash.Hash) error {
	var commitment []byte
	for _, out := range b.first.TxOut {
		if bytes.HasPrefix(out.PkScript, mark) && len(out.PkScript) >= len(mark)+chainhash.HashSize {
			commitment = out.PkScript[len(mark) : len(mark)+chainhash.HashSize] // the last counts
		}
	}
	if commitment == nil {
		for _, tx := range b.txs {
			if tx.witnessed {
				return forged("it has witnesses that nothing commits to")
			}
		}
		return nil
	}
	reserved := b.first.TxIn[0].Witness
	if len(reserved) != 1 || len(reserved[0]) != chainhash.HashSize {
		return forged("its witnesses were taken out")
	}
	if !bytes.Equal(chainhash.DoubleHashB(append(root[:], reserved[0]...)), commitment) {
		return forged("its witnesses are others than it commits to")
	}
	return nil
}

func isCoinbase(tx *wire.MsgTx) bool {
	return len(tx.TxIn) == 1 && tx.TxIn[0].PreviousOutPoint == wire.OutPoint{Index: wire.MaxPrevOutIndex}
}

// each does something for many numbers on all processors.
func each(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/256+1)
	if workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				do(i)
			}
		})
	}
	wg.Wait()
}
