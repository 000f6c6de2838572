package dev

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/devnet"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/nodes"
	"ferry/internal/signer"
	"ferry/internal/watch"
)

// open starts the chains, and sets up those that are new.
func (l *local) open(ctx context.Context, isNew bool) error {
	l.net = &Network{grounds: map[chain.ID]ground{}, shut: l.shut()}
	if err := l.openKeys(); err != nil {
		return err
	}
	l.rpcs, l.roots = map[chain.ID]string{}, map[chain.ID]string{}
	if l.wanted(Ethereum) {
		l.opts.Say("starting Ethereum: geth")
		if err := l.openEVM(ctx, Ethereum, "ethereum", isNew); err != nil {
			return fmt.Errorf("ethereum: %w", err)
		}
	}
	if l.wanted(Base) {
		l.opts.Say("starting Base: a second geth, which is a rollup of the first")
		if err := l.openBase(ctx, isNew); err != nil {
			return err
		}
	}
	if l.wanted(Bitcoin) {
		l.opts.Say("starting Bitcoin: btcd's own rules, speaking Core's dialect")
		if err := l.openBitcoin(ctx, Bitcoin, "bitcoin"); err != nil {
			return err
		}
	}
	if l.opts.Twin && l.wanted(twin) {
		if err := l.openBitcoin(ctx, twin, "bitcoin-twin"); err != nil {
			return err
		}
	}
	if l.wanted(Solana) {
		if err := l.openSolana(ctx, isNew); err != nil {
			return fmt.Errorf("solana: %w", err)
		}
	}
	if isNew && !l.opts.Bare {
		if err := l.setupPools(ctx); err != nil {
			return err
		}
	}
	l.listPools()
	if !isNew {
		return nil
	}
	l.opts.Say("funding the treasury")
	return l.fund(ctx)
}

// wanted reports whether a chain is one of those to be started.
func (l *local) wanted(id chain.ID) bool {
	return l.opts.only == nil || slices.Contains(l.opts.only, id)
}

func (l *local) node(on *devnet.Chain, auto map[string]int) node {
	return node{on: on, ended: l.host.Ended(), auto: auto}
}

// openKeys makes the signer of the network: the real one, with its policy.
func (l *local) openKeys() error {
	seed, err := hex.DecodeString(l.state.Seed)
	if err != nil {
		return fmt.Errorf("seed of the network: %w", err)
	}
	ring, err := signer.NewRing(seed, map[chain.ID]signer.Net{
		Ethereum: {Family: chain.EVM}, Base: {Family: chain.EVM}, Bitcoin: {Family: chain.Bitcoin, Network: "regtest"}, Solana: {Family: chain.Solana},
		twin: {Family: chain.Bitcoin, Network: "regtest"},
	})
	if err != nil {
		return err
	}
	l.ring = ring
	l.keys = ring // addresses; what signs is made when the contracts are known
	return nil
}

func (l *local) openEVM(ctx context.Context, id chain.ID, name string, isNew bool) error {
	on, err := l.launch(ctx, name, "evm", l.specOf(id))
	if err != nil {
		return err
	}
	g := evmNode{l.node(on, map[string]int{"everyMs": 1000})}
	l.net.grounds[id], l.rpcs[id] = g, on.RPC
	if isNew {
		if err := l.setupEVM(ctx, id, g); err != nil {
			return err
		}
	}
	l.hold(id.Native(), "ETH", 1)
	l.hold(chain.Asset{Chain: id, Ref: string(l.state.Tokens[id])}, "USDC", 1)
	return nil
}

func (l *local) openBitcoin(ctx context.Context, id chain.ID, name string) error {
	on, err := l.launch(ctx, name, "bitcoin", map[string]any{})
	if err != nil {
		return err
	}
	l.net.grounds[id], l.rpcs[id] = bitcoinNode{l.node(on, map[string]int{"everyMs": 1000})}, on.RPC
	l.hold(id.Native(), "BTC", 546)
	return nil
}

// launch starts one chain, or finds it running. Those of a host of our own are kept.
func (l *local) launch(ctx context.Context, name, kind string, spec any) (*devnet.Chain, error) {
	return l.host.Open(ctx, l.opts.Prefix+name, kind, l.opts.Host == nil, spec)
}

// openSolana starts the Solana chain, or simulates it where its node cannot be had.
func (l *local) openSolana(ctx context.Context, isNew bool) error {
	l.opts.Say("starting Solana: Surfpool, which is the validator's own machine (fetched by npm the first time)")
	on, err := l.launch(ctx, "solana", "solana", map[string]any{"depth": solanaDepth})
	switch {
	case err != nil && isNew:
		l.opts.Say("Solana is simulated, because its node can not be had: " + err.Error())
		return l.simulateSolana(ctx)
	case err != nil:
		return fmt.Errorf("%w; this network has a real Solana chain: mend that, or start over with --fresh", err)
	}
	g := solanaNode{l.node(on, map[string]int{"every": solanaPause})}
	l.net.grounds[Solana], l.rpcs[Solana] = g, on.RPC
	if isNew {
		if err := l.setupSolana(ctx, Solana, g); err != nil {
			return err
		}
	}
	if l.roots[Solana], err = genesisOf(ctx, on.RPC); err != nil {
		return err
	}
	l.hold(Solana.Native(), "SOL", 890_880)
	l.hold(chain.Asset{Chain: Solana, Ref: string(l.state.Tokens[Solana])}, "USDC", 1)
	return nil
}

