package config

import "time"

// showVenues writes which pools and native bridges a chain has switched on. It ends the
// chain's own table: what is in it comes last.
func (ch Chain) showVenues(line func(string, ...any)) {
	var bridges []string
	if ch.CCTP != nil {
		bridges = append(bridges, bridgeCCTP)
	}
	if ch.Rollup != nil {
		bridges = append(bridges, bridgeRollup)
	}
	if ch.Uniswap != nil {
		line("pools = true")
	}
	if len(bridges) > 0 {
		line("bridges = %s", listed(bridges))
	}
	if ch.Uniswap != nil {
		ch.Uniswap.show(line)
	}
	if s := ch.CCTP; s != nil {
		line("[chains.cctp]\ndomain = %d\nmessenger = %q\ntransmitter = %q\ntoken = %q\nattested = %q", s.Domain, s.Messenger, s.Transmitter, s.Token.Ref, s.Attested)
	}
	if ch.Rollup != nil {
		ch.Rollup.show(line)
	}
}

func (o *Rollup) show(line func(string, ...any)) {
	line("[chains.rollup]\nof = %q\nportal = %q\nmessenger = %q\nbridge = %q\nwithdrawals = %t\nrelay = %q\ntold = %q\nchallenge = %q",
		o.Of, o.Portal, o.Messenger, o.Bridge, o.Withdrawals, o.Relay, o.Told, o.Challenge)
	for _, c := range []struct{ name, at string }{{"oracle", o.Oracle}, {"games", o.Games}, {"registry", o.Registry}} {
		if c.at != "" {
			line("%s = %q", c.name, c.at)
		}
	}
	if o.Gas != 0 {
		line("gas = %d", o.Gas)
	}
	for _, k := range o.Tokens {
		line("[[chains.rollup.tokens]]\nbelow = %q\nabove = %q\nmin = %q\nmax = %q", k.Below.Ref, k.Above.Ref, k.Min, k.Max)
	}
}

// showVenues writes how pools and native bridges are used, where any chain does.
func (c Config) showVenues(line func(string, ...any)) {
	if c.Pools.MaxOff != 0 {
		line("\n[pools]\nmaxOffPercent = %q", c.Pools.MaxOff)
	}
	if b := c.CCTP; b.Version != 0 {
		line("\n[cctp]\nattester = %s\nmin = %q\nmax = %q\nmaxFeePercent = %q\nperform = %t", quote(b.Attester), b.Min, b.Max, b.MaxFee, b.Perform)
		if b.Perform {
			line("feePercent = %q", b.Fee)
		}
		b.show(line)
	}
	if b := c.Rollups; b.Version != 0 {
		line("\n[rollups]\nmin = %q\nmax = %q", b.Min, b.Max)
		b.show(line)
	}
}

func (t Terms) show(line func(string, ...any)) {
	line("termsVersion = %d\neffectiveAt = %q\npoll = %q", t.Version, t.Since.Format(time.RFC3339), t.Poll)
	if t.Claim != nil {
		line("claimUsd = %q", *t.Claim)
	}
}
