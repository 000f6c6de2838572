package limit

import (
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
)

// Ceiling is how many unfinished orders a subject may have. The orders that count are
// younger than Window and belong, by resource, to: the company, whichever of its keys
// made them, also public and revoked ones; one end user of the company, or all that
// were not named if Client is zero; one address, with a public key or none.
type Ceiling struct {
	Subject
	Limit  int64
	Window time.Duration
}

// OpenCeilings are the ceilings that hold when a principal creates an order, the
// widest first. Whoever creates counts in the same transaction; see TooManyOpen.
func OpenCeilings(p *access.Principal, cfg IPLimits) []Ceiling {
	var all []Ceiling
	add := func(s Subject, limit int64, window time.Duration) {
		if limit > 0 {
			all = append(all, Ceiling{Subject: s, Limit: limit, Window: window})
		}
	}
	if !ofCompany(p) {
		add(Subject{Resource: IPOpenOrders, Client: addressOf(p)}, cfg.OpenOrders, cfg.Window)
		return all
	}
	i := p.Integrator
	add(Subject{Resource: CompanyOpenOrders, Company: i.ID}, i.Limits.OpenOrders, i.Window)
	if forwards(p) {
		add(Subject{Resource: ClientOpenOrders, Company: i.ID, Client: clientOf(p)},
			within(i.Forwarding.Limits.OpenOrders, i.Limits.OpenOrders), i.Window)
	}
	return all
}

// TooManyOpen refuses a creation because as many orders as the ceiling allows are
// open, of which the oldest was created at oldest. An order may end at any time, so
// nobody is told to wait longer than a minute for it to grow too old to count.
func TooManyOpen(c Ceiling, oldest, now time.Time) *fault.Error {
	seconds := wholeSeconds(oldest.Add(c.Window).Sub(now))
	seconds = min(max(seconds, 1), int32(Window/time.Second))
	f := fault.New(fault.Exhausted, "too_many_open_orders",
		"The limit %s of %d unfinished orders is reached. Let one of them finish, or try again in %d seconds.",
		c.Resource, c.Limit, seconds)
	return waiting(f, []State{{Resource: c.Resource, Limit: c.Limit, Seconds: seconds, Exhausted: true}})
}
