package desk

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/limit"
	"ferry/internal/market"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/secret"
	"ferry/internal/settle"
)

// CreateAsk is what an order is asked for.
type CreateAsk struct {
	QuoteID       string    // an offer that was made, or
	Quote         *QuoteAsk // what one is to be made of
	ToAddress     string
	RefundAddress string
	Session       secret.Text // supplied by an integrator to group its orders; zero is none
	Reference     string
	Metadata      map[string]string
	PointsTo      string
	Private       bool
	Once          *Repeat // nil: asked again it makes another order
}

// Repeat is how a caller names a request that may be sent again. Body is a digest
// of what it asks for.
type Repeat struct{ Key, Body string }

// Created is a new order with the secret that owns it, which is shown once.
type Created struct {
	Order    order.Order
	Session  secret.Text
	Replayed bool // the order was made when the request came first
}

// Create makes an order.
func (d *Desk) Create(ctx context.Context, p *access.Principal, a CreateAsk, now time.Time) (Created, error) {
	made, err := d.createNew(ctx, p, a, now)
	if err != nil && a.Once != nil {
		return d.before(ctx, p, a, err, now)
	}
	return made, err
}

func (d *Desk) createNew(ctx context.Context, p *access.Principal, a CreateAsk, now time.Time) (Created, error) {
	offer, err := d.accepted(ctx, p, a, now)
	if err != nil {
		return Created{}, err
	}
	ask := order.Ask{ID: OrderID(), Quote: promised(offer), PayFrom: offer.PayFrom, Patience: d.cfg.Patience, Once: d.once(p, a.Once)}
	ask.FundingTime = d.cfg.Funding[ask.Quote.Give.Chain]
	if err := d.addresses(a, &ask); err != nil {
		return Created{}, err
	}
	return d.create(ctx, p, a, ask, "", now)
}

// create writes an order whose terms and addresses are known, over a bridge if one was
// named.
func (d *Desk) create(ctx context.Context, p *access.Principal, a CreateAsk, ask order.Ask, bridge string, now time.Time) (Created, error) {
	session, err := d.owner(p, a, ask)
	if err != nil {
		return Created{}, err
	}
	ask.Session = access.SessionDigest(integratorOf(p), session.Reveal())
	ask.Origin, ask.Ceilings = d.origin(p, a), d.ceilings(p)
	if ask.Bridge == nil { // what its owner brings over himself is not sold
		ask.Flow = d.flow(ask.Quote)
	}
	if err := d.points(p, a, &ask, now); err != nil {
		return Created{}, err
	}
	ask.Origin.Group, ask.Origin.Bridge = d.group(session.Reveal()), bridge
	if err := d.fundedAt(ctx, &ask); err != nil {
		return Created{}, err
	}
	o, err := d.ports.Settler.Create(ctx, ask, now)
	if err == nil {
		return Created{Order: o, Session: session}, nil
	}
	return d.refused(ctx, p, a, err, now)
}

// accepted is an offer that stands now.
func (d *Desk) accepted(ctx context.Context, p *access.Principal, a CreateAsk, now time.Time) (market.Offer, error) {
	if a.QuoteID == "" {
		q := *a.Quote
		q.ToAddress, q.RefundAddress = a.ToAddress, a.RefundAddress
		o, err := d.offer(ctx, p, q, now)
		o.Quote.ID = unseenQuote()
		return o, err
	}
	o, err := d.ports.Seal.Open(a.QuoteID, integratorOf(p), now)
	if err != nil {
		return market.Offer{}, err
	}
	if o.To, err = d.address("toAddress", o.Quote.Get.Chain, a.ToAddress); err != nil {
		return market.Offer{}, err
	}
	return d.ports.Market.Accept(ctx, o, now)
}

// unseenQuote names an offer that is accepted before anybody saw it: it need not be
// opened again.
func unseenQuote() quote.ID {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return quote.ID("quo_" + crockford.EncodeToString(raw[:]))
}

// promised is the offer as the order keeps it.
func promised(o market.Offer) quote.Quote {
	q := o.Quote
	q.Shown = quote.Shown{
		ExactOut: o.Side == market.To, Slippage: o.Slippage, MinOut: o.MinOut, MaxIn: o.MaxFrom, OutUSD: o.GetUSD,
		NetworkUSD: o.NetworkUSD, ServiceUSD: o.ServiceUSD, Confirmations: o.Confirmations, Takes: o.Takes,
	}
	if o.Earning != nil {
		q.Shown.FeeUSD = o.Earning.USD
	}
	return q
}

