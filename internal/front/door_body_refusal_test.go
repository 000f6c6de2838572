package front_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ferry/internal/front"
	"ferry/internal/market"
	"ferry/internal/money"
)

// with is the body of a quote or an order with another value for a field.
func with(body, field, value string) string {
	at := strings.Index(body, `"`+field+`":`)
	if at < 0 {
		return strings.TrimSuffix(body, "}") + `,"` + field + `":` + value + "}"
	}
	begin := at + len(field) + 3
	end := begin + strings.IndexAny(body[begin:], ",}")
	return body[:begin] + value + body[end:]
}

// refusals are what quotes and orders are refused for once their body is one.
func refusals(s *stage) []tried {
	var rows []tried
	both := func(name, field, value string, status int, code string, about ...string) {
		rows = append(rows,
			tried{name: name + " quote", q: shot{path: "/v2/quotes", body: with(ethQuote(""), field, value)}, status: status, code: code, about: about},
			tried{name: name + " order", q: shot{path: "/v2/orders", body: with(eth(""), field, value)}, status: status, code: code, about: about})
	}
	both("A46 fromChainId unknown", "fromChainId", `"dogecoin"`, 400, "unsupported_chain", "/fromChainId unsupported_chain")
	both("A46 toChainId unknown", "toChainId", `"dogecoin"`, 400, "unsupported_chain", "/toChainId unsupported_chain")
	both("A46 toChainId in another case", "toChainId", `"Ethereum"`, 400, "unsupported_chain", "/toChainId unsupported_chain")
	both("A46 fromToken unknown", "fromToken", `"0x0000000000000000000000000000000000000001"`, 400, "unsupported_token", "/fromToken unsupported_token")
	both("A46 toToken unknown", "toToken", `"dollars"`, 400, "unsupported_token", "/toToken unsupported_token")
	both("A46 a token of another chain", "toToken", `"Gh9ZwEmdLJ8DscKNTkTqPbNwLNNBjuSzaG9Vp2KGtKJr"`, 400, "unsupported_token", "/toToken unsupported_token")
	both("A46 the same asset", "toToken", `"native"`, 400, "same_asset")
	both("A57 too little", "amount", `"1"`, 422, "amount_too_low")
	both("A57 too much", "amount", `"900000000000000000000000"`, 422, "amount_too_high")
	both("A55 a fee without a key", "integratorFeePercent", "0.5", 400, "integrator_key_required")
	both("A55 a fee of nothing without a key", "integratorFeePercent", "0", 400, "integrator_key_required")
	both("A75 toAddress with a wrong checksum", "toAddress", `"0x52908400098527886E0F7030069857D2E4169Ee7"`, 400, "invalid_address", "/toAddress invalid_address")
	both("A75 toAddress that is none", "toAddress", `"me"`, 400, "invalid_address", "/toAddress invalid_address")
	both("A75 toAddress of another chain", "toAddress", `"`+btcTo+`"`, 400, "invalid_address", "/toAddress invalid_address")
	both("A76 toAddress with a blank", "toAddress", `"`+evmTo+` "`, 400, "invalid_address", "/toAddress invalid_address")
	both("A75 refundAddress of another chain", "refundAddress", `"`+solTo+`"`, 400, "invalid_address", "/refundAddress invalid_address")
	both("A46 contract_call", "fundingMode", `"contract_call"`, 422, "funding_mode_unsupported")
	return append(rows, orderRefusals(s)...)
}

