package wire_test

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ferry/internal/api/wire"
	"ferry/internal/fault"
	"ferry/internal/money"
	"ferry/internal/testseed"
)

// ask is a request with everything that requests have.
type ask struct {
	FromChainID          string            `json:"fromChainId"`
	ToAddress            string            `json:"toAddress" code:"invalid_address"`
	Amount               wire.Amount       `json:"amount"`
	Side                 string            `json:"side,omitzero" enum:"from,to"`
	IntegratorFeePercent *wire.Percent     `json:"integratorFeePercent,omitzero" maximum:"5" over:"integrator_fee_too_high"`
	SlippagePercent      *wire.Percent     `json:"slippagePercent,omitzero" minimum:"0.0001" maximum:"10" code:"invalid_slippage"`
	Count                *int64            `json:"count,omitzero" minimum:"1" maximum:"9"`
	Public               *bool             `json:"publicActivity,omitzero"`
	Reference            string            `json:"clientReference,omitzero" maxLength:"8"`
	Metadata             map[string]string `json:"metadata,omitzero" maxItems:"2"`
	Inner                *inner            `json:"inner,omitzero"`
	List                 []inner           `json:"list,omitzero"`
	SetAt                *wire.Time        `json:"setAt,omitzero"`
	Floor                *wire.USD         `json:"floorUsd,omitzero"`
	Memo                 *string           `json:"memo,omitzero"`
}

type inner struct {
	TxHash string `json:"txHash"`
}

const good = `"fromChainId":"bitcoin","toAddress":"bc1q","amount":"100"`

func with(more string) string { return "{" + good + "," + more + "}" }

// refused is the fault of a body and its problems as "pointer code".
func refused(t *testing.T, body string) (*fault.Error, []string) {
	t.Helper()
	kept := ask{ToAddress: "kept"}
	err := wire.Decode([]byte(body), &kept)
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("%.80q: got %v, want a fault", body, err)
	}
	if !reflect.DeepEqual(kept, ask{ToAddress: "kept"}) {
		t.Errorf("%.80q was refused and still changed the value", body)
	}
	if entry, ok := wire.CodeOf(f.Code); !ok || entry.Status != 400 && f.Code != "payload_too_large" {
		t.Errorf("%.80q: code %s is not in the catalogue as 400", body, f.Code)
	}
	var found []string
	problems, _ := f.Detail[wire.ProblemsKey].([]wire.Problem)
	for _, p := range problems {
		found = append(found, p.Pointer+" "+p.Code)
	}
	return f, found
}

func TestSoundBodyIsRead(t *testing.T) {
	t.Parallel()
	var got ask
	body := with(`"side":"to","integratorFeePercent":0.5,"count":3,"publicActivity":false,"metadata":{"a":"b"},"inner":{"txHash":"x"},"list":[{"txHash":"y"}],"setAt":"2026-01-31T12:00:00.250Z","floorUsd":"1.5"`)
	if err := wire.Decode([]byte(" "+body+"\n"), &got); err != nil {
		t.Fatal(err)
	}
	if got.Amount.Amount != money.FromUint64(100) || *got.IntegratorFeePercent != 5_000 || *got.Count != 3 || *got.Public ||
		got.Metadata["a"] != "b" || got.Inner.TxHash != "x" || got.List[0].TxHash != "y" || *got.Floor != wire.USD(1_500_000) ||
		!got.SetAt.Equal(time.Date(2026, 1, 31, 12, 0, 0, 250e6, time.UTC)) || got.Side != "to" || got.Memo != nil {
		t.Errorf("got %+v", got)
	}
}

