package operator_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/api/operator"
	"ferry/internal/office"
)

// shelf has a price that is good and one that jumped, until that is confirmed.
type shelf struct {
	mu        sync.Mutex
	confirmed bool
}

func (s *shelf) Prices() []office.Price {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC)
	sol := office.Price{Symbol: "SOL", Stopped: true, Next: "1500", Quorum: 2, MinKinds: 1}
	if s.confirmed {
		sol = office.Price{Symbol: "SOL", Price: "1500", At: at, Quorum: 2, MinKinds: 1}
	}
	return []office.Price{{Symbol: "ETH", Price: "3000", At: at, Quorum: 2, MinKinds: 1, Words: []office.Word{
		{Source: "kraken", Kind: "exchange", Price: "3000", At: at}, {Source: "oracle", Kind: "oracle", Why: "is too old"},
	}}, sol}
}

func (s *shelf) Confirm(symbol, seen string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if symbol != "SOL" || seen != "1500" {
		return errors.New("it is not stopped")
	}
	s.confirmed = true
	return nil
}

func TestPricesAreShownAndConfirmed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		eth := `{"symbol":"ETH","price":"3000","at":"2026-03-04T05:06:07.008Z","stopped":false,"next":null,"quorum":2,"minKinds":1,"sources":[` +
			`{"source":"kraken","kind":"exchange","price":"3000","at":"2026-03-04T05:06:07.008Z","why":null},` +
			`{"source":"oracle","kind":"oracle","price":null,"at":null,"why":"is too old"}]}`
		stopped := `{"symbol":"SOL","price":null,"at":null,"stopped":true,"next":"1500","quorum":2,"minKinds":1,"sources":[]}`
		good := `{"symbol":"SOL","price":"1500","at":"2026-03-04T05:06:07.008Z","stopped":false,"next":null,"quorum":2,"minKinds":1,"sources":[]}`
		if d := cmp.Diff(`{"prices":[`+eth+`,`+stopped+`]}`+"\n", r.do("GET", "/prices", "").text); d != "" {
			r.Error(d)
		}
		r.refused(409, "price_not_stopped", "POST", "/prices/SOL/confirm", `{"price":"1501"}`)
		r.refused(409, "price_not_stopped", "POST", "/prices/ETH/confirm", `{"price":"3000"}`)
		r.refused(409, "price_not_stopped", "POST", "/prices/SOL/confirm", `{}`)
		r.refused(400, "unknown_field", "POST", "/prices/SOL/confirm", `{"prize":"1500"}`)
		r.refused(405, "method_not_allowed", "DELETE", "/prices", "")
		c, err := operator.NewClient(r.server.URL, r.token)
		if err != nil {
			r.Fatal(err)
		}
		all, err := c.ConfirmPrice(r.Context(), "SOL", "1500")
		if err != nil || len(all.Prices) != 2 || all.Prices[1].Stopped {
			r.Errorf("got %+v, %v", all, err)
		}
		if d := cmp.Diff(`{"prices":[`+eth+`,`+good+`]}`+"\n", r.do("GET", "/prices", "").text); d != "" {
			r.Error(d)
		}
		r.refused(409, "price_not_stopped", "POST", "/prices/SOL/confirm", `{"price":"1500"}`)
	})
}
