package front_test

import (
	"net/http"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/office"
)

// TestARepeatedRequestIsAnsweredWhenItCouldNotBeMadeAnew: whoever lost an answer and asks
// again has the order, though its quote has expired since or nothing more may be made. A
// request by another body is refused as such, whatever else is wrong with it.
func TestARepeatedRequestIsAnsweredWhenItCouldNotBeMadeAnew(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := staged(t, newRig(t, engine, setup{change: func(c *front.Config) { c.Offers.Float = 500 * time.Millisecond }}))
		header := append(withKey(s.a.Server.Text), "Idempotency-Key", "lost")
		var first, again reply
		var body string
		wait(t, "an order of a quote", func() bool {
			a := s.do(t, shot{path: "/v2/quotes", body: ethQuote(""), header: withKey(s.a.Server.Text)})
			body = `{"quoteId":"` + a.text("quoteId") + `","toAddress":"` + evmTo + `"}`
			first = s.do(t, shot{path: "/v2/orders", body: body, header: header})
			return first.status == http.StatusCreated
		})
		wait(t, "the quote to expire", func() bool {
			return s.do(t, shot{path: "/v2/orders", body: body, header: withKey(s.a.Server.Text)}).code() == "quote_expired"
		})
		again = s.do(t, shot{path: "/v2/orders", body: body, header: header})
		if again.status != 201 || again.header.Get("Idempotency-Replayed") != "true" {
			t.Fatalf("asked again after the quote expired: %d %s", again.status, again.body)
		}
		for _, field := range []string{"orderId", "sessionId"} {
			if first.text(field) == "" || first.text(field) != again.text(field) {
				t.Errorf("%s is %q, then %q", field, first.text(field), again.text(field))
			}
		}
		other := with(eth(""), "amount", `"1"`)
		if a := s.do(t, shot{path: "/v2/orders", body: other, header: header}); a.status != 409 || a.code() != "idempotency_conflict" {
			t.Errorf("another body that could not be made either: %d %s", a.status, a.body)
		}
		if a := s.do(t, shot{path: "/v2/orders", body: other, header: append(withKey(s.b.Server.Text), "Idempotency-Key", "lost")}); a.status != 422 {
			t.Errorf("another company by the same name: %d %s", a.status, a.body)
		}
	})
}

// TestANewPriceCountsAsAQuote: it is one, and asks the market as one does.
func TestANewPriceCountsAsAQuote(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		p := noLimits()
		p.Limits.Quotes = new(int64(1))
		c := s.company(t, p)
		m := s.order(t, c.Server.Text, eth(""))
		ask := func() reply { return s.do(t, shot{method: "POST", path: m.path("/requote"), header: m.header()}) }
		if a := ask(); a.status != 409 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if a := ask(); a.status != 429 || a.header.Get("X-RateLimit-Resource") != "company_quotes" || a.header.Get("Retry-After") == "" {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
	})
}

// TestANewPriceHasTheFeeThatWasAgreed: the integrator gets what was agreed of the order,
// so that a quote without it would have the service pay it.
func TestANewPriceHasTheFeeThatWasAgreed(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		p := noLimits()
		p.Fees = office.Fees{Default: new(5 * money.Whole / 100)}
		p.Fees.PayTo = map[chain.Family]string{"evm": evmBack}
		c := s.company(t, p)
		m := s.order(t, c.Server.Text, eth(`,"refundAddress":"`+evmBack+`"`))
		s.pay(t, m, half)
		s.until(t, m, "held")
		quote := func(percent string) string {
			t.Helper()
			a := s.do(t, shot{path: "/v2/quotes", body: with(ethQuote(`,"integratorFeePercent":`+percent), "amount", `"`+half+`"`), header: withKey(c.Server.Text)})
			if a.status != 200 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			return a.text("quoteId")
		}
		for _, percent := range []string{"0", "1", "0.0001"} {
			a := s.do(t, shot{method: "POST", path: m.path("/requote/accept"), body: `{"quoteId":"` + quote(percent) + `"}`, header: m.header()})
			if a.status != 409 || a.code() != "invalid_state" {
				t.Errorf("a quote with a fee of %s instead of 5 percent: %d %s", percent, a.status, a.body)
			}
		}
		offered := s.act(t, m, "/requote", "")
		s.act(t, m, "/requote/accept", `{"quoteId":"`+offered.text("quoteId")+`"}`)
		if a := s.until(t, m, "completed"); a.text("actual", "toAmount") != offered.text("to", "amount") {
			t.Errorf("%s arrived and %s was accepted", a.text("actual", "toAmount"), offered.text("to", "amount"))
		}
	})
}
