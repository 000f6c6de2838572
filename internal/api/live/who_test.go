package live

import (
	"net/netip"
	"testing"

	"ferry/internal/access"
)

// TestConnectionsOfOneLineCountTogether: a line of IPv6 has a whole network, which counts
// as one address here as it does everywhere.
func TestConnectionsOfOneLineCountTogether(t *testing.T) {
	t.Parallel()
	l := New(Config{PerAddress: 1}, Ports{})
	enter := func(peer, counts string) bool {
		whose, most := l.subject(&access.Principal{Peer: netip.MustParseAddr(peer), Client: netip.MustParseAddr(counts)})
		return l.count(whose, most)
	}
	if !enter("2001:db8::1", "2001:db8::") || !enter("2001:db8:0:1::1", "2001:db8:0:1::") || !enter("192.0.2.1", "192.0.2.1") {
		t.Error("the first of a line is refused")
	}
	if enter("2001:db8::2", "2001:db8::") {
		t.Error("a second address of the same line is another caller")
	}
}
