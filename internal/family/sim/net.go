package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/money"
	"ferry/internal/order"
)

// Net is a chain: all its blocks, its mempool, its users. It is the truth, and
// what it says is never faulted.
type Net struct {
	cfg    Config
	codec  Codec
	rule   quorum.Rule
	wallet *Wallet
	listed map[string]bool
	nodes  []*Node
	chain  *Chain

	mu    sync.Mutex
	keys  map[string]key
	users map[string]key
	kept  map[uint32]key  // of the deposit addresses that were asked for
	pools map[string]pair // contracts, by their address
	world
}

// world is what changes.
type world struct {
	state
	pool
	blocks map[string]*block
	canon  []*block // the canonical branch; its last is the tip
	stale  []*block // orphans that are still kept
	txs    map[chain.TxID]*tx
	sent   map[string][]*receipt // per account of ours, oldest first
	paid   map[string][]place    // per address, the payments on the canonical branch

	seq uint64 // counts everything that must differ: blocks, mints, salts
	knobs
}

// knobs are what a test turns.
type knobs struct {
	now     time.Time
	going   money.Amount
	halted  bool
	skip    uint64
	rejects []*reject
	hook    Hook
}

// block is a place in the tree with what it did.
type block struct {
	chain.Block
	n        int // how many blocks are below it
	parent   *block
	mints    []*mint
	receipts []*receipt
	diff     map[cell]span[money.Amount]
	counts   map[string]span[uint64]
}

// New makes a net with its first block.
func New(c Config) (*Net, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	rule, err := quorum.New(c.Nodes, c.Quorum)
	if err != nil {
		return nil, err
	}
	n := &Net{
		cfg: c, codec: Codec{c.Family, c.Addresses}, rule: rule,
		listed: map[string]bool{"": true},
		keys:   make(map[string]key), users: make(map[string]key), kept: make(map[uint32]key), pools: make(map[string]pair),
	}
	for _, a := range c.Assets {
		n.listed[a.Ref] = true
	}
	n.wallet = newWallet(n.codec, c.Seed, c.Accounts)
	n.world = world{
		state: newState(), pool: newPool(),
		blocks: make(map[string]*block), txs: make(map[chain.TxID]*tx),
		sent: make(map[string][]*receipt), paid: make(map[string][]place),
		knobs: knobs{now: c.Start, going: c.MinFee},
	}
	for _, a := range c.Accounts {
		k := n.wallet.keys[a]
		n.keys[k.addr.Text()] = k
		n.sent[k.addr.Text()] = nil
		n.owned[k.addr.Text()] = nil
	}
	genesis := n.newBlock(nil)
	genesis.Time = c.Start
	n.blocks[genesis.Hash] = genesis
	n.canon = []*block{genesis}
	for i := range c.Nodes {
		n.nodes = append(n.nodes, &Node{net: n, index: i})
	}
	n.chain = &Chain{net: n}
	return n, nil
}

// ID is the chain's name.
func (n *Net) ID() chain.ID { return n.cfg.ID }

// Shape is how it keeps its accounts.
func (n *Net) Shape() Shape { return n.cfg.Shape }

// Config is what the net was made with, its defaults filled in.
func (n *Net) Config() Config { return n.cfg }

// Codec reads its addresses.
func (n *Net) Codec() Codec { return n.codec }

// Chain is the adapter through which our house sees the net.
func (n *Net) Chain() *Chain { return n.chain }

// Node is one view of the net; it panics if there is no such node.
func (n *Net) Node(i int) *Node { return n.nodes[i] }

// Own is the address of one of our accounts.
func (n *Net) Own(a chain.Account) chain.Address { return n.wallet.Own(a) }

// ErrOtherChain: the call is for another chain.
var ErrOtherChain = errors.New("sim: that is another chain")

func (n *Net) depositAddress(id chain.ID, o order.ID) (chain.Address, error) {
	if id != n.cfg.ID {
		return chain.Address{}, fmt.Errorf("%w: %s is not %s", ErrOtherChain, id, n.cfg.ID)
	}
	return n.codec.Deposit(o), nil
}

func (n *Net) tip() *block { return n.canon[len(n.canon)-1] }

// final is the newest block of a branch, by its tip, that has the depth.
func (n *Net) final(tip *block) *block {
	return n.canon[max(0, tip.n-n.cfg.FinalDepth)]
}

func (n *Net) canonical(b *block) bool { return b.n < len(n.canon) && n.canon[b.n] == b }

// next is a number that no other thing of this net has.
func (n *Net) next() uint64 {
	n.seq++
	return n.seq
}

func (n *Net) name(kind string) string {
	buf := []byte(kind + "/" + string(n.cfg.ID) + "/")
	buf = binary.BigEndian.AppendUint64(buf, n.cfg.Seed)
	h := sha256.Sum256(binary.BigEndian.AppendUint64(buf, n.next()))
	return hex.EncodeToString(h[:16])
}

// newBlock is an empty block on top of parent.
func (n *Net) newBlock(parent *block) *block {
	b := &block{
		Block: chain.Block{Hash: n.name("block")}, parent: parent,
		diff: make(map[cell]span[money.Amount]), counts: make(map[string]span[uint64]),
	}
	if parent != nil {
		b.n = parent.n + 1
		b.Height = parent.Height + 1 + n.skip
		b.Parent = parent.Hash
		b.Time = n.now
		if !b.Time.After(parent.Time) {
			b.Time = parent.Time.Add(n.cfg.BlockTime)
		}
		n.skip, n.now = 0, b.Time
	}
	return b
}
