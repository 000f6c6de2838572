package dev

import (
	"context"
	"errors"
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

// The chains of the network.
const (
	Ethereum chain.ID = "eip155:31337"
	Bitcoin  chain.ID = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328"
	Solana   chain.ID = "solana:localnet"
)

// Tokens of the network beside the chains' own coins.
var (
	EthereumUSD = chain.Asset{Chain: Ethereum, Ref: "0x5fbdb2315678afecb367f032d93f642f64180aa3"}
	SolanaUSD   = chain.Asset{Chain: Solana, Ref: "Gh9ZwEmdLJ8DscKNTkTqPbNwLNNBjuSzaG9Vp2KGtKJr"}
)

const (
	blockTime  = time.Second
	finalDepth = 2
)

// asset is an asset of the network with its price and what the treasury has of it.
type asset struct {
	market.Asset
	price string // dollars of a whole unit
	has   string // whole units
}

func assets() []asset {
	one := money.FromUint64(1)
	return []asset{
		{market.Asset{Asset: Ethereum.Native(), Symbol: "ETH", Decimals: 18, Dust: one}, "3000", "1000"},
		{market.Asset{Asset: EthereumUSD, Symbol: "USDC", Decimals: 6, Dust: one}, "1", "2000000"},
		{market.Asset{Asset: Bitcoin.Native(), Symbol: "BTC", Decimals: 8, Dust: money.FromUint64(546)}, "90000", "50"},
		{market.Asset{Asset: Solana.Native(), Symbol: "SOL", Decimals: 9, Dust: one}, "150", "20000"},
		{market.Asset{Asset: SolanaUSD, Symbol: "USDC", Decimals: 6, Dust: one}, "1", "2000000"},
	}
}

// family is a chain of the network.
type family struct {
	chain desk.Chain
	shape sim.Shape
	codec front.Codec
	fee   uint64 // lowest price of a unit of weight
}

func families() ([]family, error) {
	btc, err := bitcoin.NewCodec(bitcoin.Regtest)
	if err != nil {
		return nil, err
	}
	return []family{
		{desk.Chain{ID: Ethereum, Slug: "ethereum", Name: "Ethereum (simulated)", Family: chain.EVM, EVMChainID: 31337}, sim.Nonces, evm.Codec{}, 1_000_000_000},
		{desk.Chain{ID: Bitcoin, Slug: "bitcoin", Name: "Bitcoin (simulated)", Family: chain.Bitcoin, NeedsRefund: true}, sim.Coins, btc, 2},
		{desk.Chain{ID: Solana, Slug: "solana", Name: "Solana (simulated)", Family: chain.Solana}, sim.Expiring, solana.Codec{}, 5},
	}, nil
}

// Network is the simulated chains.
type Network struct {
	nets map[chain.ID]*sim.Net
}

// treasuryCoins is in how many coins the treasury of a chain of coins is.
const treasuryCoins = 100

// newNetwork makes the chains and puts the treasury's money on them and in the books.
func newNetwork(ctx context.Context, db *store.DB, now time.Time) (*Network, []front.Chain, error) {
	all, err := families()
	if err != nil {
		return nil, nil, err
	}
	n := &Network{nets: map[chain.ID]*sim.Net{}}
	var chains []front.Chain
	for _, f := range all {
		net, err := sim.New(sim.Config{
			ID: f.chain.ID, Family: f.chain.Family, Shape: f.shape, FinalDepth: finalDepth, BlockTime: blockTime, MinFee: money.FromUint64(f.fee),
			Accounts: []chain.Account{order.HotWallet}, Start: now, Assets: tokensOf(f.chain.ID), Addresses: f.codec,
		})
		if err != nil {
			return nil, nil, fmt.Errorf("chain %s: %w", f.chain.ID, err)
		}
		n.nets[f.chain.ID] = net
		f.chain.Confirmations, f.chain.BlockTime = finalDepth, blockTime
		c := net.Chain()
		chains = append(chains, front.Chain{
			Chain: f.chain, Assets: listedOf(f.chain.ID), Codec: f.codec, Keys: c, View: c, Own: net.Own(order.HotWallet),
			Reader: c, Mempool: c, Sender: c, Window: 4 * uint64(net.Config().Keep),
			Tiers: []watch.Tier{{UpTo: 20_000 * money.Dollar, Confirmations: finalDepth}, {Confirmations: finalDepth + 1, Finalized: true}},
		})
	}
	return n, chains, n.fund(ctx, db, now)
}

func tokensOf(id chain.ID) (tokens []chain.Asset) {
	for _, a := range assets() {
		if a.Asset.Asset.Chain == id && !a.Asset.Asset.IsNative() {
			tokens = append(tokens, a.Asset.Asset)
		}
	}
	return tokens
}

func listedOf(id chain.ID) (listed []market.Asset) {
	for _, a := range assets() {
		if a.Asset.Asset.Chain == id {
			listed = append(listed, a.Asset)
		}
	}
	return listed
}

func (n *Network) fund(ctx context.Context, db *store.DB, now time.Time) error {
	for _, a := range assets() {
		x := a.Asset.Asset
		net := n.nets[x.Chain]
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
			if err := net.Faucet(net.Own(order.HotWallet), x, part); err != nil {
				return fmt.Errorf("fund %s: %w", x, err)
			}
		}
		if whole, err = part.MulDiv(money.FromUint64(parts), money.FromUint64(1), money.Down); err != nil {
			return err
		}
		if err := db.Fund(ctx, x, whole, now); err != nil {
			return fmt.Errorf("book the fund of %s: %w", x, err)
		}
	}
	for _, net := range n.nets {
		net.MineFinal()
	}
	return nil
}

// Run mines a block on every chain each block time until ctx ends.
func (n *Network) Run(ctx context.Context, now func() time.Time) error {
	t := time.NewTicker(blockTime)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			for _, net := range n.nets {
				net.Tick(now())
				net.Mine(1)
			}
		}
	}
}

// payer is the user who pays for everybody.
const payer = "payer"

// Pay pays an order what it asks for, or another amount of the same asset.
func (n *Network) Pay(o order.Order, amount money.Amount) (chain.TxID, error) {
	x := o.Quote.Give
	net, ok := n.nets[x.Chain]
	if !ok {
		return "", errors.New("the order is paid on a chain that is not simulated")
	}
	if amount.IsZero() {
		amount = o.Quote.In
	}
	tx, err := net.Send(sim.Payment{From: payer, Outs: []sim.Out{{To: o.DepositTo, Asset: x, Amount: amount}}})
	if err != nil {
		return "", fmt.Errorf("pay order %s: %w", o.ID, err)
	}
	return tx, nil
}
