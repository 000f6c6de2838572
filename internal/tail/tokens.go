package tail

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
)

// Decimals asks the service how many decimals its assets have: an integrator's events
// are in smallest units.
func (s *Socket) Decimals(ctx context.Context) (func(chainID, symbol string) (int, bool), error) {
	const patience, most = 10 * time.Second, 4 << 20
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u := *s.base
	u.Path += "/v2/tokens"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask for the tokens: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, most))
	if err != nil || res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for the tokens: status %d: %w", res.StatusCode, err)
	}
	var all struct {
		Tokens []struct {
			ChainID  string `json:"chainId"`
			Symbol   string `json:"symbol"`
			Decimals int    `json:"decimals"`
		} `json:"tokens"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	const unsure = -1
	known := map[[2]string]int{}
	for _, t := range all.Tokens {
		key := [2]string{t.ChainID, t.Symbol}
		if n, twice := known[key]; twice && n != t.Decimals {
			t.Decimals = unsure // two of one name: none is guessed
		}
		known[key] = t.Decimals
	}
	return func(chainID, symbol string) (int, bool) {
		n, ok := known[[2]string{chainID, symbol}]
		return n, ok && n != unsure
	}, nil
}
