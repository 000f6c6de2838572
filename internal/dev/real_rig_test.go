package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"ferry/internal/order"
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
	change      func(*front.Config)
}

// options are those of a service, in this process or in another.
func (s stage) options(host *devnet.Host, log io.Writer, say func(string)) Options {
	return Options{
		Dir: s.dir, Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "test", Change: s.change,
		Log:   slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Local: &Local{Host: host, Prefix: s.prefix, Twin: true, Say: say, Log: log, only: s.only},
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
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- r.Run(ctx, func() { close(ready) }) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	select {
	case <-ready:
	case err := <-done:
		done <- nil
		t.Fatalf("the service ended before it answered: %v", err)
	}
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

// fields are those of a JSON object.
type fields = map[string]any

// toldOrder and toldPayout are what a caller reads of an order.
type (
	toldOrder struct {
		OrderID, SessionID, Status, FeeStatus string
		Actual                                struct{ DepositedAmount, ToAmount string }
		Deposits                              []toldDeposit
		Payouts                               []toldPayout
		Failure                               *struct{ Code string }
		Recovery                              *struct{ Status string }
		IntegratorFee                         *struct{ PayoutAddress string }
	}
	toldPayout  struct{ Kind, TxHash, Amount, Token, ToAddress, State string }
	toldDeposit struct{ TxHash, Token, Amount, State, Issue string }
)

func (o toldOrder) recovery() string {
	if o.Recovery == nil {
		return ""
	}
	return o.Recovery.Status
}

func (o toldOrder) failure() string {
	if o.Failure == nil {
		return ""
	}
	return o.Failure.Code
}

// trade is an order of one asset for another with everything that its owner knows.
type trade struct {
	*real
	t                *testing.T
	from, to         place
	id, session, key string
	toAddr, back     string // where the money goes, and where it goes back to
	order            order.Order
}

// place is an asset as callers name it.
type place struct{ slug, symbol string }

func (p place) String() string { return p.slug + " " + p.symbol }

// asset is the asset of a place.
func (r *real) asset(p place) chain.Asset {
	for _, a := range r.Network.assets {
		if a.Symbol == p.symbol && a.Asset.Asset.Chain == r.on[p.slug].ID {
			return a.Asset.Asset
		}
	}
	panic("no asset " + p.String())
}

func (r *real) token(p place) string {
	if a := r.asset(p); !a.IsNative() {
		return a.Ref
	}
	return "native"
}

// worth is so many dollars of an asset.
func (r *real) worth(p place, dollars string) money.Amount {
	h := holdings[p.symbol]
	unit, price := money.MustParse("1"), h.price
	for range h.decimals {
		unit, _ = unit.MulDiv(money.FromUint64(10), money.FromUint64(1), money.Down)
	}
	n, err := unit.MulDiv(money.MustParse(dollars), money.MustParse(price), money.Down)
	if err != nil {
		panic(err)
	}
	return n
}

// insist asks again while it is told that it may: a node of a busy machine may take
// too long to say what sending costs.
func (r *real) insist(t *testing.T, key, path string, body any) (code int, text []byte) {
	t.Helper()
	r.wait(t, path+" is answered", func() bool {
		code, text = r.ask(t, key, "", http.MethodPost, path, body)
		return code != http.StatusServiceUnavailable
	})
	return code, text
}

// open asks for a quote and makes an order of it.
func (r *real) open(t *testing.T, key string, from, to place) *trade {
	t.Helper()
	return r.openNamed(t, key, from, to, t.Name())
}

// openNamed is open for somebody whose addresses are nobody else's.
func (r *real) openNamed(t *testing.T, key string, from, to place, whose string) *trade {
	t.Helper()
	w := &trade{real: r, t: t, from: from, to: to, key: key}
	w.toAddr, w.back = r.fresh(to.slug, whose+" receives"), r.fresh(from.slug, whose+" gets back")
	var quoted struct {
		QuoteID string `json:"quoteId"`
	}
	code, text := r.insist(t, key, "/v2/quotes", fields{
		"fromChainId": from.slug, "fromToken": r.token(from), "toChainId": to.slug, "toToken": r.token(to),
		"amount": r.worth(from, "240").String(), "toAddress": w.toAddr,
	})
	if err := json.Unmarshal(text, &quoted); code != http.StatusOK || err != nil || quoted.QuoteID == "" {
		t.Fatalf("the quote was answered with %d %s, %v", code, text, err)
	}
	code, text = r.insist(t, key, "/v2/orders", fields{"quoteId": quoted.QuoteID, "toAddress": w.toAddr, "refundAddress": w.back})
	var made toldOrder
	if err := json.Unmarshal(text, &made); code != http.StatusCreated || err != nil {
		t.Fatalf("the order was answered with %d %s, %v", code, text, err)
	}
	w.id, w.session = made.OrderID, made.SessionID
	var err error
	if w.order, err = r.DB.Order(t.Context(), order.ID(w.id)); err != nil {
		t.Fatal(err)
	}
	return w
}

// pay pays what the order asks for, or so many hundredths of it.
func (w *trade) pay(percent uint64) money.Amount {
	w.t.Helper()
	n, err := w.order.Quote.In.MulDiv(money.FromUint64(percent), money.FromUint64(100), money.Down)
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(w.order.Quote.Give, n)
	return n
}

// send pays in whatever asset of the chain.
func (w *trade) send(x chain.Asset, n money.Amount) chain.TxID {
	w.t.Helper()
	tx, err := w.Network.Send(w.t.Context(), x, w.order, n)
	if err != nil {
		w.t.Fatal(err)
	}
	return tx
}

// read reads the order as its owner.
func (w *trade) read() (o toldOrder) {
	w.t.Helper()
	code, text := w.ask(w.t, w.key, w.session, http.MethodGet, "/v2/orders/"+w.id, nil)
	if err := json.Unmarshal(text, &o); code != http.StatusOK || err != nil {
		w.t.Fatalf("order %s was answered with %d %s, %v", w.id, code, text, err)
	}
	return o
}

// until waits until the order has a status.
func (w *trade) until(status ...string) (o toldOrder) {
	w.t.Helper()
	w.so(strings.Join(status, " or "), func(now toldOrder) bool { return slices.Contains(status, now.Status) }, &o)
	return o
}

// so waits until something is so of the order.
func (w *trade) so(what string, so func(toldOrder) bool, last *toldOrder) {
	w.t.Helper()
	var o toldOrder
	defer func() {
		if w.t.Failed() {
			text, _ := json.Marshal(o)
			w.t.Logf("order %s is now: %s", w.id, text)
		}
	}()
	w.wait(w.t, w.id+" is "+what, func() bool { o = w.read(); return so(o) })
	if last != nil {
		*last = o
	}
}

// act does what an owner may do.
func (w *trade) act(what string, body any) {
	w.t.Helper()
	if code, text := w.ask(w.t, w.key, w.session, http.MethodPost, "/v2/orders/"+w.id+"/"+what, body); code != http.StatusOK {
		w.t.Fatalf("%s of order %s was answered with %d %s", what, w.id, code, text)
	}
}

var errNoPayout = errors.New("there is none")

// payout is the one payment of a kind that the order tells of.
func payout(o toldOrder, kind string) (toldPayout, error) {
	var found []toldPayout
	for _, p := range o.Payouts {
		if p.Kind == kind {
			found = append(found, p)
		}
	}
	if len(found) != 1 || found[0].State != "confirmed" || found[0].TxHash == "" {
		return toldPayout{}, fmt.Errorf("%w that is confirmed: %+v", errNoPayout, found)
	}
	return found[0], nil
}