// orderRefusals are those of orders alone.
func orderRefusals(s *stage) []tried {
	var rows []tried
	add := func(name, body, key string, status int, code string, about ...string) {
		row := tried{name: name, q: shot{path: "/v2/orders", body: body}, status: status, code: code, about: about}
		if key != "" {
			row.q.header = withKey(key)
		}
		rows = append(rows, row)
	}
	session := func(text string) string { return with(eth(""), "sessionId", `"`+text+`"`) }
	const uuid = "7d444840-9dc0-41b3-8f5b-4b7a3c2d1e0f"
	a := s.a.Server.Text
	add("A55 an override without a payout address", with(eth(""), "integratorFeePercent", "0.5"), s.b.Server.Text, 400, "payout_address_missing")
	add("A79 a session without a key", session(uuid), "", 400, "session_id_requires_key", "/sessionId session_id_requires_key")
	for name, text := range map[string]string{
		"1": "1", "a UUID of version 1": "7d444840-9dc0-11b3-8f5b-4b7a3c2d1e0f", "a UUID of version 7": "019a0000-9dc0-71b3-8f5b-4b7a3c2d1e0f",
		"a UUID in capitals": strings.ToUpper(uuid), "a UUID in braces": "{" + uuid + "}", "a UUID without dashes": strings.ReplaceAll(uuid, "-", ""),
		"ours cut short": "ses_" + strings.Repeat("A", 42), "ours too long": "ses_" + strings.Repeat("A", 44), "ours with another prefix": "SES_" + strings.Repeat("A", 43),
		"ours with bits left over": "ses_" + strings.Repeat("A", 42) + "B", "ours in base64 of another kind": "ses_" + strings.Repeat("A", 42) + "+",
		"a UUID of a wrong variant": "7d444840-9dc0-41b3-7f5b-4b7a3c2d1e0f",
	} {
		add("A80 "+name, session(text), a, 400, "invalid_session_id", "/sessionId invalid_session_id")
	}
	add("A80 an empty one", session(""), a, 400, "invalid_field", "/sessionId invalid_field")
	btc := `{"fromChainId":"bitcoin","fromToken":"native","toChainId":"solana","toToken":"native","amount":"100000","toAddress":"` + solTo + `"}`
	add("A46 no refundAddress where the chain needs one", btc, "", 400, "missing_field", "/refundAddress missing_field")
	add("A46 no refundAddress for a fixed rate", with(eth(""), "rateMode", `"fixed"`), "", 400, "missing_field", "/refundAddress missing_field")
	add("A46 slippage with a fixed rate", with(with(eth(""), "rateMode", `"fixed"`), "slippagePercent", "1"), "", 400, "invalid_slippage")
	return append(rows, quoteIDs(s)...)
}

// quoteIDs are orders of a quoteId that is none.
func quoteIDs(s *stage) []tried {
	var rows []tried
	add := func(name, body, key string, status int, code string, about ...string) {
		row := tried{name: name, q: shot{path: "/v2/orders", body: body}, status: status, code: code, about: about}
		if key != "" {
			row.q.header = withKey(key)
		}
		rows = append(rows, row)
	}
	of := func(id string) string { return `{"quoteId":"` + id + `","toAddress":"` + evmTo + `"}` }
	for _, id := range []string{"x", "quo_", "quo_A", "quo_" + strings.Repeat("A", 500), "QUO_A", "quo_ü", "ord_0123456789ABCDEFGHJKMNPQRS"} {
		add("A46 quoteId "+clip(id), of(id), "", 404, "quote_not_found")
	}
	conflicts := map[string]string{
		"fromChainId": `"ethereum"`, "fromToken": `"native"`, "toChainId": `"ethereum"`, "toToken": `"native"`, "amount": `"1"`, "side": `"from"`, "rateMode": `"float"`,
		"slippagePercent": "1", "fundingMode": `"deposit_address"`, "fromAddress": `"` + evmTo + `"`, "integratorFeePercent": "1",
	}
	all := of("quo_A")
	var every []string
	for field, value := range conflicts {
		add("A46 quoteId beside "+field, with(of("quo_A"), field, value), s.a.Server.Text, 400, "conflicting_fields", "/"+field+" conflicting_fields")
		all = with(all, field, value)
		every = append(every, "/"+field+" conflicting_fields")
	}
	add("A46 quoteId beside all of them", all, s.a.Server.Text, 400, "conflicting_fields", every...)
	return rows
}

func clip(s string) string {
	if len(s) > 20 {
		return s[:20]
	}
	return s
}

func TestEveryRefusalOfQuotesAndOrdersHasItsCode(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		t.Run("rows", func(t *testing.T) { s.try(t, refusals(s)) })
		t.Run("quotes", func(t *testing.T) { quotesOfOthers(t, s) })
		t.Run("A56 a default fee without a payout address", func(t *testing.T) { defaultFee(t, s) })
		t.Run("our own addresses", func(t *testing.T) { ownAddresses(t, s) })
	})
}

// quotesOfOthers: a quote is for whoever asked for it.
func quotesOfOthers(t *testing.T, s *stage) {
	quoted := func(header []string) string {
		a := s.do(t, shot{path: "/v2/quotes", body: ethQuote(""), header: header})
		if a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return `{"quoteId":"` + a.text("quoteId") + `","toAddress":"` + evmTo + `"}`
	}
	anonymous, ofA := quoted(nil), quoted(withKey(s.a.Server.Text))
	for _, c := range []struct {
		name, body string
		header     []string
		status     int
		code       string
	}{
		{"A46 a quote of A for B", ofA, withKey(s.b.Server.Text), 404, "quote_not_found"},
		{"A46 a quote of A for nobody", ofA, nil, 404, "quote_not_found"},
		{"A46 a quote of nobody for A", anonymous, withKey(s.a.Server.Text), 404, "quote_not_found"},
		{"A46 a quote of A by its public key", ofA, withKey(s.a.Public.Text), 201, ""},
		{"A46 a quote of nobody for nobody", anonymous, nil, 201, ""},
		{"A46 a quote for an address of another chain", with(anonymous, "toAddress", `"`+btcTo+`"`), nil, 400, "invalid_address"},
		{"A46 a quote with one letter changed", anotherLetter(anonymous), nil, 404, "quote_not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.do(t, shot{path: "/v2/orders", body: c.body, header: c.header})
			if a.status != c.status || a.code() != c.code {
				t.Errorf("got %d %q, want %d %q: %s", a.status, a.code(), c.status, c.code, a.body)
			}
		})
	}
}

