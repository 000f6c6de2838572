package access

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the deployment's own proxies, and the header in which they say where
// a request came from. The zero value trusts nobody.
type Proxies struct {
	trusted []netip.Prefix
	header  string
	chained bool // every proxy adds one hop, the nearest last
}

// The headers that proxies may use, as a parsed request names them.
var proxyHeaders = map[string]string{
	"x-forwarded-for":  "X-Forwarded-For",
	"cf-connecting-ip": "Cf-Connecting-Ip",
	"x-real-ip":        "X-Real-Ip",
}

const chainedHeader = "X-Forwarded-For"

// NewProxies trusts proxies in some networks and one header of theirs. Without
// either there are no proxies, and one without the other is refused.
func NewProxies(trusted []netip.Prefix, header string) (Proxies, error) {
	if header == "" && len(trusted) == 0 {
		return Proxies{}, nil
	}
	canonical, ok := proxyHeaders[strings.ToLower(header)]
	switch {
	case !ok:
		return Proxies{}, fmt.Errorf("proxies: header %q: write X-Forwarded-For, CF-Connecting-IP or X-Real-IP", header)
	case len(trusted) == 0:
		return Proxies{}, fmt.Errorf("proxies: header %s without a trusted network: write where the proxies are", header)
	}
	for _, p := range trusted {
		if !p.IsValid() || p != p.Masked() || p.Addr().Zone() != "" || p.Addr().Is4In6() {
			return Proxies{}, fmt.Errorf("proxies: %s: write a plain network such as 10.0.0.0/8", p)
		}
		if p.Bits() == 0 {
			return Proxies{}, fmt.Errorf("proxies: %s would let anybody say where a request came from: write the networks of the proxies", p)
		}
	}
	return Proxies{trusted: slices.Clone(trusted), header: canonical, chained: canonical == chainedHeader}, nil
}

// Peer is who spoke to us, beyond the trusted proxies. A hop is believed only if the
// one that told it is trusted; one that cannot be read ends the chain at whoever
// told it.
func (p *Proxies) Peer(remote netip.Addr, header map[string][]string) netip.Addr {
	peer := remote.WithZone("").Unmap()
	if !p.trusts(peer) {
		return peer
	}
	said := header[p.header]
	if !p.chained {
		if len(said) == 1 {
			if a, ok := hop(said[0]); ok {
				return a
			}
		}
		return peer
	}
	for i := len(said) - 1; i >= 0; i-- {
		for rest, more := said[i], true; more; {
			var last string
			rest, last, more = cutLast(rest)
			a, ok := hop(last)
			if !ok {
				return peer
			}
			if peer = a; !p.trusts(peer) {
				return peer
			}
		}
	}
	return peer
}

func (p *Proxies) trusts(a netip.Addr) bool {
	for _, t := range p.trusted {
		if t.Contains(a) {
			return true
		}
	}
	return false
}

// cutLast parts the last hop from a list.
func cutLast(list string) (rest, last string, more bool) {
	if i := strings.LastIndexByte(list, ','); i >= 0 {
		return list[:i], list[i+1:], true
	}
	return "", list, false
}

// hop reads one address of a chain.
func hop(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.Trim(text, " \t"))
	if err != nil {
		return netip.Addr{}, false
	}
	a = a.WithZone("").Unmap()
	return a, !a.IsUnspecified()
}
