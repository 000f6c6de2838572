package front_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ferry/internal/desk"
)

// destination is an order to a chain, and the forms in which its address proves that
// one may read it.
type destination struct {
	name, body string
	opens      []string
	not        []string
}

func destinations() []destination {
	to := func(chain, token, address string) string {
		return `{"fromChainId":"ethereum","fromToken":"native","toChainId":"` + chain + `","toToken":"` + token + `","amount":"100000000000000000","toAddress":"` + address + `"}`
	}
	const p2pkh = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
	upper := strings.ToUpper(btcTo)
	return []destination{
		{
			"A75 ethereum", to("ethereum", usdc, evmTo),
			[]string{evmTo, strings.ToLower(evmTo), "0x" + strings.ToUpper(evmTo[2:]), "0x52908400098527886e0F7030069857D2e4169EE7"},
			[]string{evmBack, evmTo[2:], "0X" + evmTo[2:], evmTo + "0", evmTo[:len(evmTo)-1], " " + evmTo, evmTo + "\n", evmTo + "\x00", "ethereum:" + evmTo, "vitalik.eth", "0x" + strings.Repeat("0", 40), strings.Replace(evmTo, "0x5", "0x５", 1), btcTo, solTo},
		},
		{
			"A75 bech32", to("bitcoin", "native", btcTo),
			[]string{btcTo, upper},
			[]string{"bcrt1Q" + btcTo[6:], strings.ToUpper(btcTo[:20]) + btcTo[20:], btcTo[:len(btcTo)-1] + "q", "bitcoin:" + btcTo, strings.Replace(btcTo, "bcrt1", "bc1", 1), p2pkh, btcTo + " ", "\u0432" + btcTo[1:], evmTo},
		},
		{
			"A75 base58 of bitcoin", to("bitcoin", "native", p2pkh),
			[]string{p2pkh},
			[]string{strings.ToLower(p2pkh), strings.ToUpper(p2pkh), "M" + p2pkh[1:], p2pkh[:len(p2pkh)-1] + "o", btcTo, p2pkh + "\t"},
		},
		{
			"A75 solana", to("solana", "native", solTo),
			[]string{solTo},
			[]string{strings.ToLower(solTo), strings.ToUpper(solTo), "8" + solTo[1:], "1" + solTo, solTo + ".sol", "toly.sol", solTo[:len(solTo)-1], evmTo, "７" + solTo[1:]},
		},
	}
}

func TestVerifyReadsByTheAddressInItsForms(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		for _, d := range destinations() {
			m := s.order(t, s.a.Server.Text, d.body)
			read := func(t *testing.T, address, rest string) reply {
				t.Helper()
				return s.do(t, shot{path: m.path(rest) + "?verify=" + url.QueryEscape(address)})
			}
			for _, address := range d.opens {
				t.Run(d.name+" "+address, func(t *testing.T) {
					for _, rest := range []string{"", "/events"} {
						if a := read(t, address, rest); a.status != 200 {
							t.Errorf("%s: %d %s", rest, a.status, a.body)
						}
					}
				})
			}
			for _, address := range d.not {
				t.Run(strings.Replace(d.name, "A75", "A76 not", 1)+" "+url.QueryEscape(address), func(t *testing.T) {
					// What is no text at all is refused as a query, before any order is looked for.
					if a := read(t, address, ""); a.status != 404 && (a.status != 400 || !strings.Contains(address, "\x00")) {
						t.Errorf("%d %s", a.status, a.body)
					}
				})
			}
		}
	})
}

// privateParts is an order with everything that only its owner may see.
func privateParts(s *stage, t *testing.T) (made, []string) {
	t.Helper()
	s.payouts(t, s.a, "1")
	m := s.order(t, s.a.Server.Text, eth(`,"refundAddress":"0xde709f2102306220921060314715629080e2fb77","clientReference":"reference-of-mine","metadata":{"note-name":"note-value"},"integratorFeePercent":2`))
	return m, []string{
		m.session, "0xde709f2102306220921060314715629080e2fb77", "reference-of-mine", "note-name", "note-value", evmBack, string(s.a.ID), string(s.a.Server.ID),
		"127.0.0.1", "sessionId", "refundAddress", "clientReference", "metadata", "integratorFee", "feeStatus",
	}
}

func TestVerifyShowsNothingOfTheOwners(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		m, parts := privateParts(s, t)
		public := func(t *testing.T) {
			t.Helper()
			for _, rest := range []string{"", "/events"} {
				a := s.do(t, shot{path: m.path(rest) + "?verify=" + evmTo})
				if a.status != 200 || rest == "" && a.text("access") != "verify" {
					t.Fatalf("%d %s", a.status, a.body)
				}
				for _, part := range parts {
					if strings.Contains(strings.ToLower(string(a.body)), strings.ToLower(part)) {
						t.Errorf("A73 %q is shown: %s", part, a.body)
					}
				}
			}
		}
		t.Run("A73 while it waits", public)
		own := s.read(t, m)
		if own.text("access") != "session" || own.text("refundAddress") == "" || own.text("clientReference") != "reference-of-mine" || own.text("sessionId") != "" {
			t.Errorf("its owner sees %s", own.body)
		}
		s.pay(t, m, "50000000000000000")
		s.until(t, m, "held")
		t.Run("A73 while it is held", public)
		if a := s.do(t, shot{method: "POST", path: m.path("/refund"), header: m.header()}); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		s.until(t, m, "refunded")
		t.Run("A73 after it was refunded", public)
	})
}

