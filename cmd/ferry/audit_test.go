package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ferry/internal/devnet"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/store/pgtest"
)

// realChain is a chain of a real node in a configuration.
type realChain struct {
	kind, family, symbol string
	decimals             int
	id                   string
	more                 string // of its table
	spec                 map[string]any
	on                   *devnet.Chain
}

// realConfig starts nodes and writes a configuration that serves them.
func realConfig(t *testing.T, dir string) (string, []*realChain) {
	t.Helper()
	all := []*realChain{
		{kind: "evm", family: "evm", symbol: "ETH", decimals: 18, id: "eip155:31399", more: "trace = true", spec: map[string]any{"chainId": 31399, "finalDepth": 2}},
		{kind: "bitcoin", family: "bitcoin", symbol: "BTC", decimals: 8, id: "bip122:0f9188f13cb7b2c71f2a335e3a4fc328", more: `network = "regtest"`},
		{kind: "solana", family: "solana", symbol: "SOL", decimals: 9, id: "solana:local", spec: map[string]any{"depth": 2}},
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	var text strings.Builder
	fmt.Fprintf(&text, `
[database]
url = %q
[caps]
perHourUsd = "50000"
perPaymentUsd = "10000"
[wallet]
seedFile = %q
passphraseFile = %q
[api]
listen = "127.0.0.1:0"
secretFile = %q
[operatorApi]
listen = "127.0.0.1:0"
[market]
minUsd = "5"
maxUsd = "10000"
priceQuorum = 1
[treasury]
sweep = false
[[prices]]
name = "test"
kind = "fixed"
values = { ETH = "3000", BTC = "90000", SOL = "150" }
`, pgtest.URL(t), path("seed"), path("pass"), path("secret"))
	for i, c := range all {
		var err error
		if c.on, err = devnettest.Host(t).Open(t.Context(), fmt.Sprintf("audit-%s-%d", t.Name(), i), c.kind, false, c.spec); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.on.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		if c.kind == "solana" {
			c.more = fmt.Sprintf("genesis = %q", genesis(t, c.on.RPC))
		}
		fmt.Fprintf(&text, `
[[tokens]]
asset = "%s/native"
symbol = %q
decimals = %d
[[chains]]
id = %q
slug = %q
family = %q
kind = "rpc"
nodes = [%q]
assets = ["native"]
finalDepth = 2
tiers = [{ confirmations = 2, finalized = true }]
%s
`, c.id, c.symbol, c.decimals, c.id, c.kind, c.family, c.on.RPC, c.more)
	}
	for name, body := range map[string]string{"ferry.toml": text.String(), "pass": "a passphrase of a test\n"} {
		if err := os.WriteFile(path(name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "wallet", "init", "--seed", path("seed"), "--passphrase-file", path("pass"), "--memory", "16", "--passes", "1")
	return path("ferry.toml"), all
}

func genesis(t *testing.T, url string) (hash string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"getGenesisHash","params":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out struct{ Result string }
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Result
}

// command runs the program in this process.
func command(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	var said, trouble bytes.Buffer
	code = run(t.Context(), args, &output{Out: &said, Err: &trouble})
	return code, said.String(), trouble.String()
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	code, out, err := command(t, args...)
	if code != 0 {
		t.Fatalf("ferry %s ended with %d: %s", strings.Join(args, " "), code, err)
	}
	return out
}

// until runs a command until it ends as wanted.
func until(t *testing.T, good func(code int, out, err string) bool, args ...string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		code, out, err := command(t, args...)
		if good(code, out, err) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("ferry %s ended with %d: %s%s", strings.Join(args, " "), code, out, err)
		}
	}
}

// TestAnAuditOfRealChainsBesideTheService has an operator run the service on real nodes
// and put money into its wallets: an audit names it until it is booked, to the last unit.
func TestAnAuditOfRealChainsBesideTheService(t *testing.T) {
	t.Parallel()
	file, all := realConfig(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	ready, answers := io.Pipe()
	ended := make(chan string, 1)
	go func() {
		var trouble bytes.Buffer
		code := run(ctx, []string{"serve", "--config", file, "--json"}, &output{Out: answers, Err: &trouble})
		_ = answers.Close()
		ended <- fmt.Sprintf("%d %s", code, trouble.String())
	}()
	t.Cleanup(func() {
		cancel()
		if said := <-ended; !strings.HasPrefix(said, "0 ") || t.Failed() {
			t.Errorf("the service ended with %s", said)
		}
	})
	for _, c := range all {
		if err := c.on.Do(t.Context(), "mine", map[string]int{"n": 4}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.NewDecoder(ready).Decode(&struct{}{}); err != nil {
		t.Fatalf("the service does not answer: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, ready) }()
	audit := []string{"audit", "--config", file}
	until(t, func(code int, _, _ string) bool { return code == 0 }, audit...)
	var wallets struct {
		Addresses []struct{ Chain, Address string }
	}
	text := must(t, "wallet", "addresses", "--config", file, "--count", "0", "--json")
	if err := json.Unmarshal([]byte(text), &wallets); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, c := range all {
		var hot string
		for _, w := range wallets.Addresses {
			if w.Chain == c.id {
				hot = w.Address
				if c.family == "evm" {
					hot = strings.ToLower(hot)
				}
			}
		}
		const given = 1_234_567
		if err := c.on.Do(t.Context(), "fund", map[string]any{"address": hot, "amount": given}, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.on.Do(t.Context(), "mine", map[string]int{"n": 4}, nil); err != nil {
			t.Fatal(err)
		}
		named := fmt.Sprintf("%s: %d of %s/native is on the wallet and in no book", c.id, given, c.id)
		until(t, func(code int, _, err string) bool { return code == exitRefused && strings.Contains(err, named) }, audit...)
		must(t, "treasury", "fund", "--config", file, c.id+"/native", fmt.Sprint(given))
		until(t, func(code int, out, _ string) bool {
			return code == 0 && strings.Contains(out, fmt.Sprintf("%s/native  books %d, chain %d", c.id, given, given))
		}, audit...)
	}
}
