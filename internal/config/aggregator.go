package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Aggregator is somebody outside who exchanges assets of a chain; the zero one is none.
type Aggregator struct {
	On            bool
	URL, ClientID string
	PerSecond     int64 // questions that it takes
	// MaxOff is how far below what prices say its routes may be, and Slippage how much
	// less a swap may bring on chain than the way that it was made of.
	MaxOff, Slippage money.Percent
	Approve          int64 // how many times what a step needs is allowed at once
	Patience         time.Duration
	Chains           []AggregatorChain
}

// AggregatorChain is a chain on which it is used.
type AggregatorChain struct {
	ID   chain.ID
	Slug string // as the aggregator calls it
	// Router is its contract, and Executors those that it may hand a swap to.
	Router    string
	Executors []string
	// Assets are what is exchanged; Hubs those of them between which the inventory
	// carries value from chain to chain.
	Assets, Hubs []chain.Asset
}

// What is usual: KyberSwap's public service and its router, which has one address on
// nearly every chain.
const (
	aggregatorURL    = "https://aggregator-api.kyberswap.com"
	aggregatorRouter = "0x6131b5fae19ea4f9d964eac0408e4408b66337b5"
)

// contractAddress is the form of the address of a contract of the family evm, and
// aggregatorSlug that of the aggregator's name for a chain.
var (
	contractAddress = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
	aggregatorSlug  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
)

func readAggregator(r *reader, t table, chains []Chain) Aggregator {
	if !r.flag(t, "enabled") {
		return Aggregator{}
	}
	a := Aggregator{
		On: true, URL: r.or(t, "url", aggregatorURL), ClientID: r.must(t, "clientId", "my-ferry"), PerSecond: r.bounded(t, "perSecond", 3, 2, 1000),
		MaxOff: r.percent(t, "maxOffPercent", "1"), Slippage: r.percent(t, "slippagePercent", "0.5"),
		Approve: r.bounded(t, "approveTimes", 4, 1, 1000), Patience: r.wait(t, "patience", 5*time.Minute),
	}
	if !strings.HasPrefix(a.URL, "https://") && !strings.HasPrefix(a.URL, "http://127.0.0.1:") {
		r.refuse(t.key("url"), "is not where the aggregator answers; write such as %q, or leave it out", aggregatorURL)
	}
	tables, ok := r.tables(t, "chains")
	if !ok || len(tables) == 0 {
		r.refuse(t.key("chains"), "is missing or empty; none never means all of them, add an [[aggregator.chains]] table for each chain")
	}
	for _, one := range tables {
		c := readAggregatorChain(r, one, chains)
		if slices.ContainsFunc(a.Chains, func(o AggregatorChain) bool { return o.ID == c.ID }) {
			r.refuse(one.key("chain"), "%q stands there twice; give each chain one [[aggregator.chains]] table", c.ID)
		}
		a.Chains = append(a.Chains, c)
	}
	return a
}

func readAggregatorChain(r *reader, t table, chains []Chain) AggregatorChain {
	c := AggregatorChain{
		ID: chain.ID(r.must(t, "chain", "eip155:1")), Slug: r.must(t, "slug", "ethereum"), Router: strings.ToLower(r.or(t, "router", aggregatorRouter)),
	}
	if c.Slug != "" && !aggregatorSlug.MatchString(c.Slug) {
		r.refuse(t.key("slug"), "%q is not what the aggregator calls a chain; write such as \"ethereum\"", clip(c.Slug))
	}
	if !contractAddress.MatchString(c.Router) {
		r.refuse(t.key("router"), "%q is not the address of a contract; leave it out for the usual one", clip(c.Router))
	}
	texts, _ := r.texts(t, "executors")
	if len(texts) == 0 {
		r.refuse(t.key("executors"), "is missing or empty; none never means any, name the contracts that the router may hand a swap to")
	}
	for i, x := range texts {
		if !contractAddress.MatchString(x) {
			r.refuse(fmt.Sprintf("%s[%d]", t.key("executors"), i), "%q is not the address of a contract", clip(x))
		}
		c.Executors = append(c.Executors, strings.ToLower(x))
	}
	at := slices.IndexFunc(chains, func(o Chain) bool { return o.ID == c.ID })
	if at < 0 || chains[at].Family != chain.EVM || chains[at].Kind != RPC {
		if c.ID != "" {
			r.refuse(t.key("chain"), "%q is no chain of real nodes of the family evm that is served; add its [[chains]] table first", clip(string(c.ID)))
		}
		return c
	}
	if c.Assets = readAssets(r, t, "assets", c.ID); len(c.Assets) == 1 {
		r.refuse(t.key("assets"), "has one asset; an exchange needs two")
	}
	held(r, t.key("assets"), c.Assets, chains[at].Assets, "is not served on its chain; add it to the chain's assets first")
	if _, there := t.values["hubs"]; there {
		c.Hubs = readAssets(r, t, "hubs", c.ID)
		held(r, t.key("hubs"), c.Hubs, c.Assets, "is not one of its assets; add it there first")
	}
	return c
}

// held refuses what is not among those that are there.
func held(r *reader, key string, all, among []chain.Asset, why string) {
	for _, a := range all {
		if !slices.Contains(among, a) {
			r.refuse(key, "%s "+why, a)
		}
	}
}

// showAggregator writes who exchanges outside.
func (c Config) showAggregator(line func(string, ...any)) {
	a := c.Aggregator
	if !a.On {
		return
	}
	line("\n[aggregator]\nenabled = true\nurl = %s\nclientId = %s\nperSecond = %d\nmaxOffPercent = %q\nslippagePercent = %q\napproveTimes = %d\npatience = %q",
		quote(a.URL), quote(a.ClientID), a.PerSecond, a.MaxOff, a.Slippage, a.Approve, a.Patience)
	for _, one := range a.Chains {
		line("\n[[aggregator.chains]]\nchain = %q\nslug = %s\nrouter = %q\nexecutors = %s\nassets = %s",
			one.ID, quote(one.Slug), one.Router, listed(one.Executors), listed(refs(one.Assets)))
		if len(one.Hubs) > 0 {
			line("hubs = %s", listed(refs(one.Hubs)))
		}
	}
}
