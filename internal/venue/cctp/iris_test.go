package cctp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"ferry/internal/venue/cctp"
)

const burnTx = "0x1111111111111111111111111111111111111111111111111111111111111111"

// service answers what a case says and counts how often it was asked.
func service(t *testing.T, say http.HandlerFunc) (*cctp.Iris, *atomic.Int64, *time.Time) {
	t.Helper()
	asked, now := new(atomic.Int64), time.Now()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/v2/messages/6" || r.URL.Query().Get("transactionHash") != burnTx {
			t.Errorf("asked for %s", r.URL)
		}
		say(w, r)
	}))
	t.Cleanup(s.Close)
	i, err := cctp.NewIris(s.URL+"/", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return i, asked, &now
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestWhatTheServiceMaySay(t *testing.T) {
	t.Parallel()
	complete := fmt.Sprintf(`{"message":%q,"eventNonce":"0xd4","attestation":%q,"cctpVersion":"2","status":"complete","delayReason":null}`, worldMessage, worldAttestation)
	for name, c := range map[string]struct {
		say   http.HandlerFunc
		count int
		err   error
		asked int64
	}{
		"attested":        {says(200, `{"messages":[`+complete+`]}`), 1, nil, 1},
		"many":            {says(200, `{"messages":[`+complete+`,`+strings.Replace(complete, `"2"`, `2`, 1)+`]}`), 2, nil, 1},
		"pending":         {says(200, `{"messages":[{"message":"0x","attestation":"PENDING","status":"pending_confirmations","cctpVersion":2}]}`), 0, nil, 1},
		"pending by half": {says(200, `{"messages":[{"message":null,"attestation":null,"status":"pending_confirmations"},`+complete+`]}`), 1, nil, 1},
		"none":            {says(200, `{"messages":[]}`), 0, nil, 1},
		"not seen":        {says(404, `{"code":404,"error":"Message hash not found"}`), 0, nil, 1},
		"too often":       {says(429, ``), 0, cctp.ErrBusy, 1},
		"down":            {says(503, `oops`), 0, cctp.ErrAttester, 3},
		"forbidden":       {says(403, `no`), 0, cctp.ErrAttester, 1},
		"elsewhere":       {says(302, ``), 0, cctp.ErrAttester, 1},
		"garbage":         {says(200, `<html>`), 0, cctp.ErrAttester, 1},
		"nothing":         {says(200, ``), 0, cctp.ErrAttester, 1},
		"no bytes":        {says(200, `{"messages":[{"message":"zz","attestation":"0x","status":"complete"}]}`), 0, cctp.ErrAttester, 1},
		"no signatures":   {says(200, `{"messages":[{"message":"0x00","attestation":"PENDING","status":"complete"}]}`), 0, cctp.ErrAttester, 1},
		"too long":        {says(200, `{"messages":[],"x":"`+strings.Repeat("x", 1<<20)+`"}`), 0, cctp.ErrAttester, 1},
		"too many":        {says(200, `{"messages":[`+strings.Repeat(`{},`, 300)+`{}]}`), 0, cctp.ErrAttester, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, asked, _ := service(t, c.say)
			got, err := i.Messages(t.Context(), 6, burnTx)
			if !errors.Is(err, c.err) || len(got) != c.count || asked.Load() != c.asked {
				t.Errorf("got %d, %v, asked %d times", len(got), err, asked.Load())
			}
			for _, a := range got {
				if hexutil.Encode(a.Message) != worldMessage || hexutil.Encode(a.Attestation) != worldAttestation {
					t.Errorf("got %+v", a)
				}
			}
		})
	}
}

func TestAServiceThatComesBackIsHeard(t *testing.T) {
	t.Parallel()
	var times atomic.Int64
	i, asked, _ := service(t, func(w http.ResponseWriter, r *http.Request) {
		if times.Add(1) < 3 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		says(200, `{"messages":[]}`)(w, r)
	})
	if _, err := i.Messages(t.Context(), 6, burnTx); err != nil || asked.Load() != 3 {
		t.Errorf("got %v after %d questions", err, asked.Load())
	}
}

// Whoever asks too often is refused for five minutes; asking meanwhile makes it longer.
func TestNobodyAsksAServiceThatSaidTooOften(t *testing.T) {
	t.Parallel()
	for after, rests := range map[string]time.Duration{"": 5 * time.Minute, "10": 5 * time.Minute, "600": 10 * time.Minute, "soon": 5 * time.Minute} {
		say := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		i, asked, now := service(t, say)
		for _, c := range []struct {
			pass time.Duration
			want int64
		}{{0, 1}, {0, 1}, {rests - time.Second, 1}, {time.Second, 2}} {
			*now = now.Add(c.pass)
			if _, err := i.Messages(t.Context(), 6, burnTx); !errors.Is(err, cctp.ErrBusy) || asked.Load() != c.want {
				t.Errorf("%q: got %v after %d questions, want %d", after, err, asked.Load(), c.want)
			}
		}
	}
}

func TestAServiceThatHangsIsLeft(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	i, _, _ := service(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-free:
		case <-r.Context().Done():
		}
	})
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := i.Messages(ctx, 6, burnTx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	close(free)
}

func TestAServiceNeedsAnAddressWithNothingSecret(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"https://iris-api.circle.com": true, "https://iris-api-sandbox.circle.com": true, "http://127.0.0.1:9/": true,
		"": false, "iris": false, "ftp://x": false, "https://": false, "https://u:secret@x": false, "https://x?key=secret": false, "https://x/%zz": false,
	} {
		if _, err := cctp.NewIris(text, time.Now); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		} else if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%q is told: %v", text, err)
		}
	}
}
