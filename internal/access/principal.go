package access

import (
	"net/netip"

	"ferry/internal/integrator"
)

// Source says whose allowance a request uses.
type Source uint8

// The sources.
const (
	// OwnAddress: nobody in particular or a public key; the address it came from counts.
	OwnAddress Source = iota
	// Backend: a server key of an integrator that does not forward; no client counts.
	Backend
	// Forwarded: an approved server said for whom it asks.
	Forwarded
	// Shared: forwarding is enabled and the request did not say; all such share one allowance.
	Shared
)

// Principal is who a request is, once believed.
type Principal struct {
	Integrator *integrator.Integrator // nil: nobody
	Key        *integrator.Key        // nil with it
	Peer       netip.Addr             // who spoke to us, beyond the trusted proxies
	Source     Source
	// Client is the address whose allowance is used: the forwarded one as it was said,
	// else the peer; IPv6 peers count as their /64. It is zero for Backend and Shared.
	Client netip.Addr
}

// Server reports whether it came with a server key.
func (p *Principal) Server() bool { return p.Key != nil && p.Key.Kind == integrator.Server }
