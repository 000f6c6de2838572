package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/devnet"
	"ferry/internal/devnet/cctp"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/devnet/uniswap"
	"ferry/internal/secret"
	"ferry/internal/serve"
	"ferry/internal/signer"
)

// ground is a local chain and a rollup of it, with every contract of pools and bridges.
type ground struct {
	*testing.T
	below, above *devnet.Chain
	rollup       places
	dollars      cctp.Contracts
	places       uniswap.Places
	tree         common.Address // a token that only a pool exchanges
}

// places are where the contracts of a rollup stand below it.
type places struct {
	Portal    string `json:"optimismPortal"`
	Oracle    string `json:"l2OutputOracle"`
	Messenger string `json:"l1CrossDomainMessenger"`
	Bridge    string `json:"l1StandardBridge"`
}

// patience is how long anything is waited for on a busy machine.
const patience = 2 * time.Minute

const coins = "0x10000000000000000000000000"

func newGround(t *testing.T) *ground {
	t.Helper()
	g, ctx := &ground{T: t}, t.Context()
	key := ok(crypto.ToECDSA(crypto.Keccak256([]byte("who makes contracts"))))(t)
	bank := ok(crypto.ToECDSA(crypto.Keccak256([]byte("who makes dollars"))))(t)
	alloc := map[string]any{}
	for _, k := range []common.Address{crypto.PubkeyToAddress(key.PublicKey), crypto.PubkeyToAddress(bank.PublicKey)} {
		alloc[k.Hex()] = map[string]any{"balance": coins}
	}
	name := fmt.Sprintf("serve-%d-", os.Getpid())
	g.below = g.open(name+"below", map[string]any{"chainId": 31_901, "finalDepth": 2, "alloc": alloc})
	g.above = g.open(name+"above", map[string]any{
		"chainId": 31_902, "finalDepth": 2, "alloc": alloc, "rollup": map[string]any{"of": name + "below", "every": 4, "challengeSeconds": 20},
	})
	g.must(g.above.Do(ctx, "rollup", struct{}{}, &g.rollup))
	g.blocks(30 * time.Millisecond)
	bridge := cctp.Spec{
		Key: bank, Threshold: 1, Limit: big.NewInt(1_000_000_000), Attesters: []common.Address{{9}}, Minters: []common.Address{{7}},
		Sides: []cctp.Side{{RPC: g.below.RPC, Domain: 0}, {RPC: g.above.RPC, Domain: 6}},
	}
	g.dollars = ok(cctp.Deploy(ctx, bridge))(t)
	w := ok(uniswap.Open(ctx, g.below.RPC, key))(t)
	w.Mine = func(context.Context) error { return nil } // blocks come by themselves
	kit := ok(uniswap.Fetch(ctx))(t)
	u := ok(uniswap.Deploy(ctx, kit, w))(t)
	g.places = u.Places
	// Another wrapped coin is as good a token as any.
	g.tree = ok(w.Send(ctx, uniswap.Tx{Data: kit["WETH9"].Code}))(t)
	much := new(big.Int).Mul(big.NewInt(1000), big.NewInt(1e18))
	ok(w.Send(ctx, uniswap.Tx{To: &g.tree, Value: much, Data: kit["WETH9"].ABI.Methods["deposit"].ID}))(t)
	g.must(u.Wrap(ctx, much))
	g.must(u.Approve(ctx, u.WETH, g.tree))
	ok(u.CreatePair(ctx, u.WETH, g.tree))(t)
	g.must(u.Add(ctx, uniswap.Stake{Token: u.WETH, Amount: much}, uniswap.Stake{Token: g.tree, Amount: much}))
	ok(w.Wait(ctx))(t)
	g.blocks(time.Second) // as fast as is kept up with under the race detector
	return g
}

// blocks makes a block every so often.
func (g *ground) blocks(every time.Duration) {
	g.Helper()
	for _, c := range []*devnet.Chain{g.below, g.above} {
		g.must(c.Do(g.Context(), "auto", map[string]any{"everyMs": every.Milliseconds()}, nil))
	}
}

func (g *ground) open(name string, spec any) *devnet.Chain {
	g.Helper()
	c := ok(devnettest.Host(g).Open(g.Context(), name, "evm", false, spec))(g)
	g.Cleanup(func() { _ = c.Close(context.WithoutCancel(g.Context())) })
	return c
}

func (g *ground) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

