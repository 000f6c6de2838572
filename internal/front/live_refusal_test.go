package front_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ferry/internal/api/live"
	"ferry/internal/chain"
	"ferry/internal/front"
	"ferry/internal/office"
)

// An order that is missing and one that may not be seen are refused with the same bytes
// (A71), and nothing is subscribed.
func TestLiveOrdersAreRefusedAlike(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		mine, others := s.order(t, s.a.Server.Text, eth("")), s.order(t, s.b.Server.Text, eth(""))
		anyone := s.order(t, "", eth(""))
		const noSession = "ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		const noOrder = "ord_0123456789ABCDEFGHJKMNPQRS"
		proof := func(id, session, verify string) string {
			text := `{"orderId":"` + id + `"`
			if session != "" {
				text += `,"sessionId":"` + session + `"`
			}
			if verify != "" {
				text += `,"verify":"` + verify + `"`
			}
			return text + "}"
		}
		w := s.socket(t, withKey(s.a.Server.Text)...)
		const want = `{"type":"error","replyTo":"%s","code":"order_not_found","message":"No such order, or no access to it.","retryAfterSeconds":null}`
		for name, params := range map[string]string{
			"missing order":            proof(noOrder, mine.session, ""),
			"wrong session":            proof(mine.id, noSession, ""),
			"no proof":                 proof(mine.id, "", ""),
			"no id":                    proof("x", mine.session, ""),
			"another's order":          proof(others.id, others.session, ""),
			"wrong verify":             proof(anyone.id, "", evmBack),
			"verify and wrong session": proof(anyone.id, noSession, evmTo),
			"session of another order": proof(anyone.id, mine.session, ""),
		} {
			m := w.ask(`"type":"subscribe","channel":"order","params":%s`, params)
			if m.raw != fmt.Sprintf(want, m.ReplyTo) {
				t.Errorf("%s: %s", name, m.raw)
			}
		}
		if m := w.subscribe("order", mine.proof()); m.SubscriptionID != "s1" {
			t.Errorf("the refused ones were counted: %s", m.raw)
		}
	})
}

// Whoever shows too many wrong proofs is refused before anything is looked for.
func TestLiveGuessesAreCounted(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		w := s.socket(t)
		for n := range 100 {
			m := w.ask(`"type":"subscribe","channel":"order","params":{"orderId":"x%d"}`, n)
			if m.Code == "too_many_access_failures" || m.Code == "rate_limited" {
				if m.RetryAfterSeconds == nil || *m.RetryAfterSeconds < 1 {
					t.Errorf("%s", m.raw)
				}
				return
			}
		}
		t.Error("a hundred guesses were let through")
	})
}

func TestLiveMessagesThatAreRefused(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		for _, c := range []struct{ name, key, say, code, pointer string }{
			{"an unknown type", "", `"type":"dance"`, "unknown_message", ""},
			{"an unknown channel", "", `"type":"subscribe","channel":"dance"`, "unknown_channel", ""},
			{"an unknown field", "", `"type":"ping","extra":1`, "unknown_field", "/extra"},
			{"an unknown parameter", "", `"type":"subscribe","channel":"order","params":{"orderId":"x","order_id":"y"}`, "unknown_field", "/params/order_id"},
			{"the wrong case", "", `"type":"subscribe","channel":"order","params":{"OrderId":"x"}`, "unknown_field", "/params/OrderId"},
			{"a field twice", "", `"type":"ping","type":"ping"`, "malformed_json", ""},
			{"after below zero", "", `"type":"subscribe","channel":"order","params":{"orderId":"x"},"after":-1`, "invalid_field", "/after"},
			{"after as a text", "", `"type":"subscribe","channel":"order","params":{"orderId":"x"},"after":"1"`, "invalid_field", "/after"},
			{"after where there is no log", "", `"type":"subscribe","channel":"status","after":1`, "unknown_field", "/after"},
			{"nothing to end", "", `"type":"unsubscribe","subscriptionId":"s9"`, "not_subscribed", ""},
			{"an integration without a key", "", `"type":"subscribe","channel":"integrator_orders"`, "key_required", ""},
			{"an integration with a public key", s.a.Public.Text, `"type":"subscribe","channel":"integrator_orders"`, "server_key_required", ""},
			{"usage with a public key", s.a.Public.Text, `"type":"subscribe","channel":"integrator_usage"`, "server_key_required", ""},
			{"a chain there is not", "", `"type":"subscribe","channel":"status","params":{"chainId":"atlantis"}`, "chain_not_found", "/params/chainId"},
			{"a price of nothing", "", `"type":"subscribe","channel":"quote","params":{}`, "missing_field", "/params/amount"},
			{"a price of what is not", "", `"type":"subscribe","channel":"quote","params":{"fromChainId":"atlantis","fromToken":"native","toChainId":"ethereum","toToken":"native","amount":"1"}`, "unsupported_chain", "/params/fromChainId"},
		} {
			var header []string
			if c.key != "" {
				header = withKey(c.key)
			}
			w := s.socket(t, header...)
			m := w.ask("%s", c.say)
			points := c.pointer == ""
			for _, e := range m.Errors {
				points = points || e.Pointer == c.pointer
			}
			if m.Type != "error" || m.Code != c.code || !points {
				t.Errorf("%s: %s", c.name, m.raw)
			}
			if c.name != "a field twice" { // which is no message at all
				if pong := w.ask(`"type":"ping"`); pong.Type != "pong" {
					t.Errorf("%s ended the connection: %s", c.name, pong.raw)
				}
			}
			w.cut()
		}
	})
}

