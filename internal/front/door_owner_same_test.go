package front_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
)

// orderRoute is an operation on one order.
type orderRoute struct{ method, rest, body string }

// orderRoutes are all of them.
var orderRoutes = []orderRoute{
	{"GET", "", ""},
	{"GET", "/events", ""},
	{"POST", "/refund-address", `{"refundAddress":"` + evmBack + `"}`},
	{"POST", "/refund", ""},
	{"POST", "/requote", ""},
	{"POST", "/requote/accept", `{"quoteId":"quo_A"}`},
	{"POST", "/cancel", ""},
	{"POST", "/deposits", `{"txHash":"abc"}`},
	{"POST", "/recheck", ""},
}

// class is a way to have no access to an order.
type class struct {
	name    string
	id      string
	query   string
	session []string
}

const (
	nobodysOrder   = "ord_0123456789ABCDEFGHJKMNPQRS"
	nobodysSession = "ses_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
)

// classes are all ways, but for that of another company.
func classes(m made) []class {
	one := func(s string) []string { return []string{s} }
	return []class{
		{"a missing order", nobodysOrder, "", one(m.session)},
		{"a missing order without proof", nobodysOrder, "", nil},
		{"a missing order with verify", nobodysOrder, "?verify=" + evmTo, nil},
		{"a wrong session", m.id, "", one(nobodysSession)},
		{"a wrong session and the right address", m.id, "?verify=" + evmTo, one(nobodysSession)},
		{"a session with another last letter", m.id, "", one(m.session[:len(m.session)-1] + "_")},
		{"a session in another case", m.id, "", one(strings.ToLower(m.session))},
		{"a session that is none", m.id, "", one("x")},
		{"an empty session", m.id, "", one("")},
		{"an empty session and the right address", m.id, "?verify=" + evmTo, one("")},
		{"a session of 8 KiB", m.id, "", one("ses_" + strings.Repeat("A", 8<<10))},
		{"the session twice", m.id, "", []string{m.session, m.session}},
		{"the right session and a wrong one", m.id, "", []string{m.session, nobodysSession}},
		{"no proof", m.id, "", nil},
		{"a wrong verify", m.id, "?verify=" + evmBack, nil},
		{"a verify that is no address", m.id, "?verify=x", nil},
		{"an empty verify", m.id, "?verify=", nil},
		{"verify twice", m.id, "?verify=" + evmTo + "&verify=" + evmTo, nil},
		{"the session as verify", m.id, "?verify=" + strings.Repeat("x", 47), nil},
		{"a malformed id", "x", "", one(m.session)},
		{"an id in small letters", strings.ToLower(m.id), "", one(m.session)},
		{"an id that is too long", m.id + "A", "", one(m.session)},
		{"an id with NUL", m.id[:len(m.id)-1] + "%00", "", one(m.session)},
		{"an id of 4 KiB", "ord_" + strings.Repeat("A", 4<<10), "", one(m.session)},
		{"an id with an apostrophe", "ord_'OR'1'='1", "", one(m.session)},
		{"an id in UTF-8", "ord_%C3%A9", "", one(m.session)},
		{"an id that is no UTF-8", "ord_%FF", "", one(m.session)},
	}
}

var changing = regexp.MustCompile(`(?m)^(Date: [^\r\n]{29}|X-Request-Id: req_[0-9A-Z]{26})\r$`)

// raw sends a request of a class over a new connection and gives every byte that came
// back, but for the values of the two headers that may differ.
func (s *stage) raw(t *testing.T, route orderRoute, c class, key string) string {
	t.Helper()
	r := request{Method: route.method, Path: "/v2/orders/" + c.id + route.rest + c.query, Body: route.body, Header: map[string][]string{}}
	if c.session != nil {
		r.Header["X-Session-ID"] = c.session
	}
	if key != "" {
		r.Header["X-Integrator-Key"] = []string{key}
	}
	conn := s.dial(t)
	defer conn.Close()
	if _, err := io.WriteString(conn, s.text(r)); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(changing.ReplaceAllFunc(all, func(line []byte) []byte {
		name, value, _ := bytes.Cut(line, []byte(": "))
		return fmt.Appendf(nil, "%s: %d bytes", name, len(value))
	}))
}

