package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// table is a table of the file with its place.
type table struct {
	path   string
	values map[string]any
}

func (t table) key(name string) string {
	if t.path == "" {
		return name
	}
	return t.path + "." + name
}

// reader takes values out of tables and remembers what is wrong with them.
type reader struct{ problems []error }

func (r *reader) err() error { return errors.Join(r.problems...) }

func (r *reader) refuse(key, why string, args ...any) {
	r.problems = append(r.problems, &Problem{Key: key, Why: fmt.Sprintf(why, args...)})
}

// missing refuses a key that is not there; one that is there with a value of the
// wrong kind has been refused already.
func (r *reader) missing(t table, name, what string, args ...any) {
	if _, there := t.values[name]; !there {
		r.refuse(t.key(name), "is missing; "+what, args...)
	}
}

// take gets a value of one kind; the second result is whether it is there and right.
func take[T any](r *reader, t table, name, kind string) (T, bool) {
	var none T
	v, there := t.values[name]
	if !there {
		return none, false
	}
	got, ok := v.(T)
	if !ok {
		r.refuse(t.key(name), "is not %s; write %s", kind, kind)
	}
	return got, ok
}

func (r *reader) text(t table, name string) (string, bool) {
	text, ok := take[string](r, t, name, "text in quotes")
	if strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
		r.refuse(t.key(name), "has characters that nobody can see; write plain text")
		return "", false
	}
	return text, ok
}

// must reads a text that has to be there.
func (r *reader) must(t table, name, example string) string {
	text, ok := r.text(t, name)
	if !ok {
		r.missing(t, name, "write such as %s = %q", name, example)
	} else if text == "" {
		r.refuse(t.key(name), "is empty; write such as %q", example)
	}
	return text
}

// count reads a number of blocks that must be more than nothing.
func (r *reader) count(t table, name, example string) uint64 {
	n, ok := take[int64](r, t, name, "a whole number")
	switch {
	case !ok:
		r.missing(t, name, "zero never means at once; write such as %s = %s", name, example)
	case n <= 0:
		r.refuse(t.key(name), "is %d; an unconfirmed payment is never believed, write at least 1", n)
	case n > deepest:
		r.refuse(t.key(name), "is %d; write at most %d", n, deepest)
	default:
		return uint64(n)
	}
	return 0
}

func (r *reader) flag(t table, name string) bool {
	b, _ := take[bool](r, t, name, "true or false")
	return b
}

func (r *reader) table(raw map[string]any, name string) table {
	m, _ := take[map[string]any](r, table{values: raw}, name, "a ["+name+"] table")
	return table{path: name, values: m}
}

func (r *reader) tables(t table, name string) ([]table, bool) {
	return list(r, t, name, "a list of tables", func(i int, v any) (table, bool) {
		m, ok := v.(map[string]any)
		return table{path: fmt.Sprintf("%s[%d]", t.key(name), i), values: m}, ok
	})
}

func (r *reader) texts(t table, name string) ([]string, bool) {
	return list(r, t, name, "a list of texts in quotes", func(_ int, v any) (string, bool) {
		s, ok := v.(string)
		return s, ok && !strings.ContainsFunc(s, unicode.IsControl)
	})
}

func list[T any](r *reader, t table, name, kind string, item func(int, any) (T, bool)) ([]T, bool) {
	values, ok := take[[]any](r, t, name, kind)
	if !ok {
		return nil, false
	}
	items := make([]T, 0, len(values))
	for i, v := range values {
		it, ok := item(i, v)
		if !ok {
			r.refuse(t.key(name), "is not %s; write %s", kind, kind)
			return nil, false
		}
		items = append(items, it)
	}
	return items, true
}

// schema says which keys a table may have; a value that is not nil is the schema
// of the tables inside.
type schema map[string]schema