// Every row of the catalogue of attacks on bodies, by its id.
func TestBodiesThatAreRefused(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	cases := []struct{ name, body, code, problems string }{
		{"A46 unknown on top", with(`"bogus":1`), "unknown_field", "/bogus unknown_field"},
		{"A46 unknown inside", with(`"inner":{"txHash":"x","bogus":{"deep":[1]}}`), "unknown_field", "/inner/bogus unknown_field"},
		{"A46 unknown in a list", with(`"list":[{"txHash":"x"},{"txHash":"y","b":1}]`), "unknown_field", "/list/1/b unknown_field"},
		{"A46 all at once", with(`"x":1,"inner":{"txHash":"x","y":1},"a/b~c":2`), "unknown_field", "/x unknown_field,/inner/y unknown_field,/a~1b~0c unknown_field"},
		{"A47 retired", `{"fromChainId":"bitcoin","to_address":"bc1q","amount":"100"}`, "retired_field", "/to_address retired_field"},
		{"A47 retired fee", with(`"integratorFeeBps":50`), "retired_field", "/integratorFeeBps retired_field"},
		{"A47 retired inside", with(`"list":[{"tx_hash":"x"}]`), "retired_field", "/list/0/tx_hash retired_field"},
		{"A47 retired where its successor is no field", with(`"quote_id":"x"`), "unknown_field", "/quote_id unknown_field"},
		{"A47 retired and unknown", with(`"bogus":1,"from_chain":"x"`), "retired_field", "/bogus unknown_field,/from_chain retired_field"},
		{"A48 upper case", with(`"INTEGRATORFEEPERCENT":1`), "unknown_field", "/INTEGRATORFEEPERCENT unknown_field"},
		{"A48 Kelvin sign", with(`"s\u212Aippage":1`), "unknown_field", "/s\u212Aippage unknown_field"},
		{"A49 twice", with(`"amount":"1"`), "malformed_json", "/amount malformed_json"},
		{"A49 twice by escape", with(`"\u0061mount":"1"`), "malformed_json", "/amount malformed_json"},
		{"A49 twice inside", with(`"inner":{"txHash":"x","txHash":"y"}`), "malformed_json", "/inner/txHash malformed_json"},
		{"A49 twice in an unknown field", with(`"bogus":{"a":1,"a":2}`), "malformed_json", "/bogus/a malformed_json"},
		{"A50 trailing object", "{" + good + "}{}", "malformed_json", ""},
		{"A50 trailing text", "{" + good + "} x", "malformed_json", " malformed_json"},
		{"A50 trailing NUL", "{" + good + "}\x00", "malformed_json", " malformed_json"},
		{"A50 BOM", "\uFEFF{" + good + "}", "malformed_json", " malformed_json"},
		{"A51 null", "null", "malformed_json", ""},
		{"A51 list", "[]", "malformed_json", ""},
		{"A51 empty", "", "malformed_json", ""},
		{"A51 blank", " \n", "malformed_json", ""},
		{"A51 text", `"string"`, "malformed_json", ""},
		{"A51 null field", with(`"side":null`), "invalid_field", "/side invalid_field"},
		{"A52 invalid UTF-8", with("\"clientReference\":\"\xff\""), "malformed_json", "/clientReference malformed_json"},
		{"A52 lone surrogate", with(`"clientReference":"\ud800"`), "malformed_json", "/clientReference malformed_json"},
		{"A52 NUL", with(`"clientReference":"a\u0000"`), "invalid_field", "/clientReference invalid_field"},
		{"A52 NUL in a map", with(`"metadata":{"a\u0000":"b\u0000"}`), "invalid_field", "/metadata/a\x00 invalid_field,/metadata/a\x00 invalid_field"},
		{"A53 too many decimals", with(`"integratorFeePercent":5.0000001`), "invalid_field", "/integratorFeePercent invalid_field"},
		{"A53 five as a float", with(`"integratorFeePercent":5.00000000000000000001`), "invalid_field", "/integratorFeePercent invalid_field"},
		{"A53 huge exponent", with(`"integratorFeePercent":1e400`), "invalid_field", "/integratorFeePercent invalid_field"},
		{"A53 negative", with(`"integratorFeePercent":-1`), "invalid_field", "/integratorFeePercent invalid_field"},
		{"A53 text", with(`"integratorFeePercent":"5"`), "invalid_field", "/integratorFeePercent invalid_field"},
		{"A53 NaN", with(`"integratorFeePercent":NaN`), "malformed_json", "/integratorFeePercent malformed_json"},
		{"A53 true", with(`"integratorFeePercent":true`), "invalid_field", "/integratorFeePercent invalid_field"},
		{"A53 list", with(`"integratorFeePercent":[]`), "invalid_field", "/integratorFeePercent invalid_field"},
		{"A53 above five", with(`"integratorFeePercent":5.0001`), "integrator_fee_too_high", "/integratorFeePercent integrator_fee_too_high"},
		{"A57 exponent", amount(`"1e30"`), "invalid_amount", "/amount invalid_amount"},
		{"A57 hex", amount(`"0x10"`), "invalid_amount", "/amount invalid_amount"},
		{"A57 underscore", amount(`"1_000"`), "invalid_amount", "/amount invalid_amount"},
		{"A57 plus", amount(`"+1"`), "invalid_amount", "/amount invalid_amount"},
		{"A57 point", amount(`"1."`), "invalid_amount", "/amount invalid_amount"},
		{"A57 Arabic digit", amount(`"٣"`), "invalid_amount", "/amount invalid_amount"},
		{"A57 above 256 bits", amount(`"` + strings.Repeat("9", 78) + `"`), "invalid_amount", "/amount invalid_amount"},
		{"A57 number", amount(`100`), "invalid_amount", "/amount invalid_amount"},
		{"A57 leading zero", amount(`"01"`), "invalid_amount", "/amount invalid_amount"},
		{"A57 empty", amount(`""`), "invalid_amount", "/amount invalid_amount"},
		{"A58 too deep", with(`"bogus":` + deep(32)), "malformed_json", ""},
		{"A58 far too deep", with(`"list":` + deep(20_000)), "malformed_json", ""},
		{"A59 too long", with(`"clientReference":"` + strings.Repeat("x", wire.MaxBody) + `"`), "payload_too_large", ""},
		{"missing", `{"amount":"1"}`, "missing_field", "/fromChainId missing_field,/toAddress missing_field"},
		{"missing inside", with(`"inner":{}`), "missing_field", "/inner/txHash missing_field"},
		{"missing and wrong", `{"amount":1,"toAddress":"x"}`, "invalid_request", "/amount invalid_amount,/fromChainId missing_field"},
		{"unknown wins over missing", `{"bogus":1}`, "unknown_field", "/bogus unknown_field,/fromChainId missing_field,/toAddress missing_field,/amount missing_field"},
		{"enum", with(`"side":"both"`), "invalid_field", "/side invalid_field"},
		{"own code", `{"fromChainId":"x","toAddress":5,"amount":"1"}`, "invalid_address", "/toAddress invalid_address"},
		{"empty text", `{"fromChainId":"","toAddress":"x","amount":"1"}`, "invalid_field", "/fromChainId invalid_field"},
		{"too long a text", with(`"clientReference":"123456789"`), "invalid_field", "/clientReference invalid_field"},
		{"too many entries", with(`"metadata":{"a":"","b":"","c":""}`), "invalid_field", "/metadata invalid_field"},
		{"entry of another type", with(`"metadata":{"a":1}`), "invalid_field", "/metadata/a invalid_field"},
		{"slippage", with(`"slippagePercent":0`), "invalid_slippage", "/slippagePercent invalid_slippage"},
		{"whole with a point", with(`"count":1.0`), "invalid_field", "/count invalid_field"},
		{"whole too large", with(`"count":10`), "invalid_field", "/count invalid_field"},
		{"object for a text", with(`"side":{"a":1}`), "invalid_field", "/side invalid_field"},
		{"text for an object", with(`"inner":"x"`), "invalid_field", "/inner invalid_field"},
		{"time without a zone", with(`"setAt":"2026-01-31T12:00:00"`), "invalid_field", "/setAt invalid_field"},
		{"cut short", `{"fromChainId":"bit`, "malformed_json", "/fromChainId malformed_json"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, problems := refused(t, c.body)
			if got := strings.Join(problems, ","); f.Code != c.code || got != c.problems {
				t.Errorf("got %s with %q, want %s with %q", f.Code, got, c.code, c.problems)
			}
		})
	}
}

