package bitcoin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/database"
	_ "github.com/btcsuite/btcd/database/ffldb" // the block store
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/txscript/v2"
)

// Spec is how a chain is wished. What is left zero gets a default.
type Spec struct {
	// Maturity is how many blocks a coinbase waits: 100 as everywhere, less where a
	// test needs a short chain.
	Maturity uint16 `json:"maturity"`
	// Coins is how many coins the faucet starts with.
	Coins int `json:"coins"`
	// Rate is the going price in satoshis for a thousand virtual bytes.
	Rate int64 `json:"rate"`
}

const (
	defaultMaturity = 100
	defaultCoins    = 200
	defaultRate     = 5000
	relayRate       = 1000 // satoshis for a thousand virtual bytes, below which nothing is relayed
)

// Node is one running chain.
type Node struct {
	params chaincfg.Params
	spec   Spec
	folder string
	passes bool // the folder is removed at the end
	db     database.DB
	chain  *blockchain.BlockChain
	pool   *mempool.TxPool
	faucet faucet
	server *http.Server
	url    string

	mu       sync.RWMutex // levers and what changes the mempool hold it alone
	index    index
	times    uint64 // the price is so many times the rate
	extra    uint64 // makes every coinbase another one
	undone   []*btcutil.Block
	journal  *os.File // of a chain that is kept
	stopAuto context.CancelFunc
}

// Open starts a chain, in a folder that is kept or in one that passes.
func Open(_ context.Context, folder string, text json.RawMessage) (*Node, error) {
	n := &Node{params: chaincfg.RegressionNetParams, folder: folder, times: 1, index: newIndex()}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &n.spec); err != nil {
			return nil, fmt.Errorf("spec: %w", err)
		}
	}
	if n.spec.Maturity == 0 {
		n.spec.Maturity = defaultMaturity
	}
	if n.spec.Coins <= 0 {
		n.spec.Coins = defaultCoins
	}
	if n.spec.Rate <= 0 {
		n.spec.Rate = defaultRate
	}
	n.params.CoinbaseMaturity = n.spec.Maturity
	n.faucet = newFaucet(&n.params)
	if err := n.start(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) start() error {
	if err := n.openStore(); err != nil {
		return err
	}
	if err := n.openChain(); err != nil {
		return err
	}
	if err := n.restore(); err != nil {
		return err
	}
	if n.chain.BestSnapshot().Height == 0 {
		if err := n.endow(); err != nil {
			return fmt.Errorf("first blocks: %w", err)
		}
	}
	if err := n.loadWaiting(); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.url = "http://" + ln.Addr().String()
	n.server = &http.Server{Handler: http.HandlerFunc(n.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = n.server.Serve(ln) }() // it ends with Close
	return nil
}

func (n *Node) openStore() error {
	if n.folder == "" {
		dir, err := os.MkdirTemp(quick(), "ferry-bitcoin-")
		if err != nil {
			return err
		}
		n.folder, n.passes = dir, true
	} else if err := os.MkdirAll(n.folder, 0o700); err != nil {
		return err
	}
	path := filepath.Join(n.folder, "blocks")
	db, err := database.Open("ffldb", path, n.params.Net)
	var e database.Error
	if errors.As(err, &e) && e.ErrorCode == database.ErrDbDoesNotExist {
		db, err = database.Create("ffldb", path, n.params.Net)
	}
	n.db = db
	return err
}

// quick is where a chain that passes is kept: in memory where the machine has a
// folder there.
func quick() string {
	if s, err := os.Stat("/dev/shm"); err == nil && s.IsDir() {
		return "/dev/shm"
	}
	return ""
}

func (n *Node) openChain() error {
	sigs, hashes := txscript.NewSigCache(10_000), txscript.NewHashCache(10_000)
	var err error
	n.chain, err = blockchain.New(&blockchain.Config{
		DB: n.db, UtxoCacheMaxSize: 16 << 20, ChainParams: &n.params, TimeSource: clock{n},
		SigCache: sigs, HashCache: hashes,
	})
	if err != nil {
		return err
	}
	n.pool = mempool.New(&mempool.Config{
		Policy: mempool.Policy{
			MaxTxVersion: 3, DisableRelayPriority: true, MaxOrphanTxs: 0, MaxOrphanTxSize: 100_000,
			MaxSigOpCostPerTx: blockchain.MaxBlockSigOpsCost / 4, MinRelayTxFee: relayRate,
		},
		ChainParams: &n.params, FetchUtxoView: n.chain.FetchUtxoView,
		BestHeight:     func() int32 { return n.chain.BestSnapshot().Height },
		MedianTimePast: func() time.Time { return n.chain.BestSnapshot().MedianTime },
		CalcSequenceLock: func(tx *btcutil.Tx, v *blockchain.UtxoViewpoint) (*blockchain.SequenceLock, error) {
			return n.chain.CalcSequenceLock(tx, v, true)
		},
		IsDeploymentActive: n.chain.IsDeploymentActive, SigCache: sigs, HashCache: hashes,
	})
	for h := int32(0); h <= n.chain.BestSnapshot().Height; h++ {
		b, err := n.chain.BlockByHeight(h)
		if err != nil {
			return err
		}
		n.index.add(b)
	}
	n.chain.Subscribe(n.heard)
	return nil
}

// heard follows the branch that counts.
func (n *Node) heard(x *blockchain.Notification) {
	b, ok := x.Data.(*btcutil.Block)
	if !ok {
		return
	}
	switch x.Type {
	case blockchain.NTBlockConnected:
		n.index.add(b)
	case blockchain.NTBlockDisconnected:
		n.index.remove(b)
		n.undone = append(n.undone, b)
	}
}

// clock lets blocks be mined faster than time goes.
type clock struct{ n *Node }

func (c clock) AdjustedTime() time.Time {
	now := time.Unix(time.Now().Unix(), 0)
	if c.n.chain == nil {
		return now
	}
	if h, err := c.n.chain.HeaderByHash(&c.n.chain.BestSnapshot().Hash); err == nil && h.Timestamp.After(now) {
		return h.Timestamp
	}
	return now
}
func (clock) AddTimeSample(string, time.Time) {}
func (clock) Offset() time.Duration           { return 0 }

// RPC is where the chain's own JSON-RPC answers.
func (n *Node) RPC() string { return n.url }

// Close stops the chain; one that is kept can be opened again.
func (n *Node) Close() error {
	n.mu.Lock()
	if n.stopAuto != nil {
		n.stopAuto()
	}
	n.mu.Unlock()
	var errs []error
	if n.server != nil {
		errs = append(errs, n.server.Close())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.chain != nil && !n.passes {
		errs = append(errs, n.chain.FlushUtxoCache(blockchain.FlushRequired), n.saveWaiting())
	}
	if n.db != nil {
		errs = append(errs, n.db.Close())
	}
	if n.passes {
		errs = append(errs, os.RemoveAll(n.folder))
	} else if errors.Join(errs...) == nil {
		errs = append(errs, n.forget())
	}
	return errors.Join(errs...)
}
