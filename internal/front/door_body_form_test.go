package front_test

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"strings"
	"testing"
)

// bodyForms are bodies of POST /v2/quotes that are no request, whatever they ask for.
func bodyForms() []tried {
	quote := func(name, body string, code string, about ...string) tried {
		return tried{name: name, q: shot{path: "/v2/quotes", body: body}, status: 400, code: code, about: about}
	}
	deep := func(n int) string { return ethQuote(`,"deep":` + strings.Repeat("[", n) + strings.Repeat("]", n)) }
	return []tried{
		quote("A46 unknown at the top", ethQuote(`,"colour":"red"`), "unknown_field", "/colour unknown_field"),
		quote("A46 unknown with an object in it", ethQuote(`,"colour":{"of":["red"]}`), "unknown_field", "/colour unknown_field"),
		quote("A46 several at once", ethQuote(`,"a":1,"b":null,"c":[{}]`), "unknown_field", "/a unknown_field", "/b unknown_field", "/c unknown_field"),
		quote("A46 unknown beside a missing one", `{"colour":1}`, "unknown_field", "/colour unknown_field", "/fromChainId missing_field", "/fromToken missing_field", "/toChainId missing_field", "/toToken missing_field", "/amount missing_field"),
		quote("A46 the empty name", ethQuote(`,"":1`), "unknown_field", "/ unknown_field"),
		quote("A46 a name with a slash and a tilde", ethQuote(`,"a/b~c":1`), "unknown_field", "/a~1b~0c unknown_field"),
		quote("A46 an answer's field", ethQuote(`,"quoteId":"quo_A"`), "unknown_field", "/quoteId unknown_field"),
		quote("A46 __proto__", ethQuote(`,"__proto__":{}`), "unknown_field", "/__proto__ unknown_field"),
		quote("A46 a field of an order", ethQuote(`,"sessionId":"x"`), "unknown_field", "/sessionId unknown_field"),
		quote("A47 to_address", ethQuote(`,"to_address":"x"`), "retired_field", "/to_address retired_field"),
		quote("A47 integratorFeeBps", ethQuote(`,"integratorFeeBps":50`), "retired_field", "/integratorFeeBps retired_field"),
		quote("A47 slippageBps", ethQuote(`,"slippageBps":50`), "retired_field", "/slippageBps retired_field"),
		quote("A47 a retired name of a required field is not missing too", strings.Replace(ethQuote(""), `"amount"`, `"from_amount"`, 1), "retired_field", "/from_amount retired_field"),
		quote("A47 retired beside unknown", ethQuote(`,"refund_address":"x","colour":1`), "retired_field", "/refund_address retired_field", "/colour unknown_field"),
		quote("A47 retired only where its successor is a field", ethQuote(`,"tx_hash":"x"`), "unknown_field", "/tx_hash unknown_field"),
		quote("A48 INTEGRATORFEEPERCENT", ethQuote(`,"INTEGRATORFEEPERCENT":1`), "unknown_field", "/INTEGRATORFEEPERCENT unknown_field"),
		quote("A48 ToAddress", ethQuote(`,"ToAddress":"`+evmTo+`"`), "unknown_field", "/ToAddress unknown_field"),
		quote("A48 the Kelvin sign", strings.Replace(ethQuote(""), `"fromToken"`, "\"fromTo\u212aen\"", 1), "unknown_field", "/fromTo\u212aen unknown_field", "/fromToken missing_field"),
		quote("A48 the long s", ethQuote(",\"\u017flippagePercent\":1"), "unknown_field", "/\u017flippagePercent unknown_field"),
		quote("A48 a blank in a name", ethQuote(`,"side ":"from"`), "unknown_field", "/side  unknown_field"),
		quote("A49 a name twice", ethQuote(`,"amount":"1"`), "malformed_json", "/amount malformed_json"),
		quote("A49 twice, once escaped", ethQuote(`,"\u0061mount":"1"`), "malformed_json", "/amount malformed_json"),
		quote("A49 twice with the same value", ethQuote(`,"side":"from","side":"from"`), "malformed_json", "/side malformed_json"),
		quote("A49 twice inside an unknown field", ethQuote(`,"x":{"y":1,"y":2}`), "malformed_json", "/x/y malformed_json"),
		quote("A49 twice inside a list", ethQuote(`,"x":[{"y":1,"\u0079":2}]`), "malformed_json", "/x/0/y malformed_json"),
		quote("A50 trailing text", ethQuote("")+"x", "malformed_json", " malformed_json"),
		quote("A50 two objects", ethQuote("")+ethQuote(""), "malformed_json"),
		quote("A50 two objects with a line between", ethQuote("")+"\n{}", "malformed_json"),
		quote("A50 a trailing NUL", ethQuote("")+"\x00", "malformed_json", " malformed_json"),
		quote("A50 a trailing comma", strings.TrimSuffix(ethQuote(""), "}")+",}", "malformed_json", " malformed_json"),
		quote("A50 a BOM", "\ufeff"+ethQuote(""), "malformed_json", " malformed_json"),
		quote("A50 a comment", "/* hello */"+ethQuote(""), "malformed_json", " malformed_json"),
		quote("A50 cut short", strings.TrimSuffix(ethQuote(""), "}"), "malformed_json", " malformed_json"),
		quote("A50 single quotes", "{'amount':'1'}", "malformed_json", " malformed_json"),
		quote("A51 null", "null", "malformed_json"),
		quote("A51 a list", "[]", "malformed_json"),
		quote("A51 a list of a good one", "["+ethQuote("")+"]", "malformed_json"),
		quote("A51 a string", `"`+evmTo+`"`, "malformed_json"),
		quote("A51 an empty string", `""`, "malformed_json"),
		quote("A51 a number", "1", "malformed_json"),
		quote("A51 true", "true", "malformed_json"),
		quote("A51 blanks only", " \n\t ", "malformed_json"),
		quote("A51 an empty object", "{}", "missing_field", "/fromChainId missing_field", "/fromToken missing_field", "/toChainId missing_field", "/toToken missing_field", "/amount missing_field"),
		quote("A51 null for a required field", strings.Replace(ethQuote(""), `"100000000000000000"`, "null", 1), "invalid_field", "/amount invalid_field"),
		quote("A51 null for a field that may be left out", ethQuote(`,"toAddress":null`), "invalid_field", "/toAddress invalid_field"),
		quote("A51 an empty text", ethQuote(`,"toAddress":""`), "invalid_field", "/toAddress invalid_field"),
		quote("A51 an object for a text", ethQuote(`,"toAddress":{}`), "invalid_field", "/toAddress invalid_field"),
		quote("A51 a number for a text", ethQuote(`,"side":1`), "invalid_field", "/side invalid_field"),
		quote("A51 a value that is none of those", ethQuote(`,"side":"both"`), "invalid_field", "/side invalid_field"),
		quote("A51 a mode in another case", ethQuote(`,"rateMode":"FIXED"`), "invalid_field", "/rateMode invalid_field"),
		quote("A51 a text that is too long", ethQuote(`,"toAddress":"`+strings.Repeat("a", 257)+`"`), "invalid_field", "/toAddress invalid_field"),
		quote("A51 several kinds of wrong", ethQuote(`,"side":"both","integratorFeePercent":6`), "invalid_request", "/side invalid_field", "/integratorFeePercent integrator_fee_too_high"),
		quote("A52 invalid UTF-8 in a value", ethQuote(",\"toAddress\":\"\xff\xfe\""), "malformed_json", "/toAddress malformed_json"),
		quote("A52 invalid UTF-8 in a name", ethQuote(",\"\xff\":1"), "malformed_json", " malformed_json"),
		quote("A52 an overlong slash", ethQuote(",\"toAddress\":\"\xc0\xaf\""), "malformed_json", "/toAddress malformed_json"),
		quote("A52 a surrogate in UTF-8", ethQuote(",\"toAddress\":\"\xed\xa0\x80\""), "malformed_json", "/toAddress malformed_json"),
		quote("A52 a lone high surrogate", ethQuote(`,"toAddress":"\ud800"`), "malformed_json", "/toAddress malformed_json"),
		quote("A52 a lone low surrogate", ethQuote(`,"toAddress":"\udc00x"`), "malformed_json", "/toAddress malformed_json"),
		quote("A52 NUL escaped", ethQuote(`,"toAddress":"a\u0000b"`), "invalid_field", "/toAddress invalid_field"),
		quote("A52 NUL itself", ethQuote(",\"toAddress\":\"a\x00b\""), "malformed_json", "/toAddress malformed_json"),
		quote("A52 a line break in a text", ethQuote(",\"toAddress\":\"a\nb\""), "malformed_json", "/toAddress malformed_json"),
		quote("A60 gzip that nobody announced", "\x1f\x8b\x08\x00\x00\x00\x00\x00", "malformed_json", " malformed_json"),
		quote("A58 31 lists inside", deep(31), "unknown_field", "/deep unknown_field"),
		quote("A58 32 lists inside", deep(32), "malformed_json"),
		quote("A58 20000 lists inside", deep(20000), "malformed_json"),
	}
}

