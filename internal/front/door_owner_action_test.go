package front_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"ferry/internal/front"
)

// action is something that an owner asks for.
type action struct{ name, rest, body string }

// actions are all of them; quote is a quoteId of the same pair.
func actions(quote string) []action {
	return []action{
		{"cancel", "/cancel", ""},
		{"refund", "/refund", ""},
		{"requote", "/requote", ""},
		{"accept a quote of another amount", "/requote/accept", `{"quoteId":"` + quote + `"}`},
		{"accept no quote", "/requote/accept", `{"quoteId":"quo_A"}`},
		{"set another refund address", "/refund-address", `{"refundAddress":"` + evmTo + `"}`},
		{"set the same refund address", "/refund-address", `{"refundAddress":"` + evmBack + `"}`},
		{"set no refund address", "/refund-address", `{"refundAddress":"nowhere"}`},
		{"hint", "/deposits", `{"txHash":"0xfeed"}`},
		{"recheck", "/recheck", ""},
	}
}

// outcome is how an action ends in a state, for an order with the refund address
// evmBack.
func outcome(state, action string) string {
	const no = "409 invalid_state"
	switch action {
	case "hint", "set the same refund address":
		return "200"
	case "recheck": // the first look a minute was the table's own
		return "429 rate_limited"
	case "accept no quote":
		return "404 quote_not_found"
	case "set another refund address":
		return "409 refund_address_already_set"
	case "set no refund address":
		return "400 invalid_address"
	case "cancel":
		if state == "expired" { // asked for again
			return "200"
		}
	case "refund":
		switch state {
		case "refunding", "refunded":
			return "409 refund_already_started"
		}
	case "requote":
		if state == "held" {
			return "200"
		}
	}
	return no
}

// tryAll does everything to an order that is in a state and must stay in it, but for
// what would move it.
func (s *stage) tryAll(t *testing.T, m made, state, quote string) {
	t.Helper()
	if a := s.read(t, m); a.text("status") != state && !moving(state) {
		t.Fatalf("the order is %s, not %s", a.text("status"), state)
	}
	for _, one := range actions(quote) {
		if state == "awaiting_deposit" && one.name == "cancel" || state == "held" && one.name == "refund" {
			continue // it would move on: that is done at the end of its own story
		}
		before := s.read(t, m).text("status")
		a := s.do(t, shot{method: "POST", path: m.path(one.rest), body: one.body, header: m.header()})
		after := s.read(t, m).text("status")
		got := strings.TrimSpace(strings.Join([]string{strconv.Itoa(a.status), a.code()}, " "))
		if got != outcome(before, one.name) && got != outcome(after, one.name) {
			t.Errorf("%s while %s: %s, want %s: %s", one.name, before, got, outcome(before, one.name), a.body)
		}
		if a.code() == "invalid_state" {
			if said, _ := a.problem().Details["status"].(string); said != before && said != after {
				t.Errorf("%s while %s: it says the status is %q", one.name, before, said)
			}
		}
		if !moving(state) && after != state {
			t.Errorf("%s moved the order from %s to %s", one.name, state, after)
		}
	}
}

// moving reports whether an order leaves a state by itself.
func moving(state string) bool {
	return state == "confirming" || state == "sending" || state == "refunding"
}

// quoteOf is a quote of a pair that orders of the table have.
func (s *stage) quoteOf(t *testing.T) string {
	t.Helper()
	a := s.do(t, shot{path: "/v2/quotes", body: ethQuote("")})
	if a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return a.text("quoteId")
}

// act does one thing, which must be done.
func (s *stage) act(t *testing.T, m made, rest, body string) reply {
	t.Helper()
	a := s.do(t, shot{method: "POST", path: m.path(rest), body: body, header: m.header()})
	if a.status != 200 {
		t.Fatalf("%s: %d %s", rest, a.status, a.body)
	}
	return a
}

const half = "50000000000000000"