// text is a configuration that has everything switched on.
func (g *ground) text(dir string) string {
	chainText := func(id int, slug, node string, tokens ...common.Address) string {
		assets := []string{"native"}
		for _, t := range tokens {
			assets = append(assets, t.Hex())
		}
		said, _ := json.Marshal(assets) // texts always can be
		return fmt.Sprintf("\n[[chains]]\nid = \"eip155:%d\"\nslug = %q\nname = \"The %s\"\nfamily = \"evm\"\nkind = \"rpc\"\nnodes = [%q]\nblockTime = \"1s\"\nfinalDepth = 2\ntiers = [{confirmations = 2}]\nassets = %s\n", id, slug, slug, node, said)
	}
	token := func(id int, ref, symbol string, decimals int) string {
		return fmt.Sprintf("\n[[tokens]]\nasset = \"eip155:%d/%s\"\nsymbol = %q\ndecimals = %d\n", id, ref, symbol, decimals)
	}
	dollars := func(domain int) string {
		d := g.dollars
		return fmt.Sprintf("[chains.cctp]\ndomain = %d\nmessenger = %q\ntransmitter = %q\ntoken = %q\nattested = \"5s\"\n", domain, d.Messenger.Hex(), d.Transmitter.Hex(), d.USDC.Hex())
	}
	at, usdc := g.rollup, g.dollars.USDC.Hex()
	return strings.Join([]string{
		fmt.Sprintf("[database]\nurl = \"sqlite:%s\"\n[api]\nlisten = \"127.0.0.1:0\"\nsecretFile = %q\n[operatorApi]\nlisten = \"127.0.0.1:0\"\n[wallet]\nseedFile = %q\npassphraseFile = %q",
			filepath.Join(dir, "ferry.db"), filepath.Join(dir, "secret"), filepath.Join(dir, "seed"), filepath.Join(dir, "pass")),
		"[caps]\nperHourUsd = \"50000\"\nperPaymentUsd = \"10000\"\n[pools]\nmaxOffPercent = \"5\"",
		"[cctp]\nattester = \"http://127.0.0.1:9\"\nmin = \"1000000\"\nmax = \"900000000\"\nclaimUsd = \"2\"\nperform = true\nfeePercent = \"0.1\"\npoll = \"1s\"",
		"[rollups]\nmin = \"1000\"\nmax = \"1000000000000000000\"\nclaimUsd = \"3\"\npoll = \"1s\"",
		"[[prices]]\nname = \"fixed\"\nkind = \"fixed\"\nvalues = { ETH = \"3000\", USDC = \"1\", TREE = \"3000\" }",
		token(31_901, "native", "ETH", 18) + token(31_902, "native", "ETH", 18) + token(31_901, usdc, "USDC", 6) + token(31_902, usdc, "USDC", 6) + token(31_901, g.tree.Hex(), "TREE", 18),
		chainText(31_901, "below", g.below.RPC, g.dollars.USDC, g.tree) + "pools = true\nbridges = [\"cctp\"]",
		fmt.Sprintf("[chains.uniswap]\nrouter = %q\nwrapped = %q\nmulticall = %q\ntokens = [%q, %q]\nhubs = [\"native\"]\npooled = [%q]",
			g.places.Router.Hex(), g.places.WETH.Hex(), g.places.Multicall.Hex(), g.places.WETH.Hex(), g.tree.Hex(), g.tree.Hex()),
		dollars(0) + chainText(31_902, "above", g.above.RPC, g.dollars.USDC) + "verify = false\nbridges = [\"cctp\", \"rollup\"]",
		dollars(6) + fmt.Sprintf("[chains.rollup]\nof = \"eip155:31901\"\nportal = %q\nmessenger = %q\nbridge = %q\noracle = %q\nrelay = \"20s\"\ntold = \"10s\"\nchallenge = \"20s\"",
			at.Portal, at.Messenger, at.Bridge, at.Oracle),
	}, "\n")
}

// wallet writes a seed and pays its account on both chains.
func (g *ground) wallet(dir string, c config.Config) {
	g.Helper()
	const pass = "a passphrase of a test"
	g.must(os.WriteFile(filepath.Join(dir, "pass"), []byte(pass), 0o600))
	seed := ok(signer.NewSeed())(g)
	g.must(signer.WriteSeed(filepath.Join(dir, "seed"), seed, secret.New(pass), signer.Hardness{Passes: 1, MemoryKiB: 8, Threads: 1}))
	ring := ok(signer.NewRing(seed.Bytes(), serve.KeyNets(c)))(g)
	for id, on := range map[chain.ID]*devnet.Chain{"eip155:31901": g.below, "eip155:31902": g.above} {
		hot := ok(ring.Address(g.Context(), id, chain.Key{Account: signer.Hot}))(g)
		g.must(on.Do(g.Context(), "fund", map[string]any{"address": hot.Text(), "amount": json.Number("1000000000000000000")}, nil))
	}
}

