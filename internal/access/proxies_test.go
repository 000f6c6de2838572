package access_test

import (
	"net/netip"
	"strings"
	"testing"

	"ferry/internal/access"
)

func networks(texts ...string) (all []netip.Prefix) {
	for _, t := range texts {
		all = append(all, netip.MustParsePrefix(t))
	}
	return all
}

func proxies(t testing.TB, header string, trusted ...string) access.Proxies {
	t.Helper()
	p, err := access.NewProxies(networks(trusted...), header)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPeerBeyondTheProxies(t *testing.T) {
	t.Parallel()
	const xff, cf, real = "X-Forwarded-For", "Cf-Connecting-Ip", "X-Real-Ip"
	none := access.Proxies{}
	chained := proxies(t, "X-Forwarded-For", "10.0.0.0/8", "2001:db8:a::/48")
	flare := proxies(t, "CF-Connecting-IP", "10.0.0.0/8")
	single := proxies(t, "x-real-ip", "10.0.0.0/8")
	for _, tt := range []struct {
		name    string
		proxies access.Proxies
		remote  string
		header  map[string][]string
		want    string
	}{
		{"A39 no proxies, all headers", none, "10.1.1.1", headers(xff, "1.1.1.1", cf, "1.1.1.1", real, "1.1.1.1"), "10.1.1.1"},
		{"A39 untrusted peer", chained, "8.8.8.8", headers(xff, "1.1.1.1"), "8.8.8.8"},
		{"A39 untrusted peer says a proxy", chained, "8.8.8.8", headers(xff, "10.0.0.5"), "8.8.8.8"},
		{"A39 untrusted peer, single", flare, "8.8.8.8", headers(cf, "1.1.1.1"), "8.8.8.8"},
		{"A39 another header than the configured", flare, "10.0.0.1", headers(xff, "1.1.1.1", real, "1.1.1.1"), "10.0.0.1"},
		{"A39 another header than the configured, chained", chained, "10.0.0.1", headers(cf, "1.1.1.1", real, "1.1.1.1"), "10.0.0.1"},
		{"A40 one hop", chained, "10.0.0.1", headers(xff, "1.1.1.1"), "1.1.1.1"},
		{"A39 what the client said before is not believed", chained, "10.0.0.1", headers(xff, "9.9.9.9, 1.1.1.1"), "1.1.1.1"},
		{"A39 even a trusted address before it", chained, "10.0.0.1", headers(xff, "10.0.0.9, 1.1.1.1"), "1.1.1.1"},
		{"two proxies", chained, "10.0.0.1", headers(xff, "9.9.9.9, 1.1.1.1, 10.0.0.2"), "1.1.1.1"},
		{"several lines", chained, "10.0.0.1", headers(xff, "9.9.9.9", xff, "1.1.1.1", xff, "10.0.0.3,\t10.0.0.2"), "1.1.1.1"},
		{"all trusted", chained, "10.0.0.1", headers(xff, "10.0.0.3, 10.0.0.2"), "10.0.0.3"},
		{"no header", chained, "10.0.0.1", nil, "10.0.0.1"},
		{"malformed last hop", chained, "10.0.0.1", headers(xff, "1.1.1.1, unknown"), "10.0.0.1"},
		{"malformed hop behind a trusted one", chained, "10.0.0.1", headers(xff, "1.1.1.1, x, 10.0.0.2"), "10.0.0.2"},
		{"empty hop", chained, "10.0.0.1", headers(xff, "1.1.1.1,"), "10.0.0.1"},
		{"empty line", chained, "10.0.0.1", headers(xff, "1.1.1.1", xff, ""), "10.0.0.1"},
		{"port", chained, "10.0.0.1", headers(xff, "1.1.1.1:80"), "10.0.0.1"},
		{"unspecified", chained, "10.0.0.1", headers(xff, "0.0.0.0"), "10.0.0.1"},
		{"mapped remote", chained, "::ffff:10.0.0.1", headers(xff, "::ffff:1.1.1.1"), "1.1.1.1"},
		{"mapped hop is trusted", chained, "10.0.0.1", headers(xff, "1.1.1.1, ::ffff:10.0.0.2"), "1.1.1.1"},
		{"IPv6", chained, "2001:db8:a::1", headers(xff, "2001:DB8:0:0:0:0:0:5"), "2001:db8::5"},
		{"zones are dropped", chained, "2001:db8:a::1%eth0", headers(xff, "fe80::1%eth0"), "fe80::1"},
		{"zone of an untrusted peer", chained, "fe80::2%eth1", nil, "fe80::2"},
		{"single header", flare, "10.0.0.1", headers(cf, "1.1.1.1"), "1.1.1.1"},
		{"single header twice", flare, "10.0.0.1", headers(cf, "1.1.1.1", cf, "1.1.1.1"), "10.0.0.1"},
		{"single header with a chain", flare, "10.0.0.1", headers(cf, "1.1.1.1, 2.2.2.2"), "10.0.0.1"},
		{"single header of a trusted address", single, "10.0.0.1", headers(real, "10.0.0.7"), "10.0.0.7"},
		{"single header malformed", single, "10.0.0.1", headers(real, "unknown"), "10.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.proxies.Peer(netip.MustParseAddr(tt.remote), tt.header); got != netip.MustParseAddr(tt.want) {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
	if got := chained.Peer(netip.Addr{}, headers(xff, "1.1.1.1")); got.IsValid() {
		t.Errorf("nobody became %v", got)
	}
}

func TestProxiesThatWouldTrustTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header  string
		trusted []netip.Prefix
	}{
		"header without networks": {"X-Real-IP", nil},
		"networks without header": {"", networks("10.0.0.0/8")},
		"unknown header":          {"Forwarded", networks("10.0.0.0/8")},
		"everybody":               {"X-Real-IP", networks("0.0.0.0/0")},
		"everybody of IPv6":       {"X-Real-IP", networks("10.0.0.0/8", "::/0")},
		"not masked":              {"X-Real-IP", networks("10.0.0.1/8")},
		"mapped":                  {"X-Real-IP", networks("::ffff:10.0.0.0/104")},
		"none at all":             {"X-Real-IP", []netip.Prefix{{}}},
	} {
		if _, err := access.NewProxies(tt.trusted, tt.header); err == nil || !strings.Contains(err.Error(), "write") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := access.NewProxies(nil, ""); err != nil {
		t.Errorf("no proxies: %v", err)
	}
}

func TestFindingThePeerCostsNoAllocation(t *testing.T) {
	p := proxies(t, "X-Forwarded-For", "10.0.0.0/8")
	h := headers("X-Forwarded-For", "9.9.9.9, 1.1.1.1, 10.0.0.2")
	remote := netip.MustParseAddr("10.0.0.1")
	if n := testing.AllocsPerRun(100, func() { p.Peer(remote, h) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever a client writes before what our proxies write, the answer is what they saw.
func FuzzProxies(f *testing.F) {
	f.Add("", "1.2.3.4", uint8(1))
	f.Add("10.0.0.1, 10.0.0.2", "2001:db8::1", uint8(2))
	f.Add(",,,%zone", "::ffff:1.2.3.4", uint8(0))
	f.Add("fe80::1%eth0", "fe80::1%eth0", uint8(3))
	f.Add("fe80::1%eth0", "::1%,0", uint8(1))
	f.Add("", "::1% ", uint8(1))
	f.Fuzz(func(t *testing.T, said, client string, hops uint8) {
		p := proxies(t, "X-Forwarded-For", "10.0.0.0/8")
		ours := netip.MustParseAddr("10.0.0.1")
		if got := p.Peer(netip.MustParseAddr("8.8.8.8"), headers("X-Forwarded-For", said)); got != netip.MustParseAddr("8.8.8.8") {
			t.Fatalf("an untrusted peer became %v by %q", got, said)
		}
		if got := p.Peer(ours, headers("X-Forwarded-For", said)); !got.IsValid() || got.Zone() != "" || got.Is4In6() || got.IsUnspecified() {
			t.Fatalf("%q became %v", said, got)
		}
		a, err := netip.ParseAddr(client)
		if err != nil || a.WithZone("").Unmap().IsUnspecified() || networks("10.0.0.0/8")[0].Contains(a.WithZone("").Unmap()) {
			return
		}
		if strings.ContainsAny(a.Zone(), ", \t") {
			return // a zone may hold anything, but then it is no hop of a list
		}
		chain := said + ", " + client + strings.Repeat(", 10.0.0.9", int(hops%4))
		want := a.WithZone("").Unmap()
		if got := p.Peer(ours, headers("X-Forwarded-For", chain)); got != want {
			t.Fatalf("%q: got %v, want %v", chain, got, want)
		}
		if got := p.Peer(ours, headers("X-Forwarded-For", said, "X-Forwarded-For", client)); got != want {
			t.Fatalf("%q in two lines: got %v, want %v", said, got, want)
		}
	})
}
