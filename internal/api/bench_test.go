package api_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/wire"
)

// free is a limiter that costs nothing.
type free struct{}

func (free) Take(*access.Principal, api.Spend, time.Time, *api.Fields) error { return nil }

// BenchmarkDoor measures the whole way through the door for a kilobyte of JSON,
// beside a handler that writes the same bytes and does nothing else.
func BenchmarkDoor(b *testing.B) {
	type kilobyte struct {
		Text string `json:"text"`
	}
	big := kilobyte{strings.Repeat("x", 1000)}
	door, err := api.New(api.Config{Now: time.Now, Log: slog.New(slog.NewJSONHandler(io.Discard, nil))}, api.Ports{Admitter: &gate{}, Limiter: free{}}, []api.Operation{{
		ID: "getKilobyte", Method: "GET", Path: "/v2/kilobyte/{thingId}", Tag: "x", Summary: "x", Key: api.OptionalKey, Spends: api.Requests, Out: kilobyte{},
		Do: func(*api.Call) (any, error) { return &big, nil },
	}})
	if err != nil {
		b.Fatal(err)
	}
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, err := wire.Bytes(&big)
		if err != nil {
			b.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
	for _, c := range []struct {
		name    string
		handler http.Handler
	}{{"bare", bare}, {"door", door}} {
		b.Run(c.name, func(b *testing.B) {
			s := httptest.NewServer(c.handler)
			defer s.Close()
			b.ReportAllocs()
			for b.Loop() {
				resp, err := s.Client().Get(s.URL + "/v2/kilobyte/x")
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
		b.Run(c.name+" without a network", func(b *testing.B) {
			r := httptest.NewRequest("GET", "/v2/kilobyte/x", nil)
			b.ReportAllocs()
			for b.Loop() {
				c.handler.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}
