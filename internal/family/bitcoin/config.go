package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/send"
	"ferry/internal/watch"
)

// hot is the account that pays.
const hot chain.Account = "hot"

// Config is one chain with its nodes. The nodes must keep an index of all
// transactions (txindex=1 in Bitcoin Core): without it nobody can say whether a
// payment of ours landed.
type Config struct {
	ID      chain.ID
	Network Network
	// Nodes are asked over JSON-RPC; Check is set by the family.
	Nodes rpc.Config
	// FinalDepth is how many blocks must stand on one before it is believed.
	FinalDepth int
	// Genesis is the first block's hash where it is not the network's usual one.
	Genesis string
	// MaxTipAge is how old the newest block may be before nothing is believed any
	// more. Zero is a day, and nothing on a regtest, where nobody mines unasked.
	MaxTipAge time.Duration
	// MaxRate bounds the price that nodes may talk us into, in satoshis for a
	// thousand virtual bytes; zero is 1,000,000.
	MaxRate int64
	// Target is within how many blocks a payment should land; zero is 3.
	Target int
	// Noticed is told of payments that look like deposits and are not counted; it
	// may be nil, must be quick, and may be told the same more than once.
	Noticed func(Suspect)
}

const (
	defaultTipAge  = 24 * time.Hour
	defaultMaxRate = 1_000_000
	defaultTarget  = 3
	scanTimeout    = 10 * time.Minute
)

// Chain is a Bitcoin chain as our house sees it: through nodes that may fail or lie,
// behind a quorum. Its methods may be called by many at once.
type Chain struct {
	cfg    Config
	codec  Codec
	params *chaincfg.Params
	pool   *rpc.Pool
	scans  *rpc.Pool // the same nodes with the patience that a scan of all coins needs
	signer Signer
	own    chain.Address
	script []byte // of own

	headers *shelf[chainhash.Hash, chain.Block]
	blocks  *shelf[chainhash.Hash, *block]
	waiting waiting
	purse   purse

	scanning sync.Mutex // held while the nodes look through all coins

	mu    sync.Mutex
	final chain.Block // the highest block that was ever believed final
}

var (
	_ watch.Reader  = (*Chain)(nil)
	_ watch.Mempool = (*Chain)(nil)
	_ send.Chain    = (*Chain)(nil)
)

var paramsOf = map[Network]*chaincfg.Params{
	Mainnet: &chaincfg.MainNetParams, Testnet: &chaincfg.TestNet3Params,
	Signet: &chaincfg.SigNetParams, Regtest: &chaincfg.RegressionNetParams,
}

// New makes the adapter of a chain. It asks the signer for our address, and no node yet.
func New(ctx context.Context, c Config, s Signer) (*Chain, error) {
	codec, err := NewCodec(c.Network)
	if err != nil {
		return nil, err
	}
	if c.MaxRate < 0 || c.MaxRate > 1_000_000_000 || c.Target < 0 || c.Target > 1008 {
		return nil, fmt.Errorf("bitcoin: chain %s: a price of at most %d within %d blocks is no setting", c.ID, c.MaxRate, c.Target)
	}
	if c.ID == "" || c.FinalDepth < 1 {
		return nil, fmt.Errorf("bitcoin: chain %q with a final depth of %d: it needs a name and at least one block", c.ID, c.FinalDepth)
	}
	n := &Chain{
		cfg: c, codec: codec, params: paramsOf[c.Network], signer: s,
		headers: newShelf[chainhash.Hash, chain.Block](4096), blocks: newShelf[chainhash.Hash, *block](blockShelf),
		waiting: waiting{txs: map[chainhash.Hash][]sighting{}},
	}
	if n.cfg.MaxTipAge == 0 && c.Network != Regtest {
		n.cfg.MaxTipAge = defaultTipAge
	}
	if n.cfg.MaxRate == 0 {
		n.cfg.MaxRate = defaultMaxRate
	}
	if n.cfg.Target == 0 {
		n.cfg.Target = defaultTarget
	}
	if n.cfg.Genesis == "" {
		n.cfg.Genesis = n.params.GenesisHash.String()
	}
	nodes := c.Nodes
	nodes.Check = n.check
	if n.pool, err = rpc.New(nodes); err != nil {
		return nil, fmt.Errorf("chain %s: %w", c.ID, err)
	}
	nodes.Timeout = scanTimeout
	if n.scans, err = rpc.New(nodes); err != nil {
		return nil, fmt.Errorf("chain %s: %w", c.ID, err)
	}
	if n.own, err = s.Address(ctx, c.ID, chain.Key{Account: hot}); err != nil {
		return nil, fmt.Errorf("our address on %s: %w", c.ID, err)
	}
	if n.codec.Kind(n.own) != P2WPKH {
		return nil, fmt.Errorf("our address on %s is none of the kind P2WPKH of %s", c.ID, c.Network)
	}
	n.script, err = n.codec.Script(n.own)
	return n, err
}

// check refuses a node of another chain, and one that could not answer us.
func (c *Chain) check(ctx context.Context, n *rpc.Node) error {
	var first string
	if err := n.Call(ctx, &first, "getblockhash", 0); err != nil {
		return err
	}
	if first != c.cfg.Genesis {
		return fmt.Errorf("%w: its first block is another one", rpc.ErrWrongChain)
	}
	var kept map[string]struct {
		Synced bool `json:"synced"`
	}
	err := n.Call(ctx, &kept, "getindexinfo")
	if errors.Is(classify(err), errNoMethod) {
		return nil // not Core; the first lookup will tell
	}
	if err != nil {
		return err
	}
	if _, ok := kept["txindex"]; !ok {
		return errNoIndex
	}
	return nil
}

// Own is the address of one of our accounts; the zero address if it is not ours.
func (c *Chain) Own(from chain.Account) chain.Address {
	if from != hot {
		return chain.Address{}
	}
	return c.own
}

// ID is the chain's name.
func (c *Chain) ID() chain.ID { return c.cfg.ID }

// same is what enough nodes say.
func same[T comparable](ctx context.Context, c *Chain, ask func(ctx context.Context, n *rpc.Node) (T, error)) (T, error) {
	return quorum.Same(c.pool.Rule(), rpc.Each(ctx, c.pool, ask))
}

// first is what the first node says whose answer holds by itself, such as a block that
// has the hash which was asked for. It must be used for nothing else.
func first[T any](ctx context.Context, c *Chain, ask func(ctx context.Context, n *rpc.Node) (T, error)) (T, error) {
	var errs []error
	for _, n := range c.pool.Nodes() {
		v, err := ask(ctx, n)
		if err == nil {
			return v, nil
		}
		errs = append(errs, err)
	}
	var zero T
	return zero, errors.Join(errs...)
}
