package access_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/integrator"
)

// cast is one key of every standing, and the register that knows them.
type cast struct {
	server, public             string // of a company that does not forward
	forwarder, forwarderPublic string // of a company that forwards from 203.0.113.7
	revoked                    string
	suspended, suspendedPublic string // of a suspended company
	both                       string // revoked, of a suspended company
	unknown, orphan, turned    string
	reg                        *register
}

const (
	approved = "203.0.113.7"
	stranger = "198.51.100.9"
)

func newCast(t testing.TB) cast {
	t.Helper()
	n := uint64(100)
	key := func(kind integrator.Kind) string { n++; return mint(t, kind, n) }
	c := cast{
		server: key(integrator.Server), public: key(integrator.Public),
		forwarder: key(integrator.Server), forwarderPublic: key(integrator.Public),
		revoked: key(integrator.Server), suspended: key(integrator.Server), suspendedPublic: key(integrator.Public),
		both: key(integrator.Server), unknown: key(integrator.Server), orphan: key(integrator.Server), turned: key(integrator.Public),
		reg: newRegister(),
	}
	dead := company("int_dead", true, approved+"/32")
	dead.Status = integrator.Suspended
	revoked, both := keyOf("key_revoked", "int_plain", c.revoked), keyOf("key_both", "int_dead", c.both)
	revoked.RevokedAt, both.RevokedAt = noon, noon
	turned := keyOf("key_turned", "int_plain", c.turned)
	turned.Kind = integrator.Server // no register may make a server key of a public one
	c.reg.put(
		company("int_plain", false, approved+"/32"), company("int_fwd", true, approved+"/32", "2001:db8:7::/48"), dead,
		keyOf("key_server", "int_plain", c.server), keyOf("key_public", "int_plain", c.public),
		keyOf("key_forwarder", "int_fwd", c.forwarder), keyOf("key_fwd_public", "int_fwd", c.forwarderPublic),
		revoked, keyOf("key_suspended", "int_dead", c.suspended), keyOf("key_susp_public", "int_dead", c.suspendedPublic),
		both, keyOf("key_orphan", "int_gone", c.orphan), turned,
	)
	return c
}

const (
	hKey, hAlias, hUser = "X-Integrator-Key", "X-Api-Key", "X-End-User-Ip"
)