// stories lead orders through every state that a deployment without venues has.
var stories = map[string]func(t *testing.T, s *stage){
	"cancelled": func(t *testing.T, s *stage) {
		m := s.fresh(t)
		s.tryAll(t, m, "awaiting_deposit", s.quoteOf(t))
		if a := s.act(t, m, "/cancel", ""); a.text("status") != "expired" || a.field("terminal") != true {
			t.Errorf("cancelled: %s", a.body)
		}
		s.tryAll(t, m, "expired", s.quoteOf(t))
	},
	"completed": func(t *testing.T, s *stage) {
		m := s.fresh(t)
		s.pay(t, m, "")
		s.until(t, m, "confirming", "sending", "completed")
		s.tryAll(t, m, "confirming", s.quoteOf(t))
		s.until(t, m, "sending", "completed")
		s.tryAll(t, m, "sending", s.quoteOf(t))
		a := s.until(t, m, "completed")
		if a.text("holding", "party") != "recipient" || a.text("actual", "toAmount") != a.text("expected", "toAmount") {
			t.Errorf("completed: %s", a.body)
		}
		s.tryAll(t, m, "completed", s.quoteOf(t))
		s.knowsItsDeposit(t, m)
		s.eventsAreWhole(t, m)
	},
	"paid twice": func(t *testing.T, s *stage) {
		m := s.fresh(t)
		s.pay(t, m, "")
		s.until(t, m, "completed")
		s.pay(t, m, half)
		s.patiently(t, "the second deposit", func() bool { return s.read(t, m).text("recovery", "status") == "detected" })
		s.act(t, m, "/refund", "")
		s.patiently(t, "its refund", func() bool { return s.read(t, m).text("recovery", "status") == "refunded" })
		if a := s.read(t, m); a.text("status") != "completed" {
			t.Errorf("a second deposit moved the order: %s", a.body)
		}
	},
	"refunded": func(t *testing.T, s *stage) {
		m := s.fresh(t)
		s.pay(t, m, half)
		a := s.until(t, m, "held")
		if a.text("nextAction", "kind") != "accept_requote" || a.text("failure", "code") == "" || a.text("holding", "amount") != half {
			t.Errorf("held: %s", a.body)
		}
		s.tryAll(t, m, "held", s.quoteOf(t))
		s.act(t, m, "/refund", "")
		s.tryAll(t, m, "refunding", s.quoteOf(t))
		if a := s.until(t, m, "refunded"); a.text("holding", "party") != "refund_address" {
			t.Errorf("refunded: %s", a.body)
		}
		s.tryAll(t, m, "refunded", s.quoteOf(t))
	},
	"requoted": func(t *testing.T, s *stage) {
		m := s.fresh(t)
		s.pay(t, m, half)
		s.until(t, m, "held")
		quote := s.act(t, m, "/requote", "")
		if quote.text("from", "amount") != half {
			t.Errorf("it is quoted for %s", quote.text("from", "amount"))
		}
		accept := `{"quoteId":"` + quote.text("quoteId") + `"}`
		if a := s.do(t, shot{method: "POST", path: m.path("/requote/accept"), body: accept, header: []string{"X-Session-ID", nobodysSession}}); a.status != 404 {
			t.Errorf("somebody else accepts: %d %s", a.status, a.body)
		}
		s.act(t, m, "/requote/accept", accept)
		a := s.until(t, m, "completed")
		if a.text("actual", "toAmount") != quote.text("to", "amount") {
			t.Errorf("%s arrived and %s was accepted", a.text("actual", "toAmount"), quote.text("to", "amount"))
		}
	},
	"asked for prices": func(t *testing.T, s *stage) {
		m := s.fresh(t)
		s.pay(t, m, "30000000000000000")
		held := s.until(t, m, "held")
		s.act(t, m, "/requote", "")
		s.act(t, m, "/requote", "")
		s.mustOffer(t, m, 1)
		if a := s.read(t, m); a.field("version") != held.field("version").(float64)+1 || a.text("nextAction", "kind") != "accept_requote" || a.text("nextAction", "deadline") != held.text("nextAction", "deadline") {
			t.Errorf("two new prices made %s of %s", a.body, held.body)
		}
		s.pay(t, m, "20000000000000000") // and still too little
		s.patiently(t, "the second deposit", func() bool { return s.read(t, m).text("holding", "amount") == half })
		s.act(t, m, "/requote", "")
		quote := s.act(t, m, "/requote", "")
		s.mustOffer(t, m, 2)
		s.act(t, m, "/requote/accept", `{"quoteId":"`+quote.text("quoteId")+`"}`)
		s.until(t, m, "completed")
		s.mustOffer(t, m, 2)
		s.eventsAreWhole(t, m)
	},
	"without a refund address": func(t *testing.T, s *stage) {
		m := s.order(t, "", eth(""))
		s.pay(t, m, half)
		s.until(t, m, "held")
		a := s.do(t, shot{method: "POST", path: m.path("/refund"), header: m.header()})
		if a.status != 409 || a.code() != "invalid_state" || a.problem().Details["status"] != "held" {
			t.Errorf("a refund to nowhere: %d %s", a.status, a.body)
		}
		s.act(t, m, "/refund-address", `{"refundAddress":"`+evmBack+`"}`)
		s.act(t, m, "/refund", "")
		s.until(t, m, "refunded")
	},
	"too much": func(t *testing.T, s *stage) {
		m := s.fresh(t)
		s.pay(t, m, "150000000000000000")
		a := s.until(t, m, "completed", "held")
		if a.text("actual", "depositedAmount") != "150000000000000000" {
			t.Errorf("%s", a.body)
		}
	},
}