// orderForms are the same for orders, where notes are an object inside.
func orderForms() []tried {
	row := func(name, body string, code string, about ...string) tried {
		return tried{name: name, q: shot{path: "/v2/orders", body: body}, status: 400, code: code, about: about}
	}
	return []tried{
		row("A46 order: unknown beside a quoteId", `{"quoteId":"quo_A","toAddress":"x","colour":1}`, "unknown_field", "/colour unknown_field"),
		row("A47 order: session_id", eth(`,"session_id":"x"`), "retired_field", "/session_id retired_field"),
		row("A47 order: fromAmount", strings.Replace(eth(""), `"amount"`, `"fromAmount"`, 1), "retired_field", "/fromAmount retired_field"),
		row("A49 order: a note twice", eth(`,"metadata":{"a":"1","\u0061":"2"}`), "malformed_json", "/metadata/a malformed_json"),
		row("A51 order: notes that are a list", eth(`,"metadata":["a"]`), "invalid_field", "/metadata invalid_field"),
		row("A51 order: a note that is a number", eth(`,"metadata":{"a":1}`), "invalid_field", "/metadata/a invalid_field"),
		row("A51 order: a note that is null", eth(`,"metadata":{"a":null}`), "invalid_field", "/metadata/a invalid_field"),
		row("A51 order: a note inside a note", eth(`,"metadata":{"a":{"b":"c"}}`), "invalid_field", "/metadata/a invalid_field"),
		row("A51 order: six notes", eth(`,"metadata":{"a":"1","b":"1","c":"1","d":"1","e":"1","f":"1"}`), "invalid_field", "/metadata invalid_field"),
		row("A51 order: a note of 65 letters", eth(`,"metadata":{"a":"`+strings.Repeat("é", 65)+`"}`), "invalid_field", "/metadata/a invalid_field"),
		row("A51 order: a name of 65 letters", eth(`,"metadata":{"`+strings.Repeat("a", 65)+`":"1"}`), "invalid_field", "/metadata/"+strings.Repeat("a", 65)+" invalid_field"),
		row("A51 order: a note without a name", eth(`,"metadata":{"":"1"}`), "invalid_field", "/metadata/ invalid_field"),
		row("A51 order: a reference of 65 letters", eth(`,"clientReference":"`+strings.Repeat("r", 65)+`"`), "invalid_field", "/clientReference invalid_field"),
		row("A51 order: publicActivity as a text", eth(`,"publicActivity":"true"`), "invalid_field", "/publicActivity invalid_field"),
		row("A51 order: no toAddress", `{"quoteId":"quo_A"}`, "missing_field", "/toAddress missing_field"),
		row("A51 order: neither quote nor fields", `{"toAddress":"`+evmTo+`"}`, "missing_field", "/fromChainId missing_field", "/fromToken missing_field", "/toChainId missing_field", "/toToken missing_field", "/amount missing_field"),
		row("A52 order: NUL in a note", eth(`,"metadata":{"a":"\u0000"}`), "invalid_field", "/metadata/a invalid_field"),
		row("A52 order: NUL in a note's name", eth(`,"metadata":{"\u0000":"a"}`), "invalid_field", "/metadata/\x00 invalid_field"),
		row("A52 order: NUL in a reference", eth(`,"clientReference":"\u0000"`), "invalid_field", "/clientReference invalid_field"),
		row("A52 order: a lone surrogate in a note", eth(`,"metadata":{"a":"\udfff"}`), "malformed_json", "/metadata/a malformed_json"),
	}
}