func TestRequestsAreRefusedForTheFirstReason(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{FailuresPerMin: 1000})
	bad := c.server[:len(c.server)-1] + "!"
	for _, tt := range []struct {
		name   string
		query  string
		header map[string][]string
		peer   string
		need   access.Need
		want   string
	}{
		{"A01 key in the query and a good one beside it", "api_key=x", headers(hKey, c.server), stranger, access.Optional, "key_in_query"},
		{"A02 semicolon", "a=1;X-Integrator-Key=s", nil, stranger, access.Optional, "key_in_query"},
		{"A03 any name", "foo=" + c.public, nil, stranger, access.Optional, "key_in_query"},
		{"A04 keyless route", "token=1", nil, stranger, access.Optional, "key_in_query"},
		{"A04 query before a bad header", "token=1", headers(hKey, "nonsense", hUser, "nonsense"), stranger, access.Server, "key_in_query"},
		{"A06 both equal", "", headers(hKey, c.server, hAlias, c.server), stranger, access.Optional, ""},
		{"alias alone", "", headers(hAlias, c.server), stranger, access.Server, ""},
		{"A07 both different", "", headers(hKey, c.server, hAlias, c.public), stranger, access.Optional, "invalid_key"},
		{"A07 one empty", "", headers(hKey, c.server, hAlias, ""), stranger, access.Optional, "invalid_key"},
		{"A07 the other empty", "", headers(hKey, "", hAlias, c.server), stranger, access.Optional, "invalid_key"},
		{"A08 repeated equal", "", headers(hKey, c.server, hKey, c.server), stranger, access.Optional, "invalid_key"},
		{"A08 repeated", "", headers(hKey, c.server, hKey, c.public), stranger, access.Optional, "invalid_key"},
		{"A08 alias repeated", "", headers(hAlias, c.server, hAlias, c.server), stranger, access.Optional, "invalid_key"},
		{"A08 alias repeated beside a good one", "", headers(hKey, c.server, hAlias, c.server, hAlias, c.server), stranger, access.Optional, "invalid_key"},
		{"A09 empty", "", headers(hKey, ""), stranger, access.Optional, "invalid_key"},
		{"A10 underscores are no key", "", headers("X_Integrator_Key", c.server), stranger, access.Server, "key_required"},
		{"A11 blank around it", "", headers(hKey, " "+c.server), stranger, access.Optional, "invalid_key"},
		{"A11 NUL", "", headers(hKey, c.server+"\x00"), stranger, access.Optional, "invalid_key"},
		{"A11 16 KiB", "", headers(hKey, strings.Repeat("k", 16<<10)), stranger, access.Optional, "invalid_key"},
		{"A12 wrong letter", "", headers(hKey, bad), stranger, access.Optional, "invalid_key"},
		{"A12 other prefix", "", headers(hKey, "pk"+c.server[2:]), stranger, access.Optional, "invalid_key"},
		{"A13 unknown", "", headers(hKey, c.unknown), stranger, access.Optional, "invalid_key"},
		{"A13 without its integrator", "", headers(hKey, c.orphan), stranger, access.Optional, "invalid_key"},
		{"A14 revoked", "", headers(hKey, c.revoked), stranger, access.Optional, "key_revoked"},
		{"A17 suspended", "", headers(hKey, c.suspended), stranger, access.Optional, "integration_suspended"},
		{"A17 suspended, reporting", "", headers(hKey, c.suspended), stranger, access.Server, "integration_suspended"},
		{"A17 suspended public key, 401 before 403", "", headers(hKey, c.suspendedPublic), stranger, access.Server, "integration_suspended"},
		{"A17 revoked and suspended", "", headers(hKey, c.both), stranger, access.Optional, "integration_suspended"},
		{"A17 suspended that forwarded", "", headers(hKey, c.suspended, hUser, "1.2.3.4"), approved, access.Optional, "integration_suspended"},
		{"A18 public key, reporting", "", headers(hKey, c.public), stranger, access.Server, "server_key_required"},
		{"A18 before forwarding", "", headers(hKey, c.public, hUser, "x"), approved, access.Server, "server_key_required"},
		{"server key, reporting", "", headers(hKey, c.server), stranger, access.Server, ""},
		{"A19 no key, reporting", "", nil, stranger, access.Server, "key_required"},
		{"A19 before forwarding", "", headers(hUser, "1.2.3.4"), approved, access.Server, "key_required"},
		{"A20 public key forwards", "", headers(hKey, c.forwarderPublic, hUser, "1.2.3.4"), approved, access.Optional, "forwarding_not_allowed"},
		{"A21 public text that the register calls server", "", headers(hKey, c.turned), stranger, access.Optional, "invalid_key"},
		{"A26 unapproved and invalid", "", headers(hKey, c.forwarder, hUser, "nonsense"), stranger, access.Optional, "forwarding_not_allowed"},
		{"A26 unapproved", "", headers(hKey, c.forwarder, hUser, "1.2.3.4"), stranger, access.Optional, "forwarding_not_allowed"},
		{"A27 disabled", "", headers(hKey, c.server, hUser, "1.2.3.4"), approved, access.Optional, "forwarding_not_allowed"},
		{"A27 disabled and empty", "", headers(hKey, c.server, hUser, ""), approved, access.Optional, "forwarding_not_allowed"},
		{"A28 anonymous", "", headers(hUser, "1.2.3.4"), approved, access.Optional, "forwarding_not_allowed"},
		{"A29 invalid key first", "", headers(hKey, bad, hUser, "nonsense"), stranger, access.Optional, "invalid_key"},
		{"A32 two lines", "", headers(hKey, c.forwarder, hUser, "1.2.3.4", hUser, "1.2.3.4"), approved, access.Optional, "invalid_end_user_ip"},
		{"A40 another header says where it comes from", "", headers(hKey, c.forwarder, hUser, "1.2.3.4", "X-Forwarded-For", approved, "X-Real-Ip", approved, "Cf-Connecting-Ip", approved), stranger, access.Optional, "forwarding_not_allowed"},
		{"approved as a mapped address", "", headers(hKey, c.forwarder, hUser, "1.2.3.4"), "::ffff:" + approved, access.Optional, ""},
		{"approved by its network", "", headers(hKey, c.forwarder, hUser, "1.2.3.4"), "2001:db8:7::1", access.Server, ""},
		{"nobody", "", nil, stranger, access.Optional, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			creds := access.Credentials{RawQuery: tt.query, Header: tt.header, Peer: netip.MustParseAddr(tt.peer), Need: tt.need}
			p, err := r.gate.Admit(&creds, noon)
			if got := codeOf(t, err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if err != nil && p != (access.Principal{}) {
				t.Errorf("a refused request is %+v", p)
			}
		})
	}
}

func TestEveryRefusalHasItsKindAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{})
	for code, tt := range map[string]struct {
		creds access.Credentials
		kind  fault.Kind
	}{
		"key_in_query":           {access.Credentials{RawQuery: "key=1"}, fault.Unauthenticated},
		"invalid_key":            {access.Credentials{Header: headers(hKey, c.unknown)}, fault.Unauthenticated},
		"key_revoked":            {access.Credentials{Header: headers(hKey, c.revoked)}, fault.Unauthenticated},
		"integration_suspended":  {access.Credentials{Header: headers(hKey, c.suspended)}, fault.Unauthenticated},
		"key_required":           {access.Credentials{Need: access.Server}, fault.Unauthenticated},
		"server_key_required":    {access.Credentials{Need: access.Server, Header: headers(hKey, c.public)}, fault.Forbidden},
		"forwarding_not_allowed": {access.Credentials{Header: headers(hUser, "1.2.3.4")}, fault.Forbidden},
		"invalid_end_user_ip":    {access.Credentials{Header: headers(hKey, c.forwarder, hUser, "x"), Peer: netip.MustParseAddr(approved)}, fault.Invalid},
	} {
		_, err := r.gate.Admit(&tt.creds, noon)
		if codeOf(t, err) != code {
			t.Errorf("got %v, want %s", err, code)
			continue
		}
		f := fault.Of(err)
		if f.Kind != tt.kind || strings.Count(f.Text, " ") < 5 || !strings.HasSuffix(f.Text, ".") {
			t.Errorf("%s: kind %d, %q", code, f.Kind, f.Text)
		}
		again, _ := r.gate.Admit(&tt.creds, noon)
		if _, err2 := r.gate.Admit(&tt.creds, noon); err2 != err || again != (access.Principal{}) { //nolint:errorlint // the very same value
			t.Errorf("%s is built for every request", code)
		}
	}
}

