package kyber

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"ferry/internal/money"
	"ferry/internal/venue/contract"
)

// Codes of the service with which it says that it has no way: none found, the amount is
// above what it takes, no pools, and a token that it does not know.
const (
	codeNoRoute = 4008
	codeTooMuch = 4009
	codeNoPools = 4010
	codeNoToken = 4011
)

// Bounds of what is believed of an answer.
const (
	maxData = 64 << 10   // of a call: no node takes a transaction of twice as much
	maxGas  = 15_000_000 // of a swap
	maxText = 120        // of what it says that we repeat in a log
)

// envelope is around every answer.
type envelope struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// open takes an answer out of its envelope.
func open(status int, body []byte) ([]byte, error) {
	var e envelope
	err := json.Unmarshal(body, &e)
	switch {
	case status >= 500 || err != nil || status < 400 && status != http.StatusOK:
		return nil, fmt.Errorf("%w: status %d", errService, status)
	case e.Code == codeNoRoute || e.Code == codeTooMuch || e.Code == codeNoPools || e.Code == codeNoToken:
		return nil, fmt.Errorf("%w: code %d, %q", errNoWay, e.Code, clip(e.Message))
	case status != http.StatusOK || e.Code != 0:
		return nil, fmt.Errorf("kyber: the aggregator refuses: status %d, code %d, %q", status, e.Code, clip(e.Message))
	case len(e.Data) == 0:
		return nil, fmt.Errorf("%w: there is nothing in its answer", errService)
	}
	return e.Data, nil
}

func clip(s string) string {
	if len(s) > maxText {
		return s[:maxText]
	}
	return s
}

// ask is what is exchanged on a chain.
type ask struct {
	slug     string
	src, dst common.Address
	in       money.Amount
	router   common.Address
}

// way is a way that the aggregator found.
type way struct {
	summary json.RawMessage // as it came: it is handed back when the call is asked for
	out     money.Amount
	gas     uint64
	impact  money.Percent
}

// route asks for the best way, and refuses one for something else.
func (c *Client) route(ctx context.Context, w why, a ask) (way, error) {
	q := url.Values{"tokenIn": {text(a.src)}, "tokenOut": {text(a.dst)}, "amountIn": {a.in.String()}}
	body, err := c.ask(ctx, w, http.MethodGet, "/"+a.slug+"/api/v1/routes?"+q.Encode(), nil)
	if err != nil {
		return way{}, err
	}
	var said struct {
		Summary json.RawMessage `json:"routeSummary"`
		Router  string          `json:"routerAddress"`
	}
	var s struct {
		TokenIn   string `json:"tokenIn"`
		AmountIn  string `json:"amountIn"`
		InUSD     string `json:"amountInUsd"`
		TokenOut  string `json:"tokenOut"`
		AmountOut string `json:"amountOut"`
		OutUSD    string `json:"amountOutUsd"`
		Gas       string `json:"gas"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return way{}, fmt.Errorf("%w: %w", errService, err)
	}
	if err := json.Unmarshal(said.Summary, &s); err != nil {
		return way{}, fmt.Errorf("%w: %w", errService, err)
	}
	if !is(said.Router, a.router) || !is(s.TokenIn, a.src) || !is(s.TokenOut, a.dst) || s.AmountIn != a.in.String() {
		return way{}, fmt.Errorf("%w: its way is of %q of %q for %q by %q", errCall, clip(s.AmountIn), clip(s.TokenIn), clip(s.TokenOut), clip(said.Router))
	}
	r := way{summary: said.Summary, impact: impact(s.InUSD, s.OutUSD)}
	if r.out, err = money.Parse(s.AmountOut); err != nil || r.out.IsZero() {
		return way{}, fmt.Errorf("%w: its way brings %q", errService, clip(s.AmountOut))
	}
	if r.gas, err = strconv.ParseUint(s.Gas, 10, 64); err != nil || r.gas > maxGas {
		return way{}, fmt.Errorf("%w: its way uses %q of gas", errService, clip(s.Gas))
	}
	return r, nil
}

// order is what a call is asked for by.
type order struct {
	ask
	way      way
	own      common.Address
	slippage int64 // in hundredths of a percent
	until    time.Time
	coins    money.Amount
}

// build asks for the call that takes a way. Nothing of it is believed but that it came:
// whoever asks must read it.
func (c *Client) build(ctx context.Context, o order) (data []byte, err error) {
	body, err := plain(map[string]any{
		"routeSummary": o.way.summary, "sender": text(o.own), "recipient": text(o.own), "slippageTolerance": o.slippage,
		"deadline": o.until.Unix(), "source": c.cfg.ID,
	})
	if err != nil {
		return nil, err
	}
	got, err := c.ask(ctx, forStep, http.MethodPost, "/"+o.slug+"/api/v1/route/build", body)
	if err != nil {
		return nil, err
	}
	var said struct {
		Data   string `json:"data"`
		Router string `json:"routerAddress"`
		Value  string `json:"transactionValue"`
	}
	if err := json.Unmarshal(got, &said); err != nil {
		return nil, fmt.Errorf("%w: %w", errService, err)
	}
	if !is(said.Router, o.router) {
		return nil, fmt.Errorf("%w: it is for %q and not for the router", errCall, clip(said.Router))
	}
	if said.Value != "" && said.Value != o.coins.String() {
		return nil, fmt.Errorf("%w: %q coins should go with it, and not %s", errCall, clip(said.Value), o.coins)
	}
	if len(said.Data) > 2*maxData {
		return nil, fmt.Errorf("%w: its call is longer than %d bytes", errService, maxData)
	}
	if data, err = hexutil.Decode(said.Data); err != nil {
		return nil, fmt.Errorf("%w: its call: %w", errService, err)
	}
	return data, nil
}

// plain is JSON in which texts stand as they are: the summary is handed back as it came.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// text is an address as the service writes it.
func text(a common.Address) string { return contract.Address(a).Text() }

// is reports whether a text is that address, however it is written.
func is(s string, a common.Address) bool { return strings.EqualFold(s, text(a)) }

// impact is how much less the output is worth, as the service sees it. It is shown to
// people and decides nothing.
func impact(in, out string) money.Percent {
	a, err := strconv.ParseFloat(in, 64)
	b, bad := strconv.ParseFloat(out, 64)
	if off := 1 - b/a; err == nil && bad == nil && a > 0 && b >= 0 && off > 0 && off <= 1 {
		return money.Percent(math.Round(off * float64(money.Whole)))
	}
	return 0
}
