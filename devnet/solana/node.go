package solana

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	sol "github.com/gagliardetto/solana-go"
)

// Spec is how a chain is wished.
type Spec struct {
	// Depth is how many blocks make one final; 31 if zero, as on the real network.
	Depth int `json:"depth"`
	// Every is how many milliseconds lie between blocks; zero seals none by itself.
	Every int `json:"every"`
	// Price is the going priority price, in millionths of a lamport for a unit.
	Price uint64 `json:"price"`
}

const defaultDepth = 31

// Node is one chain.
type Node struct {
	spec    Spec
	svm     *svm
	faucet  sol.PrivateKey
	journal *journal
	server  *http.Server
	rpc     string

	mu     sync.Mutex
	ledger *ledger
	slot   uint64 // the one that is not sealed yet
	unsure bool   // whether it is
	queue  []waiting
	price  uint64
	active time.Time          // when anybody last asked for something that needs blocks
	stop   context.CancelFunc // of the clock; nil while it stands
}

// waiting is a transaction that was sent and is in no block yet.
type waiting struct {
	sig string
	raw []byte
}

// Open starts a chain. With a folder it goes on where it stopped.
func Open(ctx context.Context, dir string, spec json.RawMessage) (*Node, error) {
	n := &Node{spec: Spec{}, faucet: faucetKey()}
	if len(spec) > 0 {
		if err := json.Unmarshal(spec, &n.spec); err != nil {
			return nil, fmt.Errorf("spec: %w", err)
		}
	}
	if n.spec.Depth <= 0 {
		n.spec.Depth = defaultDepth
	}
	n.price = n.spec.Price
	var err error
	if n.svm, err = startSVM(ctx, n.faucet); err != nil {
		return nil, err
	}
	if err := n.begin(ctx, dir); err != nil {
		return nil, errors.Join(err, n.svm.close())
	}
	n.auto(n.spec.Every)
	return n, nil
}

func faucetKey() sol.PrivateKey {
	seed := sha256.Sum256([]byte("the faucet of a local Solana chain"))
	return sol.PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
}

func (n *Node) begin(ctx context.Context, dir string) error {
	slot, err := n.svm.slot(ctx)
	if err != nil {
		return err
	}
	// The first slot holds how the faucet came to its money, which is never the same.
	n.slot = slot
	if err := n.travel(ctx, slot+1); err != nil {
		return err
	}
	hash, err := n.svm.blockhash(ctx)
	if err != nil {
		return err
	}
	lines, err := openJournal(dir)
	if err != nil {
		return err
	}
	n.ledger = newLedger(hash, lines.began)
	for _, e := range lines.entries {
		if err := n.again(ctx, e); err != nil {
			return fmt.Errorf("do again what was done at slot %d: %w", e.Slot, err)
		}
	}
	if now, err := n.svm.blockhash(ctx); err != nil || now != n.ledger.last().Hash {
		return errors.Join(fmt.Errorf("the last block's hash is %s and was %s", now, n.ledger.last().Hash), err)
	}
	n.journal = lines
	lines.entries = nil
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.rpc = "http://" + ln.Addr().String()
	n.server = &http.Server{Handler: n, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = n.server.Serve(ln) }()
	return nil
}

// genesis names the chain: another than any that began at another time, and the same
// each time it is opened. That of the virtual machine is new in every process.
func (n *Node) genesis() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "a local Solana chain that began at %d", n.journal.began))
	return sol.Hash(sum).String()
}

// RPC is where the front answers.
func (n *Node) RPC() string { return n.rpc }

// Close stops the chain.
func (n *Node) Close() error {
	n.auto(0)
	_ = n.server.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	return errors.Join(n.journal.close(), n.svm.close())
}

