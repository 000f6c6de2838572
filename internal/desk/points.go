package desk

import (
	"strings"
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/order"
)

// points reads who earns points and fixes by which terms. Who is named is kept also
// where nothing will be earned.
func (d *Desk) points(p *access.Principal, a CreateAsk, ask *order.Ask, now time.Time) error {
	if a.PointsTo == "" {
		return nil
	}
	to, err := d.ports.Codecs.Anyone(a.PointsTo)
	if err != nil {
		return fault.New(fault.Invalid, "invalid_address", "pointsAddress is not an address of any chain that is served here.").With("pointer", "/pointsAddress")
	}
	ask.Origin.PointsTo = to.Text()
	give, get := d.ports.Atlas.Asset(ask.Quote.Give).Symbol, d.ports.Atlas.Asset(ask.Quote.Get).Symbol
	flagged := p.Integrator != nil && p.Integrator.NoPoints
	if d.cfg.Award == nil || flagged || kin(give) == kin(get) {
		return nil
	}
	ask.Origin.Award = d.cfg.Award(now)
	return nil
}

// wrapped are the symbols of what stands for another asset and is worth the same.
var wrapped = map[string]string{
	"WETH": "ETH", "WBTC": "BTC", "CBBTC": "BTC", "TBTC": "BTC", "WSOL": "SOL", "USDC.E": "USDC", "USDBC": "USDC", "USDT.E": "USDT", "USDT0": "USDT",
}

// kin is the asset that a symbol stands for. Money that goes round between the same
// asset on different chains risks nothing but fees, so it earns nothing.
func kin(symbol string) string {
	symbol = strings.ToUpper(symbol)
	if of, ok := wrapped[symbol]; ok {
		return of
	}
	return symbol
}
