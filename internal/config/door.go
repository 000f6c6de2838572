package config

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/limit"
	"ferry/internal/market"
	"ferry/internal/money"
)

// API is the door that everybody uses.
type API struct {
	Listen  string
	URL     string // where it is reached from outside; empty is wherever it listens
	Proxies []netip.Prefix
	Header  string // in which the proxies say who asks
	Room    int64  // requests at once in the whole process
	// SecretFile holds what the deployment's own secrets are made from.
	SecretFile string
}

// Market is what is sold, and at what price.
type Market struct {
	Spread, Slippage, Tolerance money.Percent
	Min, Max                    money.USD
	Fixed                       bool  // whether fixed rates are offered
	Guard                       Guard // of every price
	Guards                      []Guard
}

func readAPI(r *reader, t table) API {
	a := API{
		Listen: r.address(t, "listen", "127.0.0.1:8080"), URL: r.or(t, "url", ""), Header: r.or(t, "proxyHeader", ""),
		Room: r.bounded(t, "maxRequests", 4096, 1, 1_000_000), SecretFile: r.or(t, "secretFile", "ferry.secret"),
	}
	nets, _ := r.texts(t, "trustedProxies")
	for i, text := range nets {
		p, err := netip.ParsePrefix(text)
		if err != nil || p != p.Masked() {
			r.refuse(fmt.Sprintf("%s[%d]", t.key("trustedProxies"), i), "%q is not a network; write such as \"10.0.0.0/8\" or \"203.0.113.7/32\"", clip(text))
			continue
		}
		a.Proxies = append(a.Proxies, p)
	}
	if _, err := access.NewProxies(a.Proxies, a.Header); err != nil {
		r.refuse(t.key("proxyHeader"), "%v", err)
	}
	return a
}

// address reads where to listen.
func (r *reader) address(t table, name, usual string) string {
	text := r.or(t, name, usual)
	if _, _, err := net.SplitHostPort(text); err != nil {
		r.refuse(t.key(name), "%q is not an address to listen on; write such as %q", clip(text), usual)
	}
	return text
}

// or reads a text that may be left out.
func (r *reader) or(t table, name, usual string) string {
	text, ok := r.text(t, name)
	if !ok {
		return usual
	}
	return text
}

// bounded reads a whole number that may be left out.
func (r *reader) bounded(t table, name string, usual, least, most int64) int64 {
	n, ok := take[int64](r, t, name, "a whole number")
	if !ok {
		return usual
	}
	if n < least || n > most {
		r.refuse(t.key(name), "is %d; write from %d to %d", n, least, most)
	}
	return n
}

// Webhooks are how integrators are told of their orders.
type Webhooks struct {
	Silent   bool // this process sends none
	Loopback bool // endpoints on this machine are allowed, without TLS
	// AtOnce is how many posts are made at a time, PerEndpoint to one endpoint.
	AtOnce, PerEndpoint int64
}

func readWebhooks(r *reader, t table) Webhooks {
	const most = 10_000
	w := Webhooks{
		Silent: r.flag(t, "silent"), Loopback: r.flag(t, "allowHttpLoopback"),
		AtOnce: r.bounded(t, "maxAtOnce", 256, 1, most), PerEndpoint: r.bounded(t, "maxPerEndpoint", 8, 1, most),
	}
	if w.PerEndpoint > w.AtOnce {
		r.refuse(t.key("maxPerEndpoint"), "is above maxAtOnce, so that one endpoint could hold up all others; write at most %d", w.AtOnce)
	}
	return w
}

// Live bounds live connections. Zero disables a bound of connections.
type Live struct{ PerAddress, PerKey, Subscriptions int64 }

func readLive(r *reader, t table) Live {
	const most = 1_000_000
	return Live{
		PerAddress: r.bounded(t, "connectionsPerAddress", 50, 0, most), PerKey: r.bounded(t, "connectionsPerKey", 1000, 0, most),
		Subscriptions: r.bounded(t, "subscriptionsPerConnection", 100, 1, 1000),
	}
}

