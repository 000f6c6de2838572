package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/limit"
	"ferry/internal/money"
	"ferry/internal/office"
)

// Settings of services on real nodes in tests. Blocks come as fast as watchers keep up
// with under the race detector, of which some have more chains to watch than others.
const (
	manyBlocks = 500 * time.Millisecond
	fewBlocks  = 300 * time.Millisecond
	// briefFunding is longer than a payment may take to be seen on a busy machine.
	briefFunding = 35 * time.Second
)

// networks tells the networks of one host apart.
var networks atomic.Int64

func networkPrefix() string { return fmt.Sprintf("dev-%d-", networks.Add(1)) }

// real is a whole service on real nodes, asked over HTTP as a stranger asks.
type real struct {
	*Dev
	on   map[string]front.Chain // by slug
	key  string                 // of an integrator that takes no fee
	stop func()
	logs *kept
	http http.Client
}

// kept is what the service says of its troubles, shown when a test fails.
type kept struct {
	mu   sync.Mutex
	text strings.Builder
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.Write(p)
}

func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.String()
}

// calm lets nobody be held back, and has what runs seldom run often.
func calm(c *front.Config) {
	c.IP = limit.IPLimits{Window: limit.DefaultIPLimits.Window}
	c.Access.Every = 100 * time.Millisecond
	c.Pace.Sweep = 500 * time.Millisecond
	c.Pace.Audit = 3 * time.Second // in the middle of everything; one that finds money missing halts the chain
	c.Sweep.Age = time.Second
}

// stage is how a service on real nodes is started. What its folder keeps is gone on with.
type stage struct {
	dir, prefix string
	only        []chain.ID    // nil is all chains
	blocks      time.Duration // between two of them
	brief       []chain.ID    // chains whose orders expire while a test waits
	pools       bool          // Uniswap's contracts are on the EVM chains
	change      func(*front.Config)
}

// options are those of a service, in this process or in another.
func (s stage) options(host *devnet.Host, log io.Writer, say func(string)) Options {
	return Options{
		Dir: s.dir, Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "test", Change: s.change,
		Log:   slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Local: &Local{Host: host, Prefix: s.prefix, Twin: true, Say: say, Log: log, only: s.only, Bare: !s.pools},
		over: func(all []front.Chain) {
			for i := range all {
				if slices.Contains(s.brief, all[i].ID) {
					all[i].Funding = briefFunding
				}
			}
		},
	}
}

// begin starts a service and waits until it answers.
func (s stage) begin(t *testing.T) *real {
	t.Helper()
	r := &real{logs: &kept{}, on: map[string]front.Chain{}, http: http.Client{Timeout: patience}}
	var err error
	if r.Dev, err = New(t.Context(), s.options(devnettest.Host(t), r.logs, func(line string) { t.Log(line) })); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the service said:\n%s", tail(r.logs.String(), 8000))
		}
	})
	r.quicken(s.blocks)
	r.run(t)
	for _, c := range r.Network.chains {
		r.on[c.Slug] = c
	}
	return r
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// run serves in the background until stop, or until the test ends.
func (r *real) run(t *testing.T) {
	t.Helper()
	r.stop = r.served(t)
}

// served serves in the background until it is told to stop, or until the test ends.
func (d *Dev) served(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- d.Run(ctx, func() { close(ready) }) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	select {
	case <-ready:
	case err := <-done:
		done <- nil
		t.Fatalf("the service ended before it answered: %v", err)
	}
	return stop
}

// closeChains ends the chains when the test does.
func (r *real) closeChains(t *testing.T) {
	t.Cleanup(func() {
		r.stop()
		for _, g := range r.Network.grounds {
			if err := nodeOf(g).on.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
}

// quicken has the chains make blocks faster than a newcomer could follow.
func (d *Dev) quicken(every time.Duration) {
	for _, g := range d.Network.grounds {
		auto := nodeOf(g).auto
		for name, ms := range auto {
			auto[name] = min(ms, int(every/time.Millisecond))
		}
	}
}

// nodeOf is the real node of a chain; a simulated one has none, and then there is
// nothing to be shown here.
func nodeOf(g ground) node {
	switch g := g.(type) {
	case evmNode:
		return g.node
	case bitcoinNode:
		return g.node
	case solanaNode:
		return g.node
	}
	panic(fmt.Sprintf("%T is no real node", g))
}

// company makes an integrator with addresses of its own, and gives its server key.
// With a fee it takes that much of every order.
func (r *real) company(t *testing.T, name string, fee *money.Percent) string {
	t.Helper()
	ctx := t.Context()
	i, err := r.Front.Office.Create(ctx, name, "test")
	if err != nil {
		t.Fatal(err)
	}
	if fee == nil {
		fee = new(money.Percent)
	}
	payTo := map[chain.Family]string{}
	for _, c := range r.Network.chains {
		payTo[c.Family] = r.fresh(c.Slug, name+" earns")
	}
	none := int64(0)
	_, err = r.Front.Office.Change(ctx, i.ID, office.Patch{
		Fees: office.Fees{Default: fee, PayTo: payTo}, Limits: office.Limits{Requests: &none, Quotes: &none, Creates: &none, OpenOrders: &none},
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := r.Front.Office.IssueKey(ctx, i.ID, office.NewKey{Kind: integrator.Server, Label: "test", Requests: &none}, "test")
	if err != nil {
		t.Fatal(err)
	}
	r.wait(t, "the key of "+name+" opens the service", func() bool {
		code, _ := r.ask(t, key.Reveal(), "", http.MethodGet, "/v2/integrator/me", nil)
		return code == http.StatusOK
	})
	return key.Reveal()
}

// fresh is an address of a chain that nobody has used.
func (r *real) fresh(slug, of string) string {
	for _, c := range r.Network.chains {
		if c.Slug == slug {
			return c.Codec.Show(c.Codec.Make([]byte(of + " on " + string(c.Family))))
		}
	}
	panic("no chain " + slug)
}

// wait waits until something is so.
func (r *real) wait(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(300 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for this: %s", patience, what)
		}
	}
}

// ask makes a request.
func (r *real) ask(t *testing.T, key, session, method, path string, body any) (int, []byte) {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	q, err := http.NewRequestWithContext(t.Context(), method, r.Card.API+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"X-Integrator-Key": key, "X-Session-ID": session} {
		if value != "" {
			q.Header.Set(name, value)
		}
	}
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	resp, err := r.http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}
