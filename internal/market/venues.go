package market

import (
	"context"
	"errors"
	"fmt"

	"ferry/internal/fault"
)

// Refusal is a venue that was left out, and why. Err is for the log and is never shown.
type Refusal struct {
	Provider, Code, Message string
	Err                     error
}

// found is the best route, and the venues that gave none. Without a venue there is
// no route.
type found struct {
	venue   string
	route   Route
	dropped []Refusal
}

// answer is what one venue said.
type answer struct {
	routes []Route
	err    error
	given  bool
}

// best asks every venue at once and picks the route with the most output, or the
// least input where the output is fixed. The first venue wins a draw.
func (m *Market) best(ctx context.Context, in *Intent) (found, error) {
	answers, err := m.answers(ctx, in)
	if err != nil {
		return found{}, err
	}
	var f found
	for i, a := range answers {
		name := m.ports.Venues[i].Name()
		kept := 0
		for i := range a.routes {
			r := &a.routes[i]
			if err := r.check(in); err != nil {
				a.err = errors.Join(a.err, err)
				continue
			}
			kept++
			if f.venue == "" || r.better(&f.route, in.Side) {
				f.venue, f.route = name, *r
			}
		}
		if kept == 0 || a.err != nil {
			f.dropped = append(f.dropped, refusal(name, a))
		}
	}
	return f, nil
}

// told is what the venue of that place said.
type told struct {
	from int
	answer
}

// answers asks those who may keep us waiting first, each by itself, and those who do
// not meanwhile.
func (m *Market) answers(ctx context.Context, in *Intent) ([]answer, error) {
	var heard <-chan told
	if m.distant > 0 {
		heard = m.askDistant(ctx, *in)
	}
	all := make([]answer, len(m.ports.Venues))
	for i, v := range m.ports.Venues {
		if m.near[i] {
			routes, err := routesOf(ctx, v, in)
			all[i] = answer{routes, err, true}
		}
	}
	for range m.distant {
		select {
		case t := <-heard:
			all[t.from] = t.answer
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) { // nobody waits for the answer
				return nil, ctx.Err()
			}
			return all, nil
		}
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return nil, err
	}
	return all, nil
}

// askDistant asks everybody who is not near. The channel has room for all of them, so
// that one who is late does not wait for ever to be heard.
func (m *Market) askDistant(ctx context.Context, in Intent) <-chan told {
	heard := make(chan told, m.distant)
	for i, v := range m.ports.Venues {
		if m.near[i] {
			continue
		}
		go func() {
			routes, err := routesOf(ctx, v, &in)
			heard <- told{i, answer{routes, err, true}}
		}()
	}
	return heard
}

// routesOf asks a venue; one that panics is broken and takes nobody down with it.
func routesOf(ctx context.Context, v Venue, in *Intent) (routes []Route, err error) {
	defer func() {
		if r := recover(); r != nil {
			routes, err = nil, fmt.Errorf("venue %s panicked: %v", v.Name(), r)
		}
	}()
	return v.Routes(ctx, *in)
}

// check refuses a route that is not what was asked for.
func (r *Route) check(in *Intent) error {
	switch {
	case r.In.IsZero() || r.Out.IsZero():
		return fmt.Errorf("a route of nothing")
	case in.Side == From && r.In != in.Amount, in.Side == To && r.Out != in.Amount:
		return fmt.Errorf("a route of %s for %s was not asked for", r.In, r.Out)
	case r.In.Less(r.MinIn) || r.MaxIn.Less(r.In):
		return fmt.Errorf("a route of %s outside its own limits of %s and %s", r.In, r.MinIn, r.MaxIn)
	}
	for _, s := range r.Steps {
		if s.Give.IsZero() || s.Bring.IsZero() || s.Bring.Less(s.MinOut) {
			return fmt.Errorf("a step of %s for %s", s.Give, s.Bring)
		}
	}
	return nil
}

func (r *Route) better(than *Route, side Side) bool {
	if side == To {
		return r.In.Less(than.In)
	}
	return than.Out.Less(r.Out)
}

// refusal says why a venue gave no route; what is no fault tells the caller nothing.
func refusal(name string, a answer) Refusal {
	if a.given && a.err == nil {
		return Refusal{name, "no_route", "It has no route for this pair.", nil}
	}
	var f *fault.Error
	var b *Bounds
	switch {
	case !a.given || errors.Is(a.err, context.DeadlineExceeded):
		return Refusal{name, "upstream_timeout", "It did not answer in time.", errors.Join(a.err, context.DeadlineExceeded)}
	case errors.As(a.err, &f):
		return Refusal{name, f.Code, f.Text, a.err}
	case errors.As(a.err, &b) && b.Low:
		return Refusal{name, "amount_too_low", "The amount is below its minimum.", a.err}
	case b != nil:
		return Refusal{name, "amount_too_high", "The amount is above its maximum.", a.err}
	}
	return Refusal{name, "upstream_error", "It could not answer.", a.err}
}

// refused is the answer where no venue had a route: what they all say where they say
// one thing, trouble where nobody who knows the pair could judge the ask, and no_route
// otherwise. It names every venue.
func (d *draft) refused(dropped []Refusal) error {
	same, trouble, judged := true, false, false
	causes := make([]error, 0, len(dropped))
	shown := make([]map[string]string, 0, len(dropped))
	for _, r := range dropped {
		same = same && r.Code == dropped[0].Code
		switch r.Code {
		case "upstream_timeout", "upstream_error", "provider_unavailable", "pair_unavailable":
			trouble = true
		case "no_route": // who does not know the pair says nothing of those who may
		default:
			judged = true
		}
		if r.Err != nil {
			causes = append(causes, fmt.Errorf("venue %s: %w", r.Provider, r.Err))
		}
		text := r.Message
		var b *Bounds
		if errors.As(r.Err, &b) {
			text = d.bounds(b).Text
		}
		shown = append(shown, map[string]string{"provider": r.Provider, "code": r.Code, "message": text})
	}
	f := fault.New(fault.Unprocessable, "no_route", "No provider has a route for this pair and amount; details say why of each.")
	var agreed *fault.Error
	var b *Bounds
	switch {
	case same && errors.As(dropped[0].Err, &b):
		f = d.bounds(b)
	case same && errors.As(dropped[0].Err, &agreed):
		f = &fault.Error{Kind: agreed.Kind, Code: agreed.Code, Text: agreed.Text, Detail: agreed.Detail}
	case trouble && !judged:
		f = fault.New(fault.Unavailable, "provider_unavailable", "No provider could answer for this pair now; try again shortly.").RetryAfter(shortly)
	}
	f = f.With("providers", shown)
	if len(causes) == 0 {
		return f
	}
	return f.Because(errors.Join(causes...))
}

// bounds says the limits of a venue in what the user gives, the integrator's share
// included.
func (d *draft) bounds(b *Bounds) *fault.Error {
	least, err := d.rule.least(b.Min)
	if err != nil {
		least = b.Min
	}
	most := d.rule.most(b.Max)
	code, word, limit := "amount_too_high", "above the maximum", most
	if b.Low {
		code, word, limit = "amount_too_low", "below the minimum", least
	}
	return fault.New(fault.Unprocessable, code, "The amount is %s of %s %s for this pair.", word, limit.Decimal(d.give.Decimals), d.give.Symbol).
		With("limit", limit.String()).With("minFromAmount", least.String()).With("maxFromAmount", most.String())
}
