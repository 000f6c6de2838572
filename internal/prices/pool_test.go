package prices_test

import (
	"context"
	"crypto/ecdsa"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/devnet/uniswap"
	"ferry/internal/family/evm"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/prices"
)

func somebody(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte("somebody on a local chain")))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// pools are a V3 pool and a V2 pair of a coin with 18 decimals and a dollar token with 6,
// both at 2000 dollars, on real contracts.
type pools struct {
	*local
	u          *uniswap.Uniswap
	w          *uniswap.Wallet
	kit        uniswap.Kit
	eth, usd   common.Address
	pool, pair common.Address
	fee        uint32
}

func newPools(t *testing.T) *pools {
	t.Helper()
	ctx := t.Context()
	p := &pools{local: newLocal(t), fee: 500}
	var err error
	p.w, err = uniswap.Open(ctx, p.node.RPC, somebody(t))
	p.ok(err)
	p.w.Mine = func(ctx context.Context) error { return p.node.Do(ctx, "mine", map[string]any{"n": 1}, nil) }
	p.kit, err = uniswap.Fetch(ctx)
	p.ok(err)
	p.u, err = uniswap.Deploy(ctx, p.kit, p.w)
	p.ok(err)
	p.eth = p.u.WETH
	code, err := evm.TestTokenCode("Dollar", "USD", 6)
	p.ok(err)
	p.usd = p.deploy(code)
	p.mine(1)
	p.ok(p.node.Do(ctx, "fund", map[string]any{"address": p.who, "token": p.usd, "amount": units(100_000_000, 6)}, nil))
	p.mine(1)
	p.ok(p.u.Wrap(ctx, units(50_000, 18)))
	p.ok(p.u.Approve(ctx, p.eth, p.usd))
	p.pair, err = p.u.CreatePair(ctx, p.eth, p.usd)
	p.ok(err)
	p.ok(p.u.Add(ctx, uniswap.Stake{Token: p.eth, Amount: units(1000, 18)}, uniswap.Stake{Token: p.usd, Amount: units(2_000_000, 6)}))
	p.pool, err = p.u.CreatePool(ctx, p.eth, p.usd, p.fee, p.root())
	p.ok(err)
	zero, one := uniswap.Sorted(p.eth, p.usd)
	has := map[common.Address]*big.Int{p.eth: units(1000, 18), p.usd: units(2_000_000, 6)}
	p.ok(p.u.Mint(ctx, uniswap.Position{
		Zero: uniswap.Stake{Token: zero, Amount: has[zero]}, One: uniswap.Stake{Token: one, Amount: has[one]}, Fee: p.fee, Low: -887_270, High: 887_270,
	}))
	p.remember(200)
	_, err = p.w.Wait(ctx)
	p.ok(err)
	return p
}

// root is the root of 2000 dollars for a coin, in the pool's order, times 2^96.
func (p *pools) root() *big.Int {
	num, den := units(2000, 6), units(1, 18)
	if zero, _ := uniswap.Sorted(p.eth, p.usd); zero == p.usd {
		num, den = den, num
	}
	n := new(big.Int).Lsh(num, 192)
	return n.Sqrt(n.Quo(n, den))
}

// remember has the pool keep so many observations.
func (p *pools) remember(n uint16) {
	p.t.Helper()
	data, err := p.kit["UniswapV3Pool"].ABI.Pack("increaseObservationCardinalityNext", n)
	p.ok(err)
	_, err = p.w.Send(p.t.Context(), uniswap.Tx{To: &p.pool, Data: data})
	p.ok(err)
}

func units(n int64, decimals int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil))
}

func (p *pools) config(at common.Address) prices.PoolConfig {
	return prices.PoolConfig{
		Name: "pool", Symbol: "ETH", Pool: named(at), Base: named(p.eth), Quote: named(p.usd), In: "USDC", Window: 60 * time.Second, Floor: money.FromUint64(1_000_000),
	}
}

func (p *pools) v3(change ...func(c *prices.PoolConfig)) *prices.UniswapV3 {
	p.t.Helper()
	cfg := p.config(p.pool)
	for _, f := range change {
		f(&cfg)
	}
	s, err := prices.NewUniswapV3(cfg, p.on)
	p.ok(err)
	return s
}

func (p *pools) says(s prices.Source) market.Price {
	p.t.Helper()
	now := p.now()
	got, err := s.Prices(p.t.Context(), now)
	p.ok(err)
	q := got["ETH"]
	price, err := market.ParsePrice(q.Price)
	if err != nil || q.In != "USDC" || q.At != now || s.Kind() != prices.Pool {
		p.t.Fatalf("got %+v, %v", q, err)
	}
	return price
}

// near is within so many hundredths of a percent.
func near(t *testing.T, got market.Price, want string, share int32) bool {
	t.Helper()
	w, err := market.ParsePrice(want)
	if err != nil {
		t.Fatal(err)
	}
	return got.Near(w, money.Whole/10_000*money.Percent(share))
}

// push buys with dollars until the price of the moment is half as much again.
func (p *pools) push() {
	p.t.Helper()
	ctx := p.t.Context()
	// In a pool over all prices the product stays: the root of 1.5 is 1.2247.
	p.ok(p.u.Swap(ctx, uniswap.Stake{Token: p.usd, Amount: units(449_600, 6)}, p.eth, p.fee))
	p.ok(p.u.SwapV2(ctx, units(450_500, 6), p.usd, p.eth))
	_, err := p.w.Wait(ctx)
	p.ok(err)
}