// addresses reads where the money goes, and where it goes back to.
func (d *Desk) addresses(a CreateAsk, ask *order.Ask) (err error) {
	give, get := ask.Quote.Give.Chain, ask.Quote.Get.Chain
	if a.ToAddress == "" {
		return fault.New(fault.Invalid, "missing_field", "toAddress is missing; say where the %s goes.", d.ports.Atlas.Asset(ask.Quote.Get).Symbol).With("pointer", "/toAddress")
	}
	if ask.PayTo, err = d.address("toAddress", get, a.ToAddress); err != nil {
		return err
	}
	if ask.RefundTo, err = d.address("refundAddress", give, a.RefundAddress); err != nil {
		return err
	}
	if ask.RefundTo.IsZero() {
		ask.RefundTo = ask.PayFrom // he signs for what he pays, so he can have it back
	}
	if ask.RefundTo.IsZero() && (ask.Quote.Mode == quote.Fixed || d.ports.Atlas.Of(give).NeedsRefund) {
		return fault.New(fault.Invalid, "missing_field", "refundAddress is missing; a fixed rate, and any order paid on %s, needs one.", d.ports.Atlas.Of(give).Name).
			With("pointer", "/refundAddress")
	}
	for _, to := range []struct {
		field string
		on    chain.ID
		a     chain.Address
	}{{"toAddress", get, ask.PayTo}, {"refundAddress", give, ask.RefundTo}} {
		if to.a.IsZero() {
			continue
		}
		if d.cfg.Own[to.on] == to.a { // deposit addresses are refused where the order is written
			return ownAddress(to.field)
		}
	}
	return nil
}

func ownAddress(field string) *fault.Error {
	return fault.New(fault.Unprocessable, "recipient_unsupported", "%s is an address of this service; give one of your own.", field).With("pointer", "/"+field)
}

// owner is the secret that will own the order.
func (d *Desk) owner(p *access.Principal, a CreateAsk, ask order.Ask) (secret.Text, error) {
	switch {
	case !a.Session.IsZero() && p.Key == nil:
		return secret.Text{}, fault.New(fault.Invalid, "session_id_requires_key", "sessionId can be supplied with an integrator key only; leave it out, and one is made.").With("pointer", "/sessionId")
	case !a.Session.IsZero() && !access.ValidSession(a.Session.Reveal()):
		return secret.Text{}, fault.New(fault.Invalid, "invalid_session_id", "sessionId must be ses_ and 43 characters of base64url, or a random UUID (version 4).").With("pointer", "/sessionId")
	case !a.Session.IsZero():
		return a.Session, nil
	case ask.Once != nil:
		return d.derived(ask.Once, ask.ID), nil
	}
	return access.NewSession(randomness)
}

func (d *Desk) derived(o *order.Once, id order.ID) secret.Text {
	return secret.New(d.session(o.Scope, o.Key, string(id)))
}

// once is whose request it is and how they call it.
func (d *Desk) once(p *access.Principal, r *Repeat) *order.Once {
	if r == nil {
		return nil
	}
	scope := "address/" + d.short("address", p.Client.String())
	switch {
	case p.Server():
		scope = "integrator/" + string(p.Integrator.ID)
	case p.Key != nil:
		scope = "key/" + string(p.Key.ID) + "/" + scope
	}
	return &order.Once{Scope: scope, Key: d.short("request", r.Key), Body: d.short("body", r.Body)}
}

func (d *Desk) origin(p *access.Principal, a CreateAsk) order.Origin {
	o := order.Origin{Reference: a.Reference, Metadata: a.Metadata, Private: a.Private}
	if p.Key == nil {
		return o
	}
	o.Key, o.Kind = p.Key.ID, p.Key.Kind
	if p.Source == access.Forwarded || p.Source == access.OwnAddress {
		o.Client = d.short("client", string(p.Integrator.ID), p.Client.String())
	}
	return o
}

