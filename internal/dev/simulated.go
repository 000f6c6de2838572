package dev

import (
	"context"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/evm"
	"ferry/internal/family/sim"
	"ferry/internal/family/solana"
	"ferry/internal/front"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/watch"
)

// The chains of a simulated network.
const (
	Ethereum chain.ID = "eip155:31337"
	Bitcoin  chain.ID = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328"
	Solana   chain.ID = "solana:localnet"
)

// Tokens of a simulated network beside the chains' own coins.
var (
	EthereumUSD = chain.Asset{Chain: Ethereum, Ref: "0x5fbdb2315678afecb367f032d93f642f64180aa3"}
	SolanaUSD   = chain.Asset{Chain: Solana, Ref: "Gh9ZwEmdLJ8DscKNTkTqPbNwLNNBjuSzaG9Vp2KGtKJr"}
)

const (
	blockTime  = time.Second
	finalDepth = 2
)

func simulatedAssets() []asset {
	one := money.FromUint64(1)
	return []asset{
		{market.Asset{Asset: Ethereum.Native(), Symbol: "ETH", Decimals: 18, Dust: one}, "3000", "1000"},
		{market.Asset{Asset: EthereumUSD, Symbol: "USDC", Decimals: 6, Dust: one}, "1", "2000000"},
		{market.Asset{Asset: Bitcoin.Native(), Symbol: "BTC", Decimals: 8, Dust: money.FromUint64(546)}, "90000", "50"},
		{market.Asset{Asset: Solana.Native(), Symbol: "SOL", Decimals: 9, Dust: one}, "150", "20000"},
		{market.Asset{Asset: SolanaUSD, Symbol: "USDC", Decimals: 6, Dust: one}, "1", "2000000"},
	}
}

// simulation is a chain that is simulated.
type simulation struct {
	chain desk.Chain
	shape sim.Shape
	codec front.Codec
	fee   uint64 // lowest price of a unit of weight
}

func simulations() ([]simulation, error) {
	btc, err := bitcoin.NewCodec(bitcoin.Regtest)
	if err != nil {
		return nil, err
	}
	return []simulation{
		{desk.Chain{ID: Ethereum, Slug: "ethereum", Name: "Ethereum (simulated)", Family: chain.EVM, EVMChainID: 31337}, sim.Nonces, evm.Codec{}, 1_000_000_000},
		{desk.Chain{ID: Bitcoin, Slug: "bitcoin", Name: "Bitcoin (simulated)", Family: chain.Bitcoin, NeedsRefund: true}, sim.Coins, btc, 2},
		{desk.Chain{ID: Solana, Slug: "solana", Name: "Solana (simulated)", Family: chain.Solana}, sim.Expiring, solana.Codec{}, 5},
	}, nil
}

// treasuryCoins is in how many coins the treasury of a chain of coins is.
const treasuryCoins = 100

// simulated makes a network of simulated chains, with the treasury's money on them and
// in the books.
func simulated(ctx context.Context, db *store.DB, now func() time.Time, more []Token) (*Network, error) {
	all, err := simulations()
	if err != nil {
		return nil, err
	}
	n := &Network{grounds: map[chain.ID]ground{}, assets: simulatedAssets()}
	for _, t := range more {
		n.assets = append(n.assets, asset{t.Asset, t.Price, ""})
	}
	for _, s := range all {
		if err := n.simulate(ctx, db, s, now); err != nil {
			return nil, fmt.Errorf("chain %s: %w", s.chain.ID, err)
		}
	}
	return n, nil
}

// simulate adds a simulated chain.
func (n *Network) simulate(ctx context.Context, db *store.DB, s simulation, now func() time.Time) error {
	var listed []market.Asset
	var tokens []chain.Asset
	for _, a := range n.assets {
		if a.Asset.Asset.Chain != s.chain.ID {
			continue
		}
		listed = append(listed, a.Asset)
		if !a.Asset.Asset.IsNative() {
			tokens = append(tokens, a.Asset.Asset)
		}
	}
	net, err := sim.New(sim.Config{
		ID: s.chain.ID, Family: s.chain.Family, Shape: s.shape, FinalDepth: finalDepth, BlockTime: blockTime, MinFee: money.FromUint64(s.fee),
		Accounts: []chain.Account{order.HotWallet}, Start: now(), Assets: tokens, Addresses: s.codec,
	})
	if err != nil {
		return err
	}
	n.grounds[s.chain.ID] = &simGround{net: net, now: now}
	s.chain.Confirmations, s.chain.BlockTime = finalDepth, blockTime
	c := net.Chain()
	n.chains = append(n.chains, front.Chain{
		Chain: s.chain, Assets: listed, Codec: s.codec, Keys: c, View: c, Own: net.Own(order.HotWallet),
		Reader: c, Mempool: c, Sender: c, Window: 4 * uint64(net.Config().Keep),
		Tiers: []watch.Tier{{UpTo: 20_000 * money.Dollar, Confirmations: finalDepth}, {Confirmations: finalDepth + 1, Finalized: true}},
	})
	for _, a := range n.assets {
		if a.Asset.Asset.Chain != s.chain.ID || a.has == "" {
			continue
		}
		if err := fundSimulated(ctx, db, net, a, now()); err != nil {
			return fmt.Errorf("fund %s: %w", a.Asset.Asset, err)
		}
	}
	net.MineFinal()
	return nil
}

// fundSimulated gives the treasury its money of an asset, on the chain and in the books.
func fundSimulated(ctx context.Context, db *store.DB, net *sim.Net, a asset, now time.Time) error {
	whole, err := money.ParseDecimal(a.has, a.Decimals)
	if err != nil {
		return err
	}
	parts := uint64(1)
	if net.Shape() == sim.Coins {
		parts = treasuryCoins
	}
	part, err := whole.MulDiv(money.FromUint64(1), money.FromUint64(parts), money.Down)
	if err != nil {
		return err
	}
	for range parts {
		if err := net.Faucet(net.Own(order.HotWallet), a.Asset.Asset, part); err != nil {
			return err
		}
	}
	if whole, err = part.MulDiv(money.FromUint64(parts), money.FromUint64(1), money.Down); err != nil {
		return err
	}
	return db.Fund(ctx, a.Asset.Asset, whole, now)
}

// simGround is a simulated chain.
type simGround struct {
	net *sim.Net
	now func() time.Time
}

// payer is the user who pays for everybody.
const payer = "payer"

func (g *simGround) pay(_ context.Context, to chain.Address, x chain.Asset, n money.Amount) (chain.TxID, error) {
	return g.net.Send(sim.Payment{From: payer, Outs: []sim.Out{{To: to, Asset: x, Amount: n}}})
}

func (g *simGround) mine(_ context.Context, n int) error {
	g.net.Tick(g.now())
	g.net.Mine(n)
	return nil
}

func (g *simGround) reorg(_ context.Context, depth int) error {
	_, err := g.net.Reorg(depth, sim.ReorgOptions{Empty: true})
	return err
}

func (g *simGround) run(ctx context.Context) error {
	t := time.NewTicker(blockTime)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if err := g.mine(ctx, 1); err != nil {
				return err
			}
		}
	}
}
