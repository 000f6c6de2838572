package dev_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"ferry/internal/dev"
	"ferry/internal/market"
)

// shown is what a caller sees of a quote, each as the text on the wire.
type shown struct {
	QuoteID, Side, RateMode, MinToAmount, MaxFromAmount, ExpiresAt, Signature string
	From, To                                                                  struct{ ChainID, Token, Amount string }
	IntegratorFee                                                             *struct {
		Percent       json.Number
		PayoutAddress string
	}
}

// public are the terms that the quote shows, in the words of what is signed.
func (q shown) public() market.Public {
	p := market.Public{
		QuoteID: q.QuoteID, Side: q.Side, RateMode: q.RateMode,
		FromChain: q.From.ChainID, FromToken: q.From.Token, FromAmount: q.From.Amount,
		ToChain: q.To.ChainID, ToToken: q.To.Token, ToAmount: q.To.Amount,
		MinToAmount: q.MinToAmount, MaxFromAmount: q.MaxFromAmount, ExpiresAt: q.ExpiresAt,
	}
	if q.IntegratorFee != nil {
		p.IntegratorFeePercent, p.PayoutAddress = q.IntegratorFee.Percent.String(), q.IntegratorFee.PayoutAddress
	}
	return p
}

func TestAQuoteIsVerifiedWithWhatTheAPIShowsAlone(t *testing.T) {
	t.Parallel()
	d := running(t)
	var version struct{ QuoteKey string }
	ask(t, d, http.MethodGet, "/v2/version", "", &version)
	for _, c := range []struct{ from, token, amount, to, other, mode string }{
		{"ethereum", "native", "1000000000000000000", "bitcoin", "native", "float"}, // whose addresses have a form for people
		{"bitcoin", "native", "1000000", "ethereum", "native", "fixed"},
		{"solana", "native", "5000000000", "ethereum", dev.EthereumUSD.Ref, "float"},
	} {
		body := fmt.Sprintf(`{"fromChainId":%q,"fromToken":%q,"toChainId":%q,"toToken":%q,"amount":%q,"rateMode":%q}`, c.from, c.token, c.to, c.other, c.amount, c.mode)
		var q shown
		ask(t, d, http.MethodPost, "/v2/quotes", body, &q)
		if q.IntegratorFee == nil || q.IntegratorFee.PayoutAddress == "" {
			t.Errorf("%s: no fee of the integrator in %+v", c.from, q)
		}
		if !market.Verify(version.QuoteKey, q.public(), q.Signature) {
			t.Errorf("%s: the signature does not vouch for what is shown: %+v", c.from, q)
		}
		q.MinToAmount += "0"
		if market.Verify(version.QuoteKey, q.public(), q.Signature) {
			t.Errorf("%s: the signature vouches for other terms too", c.from)
		}
	}
}

// running is a network that answers, until the test ends.
func running(t *testing.T) *dev.Dev {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	d, err := dev.New(ctx, dev.Options{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- d.Run(ctx, func() { close(ready) }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return d
}

// ask asks with the server key until it is known, and reads the answer.
func ask(t *testing.T, d *dev.Dev, method, path, body string, into any) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		r, err := http.NewRequestWithContext(t.Context(), method, d.Card.API+path, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Integrator-Key", d.Card.ServerKey)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(got.Body)
		_ = got.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		switch got.StatusCode {
		case http.StatusOK:
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatal(err)
			}
			return
		case http.StatusUnauthorized: // the directory hears of a new key a moment later
		default:
			t.Fatalf("%s %s: %d %s", method, path, got.StatusCode, text)
		}
	}
}
