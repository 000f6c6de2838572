package config

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Treasury is how the wallets are kept.
type Treasury struct {
	Sweep         bool // whether deposits are brought home
	Least, Enough money.USD
	Age           time.Duration
	Sources       int64
	Cost          money.Percent
	AuditEvery    time.Duration
	// Minimums are what the wallet must have of an asset, in smallest units, for
	// anything of it to be sold.
	Minimums map[chain.Asset]money.Amount
}

func readTreasury(r *reader, t table, raw map[string]any) Treasury {
	c := Treasury{
		Sweep: true, Least: r.dollars(t, "sweepLeastUsd", "5"), Enough: r.dollars(t, "sweepEnoughUsd", "500"),
		Age: r.wait(t, "sweepAge", 24*time.Hour), Sources: r.bounded(t, "sweepAddresses", 50, 1, 500),
		Cost: r.percent(t, "sweepCostPercent", "5"), AuditEvery: r.wait(t, "auditEvery", 10*time.Minute),
		Minimums: map[chain.Asset]money.Amount{},
	}
	if _, said := t.values["sweep"]; said {
		c.Sweep = r.flag(t, "sweep")
	}
	if c.Enough < c.Least {
		r.refuse(t.key("sweepEnoughUsd"), "is below sweepLeastUsd, what one address must hold; write at least %q", c.Least.String())
	}
	tables, _ := r.tables(table{values: raw}, "tokens")
	for _, tt := range tables {
		text, ok := r.text(tt, "minimum")
		asset, _ := r.text(tt, "asset")
		if !ok {
			continue
		}
		n, err := money.Parse(text)
		if err != nil || n.IsZero() {
			r.refuse(tt.key("minimum"), "%q is not what the wallet must have, in smallest units above 0; leave it out to sell all there is", clip(text))
			continue
		}
		if a, err := chain.ParseAsset(asset); err == nil { // else it is refused where assets are read
			c.Minimums[a] = n
		}
	}
	return c
}

// showTreasury writes how the wallets are kept.
func (c Config) showTreasury(line func(string, ...any)) {
	t := c.Treasury
	line("\n[treasury]\nsweep = %t\nsweepLeastUsd = %q\nsweepEnoughUsd = %q\nsweepAge = %q\nsweepAddresses = %d\nsweepCostPercent = %q\nauditEvery = %q",
		t.Sweep, t.Least, t.Enough, t.Age, t.Sources, t.Cost, t.AuditEvery)
}
