package evm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

// Hot is the account that pays.
const Hot chain.Account = "hot"

// Config is one chain of the family.
type Config struct {
	ID chain.ID
	// Nodes are asked; their Check is set by New.
	Nodes rpc.Config
	// Tokens are the listed ones. What others emit is never believed.
	Tokens []Token
	// Tag names the final block: "finalized", or "safe" where that is enough. Empty is
	// for chains that have no tags.
	Tag string
	// Depth is how many blocks make one final for nodes that know no such tag; zero is
	// that such a node knows nothing.
	Depth uint64
	// NoVerify is for chains whose blocks hold what the library cannot read. Without
	// the roots of the header a quorum must say the same of every payment instead.
	NoVerify bool
	// NoTrace is for nodes that trace nothing: then payments by contracts are not seen,
	// and only plain transactions count.
	NoTrace bool
	// NoProof is for nodes that prove no state: then a quorum must agree on balances. It
	// goes with NoVerify: a proof is worth what the header is worth that it leads to.
	NoProof bool
	// Genesis is the hash of the first block, by which a node of another chain with the
	// same number is known; empty where it is not.
	Genesis string
	// MinTip and MaxTip bound what is offered per unit of gas, in the smallest unit of
	// the chain's coin, whatever nodes say is usual.
	MinTip, MaxTip money.Amount
	// Oracle is, on rollups of the OP stack, the contract that says what the data of a
	// transaction cost beside its gas; their nodes tell in the receipt what it was.
	Oracle chain.Address
	// Sweeper is the contract that brings deposits home; without it they stay.
	Sweeper chain.Address
	// Intake is the contract that passes payments on to our account and says whom they
	// are for; without it nobody can pay so.
	Intake chain.Address
	// Noticed is told of everything that looks like a payment and is none. It may be
	// told the same again, by many at once. It must not block.
	Noticed func(s Suspect)
}

// Token is a listed token with the decimals that everybody counts with.
type Token struct {
	Asset    chain.Asset
	Decimals int
}

// What a chain pays per unit of gas if it is not told otherwise.
const (
	gwei          = 1_000_000_000
	defaultMinTip = gwei / 100
	defaultMaxTip = 500 * gwei
)

// Chain reads one chain and sends on it. It may be used by many at once.
type Chain struct {
	cfg     Config
	number  uint64
	pool    *rpc.Pool
	signer  Signer
	own     common.Address
	sweeper common.Address
	intake  common.Address
	oracle  common.Address
	tokens  map[common.Address]chain.Asset
	rules   types.Signer
	minTip  *uint256.Int
	maxTip  *uint256.Int

	lead atomic.Int64 // the node whose data were right the last time

	mu    sync.Mutex
	final header // the highest that was final
	sent  sent
}

// sent is how many transactions our account had sent by a block, of which hash.
type sent struct {
	by    string
	count uint64
}

// New makes a chain. It asks no node; Check does.
func New(ctx context.Context, cfg Config, s Signer) (*Chain, error) {
	text, err := chainNumber(cfg.ID)
	if err != nil {
		return nil, err
	}
	cfg.NoProof = cfg.NoProof || cfg.NoVerify
	c := &Chain{cfg: cfg, signer: s, tokens: make(map[common.Address]chain.Asset, len(cfg.Tokens))}
	if c.number, err = strconv.ParseUint(text, 10, 64); err != nil {
		return nil, err
	}
	c.rules = types.LatestSignerForChainID(new(uint256.Int).SetUint64(c.number).ToBig())
	switch {
	case cfg.Tag != "" && cfg.Tag != "finalized" && cfg.Tag != "safe":
		return nil, fmt.Errorf("chain %s: %q names no block; write finalized or safe", cfg.ID, cfg.Tag)
	case !cfg.Oracle.IsZero() && !cfg.NoVerify:
		return nil, fmt.Errorf("chain %s: what an oracle prices is told beside the receipts' root, so blocks of such a chain cannot be verified", cfg.ID)
	case cfg.Genesis != "" && common.HexToHash(cfg.Genesis).Hex() != cfg.Genesis:
		return nil, fmt.Errorf("chain %s: %.80q is no hash of a first block; write 0x and 64 small hexadecimal digits", cfg.ID, cfg.Genesis)
	case cfg.Tag == "" && cfg.Depth == 0:
		return nil, fmt.Errorf("chain %s: without a tag it must be said how many blocks make one final", cfg.ID)
	}
	for _, t := range cfg.Tokens {
		a, err := Codec{}.Parse(t.Asset.Ref)
		if err != nil || a.Text() != t.Asset.Ref || t.Asset.Chain != cfg.ID {
			return nil, fmt.Errorf("token %s: its name must be the canonical address of its contract on %s", t.Asset, cfg.ID)
		}
		c.tokens[common.HexToAddress(t.Asset.Ref)] = t.Asset
	}
	for _, x := range []struct {
		from chain.Address
		into *common.Address
	}{{cfg.Sweeper, &c.sweeper}, {cfg.Oracle, &c.oracle}, {cfg.Intake, &c.intake}} {
		if x.from.IsZero() {
			continue
		}
		if !(Codec{}).made(x.from) {
			return nil, fmt.Errorf("chain %s: the sweeper, the oracle or the intake is no address", cfg.ID)
		}
		*x.into = common.HexToAddress(x.from.Text())
	}
	if c.minTip, c.maxTip, err = tips(cfg); err != nil {
		return nil, fmt.Errorf("chain %s: %w", cfg.ID, err)
	}
	cfg.Nodes.Check = c.checkNode
	if c.pool, err = rpc.New(cfg.Nodes); err != nil {
		return nil, fmt.Errorf("chain %s: %w", cfg.ID, err)
	}
	own, err := s.Address(ctx, cfg.ID, chain.Key{Account: Hot})
	if err != nil {
		return nil, fmt.Errorf("chain %s: address of %s: %w", cfg.ID, Hot, err)
	}
	c.own = common.HexToAddress(own.Text())
	return c, nil
}

