package limit

import (
	"net/netip"
	"time"

	"ferry/internal/access"
	"ferry/internal/integrator"
)

// Subject is whose use of what is counted. It is comparable, and two requests that
// share an allowance have equal subjects.
type Subject struct {
	Resource Resource
	Company  integrator.ID // empty: counted across all companies and nobody
	Name     string        // the key or the order, where one is meant
	Client   netip.Addr    // the address, where one is meant
}

// Claim is one unit of a subject, of which there are Limit in any 60 seconds.
// A limit of zero is no limit and counts nothing.
type Claim struct {
	Subject
	Limit int64
}

// Window is the time within which a limit is counted.
const Window = time.Minute

// Spend is what an operation costs.
type Spend uint8

// The costs. A quote and a creation are requests too, by their very value.
const (
	Request Spend = 1
	Quote   Spend = 1<<1 | Request
	Create  Spend = 1<<2 | Request
)

func (s Spend) has(part Spend) bool { return s&part == part }

// IPLimits are the limits of an address that comes with no key or a public one, per
// minute but for OpenOrders. Zero disables one.
type IPLimits struct {
	Requests, Quotes, Creates, OpenOrders int64
	// AccessFailures is how many wrong proofs of an order an address may show.
	AccessFailures int64
	// Window is within which unfinished orders of an address count.
	Window time.Duration
}

// DefaultIPLimits are those that hold unless the operator says otherwise.
var DefaultIPLimits = IPLimits{
	Requests: 60, Quotes: 20, Creates: 5, OpenOrders: 5,
	AccessFailures: 30, Window: integrator.DefaultWindow,
}

// Check refuses limits that are no limits.
func (l IPLimits) Check() error {
	for _, f := range []struct {
		field string
		n     int64
	}{
		{"requests", l.Requests},
		{"quotes", l.Quotes},
		{"creates", l.Creates},
		{"openOrders", l.OpenOrders},
		{"accessFailures", l.AccessFailures},
	} {
		if err := integrator.CheckLimit(f.field, f.n); err != nil {
			return err
		}
	}
	if l.Window < time.Minute {
		return &integrator.Problem{Field: "window", Why: "must be at least a minute"}
	}
	return nil
}

// Claims appends to dst every limit that a principal's operation uses. Server keys
// use their company's, their own and, with forwarding, their end user's; everybody
// else uses those of his address and none of a company's. It allocates nothing if dst
// has room for MaxClaims.
func Claims(dst []Claim, p *access.Principal, s Spend, cfg IPLimits) []Claim {
	if !s.has(Request) {
		return dst
	}
	if !ofCompany(p) {
		at := addressOf(p)
		dst = claim(dst, Subject{Resource: IPRequests, Client: at}, cfg.Requests)
		if s.has(Quote) {
			dst = claim(dst, Subject{Resource: IPQuotes, Client: at}, cfg.Quotes)
		}
		if s.has(Create) {
			dst = claim(dst, Subject{Resource: IPCreates, Client: at}, cfg.Creates)
		}
		return dst
	}
	all, each := &p.Integrator.Limits, &p.Integrator.Forwarding.Limits
	id, client, forwards := p.Integrator.ID, clientOf(p), forwards(p)
	dst = claim(dst, Subject{Resource: CompanyRequests, Company: id}, all.Requests)
	dst = claim(dst, Subject{Resource: KeyRequests, Company: id, Name: string(p.Key.ID)}, p.Key.Requests)
	if forwards {
		dst = claim(dst, Subject{Resource: ClientRequests, Company: id, Client: client}, within(each.Requests, all.Requests))
	}
	if s.has(Quote) {
		dst = claim(dst, Subject{Resource: CompanyQuotes, Company: id}, all.Quotes)
	}
	if s.has(Create) {
		dst = claim(dst, Subject{Resource: CompanyCreates, Company: id}, all.Creates)
		if forwards {
			dst = claim(dst, Subject{Resource: ClientCreates, Company: id, Client: client}, within(each.Creates, all.Creates))
		}
	}
	return dst
}

// AccessFailures appends the claim of one wrong proof of an order. It is looked at
// before a proof is judged and taken when it was wrong. A forwarded address counts
// within its company, so that no company can use up what belongs to an address
// elsewhere.
func AccessFailures(dst []Claim, p *access.Principal, cfg IPLimits) []Claim {
	s := Subject{Resource: IPAccessFailures, Client: addressOf(p)}
	if ofCompany(p) && p.Source == access.Forwarded {
		s.Company = p.Integrator.ID
	}
	return claim(dst, s, cfg.AccessFailures)
}

// Recheck appends the claim of looking at one order again, which may be done once a
// minute whoever asks.
func Recheck(dst []Claim, order string) []Claim {
	return claim(dst, Subject{Resource: OrderRecheck, Name: order}, 1)
}

// Messages appends the claim of one message on a socket, which counts by server key
// or else by address.
func Messages(dst []Claim, p *access.Principal, limit int64) []Claim {
	s := Subject{Resource: WSMessages}
	if ofCompany(p) {
		s.Company, s.Name = p.Integrator.ID, string(p.Key.ID)
	} else {
		s.Client = addressOf(p)
	}
	return claim(dst, s, limit)
}

func claim(dst []Claim, s Subject, limit int64) []Claim {
	if limit <= 0 {
		return dst
	}
	return append(dst, Claim{Subject: s, Limit: limit})
}

// ofCompany reports whether a company's limits hold. Whoever has no server key has
// only his address, whatever else is said of him.
func ofCompany(p *access.Principal) bool { return p.Server() && p.Integrator != nil }

func forwards(p *access.Principal) bool {
	return p.Source == access.Forwarded || p.Source == access.Shared
}

// clientOf is the end user that was forwarded; all that were not share the zero one.
func clientOf(p *access.Principal) netip.Addr {
	if p.Source == access.Forwarded {
		return p.Client
	}
	return netip.Addr{}
}

// addressOf is the address that counts where no company's limits do.
func addressOf(p *access.Principal) netip.Addr {
	if p.Client.IsValid() {
		return p.Client
	}
	at := p.Peer.Unmap().WithZone("")
	if at.Is6() {
		// A network hands out at least this much to one customer.
		whole, _ := at.Prefix(64)
		return whole.Addr()
	}
	return at
}

// within is the lower of an end user's limit and his company's, where both are set.
func within(client, company int64) int64 {
	if company > 0 && client > company {
		return company
	}
	return client
}