func (l *local) simulateSolana(ctx context.Context) error {
	l.state.Simulated = append(l.state.Simulated, Solana)
	for _, a := range simulatedAssets() {
		if a.Asset.Asset.Chain == Solana {
			l.net.assets = append(l.net.assets, a)
		}
	}
	all, err := simulations()
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.chain.ID == Solana {
			return l.net.simulate(ctx, l.db, s, l.now)
		}
	}
	return errors.New("there is no simulated Solana")
}

// told is what callers are told of the local chains.
func (l *local) told() []desk.Chain {
	return []desk.Chain{
		{ID: Ethereum, Slug: "ethereum", Name: "Ethereum (local geth)", Family: chain.EVM, EVMChainID: 31337, Confirmations: localDepth, BlockTime: blockTime},
		{ID: Base, Slug: "base", Name: "Base (local geth)", Family: chain.EVM, EVMChainID: 31338, Confirmations: localDepth, BlockTime: blockTime},
		{ID: Bitcoin, Slug: "bitcoin", Name: "Bitcoin (local)", Family: chain.Bitcoin, NeedsRefund: true, Confirmations: localDepth, BlockTime: blockTime},
		{ID: twin, Slug: "bitcoin-twin", Name: "Bitcoin's twin (local)", Family: chain.Bitcoin, NeedsRefund: true, Confirmations: localDepth, BlockTime: blockTime},
		{ID: Solana, Slug: "solana", Name: "Solana (local Surfpool)", Family: chain.Solana, Confirmations: solanaDepth, BlockTime: solanaPause * time.Millisecond},
	}
}

// join makes the chains ready for the service.
func (l *local) join(ctx context.Context) error {
	keys, err := l.signer(ctx)
	if err != nil {
		return err
	}
	l.keys = keys
	for _, t := range l.told() {
		if l.rpcs[t.ID] == "" {
			continue
		}
		c, err := nodes.Open(ctx, l.adapter(t), keys)
		if err != nil {
			return err
		}
		l.net.chains = append(l.net.chains, c)
	}
	if l.net.venues, err = l.venues(); err != nil {
		return err
	}
	return nil
}

// adapter is how a local chain is read and written.
func (l *local) adapter(t desk.Chain) nodes.Config {
	cfg := nodes.Config{
		Told: t, FinalDepth: t.Confirmations, URLs: []string{l.rpcs[t.ID]}, Quorum: 1, Verify: true, Trace: true,
		// Whoever makes its blocks takes nothing below it, and empty blocks do not show that.
		MinTip: money.FromUint64(1_000_000_000), Sweeper: l.state.Sweepers[t.ID], Intake: l.state.Intakes[t.ID],
		Genesis: l.roots[t.ID], Log: l.log, Tiers: []watch.Tier{{UpTo: 20_000 * money.Dollar, Confirmations: t.Confirmations}, {Confirmations: t.Confirmations + 1, Finalized: true}},
	}
	if l.rollup(t.ID) { // its blocks hold what came from below, which the library cannot read
		cfg.Verify, cfg.GasOracle = false, l.state.Rollup.Fees
	}
	if t.Family == chain.Bitcoin {
		cfg.Network = "regtest"
	}
	for _, a := range l.net.assets {
		if a.Asset.Asset.Chain == t.ID {
			cfg.Assets = append(cfg.Assets, a.Asset)
		}
	}
	return cfg
}

// signer is the real one, with the policy of the service.
func (l *local) signer(ctx context.Context) (*signer.Signer, error) {
	contracts, err := l.contracts(ctx)
	if err != nil {
		return nil, err
	}
	sweepers := map[chain.ID]chain.Address{}
	for id, text := range l.state.Sweepers {
		sweepers[id] = chain.CanonicalAddress(chain.EVM, text)
	}
	if err := l.claimed(ctx, contracts); err != nil {
		return nil, err
	}
	return signer.New(l.ring, signer.Policy{
		PerPayment: perPayment, PerHour: perHour, FeeShare: money.Whole / 10, SmallFee: money.FromUint64(20_000), Sweepers: sweepers, Contracts: contracts, Now: l.now,
	}, l.db, l.db)
}

// genesisOf asks a Solana node for the hash of its first block.
func genesisOf(ctx context.Context, url string) (hash string, err error) {
	pool, err := rpc.New(rpc.Config{URLs: []string{url}, Need: 1})
	if err != nil {
		return "", err
	}
	err = pool.Nodes()[0].Call(ctx, &hash, "getGenesisHash")
	return hash, err
}
