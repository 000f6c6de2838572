package serve

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/family/evm"
	"ferry/internal/front"
	"ferry/internal/signer"
	"ferry/internal/venue/cctp"
	"ferry/internal/venue/opbridge"
	"ferry/internal/venue/uniswap"
)

// nobodys is an owner of one address everywhere.
func nobodys(chain.ID) (chain.Address, error) {
	return at("0x00000000000000000000000000000000000f0e11"), nil
}

// methods are what may be called of the contracts of a list.
func methods(list []chain.Contract, of string) (all []string) {
	for _, k := range list {
		for _, m := range k.Methods {
			if name, _, _ := strings.Cut(m.Signature, "("); k.Address.Text() == of {
				all = append(all, name)
			}
		}
	}
	return all
}

func exampleOfVenues(t *testing.T) config.Config {
	t.Helper()
	c, err := config.Load("../../docs/venues.example.toml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whoever copies the example must get what it says: the settings of every venue are taken
// as they are shipped, and the signer takes what they ask for.
func TestTheExampleOfVenuesCanBeMade(t *testing.T) {
	t.Parallel()
	c := exampleOfVenues(t)
	on := (*evm.Chain)(nil) // nobody asks it here
	read := map[chain.ID]cctp.Chain{}
	for _, one := range c.Chains {
		own, _ := nobodys(one.ID)
		if one.Uniswap != nil {
			if _, err := uniswap.New(exchange(one, own), on); err != nil {
				t.Error(err)
			}
		}
		if one.Rollup != nil {
			b, err := opbridge.New(canonical(one), on, on)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range ways(c, one) {
				if _, err := opbridge.NewTrips(b, w.pairs, tripConfig(c, one)); err != nil {
					t.Error(err)
				}
			}
		}
		read[one.ID] = on
	}
	cfg, err := dollarsOf(c, nobodys)
	if err != nil || len(cfg.Domains) != 4 {
		t.Fatalf("%d chains of CCTP: %v", len(cfg.Domains), err)
	}
	if _, err := cctp.New(cfg, read, &cctp.Iris{}, &gas{}); err != nil {
		t.Error(err)
	}
	list, err := callable(c, nobodys)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := signer.NewRing(make([]byte, 64), KeyNets(c))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signer.New(ring, signer.Policy{PerPayment: 1, PerHour: 1, FeeShare: 1, Contracts: list, Now: time.Now}, nil, nil); err != nil {
		t.Error(err)
	}
}

// What the service is not asked to do, its signer does not let it do.
func TestTheSignersListHasWhatIsSwitchedOnAndNothingElse(t *testing.T) {
	t.Parallel()
	const (
		ethereum    = "eip155:1"
		usdc        = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
		wrapped     = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
		router      = "0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45"
		messenger   = "0x28b5a0e9c621a5badaa536219b3a228c8168cf5d"
		transmitter = "0x81d40f21f12a8f0e3252bccb954d722d4c464b64"
		portal      = "0x49048044d57e1c92a77f79988d21fa8faf74e97e"
	)
	type calls map[string]string
	all := calls{
		router: "multicall exactInput swapExactTokensForTokens unwrapWETH9 sweepToken refundETH", wrapped: "approve",
		usdc: "approve approve", messenger: "depositForBurnWithHook", transmitter: "receiveMessage",
	}
	without := func(names ...string) calls {
		left := maps.Clone(all)
		for _, n := range names {
			delete(left, n)
		}
		return left
	}
	with := func(c calls, at, is string) calls { c[at] = is; return c }
	base := func(c *config.Config) *config.Rollup { return c.Chains[2].Rollup }
	for name, c := range map[string]struct {
		change func(c *config.Config)
		want   calls
	}{
		"all of the example": {func(*config.Config) {}, all},
		"not performed":      {func(c *config.Config) { c.CCTP.Perform = false }, with(without(messenger), usdc, "approve")},
		"not even claimed":   {func(c *config.Config) { c.CCTP.Perform, c.CCTP.Claim = false, nil }, with(without(messenger, transmitter), usdc, "approve")},
		"without pools": {func(c *config.Config) {
			for i := range c.Chains {
				c.Chains[i].Uniswap = nil
			}
		}, with(without(router, wrapped), usdc, "approve")},
		"withdrawals that are not claimed": {func(c *config.Config) { base(c).Withdrawals = true }, all},
		"withdrawals that are claimed": {func(c *config.Config) {
			base(c).Withdrawals, c.Rollups.Claim = true, c.CCTP.Claim
		}, with(without(), portal, "proveWithdrawalTransaction finalizeWithdrawalTransaction finalizeWithdrawalTransactionExternalProof")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := exampleOfVenues(t)
			c.change(&cfg)
			list, err := callable(cfg, nobodys)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []string{router, wrapped, usdc, messenger, transmitter, portal} {
				if got := strings.Join(methods(list[ethereum], at), " "); got != c.want[at] {
					t.Errorf("of %s may be called %q, want %q", at, got, c.want[at])
				}
			}
		})
	}
	// A burn of the service goes to our own account on the chains of the configuration.
	list, err := callable(exampleOfVenues(t), nobodys)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := nobodys(ethereum)
	for _, k := range list[ethereum] {
		if k.Address == at(messenger) {
			m := k.Methods[0]
			if slices.ContainsFunc(m.Only["2"], func(a chain.Address) bool { return a != own }) || !slices.Equal(m.Few["1"], []uint64{3, 6, 2}) {
				t.Errorf("a burn is held to %+v", m)
			}
		}
	}
}

// A signer in a process of its own has its list from its own configuration: a service
// with another one finds out at start, and not when an order is halfway.
func TestASignerOfAnotherConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ferry") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := exampleOfVenues(t)
	c.Wallet.Socket, c.Wallet.FeeShare = filepath.Join(dir, "s"), 1
	seed, err := signer.NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := NewSigner(t.Context(), c, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := signer.Listen(c.Wallet.Socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- signer.NewServer(keys, KeyNets(c), slog.New(slog.DiscardHandler)).Run(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for name, change := range map[string]func(c *config.Config){
		"":                    func(*config.Config) {},
		"without pools":       func(c *config.Config) { c.Chains[0].Uniswap = nil },
		"another router":      func(c *config.Config) { c.Chains[0].Uniswap.Router = c.Chains[0].Uniswap.Wrapped },
		"claims for nobody":   func(c *config.Config) { c.CCTP.Perform = false },
		"claims of a rollup":  func(c *config.Config) { c.Chains[2].Rollup.Withdrawals, c.Rollups.Claim = true, c.CCTP.Claim },
		"another transmitter": func(c *config.Config) { c.Chains[3].CCTP.Transmitter = c.Chains[3].CCTP.Token.Ref },
	} {
		other := exampleOfVenues(t)
		other.Wallet = c.Wallet
		change(&other)
		_, done, err := OpenKeys(t.Context(), other, nil, nil)
		if done != nil {
			done()
		}
		if (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), "start it with the same configuration") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVenuesAreNotMadeOnChainsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]func(c *config.Chain){
		"pools":  func(c *config.Chain) { c.CCTP, c.Rollup = nil, nil },
		"cctp":   func(c *config.Chain) { c.Uniswap, c.Rollup = nil, nil },
		"rollup": func(c *config.Chain) { c.Uniswap, c.CCTP = nil, nil },
		"":       func(c *config.Chain) { *c = config.Chain{} },
	} {
		c := exampleOfVenues(t)
		var chains []front.Chain
		for i := range c.Chains {
			f := front.Chain{}
			f.ID, f.Own = c.Chains[i].ID, at("0x00000000000000000000000000000000000f0e11")
			chains = append(chains, f)
			keep(&c.Chains[i])
		}
		b := builder{cfg: c, chains: map[chain.ID]front.Chain{}, gas: &gas{}, log: slog.New(slog.DiscardHandler)}
		var into front.Config
		err := b.build(t.Context(), &into, chains)
		if (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) || len(into.Bridges) > 0 || into.Venues.Pools != nil {
			t.Errorf("%s: %v, %+v", name, err, into.Bridges)
		}
	}
}

func TestHubsOfTwoVenuesAreHubsOnce(t *testing.T) {
	t.Parallel()
	var v front.Venues
	id := chain.ID("eip155:1")
	usdc := chain.Asset{Chain: id, Ref: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}
	hubs(&v, id, []chain.Asset{id.Native()})
	hubs(&v, id, []chain.Asset{usdc, id.Native()})
	if !slices.Equal(v.Hubs[id], []chain.Asset{id.Native(), usdc}) {
		t.Errorf("got %v", v.Hubs)
	}
}