// spot is the price of the moment in the pool, as nobody should read it.
func (p *pools) spot() market.Price {
	p.t.Helper()
	data, err := p.kit["UniswapV3Pool"].ABI.Pack("slot0")
	p.ok(err)
	out, err := p.on.View(p.t.Context(), named(p.pool), data)
	p.ok(err)
	root := new(big.Int).SetBytes(out[:32])
	num, den := new(big.Int).Mul(root, root), new(big.Int).Lsh(big.NewInt(1), 192)
	if zero, _ := uniswap.Sorted(p.eth, p.usd); zero == p.usd {
		num, den = den, num
	}
	n := num.Mul(num, units(1, 12+6)) // six digits after the point
	text := n.Quo(n, den).String()
	price, err := market.ParsePrice(text[:len(text)-6] + "." + text[len(text)-6:])
	p.ok(err)
	return price
}

func TestAPoolPushedInOneBlockHardlyMovesItsMean(t *testing.T) {
	t.Parallel()
	p := newPools(t)
	v3 := p.v3()
	if got, err := v3.Prices(t.Context(), p.now()); err == nil {
		t.Errorf("a pool that is younger than the window says %+v", got)
	}
	cfg := p.config(p.pair)
	v2, err := prices.NewUniswapV2(cfg, p.on)
	p.ok(err)
	if got, err := v2.Prices(t.Context(), p.now()); err != nil || got["ETH"].Price != "" || got["ETH"].Why == "" {
		t.Errorf("a pair that was just seen says %+v, %v", got, err)
	}
	p.mine(60)
	for name, s := range map[string]prices.Source{"v3": v3, "v2": v2} {
		if got := p.says(s); !near(t, got, "2000", 1) {
			t.Errorf("%s says %s", name, got)
		}
	}
	p.push()
	p.mine(1) // the price of the moment stood for a block
	if spot := p.spot(); !near(t, spot, "3000", 100) {
		t.Fatalf("the price of the moment is %s, and the drill is none", spot)
	}
	for name, s := range map[string]prices.Source{"v3": v3, "v2": v2} {
		// A second or three of sixty, at half as much again.
		if got := p.says(s); !near(t, got, "2000", 300) {
			t.Errorf("%s was moved to %s", name, got)
		}
	}
	p.mine(120) // whoever holds it there for the whole window moves it, and pays for that
	for name, s := range map[string]prices.Source{"v3": v3} {
		if got := p.says(s); !near(t, got, "3000", 100) {
			t.Errorf("%s says %s", name, got)
		}
	}
}

func TestAPoolThatCanNotBeTrustedSaysNothing(t *testing.T) {
	t.Parallel()
	p := newPools(t)
	p.mine(60)
	p.says(p.v3())
	silent := func(name string, s prices.Source, err error) {
		t.Helper()
		p.ok(err)
		if got, err := s.Prices(t.Context(), p.now()); err == nil {
			t.Errorf("%s says %+v", name, got)
		}
	}
	silent("a thin pool", p.v3(func(c *prices.PoolConfig) { c.Floor = money.MustParse("1" + strings.Repeat("0", 30)) }), nil)
	silent("a pool that does not remember so long", p.v3(func(c *prices.PoolConfig) { c.Window = time.Hour }), nil)
	silent("a pool of other tokens", p.v3(func(c *prices.PoolConfig) { c.Base = named(p.pool) }), nil)
	silent("what is no pool", p.v3(func(c *prices.PoolConfig) { c.Pool = named(p.usd) }), nil)
	thin := p.config(p.pair)
	thin.Floor = money.MustParse("2000000000001")
	s, err := prices.NewUniswapV2(thin, p.on)
	silent("a thin pair", s, err)
	if got, err := p.v3(func(c *prices.PoolConfig) { c.MaxLag = 10 * time.Second }).Prices(t.Context(), p.now().Add(11*time.Second)); err == nil {
		t.Errorf("a chain that stands still says %+v", got)
	}
	for name, change := range map[string]func(c *prices.PoolConfig){
		"no floor":           func(c *prices.PoolConfig) { c.Floor = money.Amount{} },
		"no measure":         func(c *prices.PoolConfig) { c.In = "" },
		"itself as measure":  func(c *prices.PoolConfig) { c.In = c.Symbol },
		"no window":          func(c *prices.PoolConfig) { c.Window = 0 },
		"half a second":      func(c *prices.PoolConfig) { c.Window = 1500 * time.Millisecond },
		"a window of a week": func(c *prices.PoolConfig) { c.Window = 7 * 24 * time.Hour },
		"one token":          func(c *prices.PoolConfig) { c.Base = c.Quote },
	} {
		cfg := p.config(p.pool)
		change(&cfg)
		if _, err := prices.NewUniswapV3(cfg, p.on); err == nil {
			t.Errorf("%s was taken by v3", name)
		}
		if _, err := prices.NewUniswapV2(cfg, p.on); err == nil {
			t.Errorf("%s was taken by v2", name)
		}
	}
}
