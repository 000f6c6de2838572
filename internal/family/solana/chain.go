package solana

import (
	"context"
	"errors"
	"fmt"
	"sync"

	sol "github.com/gagliardetto/solana-go"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// Config is one cluster.
type Config struct {
	ID chain.ID
	// Nodes are asked as Pool says; its Check is filled here.
	Pool rpc.Config
	// Genesis is the hash of the first block, by which a node of another cluster is known.
	Genesis string
	// Accounts are ours that pay.
	Accounts []chain.Account
	Tokens   []Token
	// MinPrice and MaxPrice bound the priority price, in millionths of a lamport for
	// each unit of computing.
	MinPrice, MaxPrice uint64
	// Noticed is told what names one of our addresses and is not credited; it may be
	// told the same again. Nil is nobody.
	Noticed func(Suspect)
}

// Chain reads a cluster and sends to it. It is safe for concurrent use.
type Chain struct {
	cfg    Config
	pool   *rpc.Pool
	signer Signer
	own    map[chain.Account]sol.PublicKey
	ours   map[string]bool // the same, as texts

	mu     sync.Mutex
	final  header // the highest that was final
	mints  map[sol.PublicKey]*listing
	rents  map[uint64]uint64
	recent *recent
}

// New makes a chain of its nodes. It asks only the signer; Check asks the nodes.
func New(ctx context.Context, cfg Config, s Signer) (*Chain, error) {
	switch {
	case cfg.ID == "":
		return nil, errors.New("solana: no chain named")
	case cfg.Genesis == "":
		return nil, fmt.Errorf("%s: the hash of the genesis block is not given; without it a node of another cluster would be believed", cfg.ID)
	case len(cfg.Accounts) == 0:
		return nil, fmt.Errorf("%s: no account is ours", cfg.ID)
	case cfg.MaxPrice == 0 || cfg.MaxPrice < cfg.MinPrice:
		return nil, fmt.Errorf("%s: the highest priority price must be given and not be below the lowest", cfg.ID)
	}
	c := &Chain{cfg: cfg, signer: s, own: map[chain.Account]sol.PublicKey{}, ours: map[string]bool{}, rents: map[uint64]uint64{}, recent: newRecent()}
	for _, a := range cfg.Accounts {
		addr, err := s.Address(ctx, cfg.ID, chain.Key{Account: a})
		if err != nil {
			return nil, fmt.Errorf("%s: address of account %q: %w", cfg.ID, a, err)
		}
		key, err := pubkey(addr)
		if err != nil {
			return nil, fmt.Errorf("%s: address of account %q: %w", cfg.ID, a, err)
		}
		c.own[a], c.ours[key.String()] = key, true
	}
	var err error
	if c.mints, err = list(cfg); err != nil {
		return nil, err
	}
	cfg.Pool.Check = c.rightCluster
	if c.pool, err = rpc.New(cfg.Pool); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.ID, err)
	}
	return c, nil
}

// rightCluster refuses a node whose chain began otherwise.
func (c *Chain) rightCluster(ctx context.Context, n *rpc.Node) error {
	var genesis string
	if err := n.Call(ctx, &genesis, "getGenesisHash"); err != nil {
		return err
	}
	if genesis != c.cfg.Genesis {
		return fmt.Errorf("%w: its genesis block is %.64q", rpc.ErrWrongChain, genesis)
	}
	return nil
}

// Own is the address of one of our accounts.
func (c *Chain) Own(from chain.Account) chain.Address {
	key, ok := c.own[from]
	if !ok {
		return chain.Address{}
	}
	return address(key)
}

func address(k sol.PublicKey) chain.Address {
	return chain.CanonicalAddress(chain.Solana, k.String())
}

// pubkey is the key of an address that the codec takes.
func pubkey(a chain.Address) (sol.PublicKey, error) {
	if (Codec{}).Kind(a) == "" {
		return sol.PublicKey{}, errors.New("it is no Solana address")
	}
	body, _ := read(a.Text())
	return sol.PublicKey(body), nil
}

// The commitments: what a supermajority voted for, and what can no longer be undone.
const (
	confirmed = "confirmed"
	finalized = "finalized"
)

type options = map[string]any

// newestVersion is that of the newest kind of transaction that may stand in a block. A
// node does not show a block with a newer one, and the chain is not followed past it
// until somebody has looked at what such a transaction can do.
const newestVersion = 0

// number asks every node for a number, and gives the highest that enough have reached.
func (c *Chain) number(ctx context.Context, method, commitment string) (uint64, error) {
	n, err := quorum.Reached(c.pool.Rule(), rpc.All[uint64](ctx, c.pool, method, options{"commitment": commitment}))
	if err != nil {
		return 0, fmt.Errorf("%s at %s: %w", method, commitment, err)
	}
	return n, nil
}