// TestAServiceWithPoolsAndBridgesOffersThem: what an operator switches on is what callers
// are offered, over contracts that were asked whether they are what was configured.
func TestAServiceWithPoolsAndBridgesOffersThem(t *testing.T) {
	t.Parallel()
	g, dir := newGround(t), t.TempDir()
	text := g.text(dir)
	c := ok(config.Parse([]byte(text), nil))(t)
	g.wallet(dir, c)
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	options := serve.Options{Version: "test", Log: log}

	// A contract that is another one is found before anything is served.
	for what, spoil := range map[string][2]string{
		"the wrapped coin": {"wrapped = \"" + g.places.WETH.Hex(), "wrapped = \"" + g.tree.Hex()},
		"the domain":       {"domain = 6", "domain = 7"},
		"the oracle":       {"oracle = \"" + g.rollup.Oracle, "oracle = \"" + g.rollup.Portal},
	} {
		bad := strings.Replace(text, spoil[0], spoil[1], 1)
		if what == "the wrapped coin" { // hubs must be tokens
			bad = strings.Replace(bad, fmt.Sprintf("tokens = [%q, %q]", g.places.WETH.Hex(), g.tree.Hex()), fmt.Sprintf("tokens = [%q, %q]", g.tree.Hex(), g.places.WETH.Hex()), 1)
		}
		s, err := serve.New(t.Context(), ok(config.Parse([]byte(bad), nil))(t), options)
		if err == nil {
			_ = s.Close()
			t.Errorf("%s may be another", what)
		}
	}

	s := ok(serve.New(t.Context(), c, options))(t)
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.Run(ctx, func() { close(ready) }) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	case <-time.After(patience):
		t.Fatal("the chains were not read to their tips")
	}
	api, _ := s.Addresses()
	g.offers("http://"+api, g.dollars.USDC.Hex())
}

// offers looks at what callers are told.
func (g *ground) offers(api, usdc string) {
	g.Helper()
	var told struct {
		Bridges []struct{ BridgeID string }
	}
	code, said := g.ask(http.MethodGet, api+"/v2/bridges", nil)
	if err := json.Unmarshal(said, &told); err != nil || code != http.StatusOK {
		g.Fatalf("%d: %s", code, said)
	}
	var names []string
	for _, b := range told.Bridges {
		names = append(names, b.BridgeID)
	}
	slices.Sort(names)
	want := "above_deposit above_withdraw cctp_above_below cctp_above_below_managed cctp_below_above cctp_below_above_managed"
	if got := strings.Join(names, " "); got != want {
		g.Errorf("the bridges are %s\nwant %s\n%s", got, want, said)
	}
	// The books have nothing that could be sold: who quotes is the pool, once it is followed.
	swap := map[string]any{"fromChainId": "below", "fromToken": g.tree.Hex(), "toChainId": "below", "toToken": "native", "amount": "100000000000000000"}
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		if code, said = g.ask(http.MethodPost, api+"/v2/quotes", swap); code == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			g.Fatalf("no quote through the pool: %d %s", code, said)
		}
	}
	// A transfer that the service performs is priced: gas and all, in dollars.
	ride := map[string]any{"bridgeId": "cctp_below_above_managed", "fromChainId": "below", "fromToken": usdc, "toChainId": "above", "toToken": usdc, "amount": "100000000"}
	if code, said = g.ask(http.MethodPost, api+"/v2/bridges/quotes", ride); code != http.StatusOK {
		g.Errorf("a performed transfer: %d %s", code, said)
	}
}

func (g *ground) ask(method, url string, body any) (int, []byte) {
	g.Helper()
	text := ok(json.Marshal(body))(g)
	req := ok(http.NewRequestWithContext(g.Context(), method, url, bytes.NewReader(text)))(g)
	req.Header.Set("Content-Type", "application/json")
	resp := ok(http.DefaultClient.Do(req))(g)
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, ok(io.ReadAll(resp.Body))(g)
}

func ok[T any](x T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}
