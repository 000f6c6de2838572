package front

import (
	"context"

	"ferry/internal/chain"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/prices"
)

// Convert is what an amount of an asset is in another one, by prices that are trusted now.
func (f *Front) Convert(ctx context.Context, n money.Amount, from, to chain.Asset, round money.Rounding) (money.Amount, error) {
	return f.rates.Convert(ctx, n, from, to, round)
}

// pricer is the board as operators see it.
type pricer struct{ board *prices.Board }

// Prices implements office.Pricer.
func (p pricer) Prices() []office.Price {
	var all []office.Price
	for _, s := range p.board.All() {
		one := office.Price{Symbol: s.Symbol, Price: shownPrice(s.Price), Stopped: s.Stopped, Next: shownPrice(s.Next), Quorum: s.Guard.Quorum, MinKinds: s.Guard.MinKinds}
		if !s.Price.IsZero() {
			one.At = s.At
		}
		for _, w := range s.Said {
			one.Words = append(one.Words, office.Word{Source: w.Source, Kind: string(w.Kind), Price: w.Price.String(), At: w.At})
		}
		for _, d := range s.Dropped {
			one.Words = append(one.Words, office.Word{Source: d.Source, Kind: string(d.Kind), Why: d.Why})
		}
		all = append(all, one)
	}
	return all
}

// Confirm implements office.Pricer.
func (p pricer) Confirm(symbol, seen string) error {
	at, err := market.ParsePrice(seen)
	if err != nil {
		return err
	}
	_, err = p.board.Confirm(symbol, at)
	return err
}

func shownPrice(p market.Price) string {
	if p.IsZero() {
		return ""
	}
	return p.String()
}
