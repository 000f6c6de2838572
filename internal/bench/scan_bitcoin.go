package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/rpc"
	"ferry/internal/watch"
)

// Blocks full of other people's transactions: as many and as large as mainnet's of
// an ordinary day, and a handful of payments to us in each.
const (
	scanBlocks   = 12
	scanTxs      = 3000
	scanDeposits = 5
)

// Goals: at least so much of the pace of a client that only downloads and decodes,
// and as fast with a million watched addresses as with a thousand.
const (
	scanGoal = 0.70
	scanFlat = 0.90
)

const scanChain chain.ID = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328"

// runScanBitcoin measures how fast deposits are found in blocks of strangers.
func runScanBitcoin(ctx context.Context, o options) error {
	progress("scan-bitcoin: making %d blocks of %d transactions", scanBlocks, scanTxs)
	codec, err := bitcoin.NewCodec(bitcoin.Regtest)
	if err != nil {
		return err
	}
	s, err := newScanNode(codec)
	if err != nil {
		return err
	}
	defer s.server.Close()
	watched := map[int]*watch.AddressSet{}
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		watched[n] = newScanSet(codec, n)
	}
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		name := fmt.Sprintf("%d watched addresses beside download and decode", n)
		d, err := interleave("scan-bitcoin: "+name, o.rounds, pace, [2]side{
			func(int, int) (int, time.Duration, error) { return s.ours(ctx, watched[n]) },
			func(int, int) (int, time.Duration, error) { return s.bare(ctx) },
		})
		if err != nil {
			return err
		}
		o.report.add(result{Bench: "scan-bitcoin", Name: name, Unit: "tx/s", AtLeast: scanGoal}.judged(d))
	}
	d, err := interleave("scan-bitcoin: flat", o.rounds, pace, [2]side{
		func(int, int) (int, time.Duration, error) { return s.ours(ctx, watched[1_000_000]) },
		func(int, int) (int, time.Duration, error) { return s.ours(ctx, watched[1_000]) },
	})
	if err != nil {
		return err
	}
	o.report.add(result{Bench: "scan-bitcoin", Name: "1000000 and 1000 watched addresses", Unit: "tx/s", AtLeast: scanFlat}.judged(d))
	return nil
}

func scanSeed(i int) []byte { return fmt.Appendf(nil, "watched %d", i) }

func newScanSet(codec bitcoin.Codec, n int) *watch.AddressSet {
	s := watch.NewAddressSet()
	for i := range n {
		s.Add(codec.Make(scanSeed(i)))
	}
	return s
}

// scanNode answers what a scan asks, as quickly as it can.
type scanNode struct {
	server *httptest.Server
	blocks []chain.Block
	raw    map[string][]byte // the answer to getblock without its number
}

func newScanNode(codec bitcoin.Codec) (*scanNode, error) {
	s := &scanNode{raw: map[string][]byte{}}
	r := rand.New(rand.NewPCG(1, 2))
	for height := range scanBlocks {
		m, err := strangers(r, codec)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := m.Serialize(&b); err != nil {
			return nil, err
		}
		hash := m.BlockHash().String()
		s.blocks = append(s.blocks, chain.Block{Height: uint64(height + 1), Hash: hash})
		s.raw[hash] = fmt.Appendf(nil, `"result":"%s","error":null}`, hex.EncodeToString(b.Bytes()))
	}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s, nil
}

