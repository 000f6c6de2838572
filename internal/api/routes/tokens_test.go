package routes_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestTokensComeInPages: whoever follows Link sees every asset once, also of those that a
// search finds, and a place that is none is refused.
func TestTokensComeInPages(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for filter, want := range map[string][]string{"": {"BTC", "SOL"}, "&search=sol": {"SOL"}, "&chainId=bitcoin": {"BTC"}, "&search=nothing": nil} {
		var got []string
		for next := "/v2/tokens?limit=1" + filter; next != ""; {
			w := r.get(next, "")
			var page struct{ Tokens []struct{ Symbol string } }
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 || len(page.Tokens) > 1 || len(got) > 2 {
				t.Fatalf("%s: %d %s", next, w.Code, w.Body)
			}
			for _, one := range page.Tokens {
				got = append(got, one.Symbol)
			}
			next, _, _ = strings.Cut(strings.TrimPrefix(w.Header().Get("Link"), "<"), ">")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q gives %v, not %v", filter, got, want)
		}
	}
	if w := r.get("/v2/tokens?cursor=x", ""); w.Code != 400 || !strings.Contains(w.Body.String(), `"invalid_cursor"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