func TestEndUserAddresses(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{})
	for _, tt := range []struct{ name, said, want string }{
		{"A30 port", "1.2.3.4:80", ""},
		{"A30 brackets", "[::1]", ""},
		{"A30 network", "1.2.3.4/32", ""},
		{"A30 chain", "1.2.3.4,5.6.7.8", ""},
		{"A30 octal", "01.2.3.4", ""},
		{"A30 hex", "0x1.2.3.4", ""},
		{"A30 short", "1.2.3", ""},
		{"A30 number", "16909060", ""},
		{"A30 name", "localhost", ""},
		{"A30 full width", "１.2.3.4", ""},
		{"A30 trailing dot", "1.2.3.4.", ""},
		{"A30 five digits", "2001:db8::00001", ""},
		{"A30 empty", "", ""},
		{"A31 zone", "fe80::1%eth0", ""},
		{"A31 zone of a mapped address", "::ffff:1.2.3.4%eth0", ""},
		{"A31 empty zone", "fe80::1%", ""},
		{"A32 folded line", "1.2.3.4 , 5.6.7.8", ""},
		{"A33 blanks that the server left", " 1.2.3.4", ""},
		{"A34 plain", "1.2.3.4", "1.2.3.4"},
		{"A34 mapped", "::ffff:1.2.3.4", "1.2.3.4"},
		{"A34 mapped in hex", "::ffff:102:304", "1.2.3.4"},
		{"A34 mapped and long", "0:0:0:0:0:ffff:1.2.3.4", "1.2.3.4"},
		{"A35 capitals", "2001:DB8::1", "2001:db8::1"},
		{"A35 zeros", "2001:0db8:0:0:0:0:0:1", "2001:db8::1"},
		{"A36 compatible", "::1.2.3.4", "::102:304"},
		{"A36 NAT64", "64:ff9b::1.2.3.4", "64:ff9b::102:304"},
		{"A37 unspecified", "0.0.0.0", ""},
		{"A37 unspecified six", "::", ""},
		{"A37 unspecified mapped", "::ffff:0.0.0.0", ""},
		{"A37 multicast", "224.0.0.1", ""},
		{"A37 multicast six", "ff02::1", ""},
		{"A37 multicast mapped", "::ffff:239.1.2.3", ""},
		{"A37 private", "10.0.0.1", "10.0.0.1"},
		{"A37 loopback", "::1", "::1"},
		{"A43 forwarded addresses stay whole", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			creds := access.Credentials{Header: headers(hKey, c.forwarder, hUser, tt.said), Peer: netip.MustParseAddr(approved)}
			p, err := r.gate.Admit(&creds, noon)
			if tt.want == "" {
				if got := codeOf(t, err); got != "invalid_end_user_ip" {
					t.Errorf("got %q and %v", got, p.Client)
				}
				return
			}
			if err != nil || p.Source != access.Forwarded || p.Client != netip.MustParseAddr(tt.want) {
				t.Errorf("got %v of source %d, %v", p.Client, p.Source, err)
			}
		})
	}
}