func readLimits(r *reader, t table) limit.IPLimits {
	d := limit.DefaultIPLimits
	const most = 1_000_000_000
	l := limit.IPLimits{
		Requests: r.bounded(t, "ipRequests", d.Requests, 0, most), Quotes: r.bounded(t, "ipQuotes", d.Quotes, 0, most),
		Creates: r.bounded(t, "ipCreates", d.Creates, 0, most), OpenOrders: r.bounded(t, "ipOpenOrders", d.OpenOrders, 0, most),
		AccessFailures: r.bounded(t, "ipAccessFailures", d.AccessFailures, 0, most), Window: r.wait(t, "ipWindow", d.Window),
	}
	if err := l.Check(); err != nil {
		r.refuse(t.path, "%v", err)
	}
	return l
}

func readMarket(r *reader, t table) Market {
	m := Market{
		Spread: r.percent(t, "spreadPercent", "0.3"), Slippage: r.percent(t, "slippagePercent", "0.5"),
		Tolerance: r.percent(t, "tolerancePercent", "0.5"), Fixed: r.flag(t, "fixedRates"),
		Min: r.dollars(t, "minUsd", "5"), Max: r.dollars(t, "maxUsd", "10000"), Guard: readGuard(r, t),
	}
	if m.Max < m.Min {
		r.refuse(t.key("maxUsd"), "is below minUsd, so that nothing could be sold")
	}
	return m
}

// percent reads a share of at most half.
func (r *reader) percent(t table, name, usual string) money.Percent {
	text := r.or(t, name, usual)
	p, err := money.ParsePercent(text)
	if err != nil || p <= 0 || p > money.Whole/2 {
		r.refuse(t.key(name), "%q is not a percentage above 0 and at most 50; write such as %q", clip(text), usual)
	}
	return p
}

// dollars reads an amount above nothing that may be left out.
func (r *reader) dollars(t table, name, usual string) money.USD {
	text := r.or(t, name, usual)
	u, err := money.ParseUSD(text)
	if err != nil || u <= 0 {
		r.refuse(t.key(name), "%q is not an amount of dollars above 0; write such as %q", clip(text), usual)
	}
	return u
}

// pairs reads a table of texts.
func (r *reader) pairs(t table, name string) map[string]string {
	m, ok := take[map[string]any](r, t, name, "a table of texts in quotes")
	if !ok {
		return nil
	}
	out := map[string]string{}
	for k, v := range m {
		text, ok := v.(string)
		if !ok || strings.ContainsFunc(k+text, unicode.IsControl) {
			r.refuse(t.key(name)+"."+clip(k), "is not plain text in quotes; write plain text in quotes")
			continue
		}
		out[k] = text
	}
	return out
}

func readTokens(r *reader, raw map[string]any) []market.Asset {
	tables, _ := r.tables(table{values: raw}, "tokens")
	var all []market.Asset
	for _, t := range tables {
		a := market.Asset{Symbol: r.must(t, "symbol", "ETH"), Decimals: int(r.bounded(t, "decimals", -1, 0, 24)), Dust: money.FromUint64(1)}
		text := r.must(t, "asset", "eip155:1/native")
		x, err := chain.ParseAsset(text)
		if err != nil && text != "" {
			r.refuse(t.key("asset"), "%q is not an asset; write its chain and its name there, such as \"eip155:1/native\"", clip(text))
		}
		x.Ref = canonicalRef(x.Ref)
		if a.Asset = x; a.Decimals < 0 {
			r.missing(t, "decimals", "write how many decimals a whole unit has, such as decimals = 18")
		}
		if dust, ok := r.text(t, "dust"); ok {
			n, err := money.Parse(dust)
			if err != nil || n.IsZero() {
				r.refuse(t.key("dust"), "%q is not the least that can be sent, in smallest units above 0", clip(dust))
			}
			a.Dust = n
		}
		if slices.ContainsFunc(all, func(o market.Asset) bool { return o.Asset == a.Asset }) {
			r.refuse(t.key("asset"), "%q stands there twice; remove one", clip(text))
		}
		all = append(all, a)
	}
	return all
}

// fast is how long a block of a chain usually takes where nothing is said.
const fast = 10 * time.Second
