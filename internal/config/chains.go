package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/watch"
)

// deepest bounds how many blocks anything may wait for: more is a typing error.
const deepest = 1_000_000

// caip2 is the form of a chain's name.
var caip2 = regexp.MustCompile(`^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$`)

// slug is the form of a chain's name for callers.
var slug = regexp.MustCompile(`^[a-zA-Z0-9][-_a-zA-Z0-9]{0,63}$`)

// assetRef is the form of an asset's name on its chain.
var assetRef = regexp.MustCompile(`^[-._a-zA-Z0-9:]{1,128}$`)

func readChains(r *reader, raw map[string]any) []Chain {
	const what = "an empty list never means all of them; add a [[chains]] table for each chain"
	tables, ok := r.tables(table{values: raw}, "chains")
	if !ok {
		r.missing(table{values: raw}, "chains", what)
		return nil
	}
	if len(tables) == 0 {
		r.refuse("chains", "is empty; "+what)
	}
	chains := make([]Chain, 0, len(tables))
	for _, t := range tables {
		c := readChain(r, t)
		if slices.ContainsFunc(chains, func(o Chain) bool { return o.ID == c.ID && c.ID != "" }) {
			r.refuse(t.key("id"), "%q stands there twice; give each chain one [[chains]] table", c.ID)
		}
		chains = append(chains, c)
	}
	return chains
}

func readChain(r *reader, t table) Chain {
	c := Chain{
		ID:         chain.ID(r.must(t, "id", "eip155:1")),
		Family:     chain.Family(r.must(t, "family", "evm")),
		Kind:       Kind(r.must(t, "kind", "sim")),
		FinalDepth: r.count(t, "finalDepth", "12"),
	}
	if c.ID != "" && !caip2.MatchString(string(c.ID)) {
		r.refuse(t.key("id"), "%q is not a chain's name; write it as namespace:reference, such as \"eip155:1\"", clip(string(c.ID)))
	}
	families := []chain.Family{chain.EVM, chain.Solana, chain.Bitcoin}
	if c.Family != "" && !slices.Contains(families, c.Family) {
		r.refuse(t.key("family"), "%q is not known; write \"evm\", \"solana\" or \"bitcoin\"", clip(string(c.Family)))
	}
	if c.Kind != "" && c.Kind != Sim && c.Kind != RPC {
		r.refuse(t.key("kind"), "%q is not known; write \"rpc\" for real nodes or \"sim\" for a simulated chain", clip(string(c.Kind)))
	}
	namespace, _, _ := strings.Cut(string(c.ID), ":")
	c.Slug = r.or(t, "slug", strings.ReplaceAll(string(c.ID), ":", "-"))
	c.Name, c.BlockTime = r.or(t, "name", c.Slug), r.wait(t, "blockTime", fast)
	if !slug.MatchString(c.Slug) && namespace != "" {
		r.refuse(t.key("slug"), "%q is not a name for callers; write small letters, digits and hyphens, such as \"ethereum\"", clip(c.Slug))
	}
	c.Assets = readAssets(r, t, "assets", c.ID)
	c.Tiers = readTiers(r, t)
	c.Nodes, c.Explorer = readNodes(r, t, c), readExplorer(r, t)
	c.Uniswap = readUniswap(r, t, c)
	readBridges(r, t, &c)
	return c
}

// readAssets reads a list of assets of a chain that has to be there.
func readAssets(r *reader, t table, name string, id chain.ID) []chain.Asset {
	refs, ok := r.texts(t, name)
	if !ok {
		r.missing(t, name, `an empty list never means all of them; name each asset, such as `+name+` = ["native", "usdc"]`)
		return nil
	}
	if len(refs) == 0 {
		r.refuse(t.key(name), `is empty; an empty list never means all of them, name each asset, such as ["native", "usdc"]`)
	}
	assets := make([]chain.Asset, 0, len(refs))
	for i, ref := range refs {
		key := fmt.Sprintf("%s[%d]", t.key(name), i)
		if !assetRef.MatchString(ref) {
			r.refuse(key, "%q is not an asset; write \"native\" or the token's name on its chain", clip(ref))
			continue
		}
		a := id.Native()
		if ref != "native" {
			a.Ref = canonicalRef(ref)
		}
		if slices.Contains(assets, a) {
			r.refuse(key, "%q stands there twice; remove one", ref)
		}
		assets = append(assets, a)
	}
	return assets
}

func readTiers(r *reader, t table) []watch.Tier {
	const what = `no tier never means no confirmations; write such as tiers = [{upToUsd = "1000", confirmations = 2}, {confirmations = 6}]`
	tables, ok := r.tables(t, "tiers")
	if !ok {
		r.missing(t, "tiers", what)
		return nil
	}
	if len(tables) == 0 {
		r.refuse(t.key("tiers"), "is empty; "+what)
	}
	tiers := make([]watch.Tier, 0, len(tables))
	for i, tt := range tables {
		tier := watch.Tier{Confirmations: r.count(tt, "confirmations", "6"), Finalized: r.flag(tt, "finalized")}
		tier.UpTo = readBound(r, tt, i == len(tables)-1)
		if i > 0 {
			before := tiers[i-1]
			if tier.UpTo > 0 && before.UpTo > 0 && tier.UpTo <= before.UpTo {
				r.refuse(tt.key("upToUsd"), "%q is not above the tier before; sort the tiers from small to large", tier.UpTo.String())
			}
			if tier.Confirmations > 0 && tier.Confirmations < before.Confirmations {
				r.refuse(tt.key("confirmations"), "%d is fewer than the tier before asks for a smaller payment; write at least %d", tier.Confirmations, before.Confirmations)
			}
		}
		tiers = append(tiers, tier)
	}
	return tiers
}

// readBound reads how much a tier serves; only the last serves every value.
func readBound(r *reader, t table, last bool) money.USD {
	text, ok := r.text(t, "upToUsd")
	switch {
	case last && ok:
		r.refuse(t.key("upToUsd"), "the last tier must serve every value; leave its upToUsd out, or add a tier without one")
		return 0
	case last:
		return 0
	case !ok:
		r.missing(t, "upToUsd", `only the last tier may serve every value; write such as upToUsd = "1000"`)
		return 0
	}
	u, err := money.ParseUSD(text)
	if err != nil {
		r.refuse(t.key("upToUsd"), "%v; write dollars as text, such as \"1000\"", err)
	} else if u <= 0 {
		r.refuse(t.key("upToUsd"), "is %q; zero never means unlimited, write the highest value in dollars, such as \"1000\"", text)
	}
	return u
}

// clip keeps an answer short whatever stands in the file.
func clip(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}