// seal executes transactions and seals the slot with them. It can be tried again with
// the same ones when it failed.
func (n *Node) seal(ctx context.Context, all []waiting, at int64) error {
	sealed := n.slot
	for _, w := range all {
		err := n.svm.call(ctx, nil, "sendTransaction", base64.StdEncoding.EncodeToString(w.raw), object{"encoding": "base64", "skipPreflight": true})
		var refused *rpcError // too old, or executed before
		if err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	if err := n.travel(ctx, sealed+1); err != nil {
		return err
	}
	hash, err := n.svm.blockhash(ctx)
	if err != nil {
		n.slot, n.unsure = sealed, true
		return err
	}
	var found struct{ Transactions []executed }
	if len(all) > 0 {
		how := object{"commitment": "processed", "encoding": "json", "transactionDetails": "full", "maxSupportedTransactionVersion": 0, "rewards": false}
		if err := n.svm.call(ctx, &found, "getBlock", sealed, how); err != nil {
			n.slot, n.unsure = sealed, true
			return err
		}
	}
	last := n.ledger.last()
	b := block{Slot: sealed, Height: last.Height + 1, Parent: last.Slot, Hash: hash, Prev: last.Hash, Time: at}
	n.ledger.add(b, found.Transactions)
	e := entry{Slot: sealed, Time: at, Hash: hash}
	for _, w := range all {
		if p, ok := n.ledger.at[w.sig]; ok && n.ledger.blocks[p.block].Slot == sealed {
			e.Raws = append(e.Raws, w.raw)
		}
	}
	return n.journal.write(e)
}

// travel seals a slot in the virtual machine. An answer that was lost is asked for again.
func (n *Node) travel(ctx context.Context, to uint64) error {
	if n.unsure {
		if now, err := n.svm.slot(ctx); err != nil {
			return err
		} else if now >= to {
			n.slot, n.unsure = to, false
			return nil
		}
	}
	if err := n.svm.travel(ctx, to); err != nil {
		n.unsure = true
		return fmt.Errorf("seal slot %d: %w", n.slot, err)
	}
	n.slot, n.unsure = to, false
	return nil
}

// again does what an earlier run did.
func (n *Node) again(ctx context.Context, e entry) error {
	if e.Slot > n.slot {
		if err := n.travel(ctx, e.Slot); err != nil {
			return err
		}
	}
	if len(e.Raws) == 0 { // most are: its hash is only a count, which the last one proves
		if err := n.travel(ctx, n.slot+1); err != nil {
			return err
		}
		last := n.ledger.last()
		n.ledger.add(block{Slot: e.Slot, Height: last.Height + 1, Parent: last.Slot, Hash: e.Hash, Prev: last.Hash, Time: e.Time}, nil)
		return nil
	}
	var all []waiting
	for _, raw := range e.Raws {
		tx, err := sol.TransactionFromBytes(raw)
		if err != nil || len(tx.Signatures) == 0 {
			return errors.Join(errors.New("the journal holds no transaction"), err)
		}
		all = append(all, waiting{tx.Signatures[0].String(), raw})
	}
	if err := n.seal(ctx, all, e.Time); err != nil {
		return err
	}
	if got := n.ledger.last().Hash; got != e.Hash {
		return fmt.Errorf("the block's hash is %s and was %s", got, e.Hash)
	}
	return nil
}

// mine seals blocks with what waits, one of them with all of it. Times of blocks that
// are asked for are a second apart, so that each has its own.
func (n *Node) mine(ctx context.Context, blocks int, empty bool) error {
	for range blocks {
		var all []waiting
		if !empty {
			all = n.queue
		}
		if err := n.seal(ctx, all, max(time.Now().Unix(), n.ledger.last().Time+1)); err != nil {
			return err
		}
		if !empty {
			n.queue = nil
		}
	}
	return nil
}

// quiet is for how many blocks the clock goes on when nobody wants anything: what was
// signed last is final, or too old, by then.
const quiet = 400

// auto seals a block every so many milliseconds; zero stops the clock.
func (n *Node) auto(every int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stop != nil {
		n.stop()
		n.stop = nil
	}
	if every <= 0 {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	n.stop, n.active = stop, time.Now()
	pause := time.Duration(every) * time.Millisecond
	go func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				n.tick(ctx, quiet*pause)
			}
		}
	}()
}

func (n *Node) tick(ctx context.Context, rest time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ctx.Err() != nil || (len(n.queue) == 0 && time.Since(n.active) > rest) {
		return
	}
	// A clock that fails once is tried again by the next tick.
	if n.seal(context.WithoutCancel(ctx), n.queue, max(time.Now().Unix(), n.ledger.last().Time)) == nil {
		n.queue = nil
	}
}
