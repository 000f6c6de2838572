package dev_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/dev"
	"ferry/internal/dev/devtest"
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
	d := devtest.Running(t)
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

// Quotes of one moment share signatures, and each is verified by itself, in the way that
// integrators are told.
func TestQuotesOfOneMomentAreVerifiedEachByItself(t *testing.T) {
	t.Parallel()
	d := devtest.Running(t)
	var version struct{ QuoteKey string }
	ask(t, d, http.MethodGet, "/v2/version", "", &version)
	const body = `{"fromChainId":"bitcoin","fromToken":"native","toChainId":"solana","toToken":"native","amount":"1000000"}`
	var wg sync.WaitGroup
	got := make([]shown, 24)
	for i := range got {
		wg.Go(func() {
			if err := try(t.Context(), d, request{http.MethodPost, "/v2/quotes", body}, &got[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, q := range got {
		text, err := q.public().Canonical()
		if err != nil {
			t.Fatal(err)
		}
		if !vouches(version.QuoteKey, q.Signature, string(text)) || !market.Verify(version.QuoteKey, q.public(), q.Signature) {
			t.Errorf("%s does not vouch for\n%s", q.Signature, text)
		}
		if other := got[(i+1)%len(got)]; vouches(version.QuoteKey, other.Signature, string(text)) {
			t.Errorf("%s vouches for another quote", other.Signature)
		}
	}
}

// vouches is the example of docs/integrating.md. It reports whether signature is the service's word for the text of a quote;
// key is quoteKey of GET /v2/version.
func vouches(key, signature, text string) bool {
	part := strings.Split(signature, ":")
	if len(part) != 2 && len(part) != 4 || part[0] != "ed25519" {
		return false
	}
	public, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "ed25519:"))
	if err != nil || len(public) != ed25519.PublicKeySize {
		return false
	}
	signed, err := base64.StdEncoding.DecodeString(part[1])
	if err != nil {
		return false
	}
	digest := sha256.Sum256([]byte("\x00" + text))
	if len(part) == 4 {
		turns, err := strconv.ParseUint(part[2], 10, 6)
		path, err2 := base64.StdEncoding.DecodeString(part[3])
		if err != nil || err2 != nil || len(path)%32 != 0 || len(path) > 6*32 {
			return false
		}
		for ; len(path) > 0; path, turns = path[32:], turns>>1 {
			if turns&1 == 0 {
				digest = sha256.Sum256([]byte("\x01" + string(digest[:]) + string(path[:32])))
			} else {
				digest = sha256.Sum256([]byte("\x01" + string(path[:32]) + string(digest[:])))
			}
		}
	}
	return ed25519.Verify(public, []byte("ferry-quotes-root-v1\n"+string(digest[:])), signed)
}

// The example that integrators are given is the one that is tried here.
func TestTheExampleOfTheDocsIsTheOneThatIsTried(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/integrating.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile("signature_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(docs), "\nfunc vouches(")
	example, _, found := strings.Cut(rest, "\n}\n")
	if !found || !strings.Contains(string(here), "\nfunc vouches("+example+"\n}\n") {
		t.Error("docs/integrating.md shows another function vouches than is tried here")
	}
}

// ask asks with the server key and reads the answer.
func ask(t *testing.T, d *dev.Dev, method, path, body string, into any) {
	t.Helper()
	if err := try(t.Context(), d, request{method, path, body}, into); err != nil {
		t.Fatal(err)
	}
}

type request struct{ method, path, body string }

// try asks until the key is known.
func try(ctx context.Context, d *dev.Dev, q request, into any) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		r, err := http.NewRequestWithContext(ctx, q.method, d.Card.API+q.path, strings.NewReader(q.body))
		if err != nil {
			return err
		}
		r.Header.Set("X-Integrator-Key", d.Card.ServerKey)
		if q.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(got.Body)
		_ = got.Body.Close()
		if err != nil {
			return err
		}
		switch got.StatusCode {
		case http.StatusOK:
			return json.Unmarshal(text, into)
		case http.StatusUnauthorized: // the directory hears of a new key a moment later
		default:
			return fmt.Errorf("%s %s: %d %s", q.method, q.path, got.StatusCode, text)
		}
	}
}
