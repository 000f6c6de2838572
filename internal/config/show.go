package config

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// String is the effective configuration as TOML, without secrets.
func (c Config) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("[database]\nurl = %s\n", quote(c.Database.Redacted()))
	line("[caps]\nperHourUsd = %q\nperPaymentUsd = %q\nperPairMinuteUsd = %q\n", c.Caps.PerHour, c.Caps.PerPayment, c.Caps.PerPairMinute)
	p := c.Orders.Patience
	line("[orders]\nfunding = %q\nconfirming = %q\nexecuting = %q\nsending = %q\nheld = %q\nrefunding = %q\nrecovery = %q",
		c.Orders.Funding, p.Confirming, p.Executing, p.Sending, p.Held, p.Refunding, p.Recovery)
	c.showDoor(line)
	if w := c.Wallet; w.SeedFile != "" || w.Socket != "" {
		line("\n[wallet]\nseedFile = %s\npassphraseFile = %s\nsignerSocket = %s\nmaxFeePercent = %q",
			quote(w.SeedFile), quote(w.PassphraseFile), quote(w.Socket), w.FeeShare)
	}
	c.showTreasury(line)
	c.showPoints(line)
	for _, ch := range c.Chains {
		assets := make([]string, len(ch.Assets))
		for i, a := range ch.Assets {
			_, ref, _ := strings.Cut(a.String(), "/")
			assets[i] = quote(ref)
		}
		line("\n[[chains]]\nid = %q\nslug = %s\nname = %s\nfamily = %q\nkind = %q\nblockTime = %q\nassets = [%s]\nfinalDepth = %d\ntiers = [",
			ch.ID, quote(ch.Slug), quote(ch.Name), ch.Family, ch.Kind, ch.BlockTime, strings.Join(assets, ", "), ch.FinalDepth)
		for _, t := range ch.Tiers {
			fields := []string{fmt.Sprintf("confirmations = %d", t.Confirmations)}
			if t.UpTo > 0 {
				fields = append([]string{fmt.Sprintf("upToUsd = %q", t.UpTo)}, fields...)
			}
			if t.Finalized {
				fields = append(fields, "finalized = true")
			}
			line("  {%s},", strings.Join(fields, ", "))
		}
		line("]")
		ch.showNodes(line)
		ch.showVenues(line)
	}
	c.showAggregator(line)
	c.showVenues(line)
	for _, o := range c.Operators {
		line("\n[[operators]]\nname = %s\ntokenSha256 = %q", quote(o.Name), hex.EncodeToString(o.Digest[:]))
	}
	return b.String()
}

// quote writes a TOML string. The reader lets no control characters through, so
// only the backslash and the quote need care.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// showDoor writes what concerns the doors and the market.
func (c Config) showDoor(line func(string, ...any)) {
	proxies := make([]string, len(c.API.Proxies))
	for i, p := range c.API.Proxies {
		proxies[i] = quote(p.String())
	}
	line("\n[api]\nlisten = %s\nurl = %s\ntrustedProxies = [%s]\nproxyHeader = %s\nmaxRequests = %d\nsecretFile = %s",
		quote(c.API.Listen), quote(c.API.URL), strings.Join(proxies, ", "), quote(c.API.Header), c.API.Room, quote(c.API.SecretFile))
	line("\n[operatorApi]\nlisten = %s", quote(c.OperatorListen))
	l := c.Limits
	line("\n[limits]\nipRequests = %d\nipQuotes = %d\nipCreates = %d\nipOpenOrders = %d\nipAccessFailures = %d\nipWindow = %q",
		l.Requests, l.Quotes, l.Creates, l.OpenOrders, l.AccessFailures, l.Window)
	line("\n[live]\nconnectionsPerAddress = %d\nconnectionsPerKey = %d\nsubscriptionsPerConnection = %d", c.Live.PerAddress, c.Live.PerKey, c.Live.Subscriptions)
	w := c.Webhooks
	line("\n[webhooks]\nsilent = %t\nallowHttpLoopback = %t\nmaxAtOnce = %d\nmaxPerEndpoint = %d", w.Silent, w.Loopback, w.AtOnce, w.PerEndpoint)
	m := c.Market
	line("\n[market]\nspreadPercent = %q\nslippagePercent = %q\ntolerancePercent = %q\nminUsd = %q\nmaxUsd = %q\nfixedRates = %t",
		m.Spread, m.Slippage, m.Tolerance, m.Min, m.Max, m.Fixed)
	c.showPrices(line)
	for _, t := range c.Tokens {
		line("\n[[tokens]]\nasset = %s\nsymbol = %s\ndecimals = %d\ndust = %q", quote(t.Asset.String()), quote(t.Symbol), t.Decimals, t.Dust)
		if n, ok := c.Treasury.Minimums[t.Asset]; ok {
			line("minimum = %q", n)
		}
	}
}

func showPairs(line func(string, ...any), name string, pairs map[string]string) {
	if len(pairs) == 0 {
		return
	}
	all := make([]string, 0, len(pairs))
	for _, k := range slices.Sorted(maps.Keys(pairs)) {
		all = append(all, fmt.Sprintf("%s = %s", quote(k), quote(pairs[k])))
	}
	line("%s = { %s }", name, strings.Join(all, ", "))
}

// showNodes writes what a chain of real nodes has more. Where the nodes are may tell a
// password: only how many there are is shown.
func (ch Chain) showNodes(line func(string, ...any)) {
	if ch.Explorer.Tx != "" {
		line("explorerTx = %s", quote(ch.Explorer.Tx))
	}
	if ch.Explorer.Address != "" {
		line("explorerAddress = %s", quote(ch.Explorer.Address))
	}
	if ch.Kind != RPC {
		return
	}
	n := ch.Nodes
	urls := slices.Repeat([]string{`"https://redacted.invalid"`}, len(n.URLs))
	line("nodes = [%s]\nquorum = %d\nverify = %t\ntrace = %t", strings.Join(urls, ", "), n.Quorum, n.Verify, n.Trace)
	if n.Sweeper != "" {
		line("sweeper = %q", n.Sweeper)
	}
	if n.Intake != "" {
		line("intake = %q", n.Intake)
	}
	if n.GasOracle != "" {
		line("gasOracle = %q", n.GasOracle)
	}
	if n.Network != "" {
		line("network = %q", n.Network)
	}
	if n.Genesis != "" {
		line("genesis = %q", n.Genesis)
	}
}
