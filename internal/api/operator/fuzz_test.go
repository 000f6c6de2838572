package operator_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/api/operator"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/store"
)

// Whatever is sent as a change is either made, and then an integrator is left that
// can be served, or refused as the caller's mistake with nothing changed.
func FuzzPatch(f *testing.F) {
	for _, body := range []string{
		`{}`, `{"name":"x"}`, `{"name":"x","name":"y"}`, `{"limits":{"maxOpenOrders":0}}`, `{"limits":{"maxOpenOrders":1e400}}`, `{"limits":null}`,
		`{"defaultFeePercent":5}`, `{"defaultFeePercent":-0}`, `{"payoutAddresses":{"evm":"evm:1","solana":null}}`, `{"openOrderWindowMinutes":99999999999}`,
		`{"clientIpForwarding":{"enabled":true,"egress":["203.0.113.0/24"]}}`, `{"clientIpForwarding":{"approve":["::1","1.2.3.4"],"remove":["::1"]}}`,
		`{"status":"suspended","version":1}`, `{"attribution":{"windowDays":30}}`, `[`, "\xff", `{"NAME":1}`, `{"a":{"a":{"a":null}}}`,
	} {
		f.Add(body)
	}
	db, err := store.Open(f.Context(), store.Config{URL: "sqlite::memory:"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := db.Close(); err != nil {
			f.Error(err)
		}
	})
	o := office.New(db, codecs{}, func() time.Time { return start })
	token, digest, err := operator.MintToken(strings.NewReader(strings.Repeat("x", 32)))
	if err != nil {
		f.Fatal(err)
	}
	door, err := operator.New(operator.Config{
		Office: o, Operators: []operator.Operator{{Name: "alice", Digest: digest}}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		was, err := o.Create(t.Context(), "Acme", "alice")
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("PATCH", "/admin/v1/integrators/"+string(was.ID), strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		door.ServeHTTP(w, r)
		i, err := o.Show(t.Context(), was.ID)
		if err != nil || !jsontext.Value(w.Body.String()).IsValid() {
			t.Fatalf("%v, %q", err, w.Body)
		}
		switch {
		case w.Code == 200 && i.Check() != nil:
			t.Fatalf("%q left what can not be served: %v", body, i.Check())
		case w.Code == 200:
		case w.Code >= 500:
			t.Fatalf("%q broke the door: %s", body, w.Body)
		case i.Version != 1 || i.Status != integrator.Active:
			t.Fatalf("%q was refused with %d and changed something", body, w.Code)
		}
	})
}
