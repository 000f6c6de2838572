package operator_test

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/api/operator"
	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

func TestAnIntegratorIsMadeShownListedAndChanged(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		a := r.do("POST", "/integrators", `{"name":"Acme"}`)
		id := a.body["integratorId"].(string)
		if a.status != 201 || !regexp.MustCompile(`^int_[0-9A-HJKMNP-TV-Z]{26}$`).MatchString(id) {
			r.Fatalf("%d %s", a.status, a.text)
		}
		want := `{"integratorId":"` + id + `","name":"Acme","status":"active","version":1,"createdAt":"2026-03-04T05:06:07.008Z","updatedAt":"2026-03-04T05:06:07.008Z",` +
			`"limits":{"requestLimitPerMin":600,"quoteLimitPerMin":300,"createLimitPerMin":60,"maxOpenOrders":200},"openOrderWindowMinutes":120,` +
			`"attribution":{"windowDays":30},"points":true,"clientIpForwarding":{"enabled":false,"egress":[],"limits":{"requestLimitPerMin":60,"createLimitPerMin":10,"maxOpenOrders":5}},` +
			`"defaultFeePercent":0,"payoutAddresses":{"bitcoin":null,"evm":null,"solana":null}}` + "\n"
		for _, got := range []string{a.text, r.do("GET", "/integrators/"+id, "").text} {
			if d := cmp.Diff(want, got); d != "" {
				r.Error(d)
			}
		}
		change := `{"version":1,"name":"Acme 2","status":"suspended","limits":{"requestLimitPerMin":0,"quoteLimitPerMin":1,"createLimitPerMin":2,"maxOpenOrders":3},` +
			`"openOrderWindowMinutes":60,"attribution":{"windowDays":7},"defaultFeePercent":0.5,"payoutAddresses":{"evm":"EVM:1","solana":null},` +
			`"clientIpForwarding":{"enabled":true,"egress":["203.0.113.7"],"limits":{"requestLimitPerMin":4,"createLimitPerMin":5,"maxOpenOrders":6}}}`
		want = `{"integratorId":"` + id + `","name":"Acme 2","status":"suspended","version":2,"createdAt":"2026-03-04T05:06:07.008Z","updatedAt":"2026-03-04T05:06:07.008Z",` +
			`"limits":{"requestLimitPerMin":0,"quoteLimitPerMin":1,"createLimitPerMin":2,"maxOpenOrders":3},"openOrderWindowMinutes":60,` +
			`"attribution":{"windowDays":7},"points":true,"clientIpForwarding":{"enabled":true,"egress":["203.0.113.7/32"],"limits":{"requestLimitPerMin":4,"createLimitPerMin":5,"maxOpenOrders":6}},` +
			`"defaultFeePercent":0.5,"payoutAddresses":{"bitcoin":null,"evm":"evm:1","solana":null}}` + "\n"
		if d := cmp.Diff(want, r.do("PATCH", "/integrators/"+id, change).text); d != "" {
			r.Error(d)
		}
		a = r.do("PATCH", "/integrators/"+id, `{"clientIpForwarding":{"approve":["2001:db8::1"],"remove":["203.0.113.7"]},"payoutAddresses":{"evm":null}}`)
		if !strings.Contains(a.text, `"egress":["2001:db8::1/128"]`) || !strings.Contains(a.text, `"evm":null`) {
			r.Error(a.text)
		}
		r.create("Bolt")
		all := r.do("GET", "/integrators", "")
		first := r.do("GET", "/integrators?limit=1", "")
		if len(all.body["integrators"].([]any)) != 2 || all.body["nextCursor"] != nil || len(first.body["integrators"].([]any)) != 1 {
			r.Errorf("%s %s", all.text, first.text)
		}
		second := r.do("GET", "/integrators?limit=1&cursor="+first.body["nextCursor"].(string), "")
		if cmp.Diff(all.body["integrators"].([]any)[1], second.body["integrators"].([]any)[0]) != "" {
			r.Error(second.text)
		}
	})
}