// packed is a body that a gzip reader would open.
func packed(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// bodySizes are bodies that are refused before they are read: their connection ends.
func bodySizes(t *testing.T) []tried {
	padded := func(size int) string {
		body := ethQuote("")
		return body + strings.Repeat(" ", size-len(body))
	}
	row := func(name, body string, status int, code string, header ...string) tried {
		return tried{name: name, q: shot{path: "/v2/quotes", body: body, header: header}, status: status, code: code}
	}
	of := func(value string) []string { return []string{"Content-Type", value} }
	const media = "unsupported_media_type"
	coded := func(name string) []string { return []string{"Content-Encoding", name} }
	return []tried{
		row("A59 64 KiB", padded(64<<10), 200, ""),
		row("A59 64 KiB and one", padded(64<<10+1), 413, "payload_too_large"),
		row("A59 one MiB", padded(1<<20), 413, "payload_too_large"),
		row("A60 gzip", packed(t, ethQuote("")), 415, media, coded("gzip")...),
		row("A60 br", ethQuote(""), 415, media, coded("br")...),
		row("A60 deflate", ethQuote(""), 415, media, coded("deflate")...),
		row("A60 identity then gzip", ethQuote(""), 415, media, "Content-Encoding", "identity", "Content-Encoding", "gzip"),
		row("A60 identity", ethQuote(""), 200, "", coded("identity")...),
		row("A60 no type", ethQuote(""), 415, media, of("")...),
		row("A60 text", ethQuote(""), 415, media, of("text/plain")...),
		row("A60 a form", ethQuote(""), 415, media, of("application/x-www-form-urlencoded")...),
		row("A60 json of another kind", ethQuote(""), 415, media, of("application/vnd.api+json")...),
		row("A60 latin-1", ethQuote(""), 415, media, of("application/json; charset=iso-8859-1")...),
		row("A60 utf-16", ethQuote(""), 415, media, of("application/json; charset=utf-16")...),
		row("A60 another parameter", ethQuote(""), 415, media, of("application/json; version=1")...),
		row("A60 two types", ethQuote(""), 415, media, "Content-Type", "application/json", "Content-Type", "application/json"),
		row("A60 a broken type", ethQuote(""), 415, media, of("application/json;;;=")...),
		row("A60 utf-8", ethQuote(""), 200, "", of(`application/json; charset="UTF-8"`)...),
		row("A60 another case", ethQuote(""), 200, "", of("Application/JSON")...),
	}
}

func TestBodiesThatAreNoRequestAreRefused(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		rows := append(append(bodyForms(), orderForms()...), bodySizes(t)...)
		for i := range rows {
			// Half of them come with a key: who asks makes no difference to a body.
			if i%2 == 0 {
				rows[i].q.header = append(append([]string{}, rows[i].q.header...), withKey(s.a.Server.Text)...)
			}
		}
		t.Run("rows", func(t *testing.T) { s.try(t, rows) })
		s.nothingWasMade(t)
	})
}

