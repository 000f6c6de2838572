package access

import (
	"net/netip"
	"time"

	"ferry/internal/fault"
	"ferry/internal/integrator"
)

// Need says which key a route needs.
type Need uint8

// The needs.
const (
	Optional Need = iota // a key may be shown, and if it is it must be good
	Server               // nothing but a server key opens it
)

// The headers that say who a request is, as a parsed request names them.
const (
	headerKey     = "X-Integrator-Key"
	headerAlias   = "X-Api-Key"
	headerEndUser = "X-End-User-Ip"
	headerOrigin  = "Origin"
)

// Credentials are what a request shows, before anything is believed.
type Credentials struct {
	RawQuery string
	Header   map[string][]string // names in canonical form, as net/http gives them
	Peer     netip.Addr          // who spoke to us, as Proxies says
	Need     Need
}

// Gate says who a request is.
type Gate struct {
	dir      *Directory
	stale    time.Duration
	failures *failures
	notices  *notices
}

// NewGate makes a gate that believes a directory.
func NewGate(d *Directory, cfg Config) (*Gate, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	return &Gate{
		dir: d, stale: cfg.Stale,
		failures: newFailures(cfg.FailuresPerMin, cfg.Now()), notices: newNotices(cfg.Notice),
	}, nil
}

// Admit says who a request is, or the first reason why it is refused: always a
// *fault.Error. The order of the checks is part of the contract, because a later
// refusal must not tell what an earlier one hides.
func (g *Gate) Admit(c *Credentials, now time.Time) (Principal, error) {
	if KeyInQuery(c.RawQuery) {
		g.sawKeys(c.RawQuery, now)
		return Principal{}, errKeyInQuery
	}
	p := Principal{Peer: c.Peer.WithZone("").Unmap()}
	text, shown := keyShown(c.Header)
	if shown {
		if refused := g.believe(&p, text, now); refused != nil {
			return Principal{}, refused
		}
		if p.Server() && len(c.Header[headerOrigin]) > 0 {
			g.notices.say(Notice{Sight: ServerKeyInBrowser, Key: p.Key.ID, Integrator: p.Integrator.ID}, now)
		}
	}
	if c.Need == Server && !p.Server() {
		if !shown {
			return Principal{}, errKeyRequired
		}
		return Principal{}, errServerKey
	}
	if refused := p.speakFor(c.Header[headerEndUser]); refused != nil {
		return Principal{}, refused
	}
	return p, nil
}

// Again says who a principal of earlier is now, for a connection that stays open:
// what was believed at its beginning may be revoked, suspended or disallowed since.
func (g *Gate) Again(p *Principal, now time.Time) (Principal, error) {
	next := *p
	if p.Key == nil {
		return next, nil
	}
	known := g.dir.known.Load()
	if now.Sub(known.asked) > g.stale {
		return Principal{}, errStale
	}
	var refused *fault.Error
	if next.Key, next.Integrator, refused = known.find(&p.Key.Digest, p.Key.Kind); refused != nil {
		return Principal{}, refused
	}
	if p.Source == Forwarded {
		if !next.mayForward() {
			return Principal{}, errForwarding
		}
		return next, nil
	}
	next.speakForItself()
	return next, nil
}

// believe fills in whose key it is. A failure counts against the address, and over
// its limit nothing is told of why; a good key is never counted and always served.
func (g *Gate) believe(p *Principal, text string, now time.Time) *fault.Error {
	why := errInvalidKey
	if kind, ok := integrator.KindOf(text); ok { // else it is not worth a look
		known := g.dir.known.Load()
		if now.Sub(known.asked) > g.stale {
			return errStale
		}
		digest := integrator.DigestOf(text)
		p.Key, p.Integrator, why = known.find(&digest, kind)
	}
	if why == nil {
		return nil
	}
	if wait := g.failures.take(allowance(p.Peer), now); wait > 0 {
		return tooMany[(wait+time.Second-1)/time.Second]
	}
	return why
}

// keyShown is the one key that the headers show, and empty, which is no key, where
// they leave in doubt which one is meant.
func keyShown(header map[string][]string) (text string, shown bool) {
	keys, alias := header[headerKey], header[headerAlias]
	switch {
	case len(keys) == 0 && len(alias) == 0:
		return "", false
	case len(keys) > 1 || len(alias) > 1:
		return "", true
	case len(keys) == 0:
		return alias[0], true
	case len(alias) == 0 || alias[0] == keys[0]:
		return keys[0], true
	}
	return "", true
}

// sawKeys tells which keys were in a query.
func (g *Gate) sawKeys(rawQuery string, now time.Time) {
	if g.notices.tell == nil {
		return
	}
	known := g.dir.known.Load()
	keysIn(rawQuery, func(text string) {
		seen := Notice{Sight: KeyInURL}
		d := integrator.DigestOf(text)
		if found := known.keys.get(digestHash(&d), d); found != nil {
			seen.Key, seen.Integrator = found.key.ID, found.key.Integrator
		}
		g.notices.say(seen, now)
	})
}