// ceilings are all subjects that the order counts against, bounded or not: a limit
// that is enabled later must find the orders of before.
func (d *Desk) ceilings(p *access.Principal) []order.Ceiling {
	bounded := map[limit.Resource]limit.Ceiling{}
	for _, c := range limit.OpenCeilings(p, d.cfg.IP) {
		bounded[c.Resource] = c
	}
	var all []order.Ceiling
	add := func(r limit.Resource, subject string, window time.Duration) {
		c := order.Ceiling{Name: r.String(), Subject: subject, Window: window}
		if b, ok := bounded[r]; ok {
			c.Max, c.Window = b.Limit, b.Window
		}
		all = append(all, c)
	}
	if p.Integrator != nil {
		add(limit.CompanyOpenOrders, string(p.Integrator.ID), p.Integrator.Window)
	}
	switch p.Source {
	case access.Forwarded:
		add(limit.ClientOpenOrders, "client/"+d.short("client", string(p.Integrator.ID), p.Client.String()), p.Integrator.Window)
	case access.Shared:
		add(limit.ClientOpenOrders, "client/"+string(p.Integrator.ID), p.Integrator.Window)
	case access.OwnAddress:
		add(limit.IPOpenOrders, "address/"+d.short("address", p.Client.String()), d.cfg.IP.Window)
	}
	return all
}

// flow is what the order sells of its pair: of symbols, since whoever knows that a price
// is wrong may come over any chain. It is worth what its dearer side is worth.
func (d *Desk) flow(q quote.Quote) *order.Flow {
	give, get := d.ports.Atlas.Asset(q.Give), d.ports.Atlas.Asset(q.Get)
	return &order.Flow{Pair: give.Symbol + "/" + get.Symbol, USD: max(q.USD, q.Shown.OutUSD), Most: d.cfg.PerPairMinute}
}

// soldOut refuses what would be too much of a pair, until enough of the minute has gone.
func soldOut(e *order.TooMuch, now time.Time) *fault.Error {
	wait := order.FlowWindow
	if !e.Oldest.IsZero() {
		wait = min(max(e.Oldest.Add(order.FlowWindow+2*time.Second).Sub(now), time.Second), wait)
	}
	return fault.New(fault.Unavailable, "pair_unavailable", "As much of this pair was sold within a minute as may be; try again shortly, or a smaller amount.").
		RetryAfter(wait).Because(e)
}

// before answers a request that is refused now and made an order earlier with that order:
// its quote has expired meanwhile, or what it took is what is missing. Only a refusal has
// it looked for, so that whoever asks for the first time does not wait for it.
func (d *Desk) before(ctx context.Context, p *access.Principal, a CreateAsk, err error, now time.Time) (Created, error) {
	known, unread := d.ports.Store.RequestMade(ctx, *d.once(p, a.Once))
	if unread != nil || known == nil {
		return Created{}, err
	}
	return d.refused(ctx, p, a, known, now)
}

// refused turns a refusal of the settler into the caller's words, or into the order
// that the same request made before.
func (d *Desk) refused(ctx context.Context, p *access.Principal, a CreateAsk, err error, now time.Time) (Created, error) {
	var many *order.TooMany
	var made *order.Made
	var ours *order.Ours
	var much *order.TooMuch
	switch {
	case errors.As(err, &much):
		return Created{}, soldOut(much, now)
	case errors.As(err, &ours) && ours.Refund:
		return Created{}, ownAddress("refundAddress").Because(err)
	case errors.As(err, &ours):
		return Created{}, ownAddress("toAddress").Because(err)
	case errors.As(err, &many):
		c := limit.Ceiling{Limit: many.Ceiling.Max, Window: many.Ceiling.Window}
		c.Resource = limit.ResourceNamed(many.Ceiling.Name)
		return Created{}, limit.TooManyOpen(c, many.Oldest, now)
	case errors.As(err, &made) && !made.Same:
		return Created{}, fault.New(fault.Conflict, "idempotency_conflict", "This Idempotency-Key was used for another request; use a new one.")
	case errors.As(err, &made):
		o, err := d.ports.Store.OrderMade(ctx, made.Order)
		if err != nil {
			return Created{}, err
		}
		session := a.Session
		if session.IsZero() {
			session = d.derived(d.once(p, a.Once), o.ID)
		}
		return Created{Order: o, Session: session, Replayed: true}, nil
	case errors.Is(err, settle.ErrTaken):
		return Created{}, fault.New(fault.Unavailable, "service_unavailable", "The order could not be made; try again.").Because(err)
	}
	return Created{}, err
}