func TestAMissingOrderAndAWrongProofAreTheSameBytes(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		orders := map[string]made{
			"anonymous": s.order(t, "", eth(`,"refundAddress":"`+evmTo+`"`)),
			"company":   s.order(t, s.a.Server.Text, eth("")),
		}
		for whose, m := range orders {
			before := s.read(t, m)
			for _, route := range orderRoutes {
				t.Run("A69 "+whose+" "+route.method+" "+route.rest, func(t *testing.T) {
					for _, caller := range []string{"", s.a.Server.Text, s.b.Server.Text, s.b.Public.Text} {
						s.same(t, route, m, caller)
					}
				})
			}
			if after := s.read(t, m); after.text("updatedAt") != before.text("updatedAt") || after.field("version") != before.field("version") {
				t.Errorf("a wrong proof changed the order: %s", after.body)
			}
		}
	})
}

// same compares all classes for one caller.
func (s *stage) same(t *testing.T, route orderRoute, m made, caller string) {
	t.Helper()
	all := classes(m)
	if m.key != "" && caller != "" && caller != m.key {
		all = append(all, class{"another company's order with its session", m.id, "", []string{m.session}}, class{"another company's order with its address", m.id, "?verify=" + evmTo, nil})
	}
	if route.method == "POST" { // then an address proves nothing
		all = append(all, class{"the right address on an action", m.id, "?verify=" + evmTo, nil})
	}
	want := s.raw(t, route, all[0], caller)
	if !strings.HasPrefix(want, "HTTP/1.1 404 Not Found\r\n") || !strings.Contains(want, `"code":"order_not_found"`) || strings.Contains(want, "requestId") {
		t.Fatalf("%s: %s", all[0].name, want)
	}
	for _, c := range all[1:] {
		if got := s.raw(t, route, c, caller); got != want {
			t.Errorf("%s is told from %s:\n%s\nand\n%s", c.name, all[0].name, got, want)
		}
	}
}

func TestASessionWithoutOrdersIsAnEmptyList(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		m := s.order(t, s.a.Server.Text, eth(""))
		want := ""
		for _, c := range []class{
			{"a session that nobody has", "", "", []string{nobodysSession}},
			{"no session", "", "", nil},
			{"an empty session", "", "", []string{""}},
			{"a session that is none", "", "", []string{"x"}},
			{"the session twice", "", "", []string{m.session, m.session}},
		} {
			a := s.do(t, shot{path: "/v2/orders", header: sessions(c.session)})
			if a.status != 200 || string(a.body) != `{"orders":[]}` {
				t.Errorf("A69 %s: %d %s", c.name, a.status, a.body)
			}
			if want == "" {
				want = fmt.Sprint(len(a.header))
			}
			if fmt.Sprint(len(a.header)) != want {
				t.Errorf("A69 %s: other headers: %v", c.name, a.header)
			}
		}
		a := s.do(t, shot{path: "/v2/orders", header: m.header()})
		if list, _ := a.field("orders").([]any); len(list) != 1 {
			t.Errorf("the session's own order is not listed: %s", a.body)
		}
		other := append(sessions([]string{m.session}), withKey(s.b.Server.Text)...)
		if a := s.do(t, shot{path: "/v2/orders", header: other}); string(a.body) != `{"orders":[]}` {
			t.Errorf("A78 another company sees the session's orders: %s", a.body)
		}
	})
}

// sessions are headers.
func sessions(all []string) (header []string) {
	for _, one := range all {
		header = append(header, "X-Session-ID", one)
	}
	return header
}