func (s *scanNode) serve(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params []any           `json:"params"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		http.Error(w, "no question", http.StatusBadRequest)
		return
	}
	_, _ = fmt.Fprintf(w, `{"id":%s,`, q.ID)
	hash := ""
	if len(q.Params) > 0 {
		hash, _ = q.Params[0].(string)
	}
	switch q.Method {
	case "getblock":
		_, _ = w.Write(s.raw[hash])
	case "getblockheader":
		for _, b := range s.blocks {
			if b.Hash == hash {
				_, _ = fmt.Fprintf(w, `"result":{"height":%d},"error":null}`, b.Height)
			}
		}
	case "getindexinfo":
		_, _ = io.WriteString(w, `"result":{"txindex":{"synced":true}},"error":null}`)
	default:
		_, _ = fmt.Fprintf(w, `"result":"%s","error":null}`, chaincfg.RegressionNetParams.GenesisHash)
	}
}

// ours reads every block once, with an adapter that has seen none of them.
func (s *scanNode) ours(ctx context.Context, to *watch.AddressSet) (int, time.Duration, error) {
	c, err := bitcoin.New(ctx, bitcoin.Config{
		ID: scanChain, Network: bitcoin.Regtest, FinalDepth: 1, Nodes: rpc.Config{URLs: []string{s.server.URL}, Need: 1},
		Noticed: func(bitcoin.Suspect) {},
	}, nobody{})
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	for _, b := range s.blocks {
		found, err := c.Deposits(ctx, b, to)
		if err != nil {
			return 0, 0, err
		}
		if len(found) != scanDeposits {
			return 0, 0, fmt.Errorf("found %d payments, want %d", len(found), scanDeposits)
		}
	}
	return scanBlocks * scanTxs, time.Since(start), nil
}

// bare downloads and decodes every block by the same client, and believes whatever it
// gets.
func (s *scanNode) bare(ctx context.Context) (int, time.Duration, error) {
	pool, err := rpc.New(rpc.Config{URLs: []string{s.server.URL}, Need: 1})
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	for _, b := range s.blocks {
		var text string
		if err := pool.Nodes()[0].Call(ctx, &text, "getblock", b.Hash, 0); err != nil {
			return 0, 0, err
		}
		raw, err := hex.DecodeString(text)
		if err != nil {
			return 0, 0, err
		}
		var m wire.MsgBlock
		if err := m.Deserialize(bytes.NewReader(raw)); err != nil {
			return 0, 0, err
		}
	}
	return scanBlocks * scanTxs, time.Since(start), nil
}

// nobody signs nothing, and has an address to be known by.
type nobody struct{}

func (nobody) Sign(context.Context, chain.Paper) ([]byte, error) {
	return nil, fmt.Errorf("nobody signs")
}

func (nobody) Address(context.Context, chain.ID, chain.Key) (chain.Address, error) {
	codec, err := bitcoin.NewCodec(bitcoin.Regtest)
	return codec.Make([]byte("hot")), err
}

// strangers is a block of payments between strangers, and a few to us.
func strangers(r *rand.Rand, codec bitcoin.Codec) (*wire.MsgBlock, error) {
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	scripts := []func() []byte{ // what most outputs are
		func() []byte { return append([]byte{0, 20}, noise(20)...) },
		func() []byte { return append([]byte{0, 20}, noise(20)...) },
		func() []byte { return append([]byte{0x51, 32}, noise(32)...) },
		func() []byte { return append(append([]byte{0xa9, 20}, noise(20)...), 0x87) },
		func() []byte { return append(append([]byte{0x76, 0xa9, 20}, noise(20)...), 0x88, 0xac) },
		func() []byte { return append([]byte{0x6a, 40}, noise(40)...) },
	}
	cb := wire.NewMsgTx(2)
	cb.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: noise(8), Witness: wire.TxWitness{make([]byte, 32)}})
	cb.AddTxOut(wire.NewTxOut(50, scripts[0]()))
	m := &wire.MsgBlock{Header: wire.BlockHeader{Version: 4, Bits: chaincfg.RegressionNetParams.PowLimitBits}, Transactions: []*wire.MsgTx{cb}}
	witnesses := []chainhash.Hash{{}}
	for i := 1; i < scanTxs; i++ {
		tx := wire.NewMsgTx(2)
		for range 1 + r.IntN(3) {
			var prev wire.OutPoint
			copy(prev.Hash[:], noise(32))
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: prev, Witness: wire.TxWitness{noise(72), noise(33)}})
		}
		for range 1 + r.IntN(4) {
			tx.AddTxOut(wire.NewTxOut(1000+r.Int64N(1e8), scripts[r.IntN(len(scripts))]()))
		}
		if i <= scanDeposits {
			script, err := codec.Script(codec.Make(scanSeed(i)))
			if err != nil {
				return nil, err
			}
			tx.AddTxOut(wire.NewTxOut(100_000, script))
		}
		m.Transactions, witnesses = append(m.Transactions, tx), append(witnesses, tx.WitnessHash())
	}
	root := merkleRoot(witnesses)
	commitment := chainhash.DoubleHashB(append(root[:], make([]byte, 32)...))
	cb.AddTxOut(wire.NewTxOut(0, append([]byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}, commitment...)))
	ids := make([]chainhash.Hash, len(m.Transactions))
	for i, tx := range m.Transactions {
		ids[i] = tx.TxHash()
	}
	m.Header.MerkleRoot = merkleRoot(ids)
	for hash := m.BlockHash(); hash[chainhash.HashSize-1] >= 0x7f; hash = m.BlockHash() {
		m.Header.Nonce++
	}
	return m, nil
}

func merkleRoot(row []chainhash.Hash) chainhash.Hash {
	for len(row) > 1 {
		var half []chainhash.Hash
		for i := 0; i < len(row); i += 2 {
			right := row[min(i+1, len(row)-1)]
			half = append(half, chainhash.DoubleHashH(append(append([]byte(nil), row[i][:]...), right[:]...)))
		}
		row = half
	}
	return row[0]
}
