package kyber_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"ferry/internal/chain"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/venue/kyber"
)

const (
	ether    = chain.ID("eip155:1")
	own      = "0x00000000000000000000000000000000000f0e11"
	router   = "0x6131b5fae19ea4f9d964eac0408e4408b66337b5"
	executor = "0x63242a4ea82847b20e506b63b0e2e2eff0cc6cb0"
	mallory  = "0x00000000000000000000000000000000000bad00"
	pool     = "0x9a772018fbd77fcd2d25657e5c547baff3fd7d16"
)

var (
	usdc  = chain.Asset{Chain: ether, Ref: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}
	wbtc  = chain.Asset{Chain: ether, Ref: "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599"}
	coins = ether.Native()
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func addr(text string) chain.Address { return chain.CanonicalAddress(chain.EVM, text) }

func amount(text string) money.Amount { return money.MustParse(text) }

type object = map[string]any

// recorded is an answer as it was recorded.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func opened(t testing.TB, name string) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(recorded(t, name), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// service answers as the aggregator does, in the shapes that were recorded, unless a
// test bends its answers.
type service struct {
	t   testing.TB
	url string

	mu       sync.Mutex
	num, den *big.Int // the price of what is given
	asked    []string // where it was asked
	headers  []http.Header
	built    object // the last question for a call
	executor common.Address
	router   string
	// bendRoute and bendBuild change answers; instead answers in another's place.
	bendRoute func(o object)
	bendBuild func(e *kyber.Execution, o object)
	instead   func(w http.ResponseWriter, r *http.Request) bool
}

func newService(t testing.TB) *service {
	s := &service{t: t, num: big.NewInt(1), den: big.NewInt(1000), executor: common.HexToAddress(executor), router: router}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *service) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// times is how often it was asked.
func (s *service) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.headers = append(s.asked, r.Method+" "+r.URL.Path), append(s.headers, r.Header.Clone())
	if s.instead != nil && s.instead(w, r) {
		return
	}
	var o object
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/ethereum/api/v1/routes":
		o = s.route(r)
	case r.Method == http.MethodPost && r.URL.Path == "/ethereum/api/v1/route/build":
		var ok bool
		if o, ok = s.build(r); !ok {
			w.WriteHeader(http.StatusBadRequest)
		}
	default:
		w.WriteHeader(http.StatusNotFound)
		o = object{"code": 404, "message": "not found"}
	}
	if err := json.NewEncoder(w).Encode(o); err != nil {
		s.t.Error(err)
	}
}

func (s *service) route(r *http.Request) object {
	o := opened(s.t, "route")
	q, data := r.URL.Query(), o["data"].(object)
	in, ok := new(big.Int).SetString(q.Get("amountIn"), 10)
	if !ok {
		return opened(s.t, "badquery")
	}
	out := in.Div(in.Mul(in, s.num), s.den)
	maps.Copy(data["routeSummary"].(object), object{
		"tokenIn": q.Get("tokenIn"), "tokenOut": q.Get("tokenOut"), "amountIn": q.Get("amountIn"), "amountOut": out.String(),
	})
	data["routerAddress"] = s.router
	if s.bendRoute != nil {
		s.bendRoute(data)
	}
	return o
}

// build writes the call as the aggregator does: one unit less than the way promised, and
// of that what the slippage leaves.
func (s *service) build(r *http.Request) (object, bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	s.built = object{}
	if err := json.Unmarshal(body, &s.built); err != nil {
		return opened(s.t, "badquery"), false
	}
	summary := s.built["routeSummary"].(object)
	number := func(name string) *big.Int {
		n, _ := new(big.Int).SetString(summary[name].(string), 10)
		return n
	}
	in, out := number("amountIn"), number("amountOut")
	out.Sub(out, big.NewInt(1))
	least := new(big.Int).Mul(out, big.NewInt(10_000-int64(s.built["slippageTolerance"].(float64))))
	e := kyber.Execution{
		CallTarget: s.executor, TargetData: []byte("the way"), ClientData: []byte(`{"Source":"ferry"}`),
		Desc: kyber.Description{
			SrcToken: common.HexToAddress(summary["tokenIn"].(string)), DstToken: common.HexToAddress(summary["tokenOut"].(string)),
			SrcReceivers: []common.Address{s.executor}, SrcAmounts: []*big.Int{in}, FeeReceivers: []common.Address{}, FeeAmounts: []*big.Int{},
			DstReceiver: common.HexToAddress(s.built["recipient"].(string)), Amount: in, MinReturnAmount: least.Div(least, big.NewInt(10_000)),
			Flags: big.NewInt(0x200), Permit: []byte{},
		},
	}
	o := opened(s.t, "build")
	data := o["data"].(object)
	maps.Copy(data, object{"amountIn": in.String(), "amountOut": out.String(), "routerAddress": s.router})
	if e.Desc.SrcToken == kyber.Coin {
		e.Desc.SrcReceivers, e.Desc.SrcAmounts = nil, nil
		data["transactionValue"] = in.String()
	}
	data["data"] = ""
	if s.bendBuild != nil {
		s.bendBuild(&e, data)
	}
	if data["data"] == "" {
		data["data"] = hexutil.Encode(kyber.PackSwap(e))
	}
	return o, true
}