func TestWhatIsNoMessageEndsTheConnection(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		for _, text := range []string{"", "x", "[]", `"hello"`, "{}", `{"id":"1"}`, `{"type":1,"id":"1"}`, `{"type":"ping","id":"1"}{}`, `{"type":"ping",`} {
			w := s.socket(t)
			w.say(text)
			code, last := w.ended()
			if code != 4000 || len(last) != 1 || last[0].Code != "malformed_json" {
				t.Errorf("%q ended with %d after %v", text, code, last)
			}
		}
	})
}

// Keys are shown with the upgrade or in hello, and are good or the end.
func TestLiveKeys(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		w := s.socket(t)
		if m := w.ask(`"type":"hello","integratorKey":"%s"`, s.a.Server.Text); m.Type != "welcome" || !strings.Contains(m.raw, `"connectionId":"con_`) {
			t.Errorf("%s", m.raw)
		}
		w.subscribe("integrator_orders", "")
		if m := w.ask(`"type":"hello"`); m.Code != "invalid_request" {
			t.Errorf("a second hello: %s", m.raw)
		}
		for name, c := range map[string]struct{ header, hello, code string }{
			"no key of ours": {"", "sk_live_nonsense", "invalid_key"},
			"another key":    {s.a.Server.Text, s.b.Server.Text, "invalid_key"},
		} {
			var header []string
			if c.header != "" {
				header = withKey(c.header)
			}
			w := s.socket(t, header...)
			m := w.ask(`"type":"hello","integratorKey":"%s"`, c.hello)
			if code, _ := w.ended(); m.Code != c.code || code != 4001 {
				t.Errorf("%s: %s, and %d", name, m.raw, code)
			}
		}
		// Before the upgrade everything is as for any request.
		for name, c := range map[string]struct {
			path, code string
			header     map[string][]string
			status     int
		}{
			"a key in the query": {"/v2/ws?integratorKey=" + s.a.Server.Text, "key_in_query", nil, 401},
			"a wrong key":        {"/v2/ws", "invalid_key", map[string][]string{"X-Integrator-Key": {"sk_live_nonsense"}}, 401},
			"no upgrade":         {"/v2/ws", "upgrade_required", nil, 426},
			"a parameter":        {"/v2/ws?after=1", "unknown_parameter", nil, 400},
		} {
			a := s.rig.do(t, request{Path: c.path, Header: c.header})
			if a.Status != c.status || a.Code != c.code {
				t.Errorf("%s: %d %s", name, a.Status, a.Code)
			}
		}
	})
}

// quickLive is a service of its own whose live half looks often.
func quickLive(t *testing.T, engine string, change func(*live.Config)) *stage {
	t.Helper()
	return staged(t, newRig(t, engine, setup{change: func(c *front.Config) {
		c.Live = live.Config{
			KeyEvery: 20 * time.Millisecond, UsageEvery: 50 * time.Millisecond, StatusEvery: 20 * time.Millisecond,
			QuoteEvery: 50 * time.Millisecond, QuoteFor: 400 * time.Millisecond,
		}
		if change != nil {
			change(&c.Live)
		}
	}}))
}

// A key that is revoked, and an integration that is suspended, lose their connections.
func TestLiveConnectionsEndWithTheirKey(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := quickLive(t, engine, nil)
		byKey, byHello := s.socket(t, withKey(s.a.Server.Text)...), s.socket(t)
		if m := byHello.ask(`"type":"hello","integratorKey":"%s"`, s.b.Public.Text); m.Type != "welcome" {
			t.Fatalf("%s", m.raw)
		}
		stays := s.socket(t, withKey(s.a.Public.Text)...)
		if _, err := s.Front.Office.RevokeKey(t.Context(), s.a.Server.ID, operator); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Front.Office.Suspend(t.Context(), s.b.ID, operator); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			w    *liveWire
			code string
		}{"revoked": {byKey, "key_revoked"}, "suspended": {byHello, "integration_suspended"}} {
			code, last := c.w.ended()
			if code != 4001 || len(last) != 1 || last[0].Code != c.code {
				t.Errorf("%s: %d after %+v", name, code, last)
			}
		}
		if m := stays.ask(`"type":"ping"`); m.Type != "pong" {
			t.Errorf("another key of the integration: %s", m.raw)
		}
	})
}

