package dev

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
)

// bridgeRefusals asks for what a bridge does not do.
func (r *real) bridgeRefusals(t *testing.T) {
	t.Helper()
	w := r.bridged(t, "base_withdraw", nil)
	step := "/v2/orders/" + w.id + "/steps/"
	good := fields{
		"bridgeId": "base_deposit", "termsVersion": 1, "fromChainId": "ethereum", "fromToken": "native", "toChainId": "base", "toToken": "native",
		"amount": rideCoins, "toAddress": r.fresh("base", "nobody"),
	}
	but := func(k string, v any) fields {
		body := fields{}
		for name, value := range good {
			body[name] = value
		}
		body[k] = v
		return body
	}
	hash := fields{"txHash": "0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b"}
	for _, c := range []struct {
		name, session, path string
		body                fields
		status              int
		code                string
	}{
		{"other terms", "", "/v2/bridges/orders", but("termsVersion", 2), 409, "terms_changed"},
		{"a bridge that is none", "", "/v2/bridges/quotes", fields{"bridgeId": "nowhere", "fromChainId": "ethereum", "fromToken": "native", "toChainId": "base", "toToken": "native"}, 404, "bridge_not_found"},
		{"the other way", "", "/v2/bridges/orders", but("bridgeId", "base_withdraw"), 422, "no_route"},
		{"too little", "", "/v2/bridges/orders", but("amount", "1"), 422, "amount_too_low"},
		{"too much", "", "/v2/bridges/orders", but("amount", "1000000000000000000000000"), 422, "amount_too_high"},
		{"claiming where there is none", "", "/v2/bridges/orders", but("autoClaim", true), 422, "funding_mode_unsupported"},
		{"more than arrives", "", "/v2/bridges/orders", but("minToAmount", rideCoins+"0"), 409, "price_moved"},
		{"to ourselves", "", "/v2/bridges/orders", but("toAddress", r.Card.Wallets["base"]), 422, "recipient_unsupported"},
		{"a step before its time", w.session, step + "prove/transaction", fields{}, 409, "step_not_ready"},
		{"a name for it", w.session, step + "prove/submissions", hash, 409, "step_not_ready"},
		{"a step that is none", w.session, step + "sing/transaction", fields{}, 400, "invalid_field"},
		{"no hash", w.session, step + "initiate/submissions", fields{"txHash": "0x1"}, 400, "invalid_field"},
		{"nobody's session", "ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", step + "initiate/transaction", fields{}, 404, "order_not_found"},
		{"no session", "", step + "initiate/submissions", hash, 404, "order_not_found"},
	} {
		code, text := r.ask(t, r.key, c.session, http.MethodPost, c.path, c.body)
		var told struct{ Code string }
		if err := json.Unmarshal(text, &told); err != nil || code != c.status || told.Code != c.code {
			t.Errorf("%s: %d %s", c.name, code, text)
		}
	}
}

// oneOrderOnly names the transaction of one order for another that asks for the same: it
// begins one of them.
func (r *real) oneOrderOnly(t *testing.T) {
	t.Helper()
	to := fields{"toAddress": r.fresh("base", "the one friend")}
	first, second := r.bridged(t, "base_deposit", to), r.bridged(t, "base_deposit", to)
	first.do("initiate")
	o := first.until("completed")
	i := slices.IndexFunc(o.Steps, func(s toldStep) bool { return s.StepID == "initiate" })
	code, text := r.ask(t, r.key, second.session, http.MethodPost, "/v2/orders/"+second.id+"/steps/initiate/submissions", fields{"txHash": *o.Steps[i].TxHash})
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, text)
	}
	r.wait(t, "the second order is refused the transaction of the first", func() bool {
		o := second.now()
		return o.Status == "awaiting_deposit" && o.Steps[0].Attempts == 1 && o.Steps[0].Error != nil
	})
}