// book is a chain that says what a test wrote down.
type book struct {
	mu       sync.Mutex
	allowed  map[string]*big.Int // by token
	receipts map[chain.TxID]chain.Receipt
	down     error
}

func (b *book) View(_ context.Context, to chain.Address, data []byte) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down != nil {
		return nil, b.down
	}
	if len(data) != 68 || !bytes.Equal(data[:4], []byte{0xdd, 0x62, 0xed, 0x3e}) {
		return nil, errors.New("that is no question about an allowance")
	}
	n := b.allowed[to.Text()]
	if n == nil {
		n = new(big.Int)
	}
	return common.BigToHash(n).Bytes(), nil
}

func (b *book) Receipt(_ context.Context, tx chain.TxID) (chain.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down != nil {
		return chain.Receipt{}, b.down
	}
	return b.receipts[tx], nil
}

// rig is a venue with a service and a chain.
type rig struct {
	t       testing.TB
	service *service
	book    *book
	client  *kyber.Client
	venue   *kyber.Venue
	told    []kyber.Notice
	now     time.Time
}

func settings() kyber.Config {
	return kyber.Config{
		Chain: ether, Slug: "ethereum", Own: addr(own), Router: addr(router), Executors: []chain.Address{addr(executor)},
		Assets: []chain.Asset{usdc, wbtc, coins}, Slippage: money.Whole / 100, Approve: 4, Patience: 5 * time.Minute, Poll: 3 * time.Second,
	}
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, service: newService(t), book: &book{allowed: map[string]*big.Int{}, receipts: map[chain.TxID]chain.Receipt{}}, now: start}
	var err error
	if r.client, err = kyber.NewClient(kyber.ClientConfig{URL: r.service.url, ID: "ferry-test", PerSecond: 1000, Now: func() time.Time { return r.now }}); err != nil {
		t.Fatal(err)
	}
	cfg := settings()
	cfg.Noticed = func(n kyber.Notice) { r.told = append(r.told, n) }
	if r.venue, err = kyber.New(cfg, r.book, r.client); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) allow(a chain.Asset, n int64) {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	r.book.allowed[a.Ref] = big.NewInt(n)
}

// step is 2500 dollars for at least 0.0245 bitcoin.
func step(in, out chain.Asset) quote.Step {
	return quote.Step{
		Venue: kyber.Name, In: in, Out: out, Give: amount("2500000000"), Bring: amount("2499999"), MinOut: amount("2450000"), Plan: []byte{1},
	}
}

func (r *rig) best(give, get chain.Asset, side market.Side, n string) (market.PoolDeal, error) {
	return r.venue.Best(r.t.Context(), market.PoolAsk{Give: give, Get: get, Side: side, Amount: amount(n), At: r.now})
}

func (r *rig) next(s quote.Step, in string, calls ...quote.Sent) quote.Move {
	r.t.Helper()
	m, err := r.venue.Next(r.t.Context(), s, quote.Progress{In: amount(in), Calls: calls, At: r.now})
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// sent takes a call out of a move that must be one.
func sent(t testing.TB, m quote.Move) chain.Call {
	t.Helper()
	s, ok := m.(quote.Send)
	if !ok {
		t.Fatalf("it does not send: %T %+v", m, m)
	}
	return s.Call
}

// settled is a call with what became of it.
func settled(c chain.Call, tx string, f chain.Fate) quote.Sent {
	return quote.Sent{Call: c, Tx: chain.TxID(tx), Fate: f}
}

// transfer is what a token says when it moved.
func transfer(token chain.Asset, from, to string, n int64) chain.Log {
	return chain.Log{Address: addr(token.Ref), Topics: []chain.Word{
		chain.Word(common.HexToHash("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")), wordOf(from), wordOf(to),
	}, Data: common.BigToHash(big.NewInt(n)).Bytes()}
}

func wordOf(a string) chain.Word {
	return chain.Word(common.HexToHash("0x" + strings.Repeat("0", 24) + a[2:]))
}

// landed writes down that a call landed with what contracts said.
func (r *rig) landed(c chain.Call, tx string, logs ...chain.Log) quote.Sent {
	rc := chain.Receipt{Tx: chain.TxID(tx), Fate: chain.Final, From: addr(own), To: c.To, Data: c.Data, Logs: logs}
	if c.Asset.IsNative() {
		rc.Value = c.Amount
	}
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	r.book.receipts[rc.Tx] = rc
	return settled(c, tx, chain.Final)
}

func says(w http.ResponseWriter, status int, body []byte) bool {
	w.WriteHeader(status)
	_, _ = w.Write(body)
	return true
}
