package access_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"ferry/internal/access"
	"ferry/internal/integrator"
	"ferry/internal/testseed"
)

// judge is what the specification says of a request, written down a second time and
// as plainly as can be.
func judge(c *cast, creds *access.Credentials) string {
	if access.KeyInQuery(creds.RawQuery) {
		return "key_in_query"
	}
	shown := append(append([]string{}, creds.Header[hKey]...), creds.Header[hAlias]...)
	key := ""
	if len(shown) > 0 {
		for _, s := range shown {
			if s != shown[0] {
				return "invalid_key"
			}
		}
		if len(creds.Header[hKey]) > 1 || len(creds.Header[hAlias]) > 1 {
			return "invalid_key"
		}
		switch key = shown[0]; key {
		case c.suspended, c.suspendedPublic, c.both:
			return "integration_suspended"
		case c.revoked:
			return "key_revoked"
		case c.server, c.public, c.forwarder, c.forwarderPublic:
		default:
			return "invalid_key"
		}
	}
	server := key != "" && (key == c.server || key == c.forwarder)
	if creds.Need == access.Server && !server {
		if key == "" {
			return "key_required"
		}
		return "server_key_required"
	}
	if said := creds.Header[hUser]; len(said) > 0 {
		peer := creds.Peer.Unmap()
		if key != c.forwarder || (peer != netip.MustParseAddr(approved) && !strings.HasPrefix(peer.StringExpanded(), "2001:0db8:0007:")) {
			return "forwarding_not_allowed"
		}
		if len(said) > 1 {
			return "invalid_end_user_ip"
		}
		if _, ok := access.EndUser(said[0]); !ok {
			return "invalid_end_user_ip"
		}
	}
	return ""
}

// check compares the gate with the judge, and looks at who it said it was.
func check(t *testing.T, r *rig, c *cast, creds *access.Credentials) {
	t.Helper()
	p, err := r.gate.Admit(creds, noon)
	got, want := codeOf(t, err), judge(c, creds)
	if got == "too_many_access_failures" && (want == "invalid_key" || want == "key_revoked" || want == "integration_suspended") {
		return
	}
	if got != want {
		t.Fatalf("%+v: got %q, want %q", creds, got, want)
	}
	switch {
	case err != nil:
		if p != (access.Principal{}) {
			t.Fatalf("refused, and it is %+v", p)
		}
	case p.Source == access.Forwarded:
		if !p.Server() || !p.Client.IsValid() || p.Client.Is4In6() || p.Client.Zone() != "" || len(creds.Header[hUser]) != 1 {
			t.Fatalf("%+v became %+v", creds, p)
		}
	case p.Source == access.OwnAddress:
		if p.Server() || (p.Client.Is6() && p.Client.As16()[15] != 0) || p.Client.Zone() != "" {
			t.Fatalf("%+v became %+v", creds, p)
		}
	default:
		if !p.Server() || p.Client.IsValid() || (p.Source == access.Shared) != p.Integrator.Forwarding.Enabled {
			t.Fatalf("%+v became %+v", creds, p)
		}
	}
}

func TestRandomRequestsAreJudgedAsTheSpecificationSays(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{FailuresPerMin: 1000})
	rnd := testseed.Rand(t)
	for range 30_000 {
		creds := randomCredentials(rnd, &c)
		check(t, r, &c, &creds)
	}
}

func randomCredentials(r *rand.Rand, c *cast) access.Credentials {
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	key := func() string {
		return one(c.server, c.server, c.public, c.forwarder, c.forwarder, c.forwarder, c.forwarderPublic, c.revoked, c.suspended,
			c.suspendedPublic, c.both, c.unknown, c.orphan, c.turned, "", "x", strings.ToLower(c.server), c.server+" ")
	}
	h := map[string][]string{}
	for range r.IntN(2) + r.IntN(2)*r.IntN(2) {
		h[hKey] = append(h[hKey], key())
	}
	if r.IntN(4) == 0 {
		h[hAlias] = append(h[hAlias], key())
	}
	if r.IntN(8) == 0 && len(h[hKey]) > 0 {
		h[hAlias] = []string{h[hKey][0]}
	}
	for range r.IntN(2) + r.IntN(2)*r.IntN(2) {
		h[hUser] = append(h[hUser], one("1.2.3.4", "::ffff:1.2.3.4", "2001:db8::1", "fe80::1%eth0", "", "x", "0.0.0.0", "ff02::1", "1.2.3.4:5"))
	}
	if r.IntN(5) == 0 {
		h["Origin"] = []string{"https://x.test"}
	}
	return access.Credentials{
		RawQuery: one("", "", "", "", "a=1", "a=%zz", "key=1", "a="+c.public),
		Header:   h,
		Peer:     netip.MustParseAddr(one(approved, approved, approved, "::ffff:"+approved, stranger, "2001:db8:7:1::1", "2001:db8:8:1::1", "fe80::1%eth0")),
		Need:     access.Need(r.IntN(2)),
	}
}

func FuzzAdmit(f *testing.F) {
	c := newCast(f)
	f.Add("", c.server, "", "", "1.2.3.4", false)
	f.Add("a=1", c.forwarder, c.forwarder, "1.2.3.4", approved, true)
	f.Add("key=1", c.public, "x", "fe80::1%eth0", "::1", true)
	f.Add("", c.revoked, "", "::", "2001:db8:7::1", false)
	f.Fuzz(func(t *testing.T, query, key, alias, user, peer string, server bool) {
		r := newRig(t, c.reg, access.Config{FailuresPerMin: 1000})
		h := map[string][]string{}
		for name, value := range map[string]string{hKey: key, hAlias: alias, hUser: user} {
			if value != "" {
				h[name] = []string{value}
			}
		}
		addr, _ := netip.ParseAddr(peer)
		creds := access.Credentials{RawQuery: query, Header: h, Peer: addr}
		if server {
			creds.Need = access.Server
		}
		check(t, r, &c, &creds)
	})
}

func FuzzEndUserIP(f *testing.F) {
	for _, s := range []string{"1.2.3.4", "::ffff:1.2.3.4", "fe80::1%eth0", "::", "1.2.3.4:80", "[::1]", "", "2001:DB8::1", "::ffff:1.2.3.4%x", "１.2.3.4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, ok := access.EndUser(text)
		if !ok {
			if a.IsValid() {
				t.Fatalf("%q is refused and %v", text, a)
			}
			return
		}
		if strings.ContainsAny(text, "%/[], \t") || a.Zone() != "" || a.Is4In6() || a.IsUnspecified() || a.IsMulticast() {
			t.Fatalf("%q became %v", text, a)
		}
		for _, same := range []string{a.String(), a.StringExpanded(), strings.ToUpper(a.String()), netip.AddrFrom16(a.As16()).String()} {
			if b, ok := access.EndUser(same); !ok || a != b {
				t.Fatalf("%q and %q have two allowances: %v and %v", text, same, a, b)
			}
		}
	})
}

// The kinds of the cast are what their names say, or the tests would prove nothing.
func TestTheCastIsWhatItIsCalled(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	for text, want := range map[string]integrator.Kind{c.server: integrator.Server, c.public: integrator.Public, c.turned: integrator.Public, c.unknown: integrator.Server} {
		if kind, ok := integrator.KindOf(text); !ok || kind != want {
			t.Errorf("got %s, %t", kind, ok)
		}
	}
}
