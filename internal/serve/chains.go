package serve

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/desk"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/evm"
	"ferry/internal/family/sim"
	"ferry/internal/family/solana"
	"ferry/internal/front"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/watch"
)

// network is a simulated chain that mines by itself.
type network struct {
	net   *sim.Net
	every time.Duration
}

func (n network) run(ctx context.Context) error {
	t := time.NewTicker(n.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			n.net.Tick(time.Now().UTC())
			n.net.Mine(1)
		}
	}
}

// codecOf reads the addresses of a family.
func codecOf(f chain.Family) (front.Codec, sim.Shape, error) {
	switch f {
	case chain.EVM:
		return evm.Codec{}, sim.Nonces, nil
	case chain.Bitcoin:
		c, err := bitcoin.NewCodec(bitcoin.Regtest)
		return c, sim.Coins, err
	case chain.Solana:
		return solana.Codec{}, sim.Expiring, nil
	}
	return nil, 0, fmt.Errorf("family %q is not known", f)
}

// chains makes the chains that are configured.
func (s *Service) chains(ctx context.Context, c config.Config, o Options) ([]front.Chain, error) {
	tokens := map[chain.Asset]market.Asset{}
	for _, t := range c.Tokens {
		tokens[t.Asset] = t
	}
	real, err := s.real(ctx, c, tokens, o)
	if err != nil {
		return nil, err
	}
	var all []front.Chain
	for _, one := range c.Chains {
		made := real[one.ID]
		if one.Kind == config.Sim {
			if made, err = s.simulated(one, tokens); err != nil {
				return nil, fmt.Errorf("chain %s: %w", one.ID, err)
			}
		}
		made.Funding = c.Orders.Funding
		all = append(all, made)
	}
	return all, nil
}

func (s *Service) simulated(c config.Chain, tokens map[chain.Asset]market.Asset) (front.Chain, error) {
	codec, shape, err := codecOf(c.Family)
	if err != nil {
		return front.Chain{}, err
	}
	f := front.Chain{Chain: told(c), Codec: codec, Tiers: c.Tiers}
	if f.Assets, err = listed(c, tokens); err != nil {
		return f, err
	}
	cfg := sim.Config{
		ID: c.ID, Family: c.Family, Shape: shape, FinalDepth: int(c.FinalDepth), BlockTime: c.BlockTime, MinFee: money.FromUint64(2),
		Accounts: []chain.Account{order.HotWallet}, Start: time.Now().UTC(), Addresses: codec,
	}
	for _, a := range c.Assets {
		if !a.IsNative() {
			cfg.Assets = append(cfg.Assets, a)
		}
	}
	net, err := sim.New(cfg)
	if err != nil {
		return f, err
	}
	s.nets = append(s.nets, network{net, c.BlockTime})
	on := net.Chain()
	f.Keys, f.View, f.Own, f.Reader, f.Mempool, f.Sender = on, on, net.Own(order.HotWallet), on, on, on
	f.Window = 4 * uint64(net.Config().Keep)
	return f, nil
}

// told is what callers are told of a chain.
func told(c config.Chain) desk.Chain {
	return desk.Chain{
		ID: c.ID, Slug: c.Slug, Name: c.Name, Family: c.Family, EVMChainID: number(c), Confirmations: usual(c.Tiers),
		BlockTime: c.BlockTime, NeedsRefund: c.Family == chain.Bitcoin, ExplorerTx: c.Explorer.Tx, ExplorerAddress: c.Explorer.Address,
	}
}

// listed is what is known of a chain's assets.
func listed(c config.Chain, tokens map[chain.Asset]market.Asset) ([]market.Asset, error) {
	all := make([]market.Asset, 0, len(c.Assets))
	for _, a := range c.Assets {
		t, ok := tokens[a]
		if !ok {
			return nil, fmt.Errorf("nothing is said of %s; add a [[tokens]] table with its symbol and its decimals", a)
		}
		all = append(all, t)
	}
	return all, nil
}

// number is the chain's own number where its family has one.
func number(c config.Chain) uint64 {
	_, ref, _ := strings.Cut(string(c.ID), ":")
	n, err := strconv.ParseUint(ref, 10, 63)
	if c.Family != chain.EVM || err != nil {
		return 0
	}
	return n
}

// usual is what most payments wait for: the smallest tier.
func usual(tiers []watch.Tier) uint64 {
	if len(tiers) == 0 {
		return 0
	}
	return tiers[0].Confirmations
}

// Addresses read the addresses of the families that can be served. They know of no
// chain, so that one of any of Bitcoin's networks is taken; a chain refuses those of
// another network when it is to pay there.
type Addresses struct{}

// Parse implements office.Codecs.
func (Addresses) Parse(f chain.Family, text string) (a chain.Address, err error) {
	if f != chain.Bitcoin {
		codec, _, err := codecOf(f)
		if err != nil {
			return a, err
		}
		return codec.Parse(text)
	}
	for _, network := range []bitcoin.Network{bitcoin.Regtest, bitcoin.Testnet, bitcoin.Mainnet} {
		codec, bad := bitcoin.NewCodec(network)
		if bad != nil {
			return a, bad
		}
		if a, err = codec.Parse(text); err == nil {
			return a, nil
		}
	}
	return a, err // as the real network says it
}
