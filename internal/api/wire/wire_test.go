package wire_test

import (
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"ferry/internal/api/wire"
	"ferry/internal/testseed"
)

func TestTypesThatAreNoWireTypes(t *testing.T) {
	t.Parallel()
	type loop struct {
		Next []loop `json:"next"`
	}
	type embeds struct{ inner }
	for name, v := range map[string]any{
		"a float": struct {
			A float64 `json:"a"`
		}{},
		"a name that is not camelCase": struct {
			A string `json:"some_name"`
		}{},
		"a field without a name": struct{ A string }{},
		"omitempty": struct {
			A string `json:"a,omitempty"`
		}{},
		"a code nobody knows": struct {
			A string `json:"a" code:"no_such_code"`
		}{},
		"a broken pattern": struct {
			A string `json:"a" pattern:"["`
		}{},
		"a length that is no number": struct {
			A string `json:"a" maxLength:"many"`
		}{},
		"two fields of one name": reflect.New(reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[string](), Tag: `json:"a"`}, {Name: "B", Type: reflect.TypeFor[string](), Tag: `json:"a"`},
		})).Elem().Interface(),
		"itself inside": loop{}, "an embedded struct": embeds{}, "a map with numbers for names": map[int]string{}, "a channel": make(chan int),
	} {
		if _, err := wire.ShapeOf(reflect.TypeOf(v)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestCatalogueIsWhole(t *testing.T) {
	t.Parallel()
	// The codes of the specification and of every status, as they are promised.
	for status, codes := range map[int]string{
		400: "malformed_json invalid_request unknown_field retired_field unknown_parameter conflicting_fields missing_field invalid_field secret_in_url invalid_end_user_ip invalid_address invalid_amount invalid_slippage memo_required unsupported_chain unsupported_token same_asset integrator_fee_too_high integrator_key_required payout_address_missing session_id_requires_key invalid_session_id invalid_cursor invalid_idempotency_key",
		401: "key_in_query invalid_key key_revoked integration_suspended key_required",
		403: "forwarding_not_allowed server_key_required key_scope_denied jurisdiction_blocked address_blocked",
		404: "order_not_found route_not_found chain_not_found token_not_found bridge_not_found quote_not_found webhook_not_found",
		405: "method_not_allowed", 406: "not_acceptable", 413: "payload_too_large", 415: "unsupported_media_type", 426: "upgrade_required",
		409: "quote_expired price_moved terms_changed idempotency_conflict idempotency_in_progress invalid_state refund_address_already_set refund_already_started step_not_ready requote_expired deposit_already_known too_many_webhooks",
		422: "no_route amount_too_low amount_too_high insufficient_liquidity fees_exceed_amount rate_mode_unsupported funding_mode_unsupported recipient_unsupported refund_below_cost",
		429: "rate_limited too_many_open_orders too_many_access_failures too_many_connections",
		500: "internal_error", 502: "upstream_error", 503: "service_unavailable chain_paused bridge_paused provider_unavailable pair_unavailable maintenance", 504: "upstream_timeout",
	} {
		for _, code := range strings.Fields(codes) {
			if c, ok := wire.CodeOf(code); !ok || c.Status != status {
				t.Errorf("%s is %+v, want status %d", code, c, status)
			}
		}
	}
	for _, c := range wire.Codes() {
		if c.Title == "" || !strings.HasSuffix(c.Description, ".") || strings.Contains(c.Description, "/v2/integrator") {
			t.Errorf("%s has no title or no sentence, or names a hidden path", c.Code)
		}
		if (c.Status >= 500 || c.Status == 429) && !c.Retryable {
			t.Errorf("%s may succeed later and does not say so", c.Code)
		}
	}
}

func TestTimesHaveMillisecondsAndUTC(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 13, 0, 0, 1_999_999, time.FixedZone("", 3600))
	got, err := wire.Bytes(struct {
		At   wire.Time  `json:"at"`
		None *wire.Time `json:"none"`
		Gone wire.Time  `json:"gone,omitzero"`
	}{At: wire.Time{Time: at}})
	if err != nil || string(got) != `{"at":"2026-01-31T12:00:00.001Z","none":null}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestRetiredNamesAreNoNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	for old, now := range wire.Retired() {
		if _, chained := wire.Retired()[now]; chained || old == now {
			t.Errorf("%s points to %s, which is retired too", old, now)
		}
	}
}

func FuzzPercent(f *testing.F) {
	for _, s := range []string{"0", "5", "5.00000000000000000001", "1e400", "-0", "0.0001", "5e-1", "NaN", "+1", "1.", "01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var p wire.Percent
		if p.ReadJSON('0', text) != nil {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok || want.Cmp(big.NewRat(int64(p), 10_000)) != 0 {
			t.Fatalf("%q became %d millionths", text, p)
		}
		out, err := wire.Bytes(p)
		var back wire.Percent
		if err != nil || back.ReadJSON('0', string(out)) != nil || back != p {
			t.Fatalf("%q is written as %s, %v", text, out, err)
		}
	})
}

func FuzzAmount(f *testing.F) {
	for _, s := range []string{"0", "1", "01", "-1", "1e3", "0x1", strings.Repeat("9", 77), strings.Repeat("9", 78), "٣", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var a wire.Amount
		if a.ReadJSON('"', text) != nil {
			return
		}
		if a.String() != text {
			t.Fatalf("%q became %s", text, a)
		}
		if a.ReadJSON('0', text) == nil {
			t.Fatalf("%s was taken as a number", text)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("AQ")
	for _, c := range []wire.Cursor{{At: time.Unix(1, 5000), ID: "ord_1"}, {ID: strings.Repeat("x", 128), By: wire.ByUpdate}} {
		f.Add(c.String())
		f.Add(c.String() + "\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		read := 0
		for _, by := range []wire.Sort{wire.ByCreation, wire.ByUpdate} {
			c, err := wire.ParseCursor(text, by)
			if err != nil {
				continue
			}
			if read++; c.String() != text || c.By != by {
				t.Fatalf("%q is read as %+v and written as %q", text, c, c.String())
			}
		}
		if read > 1 {
			t.Fatalf("%q is a place in two lists", text)
		}
	})
}

func TestCursorsComeBackAndForgedOnesDoNot(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 2_000 {
		want := wire.Cursor{At: time.UnixMicro(r.Int64N(1 << 52)).UTC(), ID: "ord_" + strings.Repeat("k", r.IntN(40)), By: wire.Sort(r.IntN(2))}
		text := want.String()
		got, err := wire.ParseCursor(text, want.By)
		if err != nil || got != want {
			t.Fatalf("%+v comes back as %+v, %v", want, got, err)
		}
		if other, err := wire.ParseCursor(text, 1-want.By); err == nil {
			t.Fatalf("%+v is read in a list sorted otherwise as %+v", want, other)
		}
		b := []byte(text)
		i := r.IntN(len(b))
		if b[i] = "AZaz09-_"[r.IntN(8)]; string(b) == text {
			continue
		}
		if forged, err := wire.ParseCursor(string(b), want.By); err == nil {
			t.Fatalf("%q was changed to %q and read as %+v", text, b, forged)
		}
	}
}
