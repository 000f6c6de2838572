package access

import (
	"net/netip"

	"ferry/internal/fault"
)

// peerBits is how much of an IPv6 peer's address counts: one line has a whole /64.
const peerBits = 64

// speakFor sets whose allowance is used. said are the values of X-End-User-IP.
func (p *Principal) speakFor(said []string) *fault.Error {
	if len(said) == 0 {
		p.speakForItself()
		return nil
	}
	// Whether the address is any good is told only to whom forwarding is allowed:
	// anybody else would learn from it who is.
	if !p.mayForward() {
		return errForwarding
	}
	if len(said) != 1 {
		return errEndUser
	}
	user, ok := endUser(said[0])
	if !ok {
		return errEndUser
	}
	p.Source, p.Client = Forwarded, user
	return nil
}

// speakForItself sets the allowance of a request that names no end user.
func (p *Principal) speakForItself() {
	p.Source, p.Client = OwnAddress, netip.Addr{}
	switch {
	case !p.Server():
		p.Client = allowance(p.Peer)
	case p.Integrator.Forwarding.Enabled:
		p.Source = Shared
	default:
		p.Source = Backend
	}
}

// mayForward reports whether the request may say for whom it asks.
func (p *Principal) mayForward() bool {
	return p.Server() && p.Integrator.Forwarding.Approves(p.Peer)
}

// endUser reads the one literal address of an end user. A zone is looked for first,
// because Unmap would drop it.
func endUser(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return netip.Addr{}, false
	}
	a = a.Unmap()
	if a.IsUnspecified() || a.IsMulticast() {
		return netip.Addr{}, false
	}
	return a, true
}

// allowance is the address that counts for a peer.
func allowance(peer netip.Addr) netip.Addr {
	if !peer.Is6() {
		return peer
	}
	network, err := peer.Prefix(peerBits)
	if err != nil { // a /64 of an IPv6 address is always one
		return peer
	}
	return network.Addr()
}
