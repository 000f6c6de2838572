package dev

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/devnet/uniswap"
	"ferry/internal/family/evm"
	"ferry/internal/front"
	"ferry/internal/market"
	"ferry/internal/money"
	venue "ferry/internal/venue/uniswap"
)

// pooled are tokens of a local network that pools alone exchange: the treasury has none
// of them.
var pooled = map[chain.ID]struct{ name, symbol, price string }{
	Ethereum: {"Tree (local)", Pooled, "2.5"},
	Base:     {"Leaf (local)", "LEAF", "0.5"},
}

// Pooled is the symbol of such a token on Ethereum.
const Pooled = "TREE"

// pooledDecimals are those of all such tokens.
const pooledDecimals = 18

// poolDollars is how much is in each pool, on each side.
const poolDollars = 2_000_000

// Exchange is where the real Uniswap contracts stand on a local chain, and the token
// that is traded there.
type Exchange struct {
	uniswap.Places
	Token string `json:"token"`
	// Pool is the one of the coin and the dollar, which prices are read from.
	Pool string `json:"pool"`
}

// setupPools puts Uniswap's contracts, a token and pools on the EVM chains. A network
// without them is a network all the same: the packages come by npm, which may not be had.
func (l *local) setupPools(ctx context.Context) error {
	l.opts.Say("making pools: the real Uniswap contracts (fetched by npm the first time)")
	kit, err := uniswap.Fetch(ctx)
	if err != nil {
		l.opts.Say("there are no pools, because Uniswap's packages can not be had (--fresh tries again): " + oneLine(err))
		return nil
	}
	l.state.Exchanges = map[chain.ID]Exchange{}
	for _, id := range []chain.ID{Ethereum, Base} {
		g, ok := l.net.grounds[id].(evmNode)
		if !ok {
			continue
		}
		x, err := l.makePools(ctx, id, g, kit)
		if err != nil {
			return fmt.Errorf("pools on %s: %w", id, err)
		}
		l.state.Exchanges[id] = x
	}
	return nil
}

// makePools makes the contracts, the token and three pools: of versions 2 and 3, and one
// between the coin and the dollar.
func (l *local) makePools(ctx context.Context, id chain.ID, g evmNode, kit uniswap.Kit) (Exchange, error) {
	p := pooled[id]
	code, err := evm.TestTokenCode(p.name, p.symbol, pooledDecimals)
	if err != nil {
		return Exchange{}, err
	}
	token, err := g.deploy(ctx, code)
	if err != nil {
		return Exchange{}, err
	}
	w, err := l.state.maker(ctx, l.rpcs[id])
	if err != nil {
		return Exchange{}, err
	}
	w.Mine = func(ctx context.Context) error { return g.mine(ctx, 1) }
	m := maker{wallet: w, at: Exchange{Token: token}, dollar: big.NewInt(1_000_000)}
	if m.coin, err = perDollar(holdings["ETH"].price, 18); err != nil {
		return Exchange{}, err
	}
	if m.token, err = perDollar(p.price, pooledDecimals); err != nil {
		return Exchange{}, err
	}
	dollars := common.HexToAddress(string(l.state.Tokens[id]))
	for asset, n := range map[chain.Asset]*big.Int{
		id.Native():             units(100_000, pooledDecimals),
		{Chain: id, Ref: token}: units(1_000_000_000, pooledDecimals),
		{Chain: id, Ref: string(l.state.Tokens[id])}: units(1_000_000_000, 6),
	} {
		if _, err := g.pay(ctx, chain.CanonicalAddress(chain.EVM, lower(w.Address())), asset, money.MustParse(n.String())); err != nil {
			return Exchange{}, err
		}
	}
	if err := g.mine(ctx, 1); err != nil {
		return Exchange{}, err
	}
	u, err := uniswap.Deploy(ctx, kit, w)
	if err != nil {
		return Exchange{}, err
	}
	m.at.Places = u.Places
	err = m.pools(ctx, u, common.HexToAddress(token), dollars)
	return m.at, err
}

// oneLine is what went wrong, for people: programs say more than a line of it.
func oneLine(err error) string {
	return strings.TrimRight(strings.Join(strings.Fields(err.Error()), " "), ": ")
}

// maker is the wallet of whoever fills the pools of a network.
func (s state) maker(ctx context.Context, rpc string) (*uniswap.Wallet, error) {
	digest := sha256.Sum256([]byte("maker of pools of " + s.Seed))
	key, err := crypto.ToECDSA(digest[:])
	if err != nil {
		return nil, err
	}
	return uniswap.Open(ctx, rpc, key)
}

// maker fills pools at the prices of the network.
type maker struct {
	wallet *uniswap.Wallet
	at     Exchange
	// what a dollar buys of each, in smallest units
	coin, token, dollar *big.Int
}

