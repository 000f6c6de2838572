package nodes

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/evm"
	"ferry/internal/family/rpc"
	"ferry/internal/family/solana"
	"ferry/internal/front"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/watch"
)

// Config is one chain with its nodes.
type Config struct {
	Told   desk.Chain // what callers are told of it
	Assets []market.Asset
	Tiers  []watch.Tier
	// FinalDepth is how many blocks make one final where the chain has no finality of
	// its own.
	FinalDepth uint64
	URLs       []string
	Quorum     int
	Verify     bool          // blocks prove what is in them
	Trace      bool          // payments by contracts are found
	MinTip     money.Amount  // of EVM: the least that is offered for a unit of gas; zero is the usual
	GasOracle  string        // of rollups: the contract that says what data costs beside the gas
	Sweeper    string        // the contract that brings deposits home; empty where there is none
	Network    string        // of Bitcoin
	Genesis    string        // the hash of the first block: of Solana, and of EVM where it is known
	Funding    time.Duration // how long a user has to pay
	Log        *slog.Logger
}

// Signer has the keys.
type Signer interface {
	Sign(ctx context.Context, p chain.Paper) ([]byte, error)
	Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error)
}

// remembered is how many blocks are remembered at least: a reorganisation that goes
// further back halts the chain.
const remembered = 256

// A chain is looked at lookShare times within one of its blocks, so that looking adds
// little to what its blocks take; never so often that nodes mind, and never seldom.
const (
	lookShare = 10
	soonest   = 150 * time.Millisecond
	latest    = time.Second
)

// Open makes the chain and asks its nodes whether they are what they should be.
func Open(ctx context.Context, c Config, keys Signer) (front.Chain, error) {
	f := front.Chain{
		Chain: c.Told, Assets: c.Assets, Keys: keys, Tiers: c.Tiers, Funding: c.Funding, Window: max(remembered, 2*c.FinalDepth),
	}
	f.Every = min(max(c.Told.BlockTime/lookShare, soonest), latest)
	for _, t := range c.Tiers {
		f.Window = max(f.Window, 2*t.Confirmations)
	}
	var err error
	switch c.Told.Family {
	case chain.EVM:
		err = c.evm(ctx, keys, &f)
	case chain.Bitcoin:
		err = c.bitcoin(ctx, keys, &f)
	case chain.Solana:
		err = c.solana(ctx, keys, &f)
	default:
		err = fmt.Errorf("family %q is not known", c.Told.Family)
	}
	if err != nil {
		return front.Chain{}, fmt.Errorf("chain %s: %w", c.Told.ID, err)
	}
	return f, nil
}

func (c Config) pool() rpc.Config {
	return rpc.Config{URLs: c.URLs, Need: c.Quorum}
}

func (c Config) evm(ctx context.Context, keys Signer, f *front.Chain) error {
	cfg := evm.Config{ID: c.Told.ID, Nodes: c.pool(), Tag: "finalized", Depth: c.FinalDepth, NoVerify: !c.Verify, NoTrace: !c.Trace, Genesis: c.Genesis, MinTip: c.MinTip}
	for _, a := range c.tokens() {
		cfg.Tokens = append(cfg.Tokens, evm.Token{Asset: a.Asset, Decimals: a.Decimals})
	}
	if c.Sweeper != "" {
		sweeper, err := evm.Codec{}.Parse(c.Sweeper)
		if err != nil {
			return fmt.Errorf("sweeper: %w", err)
		}
		cfg.Sweeper = sweeper
	}
	if c.GasOracle != "" {
		oracle, err := evm.Codec{}.Parse(c.GasOracle)
		if err != nil {
			return fmt.Errorf("gas oracle: %w", err)
		}
		cfg.Oracle = oracle
	}
	cfg.Noticed = func(s evm.Suspect) { c.notice(string(s.Tx), string(s.Reason)) }
	on, err := evm.New(ctx, cfg, keys)
	if err != nil {
		return err
	}
	f.Codec, f.Own, f.View, f.Reader, f.Sender, f.Contracts = evm.Codec{}, on.Own(order.HotWallet), on, on, on, on
	return on.Check(ctx)
}

func (c Config) bitcoin(ctx context.Context, keys Signer, f *front.Chain) error {
	network := bitcoin.Network(c.Network)
	codec, err := bitcoin.NewCodec(network)
	if err != nil {
		return err
	}
	cfg := bitcoin.Config{ID: c.Told.ID, Network: network, Nodes: c.pool(), FinalDepth: int(c.FinalDepth)}
	cfg.Noticed = func(s bitcoin.Suspect) { c.notice(string(s.Tx), string(s.Reason)) }
	on, err := bitcoin.New(ctx, cfg, keys)
	if err != nil {
		return err
	}
	f.Codec, f.Own, f.View, f.Reader, f.Mempool, f.Sender = codec, on.Own(order.HotWallet), on, on, on, on
	_, err = on.Head(ctx)
	return err
}

// Bounds of the priority price on Solana, in millionths of a lamport for each unit of
// computing.
const (
	leastPrice = 1_000
	mostPrice  = 5_000_000
)

func (c Config) solana(ctx context.Context, keys Signer, f *front.Chain) error {
	cfg := solana.Config{
		ID: c.Told.ID, Pool: c.pool(), Genesis: c.Genesis, Accounts: []chain.Account{order.HotWallet}, MinPrice: leastPrice, MaxPrice: mostPrice,
	}
	for _, a := range c.tokens() {
		cfg.Tokens = append(cfg.Tokens, solana.Token{Mint: a.Asset.Ref, Decimals: a.Decimals})
	}
	cfg.Noticed = func(s solana.Suspect) { c.notice(string(s.Tx), string(s.Reason)) }
	on, err := solana.New(ctx, cfg, keys)
	if err != nil {
		return err
	}
	f.Codec, f.Own, f.View, f.Reader, f.Sender = solana.Codec{}, on.Own(order.HotWallet), on, on, on
	return on.Check(ctx)
}

func (c Config) tokens() (all []market.Asset) {
	for _, a := range c.Assets {
		if !a.Asset.IsNative() {
			all = append(all, a)
		}
	}
	return all
}

// notice tells operators of what looks like a payment and is none.
func (c Config) notice(tx, reason string) {
	c.Log.Info("what looks like a payment is none", "chain", string(c.Told.ID), "tx", tx, "reason", reason)
}
