package front_test

import (
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/office"
)

// payouts lets a company be paid on EVM chains, and on no other.
func (s *stage) payouts(t *testing.T, c company, share string) {
	t.Helper()
	p, err := money.ParsePercent(share)
	if err != nil {
		t.Fatal(err)
	}
	s.change(t, c.ID, office.Patch{Fees: office.Fees{Default: &p, PayTo: map[chain.Family]string{chain.EVM: evmBack}}})
}

// feeNumbers are what integratorFeePercent may be, and what not.
func feeNumbers(key string) []tried {
	row := func(number string, status int, code string, more func(*testing.T, *stage, reply)) tried {
		r := tried{
			name: "A53 " + number, q: shot{path: "/v2/quotes", body: ethQuote(`,"integratorFeePercent":` + number), header: withKey(key)},
			status: status, code: code, more: more,
		}
		if status == 400 && code != "malformed_json" {
			r.about = []string{"/integratorFeePercent " + code}
		}
		return r
	}
	percent := func(want float64) func(*testing.T, *stage, reply) {
		return func(t *testing.T, _ *stage, a reply) {
			t.Helper()
			if got := a.field("integratorFee", "percent"); got != want || a.text("integratorFee", "payoutAddress") != evmBack {
				t.Errorf("the fee is %s, want %v percent", a.body, want)
			}
		}
	}
	nothing := func(t *testing.T, _ *stage, a reply) {
		t.Helper()
		if v, there := bodyOf(t, a)["integratorFee"]; v != nil || !there {
			t.Errorf("integratorFee is %v and should be null", v)
		}
		if strings.Contains(string(a.body), ":-0") || strings.Contains(string(a.body), `"integrator"`) {
			t.Errorf("a fee of nothing is shown: %s", a.body)
		}
	}
	rows := []tried{
		row("5", 200, "", percent(5)), row("5.0", 200, "", percent(5)), row("0.5", 200, "", percent(0.5)), row("5e0", 200, "", percent(5)),
		row("50e-1", 200, "", percent(5)), row("0.0005E3", 200, "", percent(0.5)), row("4.9999", 200, "", percent(4.9999)), row("5.00000", 200, "", percent(5)),
		row("5.0001", 400, "integrator_fee_too_high", nil), row("6", 400, "integrator_fee_too_high", nil), row("1e2", 400, "integrator_fee_too_high", nil),
		row("100000", 400, "invalid_field", nil), row("1e400", 400, "invalid_field", nil), row("1e99999", 400, "invalid_field", nil),
		row("5.0000001", 400, "invalid_field", nil), row("5.00000000000000000001", 400, "invalid_field", nil), row("0.00001", 400, "invalid_field", nil),
		row("1e-5", 400, "invalid_field", nil), row("-1", 400, "invalid_field", nil), row("-0.0001", 400, "invalid_field", nil), row(`"5"`, 400, "invalid_field", nil),
		row("true", 400, "invalid_field", nil), row("[]", 400, "invalid_field", nil), row("[5]", 400, "invalid_field", nil), row("{}", 400, "invalid_field", nil),
		row("null", 400, "invalid_field", nil), row(`""`, 400, "invalid_field", nil),
	}
	for _, number := range []string{"NaN", "Infinity", "05", "5.", ".5", "+5", "0x5", "5_0", "5,0", "1e"} {
		r := row(number, 400, "malformed_json", nil)
		r.about = []string{"/integratorFeePercent malformed_json"}
		if strings.ContainsAny(number[1:], "5x_,") && number[0] != '.' && number[0] != '+' { // a number ends before it goes wrong
			r.about = []string{" malformed_json"}
		}
		rows = append(rows, r)
	}
	for _, number := range []string{"0", "-0", "-0.0", "0e9", "0.0000", "0e-9"} {
		r := row(number, 200, "", nothing)
		r.name = "A54 " + number
		rows = append(rows, r)
	}
	return rows
}

