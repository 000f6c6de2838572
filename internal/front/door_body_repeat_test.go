package front_test

import (
	"strings"
	"testing"
)

func TestARepeatedRequestMakesOneOrder(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		long := strings.Repeat("k", 32)
		create := func(t *testing.T, body, from string, header ...string) reply {
			t.Helper()
			return s.do(t, shot{path: "/v2/orders", body: body, header: header, from: from})
		}
		named := func(name string, more ...string) []string { return append([]string{"Idempotency-Key", name}, more...) }
		server := withKey(s.a.Server.Text)
		for name, header := range map[string][]string{
			"empty": named("", server...), "256 characters": named(strings.Repeat("k", 256), server...), "not printable": named("a\tb", server...),
			"not ASCII": named("schlüssel", server...), "twice": named("a", named("b", server...)...), "short without a key": named(long[1:]),
			"short with a public key": named("a", withKey(s.a.Public.Text)...), "twice the same": named(long, named(long)...),
		} {
			t.Run("A81 Idempotency-Key "+name, func(t *testing.T) {
				if a := create(t, eth(""), "", header...); a.status != 400 || a.code() != "invalid_idempotency_key" {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
		}
		for name, c := range map[string]struct {
			from   string
			header []string
		}{
			"server":    {"", named("a", server...)},
			"longest":   {"", named(strings.Repeat("k", 255), server...)},
			"public":    {"198.18.0.1", named(long, withKey(s.a.Public.Text)...)},
			"anonymous": {"198.18.0.2", named(long)},
		} {
			t.Run("A81 replayed for "+name, func(t *testing.T) {
				first, again := create(t, eth(""), c.from, c.header...), create(t, " "+eth(""), c.from, c.header...)
				if first.status != 201 || again.status != 201 || first.header.Get("Idempotency-Replayed") != "" || again.header.Get("Idempotency-Replayed") != "true" {
					t.Fatalf("%d %v, then %d %v", first.status, first.header, again.status, again.header)
				}
				for _, field := range []string{"orderId", "sessionId", "status", "createdAt", "expiresAt"} {
					if first.text(field) == "" || first.text(field) != again.text(field) {
						t.Errorf("%s is %q, then %q", field, first.text(field), again.text(field))
					}
				}
				m := made{again.text("orderId"), again.text("sessionId"), ""}
				if a := s.read(t, m); a.status != 200 {
					t.Errorf("the replayed session does not open the order: %d", a.status)
				}
				if a := create(t, eth(`,"clientReference":"x"`), c.from, c.header...); a.status != 409 || a.code() != "idempotency_conflict" {
					t.Errorf("another body: %d %s", a.status, a.body)
				}
			})
		}
		t.Run("A81 one name for two callers", func(t *testing.T) {
			a, b := create(t, eth(""), "", named("shared", server...)...), create(t, eth(""), "", named("shared", withKey(s.b.Server.Text)...)...)
			if a.status != 201 || b.status != 201 || a.text("orderId") == b.text("orderId") {
				t.Errorf("%d %s and %d %s", a.status, a.text("orderId"), b.status, b.text("orderId"))
			}
			x, y := create(t, eth(""), "198.18.1.1", named(long+"x")...), create(t, eth(""), "198.18.1.2", named(long+"x")...)
			if x.status != 201 || y.status != 201 || x.text("orderId") == y.text("orderId") || x.text("sessionId") == y.text("sessionId") {
				t.Errorf("two addresses share an order: %s and %s", x.body, y.body)
			}
		})
		t.Run("A81 a refused request is not remembered", func(t *testing.T) {
			header := named("refused", server...)
			if a := create(t, with(eth(""), "amount", `"1"`), "", header...); a.status != 422 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if a := create(t, eth(""), "", header...); a.status != 201 {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	})
}