func TestAKeyIsIssuedListedAndRevoked(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		id := r.create("Acme")
		a := r.do("POST", "/integrators/"+id+"/keys", `{"kind":"public","label":"web"}`)
		key := a.body["secret"].(string)
		if kind, ok := integrator.KindOf(key); !ok || kind != integrator.Public || a.status != 201 {
			r.Fatalf("%d %s", a.status, kind)
		}
		view := a.body["key"].(map[string]any)
		want := map[string]any{
			"keyId": view["keyId"], "integratorId": id, "kind": "public", "label": "web", "hint": integrator.HintOf(key), "status": "active",
			"keyRequestLimitPerMin": 300.0, "createdAt": "2026-03-04T05:06:07.008Z", "lastUsedAt": nil, "revokedAt": nil,
		}
		if d := cmp.Diff(want, view); d != "" {
			r.Error(d)
		}
		r.do("POST", "/integrators/"+id+"/keys", `{"kind":"server","label":"backend","keyRequestLimitPerMin":0}`)
		used := map[integrator.KeyID]time.Time{integrator.KeyID(view["keyId"].(string)): start.Add(time.Second)}
		if err := r.db.TouchKeys(r.Context(), used); err != nil {
			r.Fatal(err)
		}
		revoked := r.do("POST", "/keys/"+view["keyId"].(string)+"/revoke", "")
		want["status"], want["revokedAt"], want["lastUsedAt"] = "revoked", "2026-03-04T05:06:07.008Z", "2026-03-04T05:06:08.008Z"
		if d := cmp.Diff(want, revoked.body); d != "" {
			r.Error(d)
		}
		if again := r.do("POST", "/keys/"+view["keyId"].(string)+"/revoke", "{}"); again.text != revoked.text {
			r.Error(again.text)
		}
		keys := r.do("GET", "/integrators/"+id+"/keys", "")
		if len(keys.body["keys"].([]any)) != 2 || strings.Contains(keys.text, key) {
			r.Error(keys.text)
		}
		log := r.do("GET", "/audit", "")
		if strings.Contains(log.text, key[10:50]) || strings.Contains(r.log.String(), key[10:50]) {
			r.Error("a key is in the log")
		}
	})
}

func TestTheLogNamesWhoDidWhat(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		id := r.create("Acme")
		r.do("PATCH", "/integrators/"+id, `{"status":"suspended"}`)
		r.do("PATCH", "/integrators/"+id, `{"status":"suspended"}`)
		a := r.do("GET", "/audit?after=1&limit=5", "")
		entries := a.body["entries"].([]any)
		if len(entries) != 1 {
			r.Fatal(a.text)
		}
		e := entries[0].(map[string]any)
		want := map[string]any{
			"seq": 2.0, "at": "2026-03-04T05:06:07.008000Z", "by": "alice", "action": "integrator.suspended", "target": id,
			"before": map[string]any{"status": "active"}, "after": map[string]any{"status": "suspended"}, "prev": e["prev"], "sum": e["sum"],
		}
		if d := cmp.Diff(want, e); d != "" {
			r.Error(d)
		}
		if v := r.do("GET", "/audit/verify", ""); v.body["sound"] != true || v.body["entries"] != 2.0 || v.body["head"] != e["sum"] {
			r.Error(v.text)
		}
	})
}

func TestHaltsAndQuestionsAreShownAndAHaltIsLifted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		if err := r.db.Halt(r.Context(), chain.ID("eip155:1"), "it went back", start); err != nil {
			r.Fatal(err)
		}
		a := r.do("GET", "/halts", "")
		if a.text != `{"halts":[{"chain":"eip155:1","since":"2026-03-04T05:06:07.008Z","why":"it went back"}]}`+"\n" {
			r.Error(a.text)
		}
		r.refused(404, "halt_not_found", "POST", "/halts/eip155:2/resume", "")
		if a := r.do("POST", "/halts/eip155:1/resume", ""); a.text != `{"halts":[]}`+"\n" {
			r.Error(a.text)
		}
		r.refused(404, "halt_not_found", "POST", "/halts/eip155:1/resume", "")
		if log := r.do("GET", "/audit", ""); !strings.Contains(log.text, `"action":"chain.resumed","target":"eip155:1","before":{"since"`) {
			r.Error(log.text)
		}
		if a := r.do("GET", "/queue?limit=3", ""); a.text != `{"questions":[]}`+"\n" {
			r.Error(a.text)
		}
	})
}

func TestWhoShowsNoTokenSeesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		id := r.create("Acme")
		token := r.token.Reveal()
		paths := []string{"/integrators", "/integrators/" + id, "/integrators/" + id + "/keys", "/keys/key_1/revoke", "/audit", "/audit/verify", "/halts", "/halts/x/resume", "/queue", "/nothing"}
		var first answer
		for _, header := range []string{
			"", token, "Basic " + token, "Bearer", "Bearer ", "Bearer  " + token, "Bearer " + token[:len(token)-1], "Bearer opr_", "Bearer x" + token,
			"Bearer " + token + "|Bearer " + token, "Bearer " + fmt.Sprintf("%x", sha256.Sum256([]byte(token))),
		} {
			for _, path := range paths {
				for _, method := range []string{"GET", "POST", "PATCH", "OPTIONS", "DELETE"} {
					a := r.refused(401, "operator_token_invalid", method, path, "", "Authorization", header)
					if a.header.Get("WWW-Authenticate") == "" || a.header.Get("Access-Control-Allow-Origin") != "" {
						r.Fatalf("%v", a.header)
					}
					delete(a.body, "requestId")
					if first.body == nil {
						first = a
					}
					if d := cmp.Diff(first.body, a.body); d != "" {
						r.Fatalf("%s %s with %q is answered otherwise: %s", method, path, header, d)
					}
				}
			}
		}
		if strings.Contains(r.log.String(), token[4:]) {
			r.Error("a token is in the log")
		}
	})
}