// amountNumbers are what amounts may be.
func amountNumbers(key string) []tried {
	row := func(name, amount, code string) tried {
		return tried{
			name: "A57 " + name, q: shot{path: "/v2/quotes", body: strings.Replace(ethQuote(""), `"100000000000000000"`, amount, 1), header: withKey(key)},
			status: 400, code: code, about: []string{"/amount " + code},
		}
	}
	const bad = "invalid_amount"
	rows := []tried{
		row("exponent", `"1e30"`, bad), row("hexadecimal", `"0x10"`, bad), row("underscores", `"1_000"`, bad), row("a plus", `"+1"`, bad), row("a minus", `"-1"`, bad),
		row("a point", `"1."`, bad), row("a fraction", `"0.5"`, bad), row("Arabic digits", `"٣"`, bad), row("fullwidth digits", `"１"`, bad), row("a leading zero", `"01"`, bad),
		row("two zeros", `"00"`, bad), row("blanks around", `" 1"`, bad), row("a blank after", `"1 "`, bad), row("empty", `""`, bad), row("a line break", `"1\n"`, bad),
		row("commas", `"1,000"`, bad), row("a word", `"all"`, bad), row("2^256", `"115792089237316195423570985008687907853269984665640564039457584007913129639936"`, bad),
		row("79 digits", `"`+strings.Repeat("9", 79)+`"`, bad), row("a number", `100000000000000000`, bad), row("true", `true`, bad), row("a list", `["1"]`, "invalid_field"), row("an object", `{}`, "invalid_field"),
	}
	zero := row("zero", `"0"`, bad)
	zero.about = nil // it has the form of an amount: the market refuses it
	tooHigh := row("2^256-1", `"115792089237316195423570985008687907853269984665640564039457584007913129639935"`, "amount_too_high")
	tooHigh.status, tooHigh.about = 422, nil
	exact := row("comes back as it was sent", `"100000000000000001"`, "")
	exact.status, exact.about, exact.more = 200, nil, func(t *testing.T, _ *stage, a reply) {
		t.Helper()
		if a.text("from", "amount") != "100000000000000001" || a.text("from", "amountDecimal") != "0.100000000000000001" {
			t.Errorf("the amount came back as %v", a.field("from"))
		}
	}
	return append(rows, zero, tooHigh, exact)
}

// slippageNumbers are what slippagePercent may be.
func slippageNumbers() []tried {
	row := func(number string, status int, about bool, more string) tried {
		r := tried{name: "A53 slippage " + number + more, q: shot{path: "/v2/quotes", body: ethQuote(`,"slippagePercent":` + number + more)}, status: status}
		if status == 400 {
			r.code = "invalid_slippage"
		}
		if about {
			r.about = []string{"/slippagePercent invalid_slippage"}
		}
		return r
	}
	return []tried{
		row("0.5", 200, false, ""), row("10", 200, false, ""), row("0.0001", 200, false, ""), row("1e1", 200, false, ""),
		row("10.0001", 400, true, ""), row("100", 400, true, ""), row("-1", 400, true, ""), row(`"1"`, 400, true, ""), row("0.00001", 400, true, ""), row("null", 400, true, ""), row("[]", 400, true, ""),
		row("0", 400, false, ""), row("-0", 400, false, ""), row("0.5", 400, false, `,"rateMode":"fixed"`),
	}
}

func TestNumbersAreReadFromTheirText(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		s.payouts(t, s.a, "0.25")
		rows := append(feeNumbers(s.a.Server.Text), amountNumbers(s.b.Server.Text)...)
		t.Run("rows", func(t *testing.T) { s.try(t, append(rows, slippageNumbers()...)) })
	})
}

// bodyOf is a body with its nulls.
func bodyOf(t *testing.T, a reply) map[string]any {
	t.Helper()
	m, ok := a.field().(map[string]any)
	if !ok {
		t.Fatalf("no object: %s", a.body)
	}
	return m
}
