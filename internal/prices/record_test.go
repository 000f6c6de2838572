package prices_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ferry/internal/prices"
)

func TestARecordIsPlayedInALoop(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "day.json")
	if err := os.WriteFile(path, []byte(`{"every":"6h","prices":{"BTC":["1","2","3"],"ETH":["4",5,"6"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := prices.ReadRecord("record", path)
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at       time.Duration
		btc, eth string
	}{
		{0, "1", "4"}, {6*time.Hour - time.Second, "1", "4"}, {6 * time.Hour, "2", "5"}, {12 * time.Hour, "3", "6"}, {18 * time.Hour, "1", "4"}, {24 * time.Hour, "1", "4"}, {31 * time.Hour, "2", "5"},
	} {
		now := day.Add(c.at)
		got, err := r.Prices(t.Context(), now)
		if err != nil || got["BTC"] != (prices.Quote{Price: c.btc, At: now}) || got["ETH"].Price != c.eth {
			t.Errorf("after %s: %+v, %v", c.at, got, err)
		}
	}
	for _, bad := range []string{
		``, `{}`, `{"every":"6h","prices":{}}`, `{"every":"0s","prices":{"BTC":["1"]}}`, `{"every":"6h","prices":{"BTC":[]}}`, `{"every":"6h","prices":{"BTC":["1"],"ETH":["1","2"]}}`,
		`{"every":"6h","prices":{"BTC":["0"]}}`, `{"every":"6h","prices":{"BTC":["NaN"]}}`, `{"every":"6h","prices":{"BTC":"1"}}`, `{"every":"6h","prices":{"BTC":["1"]},"x":1}`,
	} {
		if _, err := prices.NewRecorded("record", []byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	if _, err := prices.ReadRecord("record", path+"x"); err == nil {
		t.Error("a record that is not there was taken")
	}
}