// nothingWasMade fails if a refused body made an order.
func (s *stage) nothingWasMade(t *testing.T) {
	t.Helper()
	a := s.do(t, shot{path: "/v2/integrator/orders", header: withKey(s.a.Server.Text)})
	if list, _ := a.field("orders").([]any); a.status != 200 || len(list) != 0 {
		t.Errorf("refused bodies made orders: %d %s", a.status, a.body)
	}
	if n := s.Front.Door.Panics(); n != 0 {
		t.Errorf("%d panics", n)
	}
}

func TestActionsTakeTheSameBodies(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		m := s.order(t, "", eth(""))
		var rows []tried
		row := func(name, action, body string, status int, code string, about ...string) {
			rows = append(rows, tried{name: name, q: shot{method: "POST", path: m.path(action), body: body, header: m.header()}, status: status, code: code, about: about})
		}
		for i, action := range []string{"/refund", "/requote", "/cancel", "/recheck"} {
			row("A46 "+action+" with a field", action, `{"force":true}`, 400, "unknown_field", "/force unknown_field")
			row("A51 "+action+" with null", action, "null", 400, "malformed_json")
			row("A50 "+action+" with two objects", action, "{}{}", 400, "malformed_json")
			row("A51 "+action+" number "+strconv.Itoa(i), action, "7", 400, "malformed_json")
		}
		row("A46 refund-address with two", "/refund-address", `{"refundAddress":"`+evmBack+`","memo":"1"}`, 400, "unknown_field", "/memo unknown_field")
		row("A47 refund_address", "/refund-address", `{"refund_address":"`+evmBack+`"}`, 400, "retired_field", "/refund_address retired_field")
		row("A51 refund-address with nothing", "/refund-address", "", 400, "malformed_json")
		row("A51 refund-address empty", "/refund-address", "{}", 400, "missing_field", "/refundAddress missing_field")
		row("A52 refund-address NUL", "/refund-address", `{"refundAddress":"\u0000"}`, 400, "invalid_field", "/refundAddress invalid_field")
		row("A51 accept with nothing", "/requote/accept", "", 400, "malformed_json")
		row("A47 accept quote_id", "/requote/accept", `{"quote_id":"x"}`, 400, "retired_field", "/quote_id retired_field")
		row("A51 accept too long", "/requote/accept", `{"quoteId":"`+strings.Repeat("q", 2049)+`"}`, 400, "invalid_field", "/quoteId invalid_field")
		row("A51 deposits with nothing", "/deposits", "", 400, "malformed_json")
		row("A47 deposits tx_hash", "/deposits", `{"tx_hash":"ab"}`, 400, "retired_field", "/tx_hash retired_field")
		row("A52 deposits NUL", "/deposits", `{"txHash":"a\u0000"}`, 400, "invalid_field", "/txHash invalid_field")
		row("A51 deposits with signs", "/deposits", `{"txHash":"0x12/../"}`, 400, "invalid_field", "/txHash invalid_field")
		t.Run("rows", func(t *testing.T) { s.try(t, rows) })
		if a := s.read(t, m); a.text("status") != "awaiting_deposit" || a.field("version") != 1.0 {
			t.Errorf("a refused body changed the order: %s", a.body)
		}
	})
}