// mustOffer: it was told that often that a new price can be had.
func (s *stage) mustOffer(t *testing.T, m made, want int) {
	t.Helper()
	a := s.do(t, shot{path: m.path("/events"), header: m.header()})
	list, _ := a.field("events").([]any)
	got := 0
	for _, one := range list {
		if one.(map[string]any)["event"] == "order.requote_available" {
			got++
		}
	}
	if a.status != 200 || got != want {
		t.Errorf("%d offers instead of %d: %s", got, want, a.body)
	}
}

// fresh is an order with a refund address whose one look a minute is spent.
func (s *stage) fresh(t *testing.T) made {
	t.Helper()
	m := s.order(t, "", eth(`,"refundAddress":"`+evmBack+`"`))
	s.act(t, m, "/recheck", "")
	a := s.do(t, shot{method: "POST", path: m.path("/recheck"), header: m.header()})
	if a.status != 429 || a.header.Get("X-RateLimit-Resource") != "order_recheck" || a.header.Get("Retry-After") == "" {
		t.Fatalf("a second look: %d %v", a.status, a.header)
	}
	return m
}

// knowsItsDeposit: the transaction of a deposit that is there is not news.
func (s *stage) knowsItsDeposit(t *testing.T, m made) {
	t.Helper()
	list, _ := s.read(t, m).field("deposits").([]any)
	if len(list) != 1 {
		t.Fatalf("%d deposits", len(list))
	}
	tx, _ := list[0].(map[string]any)["txHash"].(string)
	a := s.do(t, shot{method: "POST", path: m.path("/deposits"), body: `{"txHash":"` + tx + `"}`, header: m.header()})
	if a.status != 409 || a.code() != "deposit_already_known" {
		t.Errorf("a known deposit: %d %s", a.status, a.body)
	}
}

// eventsAreWhole: the log has every version once, and pages meet.
func (s *stage) eventsAreWhole(t *testing.T, m made) {
	t.Helper()
	version := int(s.read(t, m).field("version").(float64))
	last := 0
	for {
		a := s.do(t, shot{path: m.path("/events?limit=1&after=") + strconv.Itoa(last), header: m.header()})
		list, _ := a.field("events").([]any)
		if a.status != 200 || len(list) == 0 {
			break
		}
		seq := int(list[0].(map[string]any)["seq"].(float64))
		if seq != last+1 {
			t.Fatalf("after %d comes %d", last, seq)
		}
		last = seq
	}
	if last != version {
		t.Errorf("the last event is %d and the version %d", last, version)
	}
}

func TestEveryActionInEveryState(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		for name, story := range stories {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				story(t, s)
			})
		}
	})
}

// TestMoneyThatIsNotWorthSendingBack has a service of its own, whose settler does not
// wait for the network to become cheaper.
func TestMoneyThatIsNotWorthSendingBack(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := staged(t, newRig(t, engine, setup{change: func(c *front.Config) { c.Settle.PriceWait = 10 * time.Millisecond }}))
		m := s.fresh(t)
		s.pay(t, m, "1")
		s.until(t, m, "held")
		s.act(t, m, "/refund", "")
		if a := s.until(t, m, "failed"); a.text("failure", "code") != "refund_below_cost" || a.field("terminal") != true {
			t.Errorf("failed: %s", a.body)
		}
		s.tryAll(t, m, "failed", s.quoteOf(t))
	})
}