func amount(text string) string { return `{"fromChainId":"x","toAddress":"y","amount":` + text + `}` }

func TestA54ZerosAreOneZero(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"-0", "-0.0", "0", "0e9", "0.0000"} {
		var got ask
		if err := wire.Decode([]byte(with(`"integratorFeePercent":`+text)), &got); err != nil || *got.IntegratorFeePercent != 0 {
			t.Errorf("%s: got %v, %v", text, got.IntegratorFeePercent, err)
		}
		out, err := wire.Bytes(got.IntegratorFeePercent)
		if err != nil || string(out) != "0" {
			t.Errorf("%s is written as %s, %v", text, out, err)
		}
	}
}

func TestRetiredNamesSayWhatToUseInstead(t *testing.T) {
	t.Parallel()
	f, _ := refused(t, `{"fromChainId":"x","to_address":"y","amount":"1","integratorFeeBps":5}`)
	want := map[string]string{"/to_address": "toAddress", "/integratorFeeBps": "integratorFeePercent"}
	if got := f.Detail["useInstead"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A refusal never repeats what was sent: it may be an address or a secret.
func TestRefusalsRepeatNoValue(t *testing.T) {
	t.Parallel()
	const canary = "canary-c4f3"
	for _, body := range []string{
		with(`"side":"` + canary + `"`), amount(`"` + canary + `"`), with(`"setAt":"` + canary + `"`),
		with(`"clientReference":"` + canary + `"`), `{"fromChainId":"` + canary, with(`"count":"` + canary + `"`), `"` + canary + `"`,
	} {
		f, _ := refused(t, body)
		shown, err := wire.Bytes(f.Detail)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(f.Error()+string(shown), canary) {
			t.Errorf("%s: it is repeated in %v %s", body, f, shown)
		}
	}
}

func TestDepthOfThirtyTwoIsEnough(t *testing.T) {
	t.Parallel()
	f, _ := refused(t, with(`"bogus":`+strings.Repeat("[", wire.MaxDepth-1)+strings.Repeat("]", wire.MaxDepth-1)))
	if f.Code != "unknown_field" {
		t.Errorf("got %v", f)
	}
}

func TestManyProblemsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5_000 {
		b.WriteString(`,"f` + strconv.Itoa(i) + `":1`)
	}
	f, problems := refused(t, "{"+good+b.String()+"}")
	if len(problems) != 1000 || f.Code != "unknown_field" || len(f.Text) > 500 {
		t.Errorf("got %d problems, a text of %d letters", len(problems), len(f.Text))
	}
}

// Random unknown names, wherever they are put, are all named and nothing else is.
func TestEveryUnknownNameIsNamed(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 500 {
		var top, in, want []string
		for i := range 1 + r.IntN(20) {
			name := "u" + strconv.Itoa(i)
			if r.IntN(2) == 0 {
				top = append(top, `,"`+name+`":{"x":[1,{"y":2}]}`)
				want = append(want, "/"+name+" unknown_field")
			} else {
				in = append(in, `,"`+name+`":null`)
				want = append(want, "/list/0/"+name+" unknown_field")
			}
		}
		_, got := refused(t, "{"+good+strings.Join(top, "")+`,"list":[{"txHash":"x"`+strings.Join(in, "")+"}]}")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"{" + good + "}", with(`"side":"to","integratorFeePercent":5e-1,"metadata":{"a":"b"},"list":[]`), with(`"inner":{"txHash":"\ud83d\ude00"}`),
		"null", "{}", `{"a":{"a":1,"a":2}}`, "\uFEFF{}", with(`"setAt":"2026-01-31T12:00:00Z","floorUsd":"-0.000001","count":1`), `{"amount":"1"`, "[[[[", with(`"memo":"é"`),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var first, second ask
		if err := wire.Decode(body, &first); err != nil {
			var known *fault.Error
			if !errors.As(err, &known) {
				t.Fatalf("%q: %v is no fault", body, err)
			}
			return
		}
		again, err := wire.Bytes(first)
		if err != nil {
			t.Fatalf("%q was accepted and cannot be written: %v", body, err)
		}
		if err := wire.Decode(again, &second); err != nil {
			t.Fatalf("%q was accepted and %s is not: %v", body, again, err)
		}
		once, err := wire.Bytes(second)
		if err != nil || string(once) != string(again) {
			t.Fatalf("%q is written as %s and then as %s, %v", body, again, once, err)
		}
	})
}