func tips(cfg Config) (least, most *uint256.Int, err error) {
	least, most = toInt(cfg.MinTip), toInt(cfg.MaxTip)
	if least.IsZero() {
		least = uint256.NewInt(defaultMinTip)
	}
	if most.IsZero() {
		most = uint256.NewInt(defaultMaxTip)
	}
	if most.Lt(least) {
		return nil, nil, errors.New("the lowest tip is above the highest")
	}
	return least, most, nil
}

// checkNode refuses a node of another chain: one with another number, or with the same
// number and another beginning, as private copies and chains that split off have.
func (c *Chain) checkNode(ctx context.Context, n *rpc.Node) error {
	var id quantity
	if err := n.Call(ctx, &id, "eth_chainId"); err != nil {
		return err
	}
	if uint64(id) != c.number {
		return fmt.Errorf("%w: it says %d, and not %d", rpc.ErrWrongChain, uint64(id), c.number)
	}
	if c.cfg.Genesis == "" {
		return nil
	}
	first, err := c.byNumber(ctx, n, "0x0")
	switch {
	case err != nil:
		return fmt.Errorf("its first block: %w", err)
	case !first.ok:
		return errNoFirst
	case first.Hash != c.cfg.Genesis:
		return fmt.Errorf("%w: its first block is %s", rpc.ErrWrongChain, first.Hash)
	}
	return nil
}

// errNoFirst: not knowing how a chain began is no leave to believe it.
var errNoFirst = errors.New("evm: the node does not show its first block; leave genesis empty to believe it by its number alone")

// ErrSweeper: the sweeper is not the contract that it should be; ErrIntake: the intake.
var (
	ErrSweeper = errors.New("evm: the sweeper is another contract than ours, or was made for another account")
	ErrIntake  = errors.New("evm: the intake is another contract than ours, or was made for another account")
)

// checkCode reads the code of a contract of ours. Deposit addresses obey the sweeper, and
// what the intake says is believed: one that is not ours to the last byte, and made for
// our account, could take everything.
func (c *Chain) checkCode(ctx context.Context, at common.Address, want []byte, otherwise error) error {
	if at == (common.Address{}) {
		return nil
	}
	said, err := quorum.Same(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (string, error) {
		var code hexutil.Bytes
		err := n.Call(ctx, &code, "eth_getCode", at, "latest")
		return string(code), err
	}))
	if err != nil {
		return fmt.Errorf("code of %s: %w", canonical(at).Text(), err)
	}
	if said != string(want) {
		return fmt.Errorf("%w: %s", otherwise, canonical(at).Text())
	}
	return nil
}

// ErrDecimals: a token counts otherwise than its configuration says.
var ErrDecimals = errors.New("evm: the token has other decimals")

// Check asks at start whether the nodes are on the chain and the tokens are what they
// are said to be: a token that counts in other units would be paid out wrongly a
// million times over.
func (c *Chain) Check(ctx context.Context) error {
	if _, err := c.Head(ctx); err != nil {
		return fmt.Errorf("chain %s: %w", c.cfg.ID, err)
	}
	if err := errors.Join(
		c.checkCode(ctx, c.sweeper, sweeperContract.at(c.own, c.sweeper), ErrSweeper),
		c.checkCode(ctx, c.intake, intakeContract.at(c.own), ErrIntake),
	); err != nil {
		return fmt.Errorf("chain %s: %w", c.cfg.ID, err)
	}
	for _, t := range c.cfg.Tokens {
		said, err := quorum.Same(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (uint256.Int, error) {
			var out word
			err := n.Call(ctx, &out, "eth_call", message{To: ptr(common.HexToAddress(t.Asset.Ref)), Data: selector("decimals()")}, "latest")
			return uint256.Int(out), err
		}))
		if err != nil {
			return fmt.Errorf("decimals of %s: %w", t.Asset, err)
		}
		if t.Decimals < 0 || !said.IsUint64() || said.Uint64() != uint64(t.Decimals) {
			return fmt.Errorf("%w: %s has %s, and %d are configured", ErrDecimals, t.Asset, said.Dec(), t.Decimals)
		}
	}
	return nil
}

// Own is the address of one of our accounts.
func (c *Chain) Own(from chain.Account) chain.Address {
	if from != Hot {
		return chain.Address{}
	}
	return canonical(c.own)
}
