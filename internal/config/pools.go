package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Pools is how pools are used wherever a chain switches them on.
type Pools struct {
	// MaxOff is how far below what prices say a route through pools may be.
	MaxOff money.Percent
}

// Uniswap is how the pools of one chain are used.
type Uniswap struct {
	// Router is SwapRouter02, Wrapped the token of the chain's own coin, and Multicall is
	// Multicall3; without it every question is asked by itself.
	Router, Wrapped, Multicall string
	// Tokens are the only ones that ways lead over.
	Tokens []string
	// Only are the pools that are kept; none is all pools between the tokens.
	Only []Pool
	// Hubs are those between which the inventory carries value from chain to chain, and
	// Pooled those that are never ours.
	Hubs, Pooled []chain.Asset
	// MaxAge is how old the block of a state may be for a quote, Poll how often is looked
	// for a new one, Check how often a pool is compared with its contract, and Patience how
	// long after it was asked for a swap may still land.
	MaxAge, Poll, Check, Patience time.Duration
}

// Pool is a pool by its tokens: of version 2, or of version 3 with a fee in millionths.
type Pool struct {
	Version   int
	Zero, One string
	Fee       uint32
}

// Bounds of how often is looked where nothing is said: about twice for each block.
const (
	leastPoll = 500 * time.Millisecond
	mostPoll  = 3 * time.Second
)

// readPools reads how pools are used, where any chain does.
func readPools(r *reader, t table, chains []Chain) Pools {
	if !slices.ContainsFunc(chains, func(c Chain) bool { return c.Uniswap != nil }) {
		r.idle(t, "pools = true")
		return Pools{}
	}
	return Pools{MaxOff: r.percent(t, "maxOffPercent", "1")}
}

// idle refuses settings of something that no chain switches on: whoever wrote them means
// to use it.
func (r *reader) idle(t table, what string) {
	if len(t.values) > 0 {
		r.refuse(t.path, "is given, and no chain uses it; write %s into its [[chains]] table, or leave it out", what)
	}
}

// ours refuses what is only for chains of real nodes of the family evm.
func (r *reader) ours(t table, name string, c Chain) bool {
	if c.Family != chain.EVM || c.Kind != RPC {
		r.refuse(t.key(name), "is for chains of real nodes of the family evm; leave it out")
		return false
	}
	return true
}

// readUniswap reads how the pools of a chain are used; nil is not at all.
func readUniswap(r *reader, chainTable table, c Chain) *Uniswap {
	if !r.flag(chainTable, "pools") || !r.ours(chainTable, "pools", c) {
		return nil
	}
	t := r.inside(chainTable, "uniswap")
	u := &Uniswap{
		Router: r.contract(t, "router", "SwapRouter02"), Wrapped: r.contract(t, "wrapped", "the token of the chain's own coin"),
		MaxAge: r.wait(t, "maxAge", time.Minute), Poll: r.wait(t, "poll", min(max(c.BlockTime/2, leastPoll), mostPoll)),
		Check: r.wait(t, "check", time.Minute), Patience: r.wait(t, "patience", 10*time.Minute),
	}
	if _, there := t.values["multicall"]; there {
		u.Multicall = r.contract(t, "multicall", "Multicall3")
	}
	u.Tokens = r.contracts(t, "tokens")
	u.Only = readOnly(r, t, u.Tokens)
	traded := func(a chain.Asset) bool {
		return slices.Contains(c.Assets, a) && (slices.Contains(u.Tokens, a.Ref) || a.IsNative() && slices.Contains(u.Tokens, u.Wrapped))
	}
	for _, l := range []struct {
		name string
		into *[]chain.Asset
	}{{"hubs", &u.Hubs}, {"pooled", &u.Pooled}} {
		if _, there := t.values[l.name]; !there {
			continue
		}
		*l.into = readAssets(r, t, l.name, c.ID)
		for _, a := range *l.into {
			if !traded(a) {
				r.refuse(t.key(l.name), "%s is no asset of its chain that the tokens have; add it to the chain's assets and to the tokens first", a)
			}
		}
	}
	for _, a := range u.Hubs {
		if slices.Contains(u.Pooled, a) {
			r.refuse(t.key("hubs"), "%s is pooled, which says that we never have it; remove it from one of them", a)
		}
	}
	return u
}

