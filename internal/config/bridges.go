package config

import (
	"slices"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// The native bridges that a chain can switch on.
const (
	bridgeCCTP   = "cctp"
	bridgeRollup = "rollup"
)

// Terms are what an operator offers bridges for.
type Terms struct {
	// Claim is what is asked for doing the steps that anybody may do; nil: it is not done.
	Claim *money.USD
	// Version rises with every change of terms, which count from Since on.
	Version int
	Since   time.Time
	// Poll is how soon is looked again at a transfer that is under way.
	Poll time.Duration
}

// CCTP is how the bridge of dollars is used wherever a chain switches it on.
type CCTP struct {
	Terms
	Attester string // where attestations are had
	// Min and Max are what one transfer may be, in smallest units.
	Min, Max money.Amount
	// Perform offers it as a service too, for Fee.
	Perform bool
	Fee     money.Percent
	// MaxFee is the most that the protocol may keep of a transfer.
	MaxFee money.Percent
}

// CCTPSide is a chain of the bridge of dollars.
type CCTPSide struct {
	Domain                 uint32
	Messenger, Transmitter string
	Token                  chain.Asset
	Attested               time.Duration // how long an attestation usually takes
}

// Rollups is how canonical bridges of rollups are used wherever one switches its own on.
type Rollups struct {
	Terms
	// Min and Max are what one transfer of the coin may be, in smallest units.
	Min, Max money.Amount
}

// Rollup is the canonical bridge of a chain that is a rollup of the OP stack.
type Rollup struct {
	Of chain.ID // the chain below
	// Portal, Messenger, Bridge, Oracle, Games and Registry are its contracts below: of
	// Oracle and Games there is one.
	Portal, Messenger, Bridge, Oracle, Games, Registry string
	// Gas is what the bridge on the other side is given at least; zero is enough.
	Gas uint32
	// Withdrawals offers the way down too.
	Withdrawals bool
	// Relay is how long a deposit usually takes, Told until the state of the rollup is told
	// below, and Challenge how long a proof may be disputed.
	Relay, Told, Challenge time.Duration
	// Tokens are carried beside the coin.
	Tokens []RollupToken
}

// RollupToken is a token below with the one above that stands for it.
type RollupToken struct {
	Below, Above chain.Asset
	Min, Max     money.Amount
}

// attester is where Circle's attestations of real money are had.
const attester = "https://iris-api.circle.com"

// readBridges reads which native bridges a chain has switched on.
func readBridges(r *reader, t table, c *Chain) {
	names, _ := r.texts(t, "bridges")
	for i, name := range names {
		switch {
		case slices.Contains(names[:i], name):
			r.refuse(t.key("bridges"), "has %q twice; remove one", clip(name))
		case name != bridgeCCTP && name != bridgeRollup:
			r.refuse(t.key("bridges"), "%q is not known; write %q or %q", clip(name), bridgeCCTP, bridgeRollup)
		case !r.ours(t, "bridges", *c):
		case name == bridgeCCTP:
			c.CCTP = readCCTPSide(r, r.inside(t, bridgeCCTP), *c)
		default:
			c.Rollup = readRollup(r, r.inside(t, bridgeRollup), c.ID)
		}
	}
}

func readCCTPSide(r *reader, t table, c Chain) *CCTPSide {
	s := &CCTPSide{
		Domain:    uint32(r.bounded(t, "domain", 0, 0, 1<<31)), //nolint:gosec // it is bounded
		Messenger: r.contract(t, "messenger", "TokenMessengerV2"), Transmitter: r.contract(t, "transmitter", "MessageTransmitterV2"),
		Attested: r.wait(t, "attested", 19*time.Minute),
	}
	r.missing(t, "domain", "write the number that the chain has in the protocol, such as domain = 0; it is not the chain's own")
	if s.Messenger == s.Transmitter && s.Messenger != "" {
		r.refuse(t.key("transmitter"), "is the messenger; they are two contracts")
	}
	if s.Token = (chain.Asset{Chain: c.ID, Ref: r.contract(t, "token", "USDC there")}); s.Token.Ref != "" && !slices.Contains(c.Assets, s.Token) {
		r.refuse(t.key("token"), "%s is not served on its chain; add it to the chain's assets first", s.Token)
	}
	return s
}

func readRollup(r *reader, t table, id chain.ID) *Rollup {
	o := &Rollup{
		Of: chain.ID(r.must(t, "of", "eip155:1")), Portal: r.contract(t, "portal", "OptimismPortal"), Messenger: r.contract(t, "messenger", "L1CrossDomainMessenger"),
		Bridge: r.contract(t, "bridge", "L1StandardBridge"), Withdrawals: r.flagOr(t, "withdrawals", true),
		Gas:   uint32(r.bounded(t, "gas", 0, 1, 10_000_000)), //nolint:gosec // it is bounded
		Relay: r.wait(t, "relay", 5*time.Minute), Told: r.wait(t, "told", time.Hour), Challenge: r.wait(t, "challenge", 7*24*time.Hour),
	}
	for _, c := range []struct {
		name, what string
		into       *string
	}{{"oracle", "L2OutputOracle", &o.Oracle}, {"games", "DisputeGameFactory", &o.Games}, {"registry", "AnchorStateRegistry", &o.Registry}} {
		if _, there := t.values[c.name]; there {
			*c.into = r.contract(t, c.name, c.what)
		}
	}
	if (o.Oracle == "") == (o.Games == "") {
		r.refuse(t.key("games"), "and oracle: write the DisputeGameFactory as games, or the L2OutputOracle as oracle, and not both")
	}
	if o.Registry != "" && o.Games == "" {
		r.refuse(t.key("registry"), "is for rollups with games; leave it out beside an oracle")
	}
	tables, _ := r.tables(t, "tokens")
	for _, one := range tables {
		k := RollupToken{
			Below: chain.Asset{Chain: o.Of, Ref: r.contract(one, "below", "the token on the chain below")},
			Above: chain.Asset{Chain: id, Ref: r.contract(one, "above", "the token on the rollup")},
		}
		k.Min, k.Max = r.limits(one)
		if slices.ContainsFunc(o.Tokens, func(x RollupToken) bool { return x.Below == k.Below || x.Above == k.Above }) {
			r.refuse(one.key("below"), "or its twin stands there twice; remove one")
		}
		o.Tokens = append(o.Tokens, k)
	}
	return o
}

// limits reads what one transfer may be at least and at most, in smallest units.
func (r *reader) limits(t table) (least, most money.Amount) {
	for _, l := range []struct {
		name string
		into *money.Amount
	}{{"min", &least}, {"max", &most}} {
		text, ok := r.text(t, l.name)
		if !ok {
			r.missing(t, l.name, "zero never means unlimited; write what one transfer may be in smallest units, such as %s = \"1000000\"", l.name)
			continue
		}
		n, err := money.Parse(text)
		if err != nil || n.IsZero() {
			r.refuse(t.key(l.name), "%q is not a whole number of smallest units above 0", clip(text))
		}
		*l.into = n
	}
	if most.Less(least) && !most.IsZero() {
		r.refuse(t.key("max"), "is below min, so that nothing could be sent")
	}
	return least, most
}

func (r *reader) terms(t table, poll time.Duration) Terms {
	b := Terms{Version: int(r.bounded(t, "termsVersion", 1, 1, 1_000_000)), Since: r.moment(t, "effectiveAt", time.Unix(0, 0).UTC()), Poll: r.wait(t, "poll", poll)}
	if text, ok := r.text(t, "claimUsd"); ok {
		usd, err := money.ParseUSD(text)
		if err != nil || usd < 0 {
			r.refuse(t.key("claimUsd"), "%q is not an amount of dollars; write such as \"3\", or leave it out and nothing is claimed for others", clip(text))
		}
		b.Claim = &usd
	}
	return b
}

// share reads a share that may be nothing, of at most five percent.
func (r *reader) share(t table, name string) money.Percent {
	return r.ratio(t, name, 0, 0, money.Whole/20)
}

// readCCTP reads how the bridge of dollars is used, where chains do.
func readCCTP(r *reader, t table, chains []Chain) CCTP {
	var on []Chain
	for i, c := range chains {
		if c.CCTP == nil {
			continue
		}
		if slices.ContainsFunc(on, func(o Chain) bool { return o.CCTP.Domain == c.CCTP.Domain }) {
			r.refuse(table{path: pathOf(i)}.key("cctp.domain"), "%d is that of another chain too", c.CCTP.Domain)
		}
		if on = append(on, c); len(on) == 1 && !slices.ContainsFunc(chains[i+1:], func(o Chain) bool { return o.CCTP != nil }) {
			r.refuse(table{path: pathOf(i)}.key("bridges"), "has %q, and no other chain has; a bridge needs two", bridgeCCTP)
		}
	}
	if len(on) == 0 {
		r.idle(t, `bridges = ["cctp"]`)
		return CCTP{}
	}
	c := CCTP{Terms: r.terms(t, 10*time.Second), Attester: r.or(t, "attester", attester), Perform: r.flag(t, "perform"), MaxFee: r.share(t, "maxFeePercent")}
	if !strings.HasPrefix(c.Attester, "https://") && !strings.HasPrefix(c.Attester, "http://127.0.0.1:") {
		r.refuse(t.key("attester"), "is not where attestations are had; write such as %q, or leave it out", attester)
	}
	c.Min, c.Max = r.limits(t)
	if c.Fee = r.share(t, "feePercent"); !c.Perform && t.values["feePercent"] != nil {
		r.refuse(t.key("feePercent"), "is for transfers that the service performs; write perform = true, or leave it out")
	}
	return c
}

// readRollups reads how canonical bridges are used, where chains do, and holds them to
// the chains that are served.
func readRollups(r *reader, t table, chains []Chain) Rollups {
	used := false
	for i, c := range chains {
		if c.Rollup == nil {
			continue
		}
		used = true
		at := table{path: table{path: pathOf(i)}.key(bridgeRollup)}
		below := slices.IndexFunc(chains, func(o Chain) bool { return o.ID == c.Rollup.Of })
		if below < 0 || below == i || chains[below].Family != chain.EVM || chains[below].Kind != RPC {
			r.refuse(at.key("of"), "%q is no chain of real nodes of the family evm that is served; add its [[chains]] table first", clip(string(c.Rollup.Of)))
			continue
		}
		held(r, at.key("of"), []chain.Asset{c.ID.Native()}, c.Assets, "is not served; add native to its chain's assets")
		held(r, at.key("of"), []chain.Asset{c.Rollup.Of.Native()}, chains[below].Assets, "is not served; add native to its chain's assets")
		for _, k := range c.Rollup.Tokens {
			held(r, at.key("tokens"), []chain.Asset{k.Below}, chains[below].Assets, "is not served on its chain; add it to the chain's assets first")
			held(r, at.key("tokens"), []chain.Asset{k.Above}, c.Assets, "is not served on its chain; add it to the chain's assets first")
		}
	}
	if !used {
		r.idle(t, `bridges = ["rollup"]`)
		return Rollups{}
	}
	o := Rollups{Terms: r.terms(t, 15*time.Second)}
	o.Min, o.Max = r.limits(t)
	return o
}
