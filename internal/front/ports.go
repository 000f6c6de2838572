package front

import (
	"context"
	"sync"
	"time"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/routes"
	"ferry/internal/chain"
	"ferry/internal/limit"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/order"
)

type chainID = chain.ID

// admitter lets the API ask the gate who a request is.
type admitter struct {
	gate    *access.Gate
	proxies access.Proxies
	uses    *uses
}

// Admit implements api.Admitter. A row that takes no key looks at none, so that it
// answers while keys cannot be checked; one in the query it refuses all the same.
func (a *admitter) Admit(c *api.Credentials, now time.Time) (access.Principal, error) {
	shown := access.Credentials{RawQuery: c.RawQuery, Header: c.Header, Peer: a.proxies.Peer(c.Remote, c.Header), Need: access.Optional}
	switch c.Need {
	case api.NoKey:
		shown.Header = nil
	case api.ServerKey:
		shown.Need = access.Server
	}
	p, err := a.gate.Admit(&shown, now)
	if err == nil {
		a.uses.saw(p.Key, now)
	}
	return p, err
}

// limiter lets the API spend allowances.
type limiter struct {
	counter  limit.Counter
	cfg      limit.IPLimits
	policies policies
	// exhausted hears of what was refused; nil is nobody.
	exhausted func(p *access.Principal, err error)
}

// spends are what the rows of the API cost, in the words of the limits.
func spends(s api.Spend) (out limit.Spend) {
	if s&api.Requests != 0 {
		out |= limit.Request
	}
	if s&api.Quotes != 0 {
		out |= limit.Quote
	}
	if s&api.Creates != 0 {
		out |= limit.Create
	}
	return out
}

// claimRooms are used again: there is one for every request.
var claimRooms = sync.Pool{New: func() any { return new([limit.MaxClaims]limit.Claim) }}

// Take implements api.Limiter.
func (l *limiter) Take(p *access.Principal, s api.Spend, now time.Time, header *api.Fields) error {
	room := claimRooms.Get().(*[limit.MaxClaims]limit.Claim)
	defer claimRooms.Put(room)
	claims := limit.Claims(room[:0], p, spends(s), l.cfg)
	if len(claims) == 0 {
		return nil
	}
	v := l.counter.Take(now, claims)
	var text [512]byte
	header.Set("RateLimit-Policy", l.policies.of(p, s, claims))
	header.Set("RateLimit", string(limit.AppendState(text[:0], &v)))
	if f := limit.Refuse(&v); f != nil {
		if l.exhausted != nil {
			l.exhausted(p, f)
		}
		return f
	}
	return nil
}

// mayTry refuses whoever has shown too many wrong proofs of orders.
func (l *limiter) mayTry(p *access.Principal, now time.Time) error {
	var room [limit.MaxClaims]limit.Claim
	v := l.counter.Look(now, limit.AccessFailures(room[:0], p, l.cfg))
	if f := limit.Refuse(&v); f != nil {
		return f
	}
	return nil
}

// failed counts a wrong proof.
func (l *limiter) failed(p *access.Principal, now time.Time) {
	var room [limit.MaxClaims]limit.Claim
	l.counter.Take(now, limit.AccessFailures(room[:0], p, l.cfg))
}

// recheck spends a look at the chain of an order.
func (l *limiter) recheck(id order.ID, now time.Time) error {
	var room [limit.MaxClaims]limit.Claim
	v := l.counter.Take(now, limit.Recheck(room[:0], string(id)))
	if f := limit.Refuse(&v); f != nil {
		return f
	}
	return nil
}

// ceiling is the room of the whole process.
type ceiling struct{ gate *limit.Gate }

// Enter implements api.Ceiling.
func (c ceiling) Enter() error {
	if !c.gate.Enter() {
		return c.gate.Full()
	}
	return nil
}

// Leave implements api.Ceiling.
func (c ceiling) Leave() { c.gate.Leave() }

// register lets the directory read what the office keeps.
type register struct {
	store interface {
		Changes(ctx context.Context, after int64) (office.Changes, error)
	}
}

// Changes implements access.Register.
func (r register) Changes(ctx context.Context, after int64) (access.Changes, error) {
	c, err := r.store.Changes(ctx, after)
	return access.Changes(c), err
}

// check reads an address and says its kind.
func (c *chains) check(id chain.ID, text string) (chain.Address, string, error) {
	a, err := c.Parse(id, text)
	if err != nil {
		return a, "", err
	}
	return a, c.by[id].Codec.Kind(a), nil
}

// public are the terms of a quote in the words of callers.
func (c *chains) public(o market.Offer) market.Public {
	p := o.Public(string(o.Quote.ID))
	p.FromChain, p.ToChain = c.atlas.Of(o.Quote.Give.Chain).Slug, c.atlas.Of(o.Quote.Get.Chain).Slug
	if p.PayoutAddress != "" {
		p.PayoutAddress = c.show(o.Quote.Give.Chain, o.Earning.PayTo)
	}
	return p
}

// price is what a whole unit of an asset is worth.
func (f *Front) price(listing *market.Listing) func(chain.Asset, time.Time) (money.USD, time.Time, error) {
	return func(x chain.Asset, now time.Time) (money.USD, time.Time, error) {
		a, _ := listing.Asset(x)
		one, err := money.ParseDecimal("1", a.Decimals)
		if err != nil {
			return 0, time.Time{}, err
		}
		usd, err := market.Rates{Listing: listing, Now: f.clock.Now}.USD(context.Background(), x, one)
		return usd, f.board.Since(a.Symbol), err
	}
}

// health is how a chain is.
func (f *Front) health(ctx context.Context, id chain.ID) (routes.Health, error) {
	why, err := f.db.Halted(ctx, id)
	if err != nil {
		return routes.Health{}, err
	}
	synced, err := f.db.Synced(ctx, id)
	return routes.Health{Paused: why != "", Synced: synced}, err
}
