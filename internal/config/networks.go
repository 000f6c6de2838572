package config

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
)

//go:embed networks.toml
var networks []byte

// presets is what is known of public networks, by their names.
func presets() (map[string]any, error) {
	all, err := toml.Parser().Unmarshal(networks)
	if err != nil {
		return nil, fmt.Errorf("what is known of public networks: %w", err)
	}
	return all, nil
}

// Presets are the names of the public networks that are known.
func Presets() ([]string, error) {
	all, err := presets()
	return slices.Sorted(maps.Keys(all)), err
}

// fill gives each chain that names a preset what it does not say itself, and the
// tokens of its assets where nothing is said of them.
func fill(r *reader, raw map[string]any) error {
	known, err := presets()
	if err != nil {
		return err
	}
	chains, _ := raw["chains"].([]any)
	tokens, _ := raw["tokens"].([]any)
	for i, one := range chains {
		c, ok := one.(map[string]any)
		if !ok {
			continue // refused where chains are read
		}
		t := table{path: pathOf(i), values: c}
		name, ok := r.text(t, "preset")
		if !ok {
			continue
		}
		preset, ok := known[name].(map[string]any)
		if !ok {
			r.refuse(t.key("preset"), "%q is not known; write one of %s", clip(name), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			continue
		}
		tokens = append(tokens, lay(c, preset, name, tokens)...)
	}
	if len(tokens) > 0 {
		raw["tokens"] = tokens
	}
	return nil
}

// pathOf is where the table of a chain is.
func pathOf(chain int) string { return fmt.Sprintf("chains[%d]", chain) }

// under gives a table what it does not say itself, and so the tables in it.
func under(t, preset map[string]any) {
	for key, v := range preset {
		said, there := t[key]
		inside, is := said.(map[string]any)
		if more, table := v.(map[string]any); is && table {
			under(inside, more)
		} else if !there {
			t[key] = v
		}
	}
}

// lay lays a preset under a chain and gives the tokens that it adds.
func lay(c, preset map[string]any, name string, said []any) (more []any) {
	rest := maps.Clone(preset)
	delete(rest, "assets")
	under(c, rest)
	for key, v := range map[string]any{"kind": string(RPC), "slug": name} {
		if _, there := c[key]; !there {
			c[key] = v
		}
	}
	listed, chosen := c["assets"].([]any)
	var all []any
	for _, one := range preset["assets"].([]any) {
		a := maps.Clone(one.(map[string]any))
		ref := canonicalRef(a["ref"].(string))
		all = append(all, ref)
		asset := c["id"].(string) + "/" + ref
		has := slices.ContainsFunc(said, func(t any) bool { m, _ := t.(map[string]any); return m["asset"] == asset })
		wanted := !chosen || slices.ContainsFunc(listed, func(v any) bool { s, _ := v.(string); return canonicalRef(s) == ref })
		if has || !wanted {
			continue
		}
		delete(a, "ref")
		a["asset"] = asset
		more = append(more, a)
	}
	if _, there := c["assets"]; !there {
		c["assets"] = all
	}
	return more
}

// canonicalRef is a token's name as it is kept: hexadecimal addresses in small letters.
func canonicalRef(ref string) string {
	if strings.HasPrefix(ref, "0x") {
		return strings.ToLower(ref)
	}
	return ref
}

// Network is what is known of a public network.
type Network struct {
	Preset          string  `json:"preset"`
	ID              string  `json:"id"`
	Family          string  `json:"family"`
	Name            string  `json:"name"`
	Tiers           []Depth `json:"confirmations"`
	Tokens          []Token `json:"tokens"`
	ExplorerTx      string  `json:"explorerTx"`
	ExplorerAddress string  `json:"explorerAddress"`
}

// Depth is how deep payments up to a value wait; without one it serves every value.
type Depth struct {
	UpToUSD       string `json:"upToUsd,omitempty"`
	Confirmations uint64 `json:"confirmations"`
	Finalized     bool   `json:"finalized"`
}

// String is the depth as people read it.
func (d Depth) String() string {
	text := fmt.Sprintf("%d blocks", d.Confirmations)
	if d.Finalized {
		text += " and finality"
	}
	if d.UpToUSD != "" {
		return text + " up to $" + d.UpToUSD
	}
	return text
}

// Token is a token of a public network.
type Token struct {
	Ref      string `json:"token"`
	Symbol   string `json:"symbol"`
	Decimals int    `json:"decimals"`
}

// Known reads presets as a configuration would.
func Known(names []string) (all []Network, err error) {
	for _, name := range names {
		raw := map[string]any{"chains": []any{map[string]any{"preset": name, "nodes": []any{"https://node.example"}}}}
		r := &reader{}
		if err := fill(r, raw); err != nil {
			return nil, err
		}
		chains, tokens := readChains(r, raw), readTokens(r, raw)
		if err := r.err(); err != nil {
			return nil, fmt.Errorf("preset %s: %w", name, err)
		}
		c := chains[0]
		n := Network{
			Preset: name, ID: string(c.ID), Family: string(c.Family), Name: c.Name, ExplorerTx: c.Explorer.Tx, ExplorerAddress: c.Explorer.Address,
		}
		for _, t := range c.Tiers {
			d := Depth{Confirmations: t.Confirmations, Finalized: t.Finalized}
			if t.UpTo > 0 {
				d.UpToUSD = t.UpTo.String()
			}
			n.Tiers = append(n.Tiers, d)
		}
		for _, k := range tokens {
			ref := k.Asset.Ref
			if k.Asset.IsNative() {
				ref = "native"
			}
			n.Tokens = append(n.Tokens, Token{Ref: ref, Symbol: k.Symbol, Decimals: k.Decimals})
		}
		all = append(all, n)
	}
	return all, nil
}