// known is every key there is.
var known = schema{
	"database": {"url": nil},
	"caps":     {"perHourUsd": nil, "perPaymentUsd": nil, "perPairMinuteUsd": nil},
	"orders": {
		"funding": nil, "confirming": nil, "executing": nil, "sending": nil,
		"held": nil, "refunding": nil, "recovery": nil,
	},
	"chains": {
		"id": nil, "family": nil, "kind": nil, "assets": nil, "finalDepth": nil, "slug": nil, "name": nil, "blockTime": nil,
		"preset": nil, "nodes": nil, "quorum": nil, "verify": nil, "trace": nil, "sweeper": nil, "intake": nil, "gasOracle": nil, "network": nil, "genesis": nil, "explorerTx": nil, "explorerAddress": nil,
		"tiers": {"upToUsd": nil, "confirmations": nil, "finalized": nil},
		"pools": nil, "bridges": nil,
		"uniswap": {
			"router": nil, "wrapped": nil, "multicall": nil, "tokens": nil, "hubs": nil, "pooled": nil, "maxAge": nil, "poll": nil, "check": nil, "patience": nil,
			"only": {"version": nil, "tokens": nil, "fee": nil},
		},
		"cctp": {"domain": nil, "messenger": nil, "transmitter": nil, "token": nil, "attested": nil},
		"rollup": {
			"of": nil, "portal": nil, "messenger": nil, "bridge": nil, "oracle": nil, "games": nil, "registry": nil, "gas": nil, "withdrawals": nil,
			"relay": nil, "told": nil, "challenge": nil,
			"tokens": {"below": nil, "above": nil, "min": nil, "max": nil},
		},
	},
	"pools": {"maxOffPercent": nil},
	"cctp": {
		"attester": nil, "min": nil, "max": nil, "claimUsd": nil, "perform": nil, "feePercent": nil, "maxFeePercent": nil, "poll": nil, "termsVersion": nil, "effectiveAt": nil,
	},
	"rollups":     {"min": nil, "max": nil, "claimUsd": nil, "poll": nil, "termsVersion": nil, "effectiveAt": nil},
	"wallet":      {"seedFile": nil, "passphraseFile": nil, "signerSocket": nil, "maxFeePercent": nil},
	"operators":   {"name": nil, "tokenSha256": nil},
	"api":         {"listen": nil, "url": nil, "trustedProxies": nil, "proxyHeader": nil, "maxRequests": nil, "secretFile": nil},
	"operatorApi": {"listen": nil},
	"live":        {"connectionsPerAddress": nil, "connectionsPerKey": nil, "subscriptionsPerConnection": nil},
	"webhooks":    {"silent": nil, "allowHttpLoopback": nil, "maxAtOnce": nil, "maxPerEndpoint": nil},
	"limits": {
		"ipRequests": nil, "ipQuotes": nil, "ipCreates": nil, "ipOpenOrders": nil, "ipAccessFailures": nil, "ipWindow": nil,
	},
	"market": {
		"spreadPercent": nil, "slippagePercent": nil, "tolerancePercent": nil, "minUsd": nil, "maxUsd": nil,
		"fixedRates": nil, "priceQuorum": nil, "priceMinKinds": nil, "priceMaxAge": nil, "priceMaxDeviationPercent": nil, "priceMaxJump": nil,
	},
	"prices": {
		"name": nil, "kind": nil, "path": nil, "url": nil, "values": nil, "fields": nil, "markets": nil, "in": nil,
		"chain": nil, "feeds": nil, "heartbeat": nil, "heartbeats": nil, "sequencer": nil, "grace": nil,
		"symbol": nil, "pool": nil, "base": nil, "quote": nil, "window": nil, "floor": nil,
	},
	"guards": {"symbol": nil, "quorum": nil, "minKinds": nil, "maxAge": nil, "maxDeviationPercent": nil, "maxJump": nil},
	"tokens": {"asset": nil, "symbol": nil, "decimals": nil, "dust": nil, "minimum": nil},
	"points": {
		"enabled": nil, "season": nil, "name": nil, "startsAt": nil, "endsAt": nil, "pointsPerUsdFee": nil, "multiplierPercent": nil,
		"integratorSharePercent": nil, "finalityHours": nil,
	},
	"aggregator": {
		"enabled": nil, "url": nil, "clientId": nil, "perSecond": nil, "maxOffPercent": nil, "slippagePercent": nil, "approveTimes": nil, "patience": nil,
		"chains": {"chain": nil, "slug": nil, "router": nil, "executors": nil, "assets": nil, "hubs": nil},
	},
	"treasury": {
		"sweep": nil, "sweepLeastUsd": nil, "sweepEnoughUsd": nil, "sweepAge": nil, "sweepAddresses": nil, "sweepCostPercent": nil,
		"auditEvery": nil,
	},
}

// unknown refuses every key that the schema does not have.
func (r *reader) unknown(path string, values map[string]any, s schema) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key := table{path: path}.key(name)
		inside, ok := s[name]
		if !ok {
			near := nearest(name, slices.Sorted(maps.Keys(s)))
			r.refuse(clip(key), "is not a key; did you mean %s?", table{path: path}.key(near))
			continue
		}
		if inside == nil {
			continue // a table where none belongs is refused where the value is read
		}
		switch v := values[name].(type) {
		case map[string]any:
			r.unknown(key, v, inside)
		case []any:
			for i, item := range v {
				if m, ok := item.(map[string]any); ok {
					r.unknown(fmt.Sprintf("%s[%d]", key, i), m, inside)
				}
			}
		}
	}
}
