package front

import (
	"context"
	"fmt"
	"time"

	"ferry/internal/desk"
	"ferry/internal/market"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/settle"
)

// Runner is a bridge that owners run: it says what they send, and follows it.
type Runner interface {
	settle.Bridge
	desk.Runner
}

// Performer is a bridge as the service performs it.
type Performer interface {
	market.Venue
	settle.Venue
}

// Bridge is a native bridge that is offered: one of Run and Perform is there.
type Bridge struct {
	quote.Bridge
	Terms   desk.BridgeTerms
	Run     Runner
	Perform Performer
}

// followed are the bridges that owners run, by name.
func followed(all []Bridge) map[string]settle.Bridge {
	out := map[string]settle.Bridge{}
	for _, b := range all {
		if b.Run != nil {
			out[b.ID] = b.Run
		}
	}
	return out
}

// runnersOf are all who carry steps out, by name.
func runnersOf(cfg Config) map[string]settle.Venue {
	all := cfg.Venues.runners()
	for _, b := range cfg.Bridges {
		if b.Perform != nil {
			all[b.Perform.Name()] = b.Perform
		}
	}
	return all
}

// offered are the bridges as the desk offers them. One that the service performs has a
// market of its own, so that nothing else is offered in its place.
func (f *Front) offered(known *chains, listing *market.Listing) ([]*desk.Bridge, error) {
	var out []*desk.Bridge
	for _, b := range f.cfg.Bridges {
		one := &desk.Bridge{Bridge: b.Bridge, Terms: b.Terms, Down: f.bridgeDown(b)}
		if b.Run != nil {
			one.Run = b.Run
		}
		if b.Perform != nil {
			m, err := f.only(known, listing, b.Perform)
			if err != nil {
				return nil, fmt.Errorf("bridge %s: %w", b.ID, err)
			}
			one.Market = m
		}
		out = append(out, one)
	}
	return out, nil
}

// only is a market of one venue.
func (f *Front) only(known *chains, listing *market.Listing, v market.Venue) (*market.Market, error) {
	const costsGoodFor = 10 * time.Second
	tariff, err := market.NewTariff(known.senders(), costsGoodFor, f.clock.Now)
	if err != nil {
		return nil, err
	}
	offers := f.cfg.Offers
	offers.Chains, offers.Account = known.priced(f.cfg.Slippage), order.HotWallet
	free := &stock{books: f.db, now: f.clock.Now, least: f.cfg.Minimums}
	return market.New(offers, listing, market.Ports{Treasury: free, Costs: tariff, Venues: []market.Venue{v}})
}

// bridgeDown reports whether a chain of a bridge is halted.
func (f *Front) bridgeDown(b Bridge) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		for _, id := range []chainID{b.From, b.To} {
			h, err := f.health(ctx, id)
			if err != nil || h.Paused {
				return h.Paused, err
			}
		}
		return false, nil
	}
}