func TestProofsInWrongPlacesProveNothing(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		m := s.order(t, "", eth(""))
		row := func(name, path string, status int, code string, header ...string) tried {
			return tried{name: name, q: shot{path: path, header: header}, status: status, code: code}
		}
		rows := []tried{
			row("A77 sessionId in the query", m.path("?sessionId=")+m.session, 400, "secret_in_url"),
			row("A77 session_id in the query", m.path("?session_id=x"), 400, "secret_in_url"),
			row("A77 X-Session-ID in the query", m.path("?X-Session-ID=x"), 400, "secret_in_url"),
			row("A77 a session under another name", m.path("?q=")+m.session, 400, "secret_in_url"),
			row("A77 a session as verify", m.path("?verify=")+m.session, 400, "secret_in_url"),
			row("A77 a session as a name", m.path("?")+m.session, 400, "secret_in_url"),
			row("A77 a session behind a semicolon", m.path("?verify="+evmTo+";sessionId=x"), 400, "secret_in_url"),
			row("A77 a session, percent-encoded", m.path("?%73essionId=x"), 400, "secret_in_url"),
			row("A77 the right header beside one in the URL", m.path("?sessionId=x"), 400, "secret_in_url", "X-Session-ID", m.session),
			row("A77 a session of no order in the URL", "/v2/orders/"+nobodysOrder+"?sessionId=x", 400, "secret_in_url"),
			row("A77 a session in a cookie", m.path(""), 404, "order_not_found", "Cookie", "X-Session-ID="+m.session),
			row("A77 a session as a bearer", m.path(""), 404, "order_not_found", "Authorization", "Bearer "+m.session),
			row("A77 X_Session_ID", m.path(""), 404, "order_not_found", "X_Session_ID", m.session),
			row("A77 Session-ID", m.path(""), 404, "order_not_found", "Session-ID", m.session),
			row("A77 blanks around the session", m.path(""), 200, "", "X-Session-ID", "  "+m.session+" \t"),
			row("A77 the session in quotes", m.path(""), 404, "order_not_found", "X-Session-ID", `"`+m.session+`"`),
			row("A74 verify and the right session", m.path("?verify="+evmBack), 200, "", "X-Session-ID", m.session),
		}
		body := row("A77 the session in the body of a read", m.path(""), 404, "order_not_found")
		body.q.method, body.q.body = "GET", `{"sessionId":"`+m.session+`"}`
		other := row("A76 another parameter", m.path("?Verify="+evmTo), 400, "unknown_parameter")
		other.about = []string{"?Verify unknown_parameter"}
		t.Run("rows", func(t *testing.T) { s.try(t, append(rows, body, other)) })
	})
}

func TestSessionsAreOfOneCompany(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		const session = "3f6c1e52-0a4b-4d7e-9c11-7b2a64d5e8f0"
		mine := with(eth(""), "sessionId", `"`+session+`"`)
		first, second := s.order(t, s.a.Server.Text, mine), s.order(t, s.a.Server.Text, mine)
		if first.id == second.id || first.session != session || second.session != session {
			t.Fatalf("A81 the same session and body: %+v and %+v", first, second)
		}
		theirs := s.order(t, s.b.Server.Text, mine)
		if a := s.do(t, shot{path: first.path(""), header: theirs.header()}); a.status != 404 {
			t.Errorf("A78 B reads an order of A: %d %s", a.status, a.body)
		}
		if a := s.do(t, shot{method: "POST", path: first.path("/cancel"), header: theirs.header()}); a.status != 404 {
			t.Errorf("A78 B cancels an order of A: %d %s", a.status, a.body)
		}
		for _, c := range []struct {
			who  made
			want []string
		}{{first, []string{second.id, first.id}}, {theirs, []string{theirs.id}}} {
			a := s.do(t, shot{path: "/v2/orders", header: c.who.header()})
			var got []string
			list, _ := a.field("orders").([]any)
			for _, o := range list {
				got = append(got, o.(map[string]any)["orderId"].(string))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("A78 listed %v, want %v", got, c.want)
			}
		}
		// A public key of the company opens it too; the session is what counts.
		public := made{first.id, session, s.a.Public.Text}
		if a := s.read(t, public); a.status != 200 {
			t.Errorf("the company's public key: %d %s", a.status, a.body)
		}
		page := s.do(t, shot{path: "/v2/orders?limit=1", header: first.header()})
		if link := page.header.Get("Link"); !strings.Contains(link, "cursor=") || strings.Contains(link, session) {
			t.Errorf("the next page is %q", link)
		}
	})
}

func TestOrderIDsSayNothing(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^ord_[0-9A-HJKMNP-TV-Z]{26}$`)
	const n = 4096
	var all []string
	for range n {
		id := string(desk.OrderID())
		if !form.MatchString(id) {
			t.Fatalf("A83 %s", id)
		}
		all = append(all, id)
	}
	ups := 0
	for i := 1; i < n; i++ {
		if all[i-1] < all[i] {
			ups++
		}
	}
	if ups < n*2/5 || ups > n*3/5 {
		t.Errorf("A83 of %d ids %d are above the one before: they tell their order", n, ups)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != n {
		t.Error("A83 an id twice")
	}
}
