package api_test

import (
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"ferry/internal/api"
)

// A row with forms answers in the one that is liked most; one without does not look.
func TestAcceptChoosesTheForm(t *testing.T) {
	t.Parallel()
	row := func(id string, forms ...api.Form) api.Operation {
		return api.Operation{
			ID: id, Method: "GET", Path: "/v2/" + id, Tag: "orders", Summary: "x", Key: api.OptionalKey, Spends: api.Requests, Out: thing{}, Forms: forms,
			Do: func(c *api.Call) (any, error) { return &api.Raw{Type: c.Form(), Body: []byte("x")}, nil },
		}
	}
	door, err := api.New(api.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, api.Ports{Admitter: &gate{}, Limiter: &purse{spent: map[api.Spend]int{}}},
		[]api.Operation{row("one"), row("many", api.Form{Media: "application/xml"}, api.Form{Media: "text/csv"})})
	if err != nil {
		t.Fatal(err)
	}
	const json, xml, csv, none = "application/json", "application/xml", "text/csv", "application/problem+json"
	for _, c := range []struct {
		accept []string
		want   string
	}{
		{nil, json},
		{[]string{""}, json},
		{[]string{"*/*"}, json},
		{[]string{"application/*"}, json},
		{[]string{"application/xml"}, xml},
		{[]string{"APPLICATION/XML; charset=utf-8"}, xml},
		{[]string{"text/csv;q=0.5, application/json;q=0.4"}, csv},
		{[]string{"text/csv;q=0.4, application/json;q=0.5"}, json},
		{[]string{"text/csv", "application/xml"}, xml},
		{[]string{"text/*"}, csv},
		{[]string{"*/*;q=0.1, application/json;q=0"}, xml},
		{[]string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, xml},
		{[]string{"text/html, */*;q=0.1"}, json},
		{[]string{"text/html"}, none},
		{[]string{"application/json;q=0"}, none},
		{[]string{"*/*;q=0"}, none},
		{[]string{"application/xml;q=2"}, none},
		{[]string{"application/xml;q=-1"}, none},
		{[]string{"application/xml;q=NaN"}, none},
		{[]string{"nonsense"}, none},
		{[]string{"nonsense, text/csv"}, csv},
		{[]string{"application/xml2"}, none},
	} {
		for path, want := range map[string]string{"/v2/many": c.want, "/v2/one": json} {
			r := httptest.NewRequest("GET", path, nil)
			if c.accept != nil {
				r.Header["Accept"] = c.accept
			}
			w := httptest.NewRecorder()
			door.ServeHTTP(w, r)
			if got := w.Header().Get("Content-Type"); got != want || (w.Code == 406) != (want == none) {
				t.Errorf("%s with %q: got %d %s, want %s", path, c.accept, w.Code, got, want)
			}
			if varies := w.Header().Get("Vary") == "Accept"; varies != (path == "/v2/many" && want != none) {
				t.Errorf("%s with %q: Vary is %q", path, c.accept, w.Header().Get("Vary"))
			}
		}
	}
}