// defaultFee: a default that cannot be paid is not charged, and that is said.
func defaultFee(t *testing.T, s *stage) {
	c := s.company(t, noLimits())
	s.payouts(t, c, "1")
	body := `{"fromChainId":"solana","fromToken":"native","toChainId":"ethereum","toToken":"native","amount":"10000000000"}`
	a := s.do(t, shot{path: "/v2/quotes", body: body, header: withKey(c.Server.Text)})
	if v, there := bodyOf(t, a)["integratorFee"]; a.status != 200 || v != nil || !there {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if !strings.Contains(string(a.body), `"payout_address_missing"`) {
		t.Errorf("nobody is told why there is no fee: %s", a.body)
	}
	a = s.do(t, shot{path: "/v2/quotes", body: with(body, "integratorFeePercent", "1"), header: withKey(c.Server.Text)})
	if a.status != 400 || a.code() != "payout_address_missing" {
		t.Errorf("an override: %d %s", a.status, a.body)
	}
}

// ownAddresses: money is never sent to ourselves.
func ownAddresses(t *testing.T, s *stage) {
	first := s.order(t, "", eth(""))
	ours := s.read(t, first).text("funding", "depositAddress")
	for name, body := range map[string]string{
		"A75 to a deposit address":        with(eth(""), "toAddress", `"`+ours+`"`),
		"A75 to one in small letters":     with(eth(""), "toAddress", `"`+strings.ToLower(ours)+`"`),
		"A75 refund to a deposit address": with(eth(""), "refundAddress", `"`+ours+`"`),
	} {
		t.Run(name, func(t *testing.T) {
			a := s.do(t, shot{path: "/v2/orders", body: body})
			if a.status != 422 || a.code() != "recipient_unsupported" || len(a.pointers()) != 1 {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
}

func TestQuotesExpireAndTreasuriesRunDry(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := staged(t, newRig(t, engine, setup{change: func(c *front.Config) {
			c.Offers.Float, c.Offers.Fixed = 50*time.Millisecond, 10*time.Minute
			c.Terms = market.Terms{Spread: 0, Min: money.Dollar, Max: 100_000_000 * money.Dollar, Fixed: true}
		}}))
		t.Run("A46 quote_expired", func(t *testing.T) {
			a := s.do(t, shot{path: "/v2/quotes", body: ethQuote("")})
			body := `{"quoteId":"` + a.text("quoteId") + `","toAddress":"` + evmTo + `"}`
			wait(t, "the quote to expire", func() bool {
				a = s.do(t, shot{path: "/v2/orders", body: body})
				return a.status != http.StatusCreated
			})
			if a.status != 409 || a.code() != "quote_expired" {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
		// Two fixed quotes of more than half of what there is: both are made, and one
		// order takes what the other would need.
		t.Run("A57 insufficient_liquidity", func(t *testing.T) {
			body := with(with(ethQuote(""), "amount", `"400000000000000000000"`), "rateMode", `"fixed"`)
			orders := []string{}
			for range 2 {
				a := s.do(t, shot{path: "/v2/quotes", body: body})
				if a.status != 200 {
					t.Fatalf("%d %s", a.status, a.body)
				}
				orders = append(orders, `{"quoteId":"`+a.text("quoteId")+`","toAddress":"`+evmTo+`","refundAddress":"`+evmBack+`"}`)
			}
			if a := s.do(t, shot{path: "/v2/orders", body: orders[0]}); a.status != 201 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if a := s.do(t, shot{path: "/v2/orders", body: orders[1]}); a.status != 422 || a.code() != "insufficient_liquidity" {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	})
}

// anotherLetter is a body with one letter in the middle of its quote changed.
func anotherLetter(body string) string {
	b, at := []byte(body), strings.Index(body, "quo_")+40
	if b[at] == 'A' {
		b[at] = 'B'
	} else {
		b[at] = 'A'
	}
	return string(b)
}