func (m *maker) pools(ctx context.Context, u *uniswap.Uniswap, token, dollars common.Address) error {
	sum := func(each *big.Int) *big.Int { return new(big.Int).Mul(each, big.NewInt(poolDollars)) }
	coins := sum(m.coin)
	if err := u.Wrap(ctx, new(big.Int).Mul(coins, big.NewInt(2))); err != nil {
		return err
	}
	if err := u.Approve(ctx, u.WETH, token, dollars); err != nil {
		return err
	}
	tokens, usd := uniswap.Stake{Token: token, Amount: sum(m.token)}, uniswap.Stake{Token: dollars, Amount: sum(m.dollar)}
	weth := uniswap.Stake{Token: u.WETH, Amount: coins}
	if _, err := u.CreatePair(ctx, token, u.WETH); err != nil {
		return err
	}
	if err := u.Add(ctx, tokens, weth); err != nil {
		return err
	}
	for _, p := range []struct {
		a, b uniswap.Stake
		fee  uint32
		wide int32 // the widest range that the fee's spacing allows
	}{{tokens, usd, 3000, 887220}, {weth, usd, 500, 887270}} {
		zero, one := p.a, p.b
		if first, _ := uniswap.Sorted(p.a.Token, p.b.Token); first != p.a.Token {
			zero, one = p.b, p.a
		}
		root := new(big.Int).Lsh(one.Amount, 192)
		root.Sqrt(root.Div(root, zero.Amount))
		pool, err := u.CreatePool(ctx, p.a.Token, p.b.Token, p.fee, root)
		if err != nil {
			return err
		}
		if p.a == weth {
			m.at.Pool = lower(pool)
			if err := u.Remember(ctx, pool, remembered); err != nil {
				return err
			}
		}
		if err := u.Mint(ctx, uniswap.Position{Zero: zero, One: one, Fee: p.fee, Low: -p.wide, High: p.wide}); err != nil {
			return err
		}
	}
	_, err := m.wallet.Wait(ctx)
	return err
}

// listPools lists the tokens of the pools; the treasury has none of them.
func (l *local) listPools() {
	for _, id := range []chain.ID{Ethereum, Base} {
		if x, ok := l.state.Exchanges[id]; ok {
			p := pooled[id]
			l.net.assets = append(l.net.assets, asset{
				market.Asset{Asset: chain.Asset{Chain: id, Ref: x.Token}, Symbol: p.symbol, Decimals: pooledDecimals, Dust: money.FromUint64(1)}, p.price, "",
			})
		}
	}
}

// venues are the pools as the service trades in them.
func (l *local) venues() (front.Venues, error) {
	v := front.Venues{Pools: map[chain.ID]front.Pools{}, Hubs: map[chain.ID][]chain.Asset{}, MaxOff: money.Whole / 20}
	for _, c := range l.net.chains {
		x, ok := l.state.Exchanges[c.ID]
		if !ok {
			continue
		}
		on, ok := c.Sender.(venue.Chain)
		if !ok {
			return v, fmt.Errorf("chain %s can not be asked for pools", c.ID)
		}
		p, err := venue.New(l.exchange(c.ID, c.Own, x), on)
		if err != nil {
			return v, err
		}
		dollars := chain.Asset{Chain: c.ID, Ref: string(l.state.Tokens[c.ID])}
		v.Pools[c.ID], v.Hubs[c.ID] = p, []chain.Asset{dollars, c.ID.Native()}
		v.Pooled = append(v.Pooled, chain.Asset{Chain: c.ID, Ref: x.Token})
	}
	return v, nil
}

// exchange is how the pools of a chain are followed.
func (l *local) exchange(id chain.ID, own chain.Address, x Exchange) venue.Config {
	at := func(text string) chain.Address { return chain.CanonicalAddress(chain.EVM, text) }
	return venue.Config{
		Chain: id, Own: own, Router: at(lower(x.Router)), Wrapped: at(lower(x.WETH)), Multicall: at(lower(x.Multicall)),
		Tokens: []chain.Address{at(lower(x.WETH)), at(string(l.state.Tokens[id])), at(x.Token)},
		MaxAge: time.Minute, Poll: 500 * time.Millisecond, Check: time.Minute, Patience: 10 * time.Minute,
		Noticed: func(n venue.Notice) {
			l.log.Warn("pools: "+n.Text, slog.String("chain", string(n.Chain)), slog.Any("error", n.Err))
		},
	}
}

// contracts are what the signer lets the service call for the pools.
func (l *local) contracts(ctx context.Context) (map[chain.ID][]chain.Contract, error) {
	all := map[chain.ID][]chain.Contract{}
	for id, x := range l.state.Exchanges {
		own, err := l.hot(ctx, id)
		if err != nil {
			return nil, err
		}
		all[id] = l.exchange(id, own, x).Contracts()
	}
	return all, nil
}

// lower is an address in the form that all of ours have.
func lower(a common.Address) string { return strings.ToLower(a.Hex()) }

// units is a number of whole units in smallest ones.
func units(n int64, decimals int64) *big.Int {
	one := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	return one.Mul(one, big.NewInt(n))
}

// perDollar is what a dollar buys at a price, in smallest units.
func perDollar(price string, decimals int64) (*big.Int, error) {
	each, ok := new(big.Rat).SetString(price)
	if !ok || each.Sign() <= 0 {
		return nil, fmt.Errorf("%q is no price", price)
	}
	n := new(big.Rat).Quo(new(big.Rat).SetInt(units(1, decimals)), each)
	return new(big.Int).Quo(n.Num(), n.Denom()), nil
}