func TestWithoutOperatorsEverythingIsRefused(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		r.server = r.serve()
		for _, header := range []string{"Bearer " + r.token.Reveal(), "Bearer ", ""} {
			r.refused(401, "operator_token_invalid", "GET", "/integrators", "", "Authorization", header)
		}
	})
}

func TestWhatIsNotUnderstoodIsRefused(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		id := r.create("Acme")
		one, keys := "/integrators/"+id, "/integrators/"+id+"/keys"
		key := r.do("POST", keys, `{"kind":"public","label":"web"}`).body["key"].(map[string]any)["keyId"].(string)
		before := r.do("GET", "/audit", "").text
		for _, c := range []struct {
			name               string
			status             int
			code, method, path string
			body, pointer      string
		}{
			{"an unknown path", 404, "route_not_found", "GET", "/nothing", "", ""},
			{"a path below", 404, "route_not_found", "GET", one + "/x", "", ""},
			{"another method", 405, "method_not_allowed", "DELETE", one, "", ""},
			{"a change of a key", 404, "route_not_found", "PATCH", "/keys/" + key, `{"kind":"server"}`, ""},
			{"a key read by its id", 404, "route_not_found", "GET", "/keys/" + key, "", ""},
			{"an unknown integrator", 404, "integrator_not_found", "GET", "/integrators/int_none", "", ""},
			{"a change of nobody", 404, "integrator_not_found", "PATCH", "/integrators/int_none", `{"name":"x"}`, ""},
			{"keys of nobody", 404, "integrator_not_found", "GET", "/integrators/int_none/keys", "", ""},
			{"a key for nobody", 404, "integrator_not_found", "POST", "/integrators/int_none/keys", `{"kind":"server","label":"x"}`, ""},
			{"an unknown key", 404, "key_not_found", "POST", "/keys/key_none/revoke", "", ""},
			{"an unknown field", 400, "unknown_field", "POST", "/integrators", `{"name":"x","status":"active"}`, "/status"},
			{"a field in other case", 400, "unknown_field", "POST", "/integrators", `{"Name":"x"}`, "/Name"},
			{"A21 a kind", 400, "unknown_field", "PATCH", one, `{"kind":"server"}`, "/kind"},
			{"A21 a kind with a revocation", 400, "unknown_field", "POST", "/keys/" + key + "/revoke", `{"kind":"server"}`, "/kind"},
			{"an unknown field inside", 400, "unknown_field", "PATCH", one, `{"limits":{"requests":1}}`, "/limits/requests"},
			{"a field twice", 400, "malformed_json", "PATCH", one, `{"name":"x","name":"y"}`, ""},
			{"two objects", 400, "malformed_json", "PATCH", one, `{"name":"x"}{}`, ""},
			{"half an object", 400, "malformed_json", "PATCH", one, `{"name":`, ""},
			{"a list", 400, "invalid_field", "PATCH", one, `[]`, "/body"},
			{"nothing to change", 400, "missing_field", "PATCH", one, `{}`, ""},
			{"null", 400, "invalid_field", "PATCH", one, `{"limits":{"maxOpenOrders":null}}`, "/limits/maxOpenOrders"},
			{"null for all limits", 400, "invalid_field", "PATCH", one, `{"name":"x","limits":null}`, "/limits"},
			{"a number as text", 400, "invalid_field", "PATCH", one, `{"limits":{"maxOpenOrders":"5"}}`, "/limits/maxOpenOrders"},
			{"a number with a fraction", 400, "invalid_field", "PATCH", one, `{"limits":{"maxOpenOrders":5.5}}`, "/limits/maxOpenOrders"},
			{"a number too large", 400, "invalid_field", "PATCH", one, `{"limits":{"maxOpenOrders":99999999999999999999}}`, "/limits/maxOpenOrders"},
			{"a limit below zero", 400, "invalid_field", "PATCH", one, `{"limits":{"maxOpenOrders":-1}}`, "/limits/maxOpenOrders"},
			{"a window without end", 400, "invalid_field", "PATCH", one, `{"openOrderWindowMinutes":9223372036854775807}`, "/openOrderWindowMinutes"},
			{"a window below zero", 400, "invalid_field", "PATCH", one, `{"openOrderWindowMinutes":-9223372036854775808}`, "/openOrderWindowMinutes"},
			{"A53 a fee above five", 400, "invalid_field", "PATCH", one, `{"defaultFeePercent":5.0001}`, "/defaultFeePercent"},
			{"A53 a fee a little above five", 400, "invalid_field", "PATCH", one, `{"defaultFeePercent":5.00000000000000000001}`, "/defaultFeePercent"},
			{"A53 a fee as text", 400, "invalid_field", "PATCH", one, `{"defaultFeePercent":"5"}`, "/defaultFeePercent"},
			{"A53 a fee of true", 400, "invalid_field", "PATCH", one, `{"defaultFeePercent":true}`, "/defaultFeePercent"},
			{"a bad address", 400, "invalid_field", "PATCH", one, `{"payoutAddresses":{"evm":"bitcoin:1"}}`, "/payoutAddresses/evm"},
			{"an empty address", 400, "invalid_field", "PATCH", one, `{"payoutAddresses":{"evm":""}}`, "/payoutAddresses/evm"},
			{"another family", 400, "invalid_field", "PATCH", one, `{"payoutAddresses":{"other":null}}`, "/payoutAddresses/other"},
			{"forwarding for nobody", 400, "invalid_field", "PATCH", one, `{"clientIpForwarding":{"enabled":true}}`, "/clientIpForwarding/egress"},
			{"another status", 400, "invalid_field", "PATCH", one, `{"status":"deleted"}`, "/status"},
			{"another version", 409, "integrator_changed", "PATCH", one, `{"version":9,"name":"x"}`, ""},
			{"another kind", 400, "invalid_field", "POST", keys, `{"kind":"admin","label":"x"}`, "/kind"},
			{"a key without a label", 400, "invalid_field", "POST", keys, `{"kind":"server"}`, "/label"},
			{"a long body", 413, "payload_too_large", "PATCH", one, `{"name":"` + strings.Repeat("x", 65<<10) + `"}`, ""},
			{"an unknown parameter", 400, "unknown_parameter", "GET", "/integrators?limt=1", "", ""},
			{"a parameter where there are none", 400, "unknown_parameter", "POST", "/integrators?name=x", `{"name":"x"}`, ""},
			{"a parameter twice", 400, "invalid_field", "GET", "/integrators?limit=1&limit=2", "", "/limit"},
			{"a parameter that is no number", 400, "invalid_field", "GET", "/audit?after=x", "", "/after"},
			{"a page of nothing", 400, "invalid_field", "GET", "/integrators?limit=0", "", "/limit"},
			{"a page of everything", 400, "invalid_field", "GET", "/audit?limit=9223372036854775807", "", "/limit"},
			{"a query nobody can read", 400, "unknown_parameter", "GET", "/queue?limit=1;limit=2", "", ""},
		} {
			a := r.refused(c.status, c.code, c.method, c.path, c.body)
			var pointer any
			if list, ok := a.body["errors"].([]any); ok {
				pointer = list[0].(map[string]any)["pointer"]
			}
			if c.pointer != "" && pointer != c.pointer {
				r.Errorf("%s: points to %v, want %s: %s", c.name, pointer, c.pointer, a.text)
			}
			if a.header.Get("Cache-Control") != "no-store" {
				r.Errorf("%s: %v", c.name, a.header)
			}
		}
		for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/problem+json"} {
			r.refused(415, "unsupported_media_type", "POST", "/integrators", `{"name":"x"}`, "Content-Type", media)
		}
		if after := r.do("GET", "/audit", "").text; after != before {
			r.Error("something that was refused was written down")
		}
	})
}

