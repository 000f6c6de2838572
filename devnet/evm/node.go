package evm

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native" // the tracers that are asked for by name
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"
)

// Spec is what a chain is asked to be.
type Spec struct {
	ChainID uint64 `json:"chainId"`
	// FinalDepth is how many blocks make one final and safe.
	FinalDepth uint64 `json:"finalDepth"`
	// Faucet is the key that has all the money, in hex; without it a known one is used.
	Faucet string `json:"faucet"`
	// Alloc are accounts that are there from the first block.
	Alloc map[common.Address]Account `json:"alloc"`
	// Rollup makes it a rollup of another chain that runs here; nil is a chain by itself.
	Rollup *Rollup `json:"rollup"`
}

// Account is what an account has from the first block.
type Account struct {
	Balance *hexutil.Big  `json:"balance"`
	Code    hexutil.Bytes `json:"code"`
}

// What the chain begins with.
const (
	gwei      = 1_000_000_000
	gasLimit  = 36_000_000
	bornAt    = 1_700_000_000 // the same at every start, since it is part of the first block
	faucetKey = "ferry local chain: faucet"
	crowdKey  = "ferry local chain: crowd"
)

// Node is one chain that runs.
type Node struct {
	spec   Spec
	stack  *node.Node
	eth    *eth.Ethereum
	faucet *ecdsa.PrivateKey
	crowd  *ecdsa.PrivateKey

	up *above // what a rollup knows of the chain below it; nil is no rollup

	mu    sync.Mutex // one lever at a time
	gone  bool       // it was closed
	price uint64     // how many times the price at the start is asked
	stop  func()     // ends mining by itself; nil if it does not
}

// Open starts a chain; with an empty folder it lives in memory. A rollup finds the chain
// below it by its name.
func Open(ctx context.Context, dir string, raw json.RawMessage, find func(name string) *Node) (*Node, error) {
	n := &Node{price: 1}
	if err := json.Unmarshal(raw, &n.spec); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	if n.spec.ChainID == 0 {
		return nil, errors.New("spec: chainId is missing")
	}
	var err error
	if n.faucet, err = keyOf(n.spec.Faucet, faucetKey); err != nil {
		return nil, fmt.Errorf("spec: faucet: %w", err)
	}
	if n.crowd, err = keyOf("", crowdKey); err != nil {
		return nil, err
	}
	if n.spec.Rollup != nil {
		if n.up, err = raise(ctx, n.spec, find); err != nil {
			return nil, fmt.Errorf("rollup of %s: %w", n.spec.Rollup.Of, err)
		}
	}
	if err := n.start(dir); err != nil {
		if n.stack != nil {
			_ = n.stack.Close()
		}
		return nil, err
	}
	return n, nil
}

// keyOf reads a key, or makes the one that belongs to a text.
func keyOf(hex, text string) (*ecdsa.PrivateKey, error) {
	if hex != "" {
		return crypto.HexToECDSA(hex)
	}
	return crypto.ToECDSA(crypto.Keccak256([]byte(text)))
}

func (n *Node) start(dir string) error {
	nc := node.DefaultConfig
	nc.Name, nc.DataDir = "geth", ""
	if dir != "" {
		nc.DataDir = filepath.Clean(dir)
		if err := os.MkdirAll(nc.DataDir, 0o700); err != nil {
			return err
		}
	}
	nc.P2P = p2p.Config{NoDiscovery: true, NoDial: true, MaxPeers: 0, ListenAddr: ""}
	nc.HTTPHost, nc.HTTPPort = "127.0.0.1", 0
	nc.HTTPModules = []string{"eth", "net", "web3", "debug", "txpool"}
	nc.IPCPath, nc.WSHost, nc.UseLightweightKDF = "", "", true
	nc.BatchResponseMaxSize = 256 << 20
	var err error
	if n.stack, err = node.New(&nc); err != nil {
		return err
	}
	genesis, err := n.genesis()
	if err != nil {
		return err
	}
	ec := ethconfig.Defaults
	ec.NetworkId, ec.Genesis, ec.SyncMode = n.spec.ChainID, genesis, ethconfig.FullSync
	// Every state is kept, so that proofs and traces of any block can be asked for.
	ec.StateScheme, ec.NoPruning, ec.LogNoHistory = rawdb.HashScheme, true, true
	ec.TransactionHistory = 0
	ec.DatabaseCache, ec.TrieCleanCache, ec.TrieDirtyCache, ec.SnapshotCache = 16, 8, 8, 0
	ec.RPCGasCap = 1_000_000_000
	ec.TxPool.NoLocals, ec.TxPool.Journal, ec.TxPool.PriceLimit = true, "", 1
	ec.TxPool.AccountSlots, ec.TxPool.GlobalSlots = 4096, 65536
	ec.TxPool.AccountQueue, ec.TxPool.GlobalQueue = 4096, 65536
	ec.Miner.GasPrice, ec.Miner.GasCeil = big.NewInt(gwei), gasLimit
	// A busy machine must not make blocks that leave out what waits.
	ec.Miner.Recommit = time.Minute
	if n.eth, err = eth.New(n.stack, &ec); err != nil {
		return err
	}
	system := filters.NewFilterSystem(n.eth.APIBackend, filters.Config{})
	n.stack.RegisterAPIs([]rpc.API{{Namespace: "eth", Service: filters.NewFilterAPI(system)}})
	n.stack.RegisterAPIs(tracers.APIs(n.eth.APIBackend))
	if err = n.stack.Start(); err != nil {
		return err
	}
	n.eth.SetSynced()
	return n.mark()
}

// genesis has every fork that is released, and nothing that is not.
func (n *Node) genesis() (*core.Genesis, error) {
	config := *params.AllDevChainProtocolChanges
	config.ChainID = new(big.Int).SetUint64(n.spec.ChainID)
	alloc := system()
	for at, a := range n.spec.Alloc {
		balance := new(big.Int)
		if a.Balance != nil {
			balance = a.Balance.ToInt()
		}
		alloc[at] = types.Account{Balance: balance, Code: a.Code}
	}
	rich := new(big.Int).Lsh(big.NewInt(1), 120)
	for _, k := range []*ecdsa.PrivateKey{n.faucet, n.crowd} {
		alloc[crypto.PubkeyToAddress(k.PublicKey)] = types.Account{Balance: rich}
	}
	g := &core.Genesis{
		Config: &config, GasLimit: gasLimit, Timestamp: bornAt, Alloc: alloc, BaseFee: big.NewInt(gwei),
	}
	if n.up == nil {
		return g, nil
	}
	return g, n.up.adapt(g)
}

// system are the contracts that the rules of the chain themselves call.
func system() types.GenesisAlloc {
	return types.GenesisAlloc{
		params.BeaconRootsAddress:        {Nonce: 1, Code: params.BeaconRootsCode, Balance: common.Big0},
		params.HistoryStorageAddress:     {Nonce: 1, Code: params.HistoryStorageCode, Balance: common.Big0},
		params.WithdrawalQueueAddress:    {Nonce: 1, Code: params.WithdrawalQueueCode, Balance: common.Big0},
		params.ConsolidationQueueAddress: {Nonce: 1, Code: params.ConsolidationQueueCode, Balance: common.Big0},
	}
}

// RPC is where its JSON-RPC answers.
func (n *Node) RPC() string { return n.stack.HTTPEndpoint() }

// Close stops the chain.
func (n *Node) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rest()
	n.gone = true
	return n.stack.Close()
}
