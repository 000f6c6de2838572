package operator_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/api/operator"
	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/secret"
)

// Both ways to the office take and say the same: over the network with a token, and
// inside the process.
func TestTheClientDoesTheSameNearAndFar(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		far, err := operator.NewClient(r.server.URL+"/", r.token)
		if err != nil {
			r.Fatal(err)
		}
		near, err := operator.Local(office.New(r.db, codecs{}, func() time.Time { return start }), "local:root", slog.New(slog.DiscardHandler))
		if err != nil {
			r.Fatal(err)
		}
		for name, c := range map[string]*operator.Client{"alice": far, "local:root": near} {
			tour(r, c, name)
		}
		a, errA := far.List(r.Context())
		b, errB := near.List(r.Context())
		if errA != nil || errB != nil || cmp.Diff(a, b) != "" || len(a.Integrators) != 2 {
			r.Errorf("%v %v %s", errA, errB, cmp.Diff(a, b))
		}
		if v, err := far.Verify(r.Context()); err != nil || !v.Sound || v.Entries != 10 {
			r.Errorf("%+v, %v", v, err)
		}
	})
}

// tour uses everything a client has.
func tour(r *rig, c *operator.Client, by string) {
	r.Helper()
	ctx := r.Context()
	i, err := c.Create(ctx, "Acme / "+by)
	if err != nil {
		r.Fatal(err)
	}
	days := 3
	if i, err = c.Change(ctx, i.ID, operator.Patch{Attribution: &operator.AttributionPatch{Days: &days}, DefaultFeePercent: []byte("1.25")}); err != nil || i.Attribution.Days != 3 {
		r.Fatalf("%+v, %v", i, err)
	}
	if shown, err := c.Show(ctx, i.ID); err != nil || cmp.Diff(i, shown) != "" {
		r.Errorf("%v %s", err, cmp.Diff(i, shown))
	}
	none := int64(0)
	k, err := c.IssueKey(ctx, i.ID, "server", "prod", &none)
	if kind, ok := integrator.KindOf(k.Secret.Reveal()); err != nil || !ok || kind != integrator.Server || k.Key.Requests != 0 {
		r.Fatalf("%+v, %v", k, err)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", k, k, k), k.Secret.Reveal()) {
		r.Error("a key that was issued is readable where it is printed")
	}
	if gone, err := c.RevokeKey(ctx, k.Key.ID); err != nil || gone.Status != "revoked" {
		r.Errorf("%+v, %v", gone, err)
	}
	if keys, err := c.Keys(ctx, i.ID); err != nil || len(keys.Keys) != 1 {
		r.Errorf("%+v, %v", keys, err)
	}
	if err := r.db.Halt(ctx, chain.ID("eip155:1"), "why", start); err != nil {
		r.Fatal(err)
	}
	if h, err := c.Halts(ctx); err != nil || len(h.Halts) != 1 {
		r.Errorf("%+v, %v", h, err)
	}
	if h, err := c.ResumeChain(ctx, "eip155:1"); err != nil || len(h.Halts) != 0 {
		r.Errorf("%+v, %v", h, err)
	}
	if q, err := c.Queue(ctx); err != nil || len(q.Questions) != 0 {
		r.Errorf("%+v, %v", q, err)
	}
	log, err := c.Audit(ctx, 0)
	if last := log.Entries[len(log.Entries)-1]; err != nil || last.By != by || last.Action != office.ResumedChain {
		r.Errorf("%+v, %v", last, err)
	}
	for _, id := range []string{"int_none", "a/b", "a b?c#d", "ü"} {
		_, err = c.Show(ctx, id)
		if f := fault.Of(err); f.Code != "integrator_not_found" || f.Kind != fault.NotFound {
			r.Errorf("%q: %v", id, err)
		}
	}
	if _, err = c.Show(ctx, ".."); err == nil {
		r.Error("a path above was taken for an integrator")
	}
}

func TestATokenGoesOnlyWhereNobodyElseReadsIt(t *testing.T) {
	t.Parallel()
	token, _, err := operator.MintToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for url, good := range map[string]bool{
		"http://127.0.0.1:8081": true, "http://[::1]:8081": true, "http://localhost:8081": true, "https://ops.example.com": true,
		"http://ops.example.com": false, "http://10.0.0.1": false, "http://localhost.example.com": false, "ftp://127.0.0.1": false,
		"127.0.0.1:8081": false, "": false, "http://user:pass@127.0.0.1": false, "http://127.0.0.1?x=y": false, "unix:///run/x": false,
	} {
		if _, err := operator.NewClient(url, token); (err == nil) != good {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, bad := range []string{"", "sk_live_x", token.Reveal() + "\n", token.Reveal() + "\r\nX: y"} {
		if _, err := operator.NewClient("http://127.0.0.1", secret.New(bad)); err == nil || strings.Contains(err.Error(), token.Reveal()) {
			t.Errorf("%d letters: %v", len(bad), err)
		}
	}
}

func TestATokenDoesNotFollowARedirect(t *testing.T) {
	t.Parallel()
	token, _, err := operator.MintToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("somebody else was asked with %v", r.Header) }))
	defer thief.Close()
	for _, answer := range []http.HandlerFunc{
		func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
		},
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) },
	} {
		server := httptest.NewServer(answer)
		c, err := operator.NewClient(server.URL, token)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.List(t.Context()); err == nil || !strings.Contains(err.Error(), "--operator-url") || strings.Contains(err.Error(), token.Reveal()) {
			t.Errorf("got %v", err)
		}
		server.Close()
	}
}

func TestATokenIsLongAndItsDigestIsItsHash(t *testing.T) {
	t.Parallel()
	token, digest, err := operator.MintToken(bytes.NewReader(make([]byte, 32)))
	if err != nil || !regexp.MustCompile(`^opr_[A-Za-z0-9_-]{43}$`).MatchString(token.Reveal()) {
		t.Fatal(err)
	}
	if digest != sha256.Sum256([]byte(token.Reveal())) {
		t.Error("the digest is of something else")
	}
	if _, _, err := operator.MintToken(strings.NewReader("short")); err == nil {
		t.Error("a token was made of five bytes")
	}
}