func TestTroubleInsideIsLoggedAndNotShown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		if err := r.db.Close(); err != nil {
			r.Fatal(err)
		}
		a := r.refused(500, "internal_error", "GET", "/integrators", "")
		if strings.Contains(a.text, "store") || !strings.Contains(r.log.String(), a.body["requestId"].(string)) || !strings.Contains(r.log.String(), "store: closed") {
			r.Errorf("%s\n%s", a.text, r.log)
		}
	})
}

func TestADoorThatNobodyCouldTrustIsNotBuilt(t *testing.T) {
	t.Parallel()
	o := office.New(nil, nil, time.Now)
	one, two := operator.Digest{1}, operator.Digest{2}
	for name, cfg := range map[string]operator.Config{
		"no office":     {Log: slog.Default()},
		"no log":        {Office: o},
		"no name":       {Office: o, Log: slog.Default(), Operators: []operator.Operator{{Digest: one}}},
		"no token":      {Office: o, Log: slog.Default(), Operators: []operator.Operator{{Name: "a"}}},
		"a name twice":  {Office: o, Log: slog.Default(), Operators: []operator.Operator{{Name: "a", Digest: one}, {Name: "a", Digest: two}}},
		"a token twice": {Office: o, Log: slog.Default(), Operators: []operator.Operator{{Name: "a", Digest: one}, {Name: "b", Digest: one}}},
	} {
		if _, err := operator.New(cfg); err == nil {
			t.Errorf("%s: it was built", name)
		}
	}
}