func TestWhoseAllowanceIsUsed(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{})
	for _, tt := range []struct {
		name         string
		header       map[string][]string
		peer         string
		source       access.Source
		client, seen string // the address that counts, and the peer as it is told
		owner        integrator.ID
		key          integrator.KeyID
	}{
		{"nobody", nil, stranger, access.OwnAddress, stranger, stranger, "", ""},
		{"A39 nobody with proxy headers", headers("X-Forwarded-For", "1.1.1.1", "X-Real-Ip", "1.1.1.1"), stranger, access.OwnAddress, stranger, stranger, "", ""},
		{"A43 nobody, IPv6", nil, "2001:db8:1:2:3:4:5:6", access.OwnAddress, "2001:db8:1:2::", "2001:db8:1:2:3:4:5:6", "", ""},
		{"mapped", nil, "::ffff:" + stranger, access.OwnAddress, stranger, stranger, "", ""},
		{"zone", nil, "fe80::1%eth0", access.OwnAddress, "fe80::", "fe80::1", "", ""},
		{"public key", headers(hKey, c.public), stranger, access.OwnAddress, stranger, stranger, "int_plain", "key_public"},
		{"public key of who forwards", headers(hKey, c.forwarderPublic), approved, access.OwnAddress, approved, approved, "int_fwd", "key_fwd_public"},
		{"server key", headers(hKey, c.server), stranger, access.Backend, "", stranger, "int_plain", "key_server"},
		{"A38 forwarding without the header", headers(hKey, c.forwarder), approved, access.Shared, "", approved, "int_fwd", "key_forwarder"},
		{"A38 from a server that is not approved", headers(hKey, c.forwarder), stranger, access.Shared, "", stranger, "int_fwd", "key_forwarder"},
		{"forwarded", headers(hKey, c.forwarder, hUser, "9.9.9.9"), approved, access.Forwarded, "9.9.9.9", approved, "int_fwd", "key_forwarder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			creds := access.Credentials{Header: tt.header, Peer: netip.MustParseAddr(tt.peer)}
			p, err := r.gate.Admit(&creds, noon)
			if err != nil {
				t.Fatal(err)
			}
			var client netip.Addr
			if tt.client != "" {
				client = netip.MustParseAddr(tt.client)
			}
			if p.Source != tt.source || p.Client != client || p.Peer != netip.MustParseAddr(tt.seen) {
				t.Errorf("got source %d, client %v, peer %v", p.Source, p.Client, p.Peer)
			}
			if (p.Key == nil) != (tt.key == "") || (p.Integrator == nil) != (tt.owner == "") {
				t.Fatalf("got %+v", p)
			}
			if p.Key != nil && (p.Key.ID != tt.key || p.Integrator.ID != tt.owner || p.Key.Integrator != p.Integrator.ID) {
				t.Errorf("got key %s of %s", p.Key.ID, p.Integrator.ID)
			}
		})
	}
	if p, err := r.gate.Admit(&access.Credentials{}, noon); err != nil || p != (access.Principal{}) {
		t.Errorf("a request from nowhere is %+v, %v", p, err)
	}
}

func TestAnOpenConnectionIsAskedAgain(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{})
	admit := func(peer string, pairs ...string) access.Principal {
		p, err := r.gate.Admit(&access.Credentials{Header: headers(pairs...), Peer: netip.MustParseAddr(peer)}, noon)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	nobody, plain := admit(stranger), admit(stranger, hKey, c.server)
	shared, forwarded := admit(approved, hKey, c.forwarder), admit(approved, hKey, c.forwarder, hUser, "9.9.9.9")
	for _, p := range []access.Principal{nobody, plain, shared, forwarded} {
		if again, err := r.gate.Again(&p, noon); err != nil || again != p {
			t.Errorf("unchanged, %+v became %+v, %v", p, again, err)
		}
	}
	moved := company("int_fwd", true, "192.0.2.1/32")
	gone := keyOf("key_server", "int_plain", c.server)
	gone.RevokedAt = noon
	c.reg.put(moved, gone)
	askNow(t, r)
	if _, err := r.gate.Again(&plain, noon); codeOf(t, err) != "key_revoked" {
		t.Errorf("A22 a revoked key stays: %v", err)
	}
	if _, err := r.gate.Again(&forwarded, noon); codeOf(t, err) != "forwarding_not_allowed" {
		t.Errorf("A22 a server that is approved no more still forwards: %v", err)
	}
	off := moved
	off.Forwarding.Enabled = false
	c.reg.put(off)
	askNow(t, r)
	if again, err := r.gate.Again(&shared, noon); err != nil || again.Source != access.Backend || again.Integrator.Forwarding.Enabled {
		t.Errorf("got %+v, %v", again, err)
	}
	off.Status = integrator.Suspended
	c.reg.put(off)
	askNow(t, r)
	if _, err := r.gate.Again(&shared, noon); codeOf(t, err) != "integration_suspended" {
		t.Errorf("A22 a suspended integration stays: %v", err)
	}
	if _, err := r.gate.Again(&shared, noon.Add(time.Hour)); codeOf(t, err) != "service_unavailable" {
		t.Errorf("A22 what was known an hour ago is believed: %v", err)
	}
	if _, err := r.gate.Again(&nobody, noon.Add(time.Hour)); err != nil {
		t.Errorf("nobody needs no register: %v", err)
	}
}
