package desk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/market"
)

// Chain is what callers are told of a chain.
type Chain struct {
	ID            chain.ID
	Slug, Name    string // how callers and people call it
	Family        chain.Family
	EVMChainID    uint64 // zero where it has none
	Confirmations uint64 // that a usual deposit waits for
	BlockTime     time.Duration
	// NeedsRefund: a deposit there does not say where it came from in a way that money
	// could be sent back to, so an order needs a refund address.
	NeedsRefund bool
	// Calls: orders there can also be paid by a transaction that is made for the payer.
	Calls bool
	// ExplorerTx and ExplorerAddress are where people look at it, with {tx} and
	// {address} in them; empty where there is no explorer.
	ExplorerTx, ExplorerAddress string
}

// Atlas is what is served, under the names that callers use.
type Atlas struct {
	chains []Chain
	tokens []market.Asset
	bySlug map[string]Chain
	byID   map[chain.ID]Chain
	assets map[chain.Asset]market.Asset
}

// nativeToken is how callers name a chain's own coin.
const nativeToken = "native"

// NewAtlas draws it.
func NewAtlas(chains []Chain, tokens []market.Asset) (*Atlas, error) {
	a := &Atlas{bySlug: map[string]Chain{}, byID: map[chain.ID]Chain{}, assets: map[chain.Asset]market.Asset{}}
	for _, c := range chains {
		if c.ID == "" || c.Slug == "" || c.Name == "" || c.Family == "" || c.Confirmations == 0 {
			return nil, fmt.Errorf("desk: chain %q is not whole", c.ID)
		}
		if _, twice := a.bySlug[c.Slug]; twice || a.byID[c.ID].ID != "" {
			return nil, fmt.Errorf("desk: chain %s stands there twice", c.Slug)
		}
		a.bySlug[c.Slug], a.byID[c.ID] = c, c
		a.chains = append(a.chains, c)
	}
	for _, t := range tokens {
		if a.byID[t.Asset.Chain].ID == "" {
			return nil, fmt.Errorf("desk: asset %s is on no chain", t.Asset)
		}
		a.assets[t.Asset] = t
		a.tokens = append(a.tokens, t)
	}
	slices.SortFunc(a.chains, func(x, y Chain) int { return strings.Compare(x.Slug, y.Slug) })
	slices.SortFunc(a.tokens, func(x, y market.Asset) int {
		if c := strings.Compare(a.byID[x.Asset.Chain].Slug, a.byID[y.Asset.Chain].Slug); c != 0 {
			return c
		}
		return strings.Compare(x.Asset.Ref, y.Asset.Ref)
	})
	return a, nil
}

// Chains are all of them, by their names.
func (a *Atlas) Chains() []Chain { return a.chains }

// Tokens are all of them, by chain and name.
func (a *Atlas) Tokens() []market.Asset { return a.tokens }

// Chain finds a chain by the name that callers use.
func (a *Atlas) Chain(slug string) (Chain, bool) {
	c, ok := a.bySlug[slug]
	return c, ok
}

// Of is the chain of an id.
func (a *Atlas) Of(id chain.ID) Chain { return a.byID[id] }

// Asset is what is known of an asset.
func (a *Atlas) Asset(x chain.Asset) market.Asset { return a.assets[x] }

// Token finds an asset by the names that callers use. Letters of a hexadecimal
// address may be large or small.
func (a *Atlas) Token(slug, token string) (market.Asset, error) {
	c, ok := a.bySlug[slug]
	if !ok {
		return market.Asset{}, fault.New(fault.Invalid, "unsupported_chain", "The chain %q is not served here; see GET /v2/chains for those that are.", clip(slug))
	}
	ref := token
	switch {
	case token == nativeToken:
		ref = ""
	case strings.HasPrefix(token, "0x"):
		ref = strings.ToLower(token)
	}
	known, ok := a.assets[chain.Asset{Chain: c.ID, Ref: ref}]
	if !ok || token == "" {
		return market.Asset{}, fault.New(fault.Invalid, "unsupported_token", "The token %q is not served on %s; see GET /v2/tokens for those that are.", clip(token), slug)
	}
	return known, nil
}

// TokenName is how callers name an asset on its chain.
func TokenName(x chain.Asset) string {
	if x.IsNative() {
		return nativeToken
	}
	return x.Ref
}

// clip bounds what a caller sent before it is said back.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