// Limits of an integration: what is left, what is used up, and new settings.
func TestUsageIsFollowed(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := quickLive(t, engine, nil)
		few := int64(5)
		c := s.company(t, office.Patch{Limits: office.Limits{Quotes: &few}})
		w := s.socket(t, withKey(c.Server.Text)...)
		w.subscribe("integrator_usage", "")
		used := func(e message, resource string) (left int) {
			var u struct {
				Limits []struct {
					Resource    string
					Limit, Left int
				}
			}
			e.data(t, &u)
			for _, l := range u.Limits {
				if l.Resource == resource {
					return l.Left
				}
			}
			t.Fatalf("no %s in %s", resource, e.raw)
			return 0
		}
		if left := used(w.of("event"), "company_quotes"); left != 5 {
			t.Errorf("%d left at first", left)
		}
		for range 6 {
			s.do(t, shot{path: "/v2/quotes", body: ethQuote(""), header: withKey(c.Server.Text)})
		}
		for {
			e := w.of("event")
			if e.Event == "limit.exhausted" {
				if used(e, "company_quotes") != 0 || !strings.Contains(e.raw, `"exhausted":"company_quotes"`) {
					t.Errorf("%s", e.raw)
				}
				break
			}
		}
		more := int64(7)
		s.change(t, c.ID, office.Patch{Limits: office.Limits{Quotes: &more}})
		for w.of("event").Event != "config.changed" {
		}
	})
}

// A price is told again and again until its time is over, and every one is counted.
func TestAPriceIsFollowed(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := quickLive(t, engine, nil)
		w := s.socket(t, withKey(s.a.Server.Text)...)
		w.subscribe("quote", `,"params":`+ethQuote(""))
		for n := 1; ; n++ {
			m := w.hear()
			if m.Type == "unsubscribed" {
				if m.Reason != "expired" || n < 3 {
					t.Errorf("after %d: %s", n, m.raw)
				}
				break
			}
			if m.Type != "event" || m.Event != "quote.updated" || m.Seq != n {
				t.Fatalf("%d: %s", n, m.raw)
			}
		}
		// An address has so many quotes a minute, and live ones are among them.
		poor := s.socket(t)
		for {
			m := poor.ask(`"type":"subscribe","channel":"quote","params":%s`, ethQuote(""))
			if m.Type == "error" {
				if m.Code != "rate_limited" {
					t.Errorf("%s", m.raw)
				}
				break
			}
		}
	})
}

// A chain that is halted is told of, and that it goes on.
func TestStatusIsFollowed(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := quickLive(t, engine, nil)
		w := s.socket(t)
		w.subscribe("status", `,"params":{"chainId":"bitcoin"}`)
		w.of("snapshot")
		var id chain.ID
		for _, c := range s.Front.Desk.Chains() {
			if c.Slug == "bitcoin" {
				id = c.ID
			}
		}
		if err := s.DB.Halt(t.Context(), id, "a test", time.Now()); err != nil {
			t.Fatal(err)
		}
		e := w.of("event")
		if e.Event != "status.changed" || !strings.Contains(string(e.Data), `"status":"paused"`) || !strings.Contains(string(e.Data), `"chainId":"bitcoin"`) {
			t.Errorf("%s", e.raw)
		}
	})
}

// A connection has so many subscriptions, and an address so many connections.
func TestLiveIsBounded(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := quickLive(t, engine, func(c *live.Config) { c.Subscriptions, c.PerAddress = 3, 2 })
		w := s.socket(t, "X-Forwarded-For", "10.9.8.7")
		for range 3 {
			w.subscribe("status", "")
		}
		if m := w.ask(`"type":"subscribe","channel":"status"`); m.Code != "rate_limited" {
			t.Errorf("%s", m.raw)
		}
		if m := w.ask(`"type":"unsubscribe","subscriptionId":"s2"`); m.Type != "unsubscribed" || m.Reason != "requested" {
			t.Errorf("%s", m.raw)
		}
		w.subscribe("status", "")
		second := s.socket(t, "X-Forwarded-For", "10.9.8.7")
		upgrade := map[string][]string{
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-WebSocket-Version": {"13"}, "Sec-WebSocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="},
		}
		a := s.rig.do(t, request{Path: "/v2/ws", Header: upgrade, From: "10.9.8.7"})
		if a.Status != 429 || a.Code != "too_many_connections" || a.Header.Get("X-RateLimit-Resource") != "ws_connections" || a.Header.Get("Retry-After") == "" {
			t.Errorf("%d %s %v", a.Status, a.Code, a.Header)
		}
		second.cut()
		wait(t, "the connection is forgotten", func() bool { return s.Front.Live.Len() == 1 })
		s.socket(t, "X-Forwarded-For", "10.9.8.7")
	})
}

// A service that stops says goodbye, and when to come again.
func TestGoodbye(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := quickLive(t, engine, nil)
		w := s.socket(t)
		w.subscribe("status", "")
		w.of("snapshot")
		go func() { _ = s.stop() }()
		code, last := w.ended()
		if code != 1012 || len(last) == 0 || last[len(last)-1].Type != "goodbye" || !strings.Contains(last[len(last)-1].raw, `"reconnectAfterMs":`) {
			t.Errorf("%d after %+v", code, last)
		}
	})
}