// readOnly reads the pools that are kept, where not all are.
func readOnly(r *reader, t table, tokens []string) (all []Pool) {
	tables, _ := r.tables(t, "only")
	for _, one := range tables {
		p := Pool{Version: int(r.bounded(one, "version", 3, 2, 3)), Fee: uint32(r.bounded(one, "fee", 0, 1, 999_999))} //nolint:gosec // it is bounded
		if (p.Version == 3) != (p.Fee != 0) {
			r.refuse(one.key("fee"), "a pool of version 3 has a fee in millionths, such as 500, and one of version 2 has none")
		}
		pair := r.contracts(one, "tokens")
		if len(pair) != 2 || !slices.Contains(tokens, pair[0]) || !slices.Contains(tokens, pair[1]) {
			r.refuse(one.key("tokens"), "is not two of the tokens of %s", t.path)
			continue
		}
		p.Zero, p.One = pair[0], pair[1]
		all = append(all, p)
	}
	return all
}

// inside is a table in a table.
func (r *reader) inside(t table, name string) table {
	m, _ := take[map[string]any](r, t, name, "a ["+t.key(name)+"] table")
	return table{path: t.key(name), values: m}
}

// contract reads the address of a contract that has to be there.
func (r *reader) contract(t table, name, what string) string {
	text, ok := r.text(t, name)
	switch {
	case !ok:
		r.missing(t, name, "write the address of %s", what)
	case !contractAddress.MatchString(text):
		r.refuse(t.key(name), "%q is not the address of a contract; write that of %s", clip(text), what)
	}
	return strings.ToLower(text)
}

// contracts reads addresses of contracts of which there must be two.
func (r *reader) contracts(t table, name string) (all []string) {
	texts, ok := r.texts(t, name)
	if !ok {
		r.missing(t, name, "none never means all of them; name each by its address")
		return nil
	}
	for i, x := range texts {
		key, at := fmt.Sprintf("%s[%d]", t.key(name), i), strings.ToLower(x)
		switch {
		case !contractAddress.MatchString(x):
			r.refuse(key, "%q is not the address of a contract", clip(x))
		case slices.Contains(all, at):
			r.refuse(key, "%q stands there twice; remove one", clip(x))
		}
		all = append(all, at)
	}
	if len(all) < 2 {
		r.refuse(t.key(name), "has fewer than two; an exchange needs two")
	}
	return all
}

// listed writes texts as a list.
func listed(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = quote(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// refs are assets by their names on their chain.
func refs(all []chain.Asset) (out []string) {
	for _, a := range all {
		_, ref, _ := strings.Cut(a.String(), "/")
		out = append(out, ref)
	}
	return out
}

// show writes how the pools of a chain are used, as a table in that of its chain.
func (u *Uniswap) show(line func(string, ...any)) {
	line("[chains.uniswap]\nrouter = %q\nwrapped = %q\ntokens = %s\nmaxAge = %q\npoll = %q\ncheck = %q\npatience = %q",
		u.Router, u.Wrapped, listed(u.Tokens), u.MaxAge, u.Poll, u.Check, u.Patience)
	if u.Multicall != "" {
		line("multicall = %q", u.Multicall)
	}
	for _, l := range []struct {
		name string
		all  []chain.Asset
	}{{"hubs", u.Hubs}, {"pooled", u.Pooled}} {
		if len(l.all) > 0 {
			line("%s = %s", l.name, listed(refs(l.all)))
		}
	}
	for _, p := range u.Only {
		line("[[chains.uniswap.only]]\nversion = %d\ntokens = %s", p.Version, listed([]string{p.Zero, p.One}))
		if p.Fee != 0 {
			line("fee = %d", p.Fee)
		}
	}
}
