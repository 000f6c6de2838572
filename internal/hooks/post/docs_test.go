package post_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"ferry/internal/hooks"
	"ferry/internal/hooks/post"
)

// signed is the example of docs/integrating.md. It reports whether a request was signed
// with the secret in the last five minutes.
func signed(secret string, header http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	at, err2 := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || err2 != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("webhook-id") + "." + header.Get("webhook-timestamp") + "."))
	mac.Write(body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(want)) {
			return true
		}
	}
	return false
}

// function cuts the function signed out of a text.
func function(text string) string {
	_, rest, _ := strings.Cut(text, "\nfunc signed(")
	body, _, _ := strings.Cut(rest, "\n}\n")
	return body
}

func TestTheExampleOfTheDocsVerifiesWhatIsPosted(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../../docs/integrating.md")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("docs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if f := function(string(docs)); f == "" || f != function(string(own)) {
		t.Error("docs/integrating.md shows another function signed than is tried here")
	}
	got, bodies := make(chan *http.Request, 1), make(chan []byte, 1)
	s := receiver(t, got, bodies)
	p := post.New(post.Config{Loopback: true})
	t.Cleanup(p.Close)
	if _, trouble := send(t, p, s.URL+"/ok"); trouble != hooks.Trouble("") {
		t.Fatal(trouble)
	}
	r, body := <-got, <-bodies
	if !signed(one, r.Header, body) || !signed(two, r.Header, body) {
		t.Error("what was signed does not verify")
	}
	if signed("whsec_"+base64.StdEncoding.EncodeToString([]byte("another one of 24 bytes!")), r.Header, body) || signed(one, r.Header, append(body, 'x')) {
		t.Error("what was not signed verifies")
	}
	r.Header.Set("webhook-timestamp", strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10))
	if signed(one, r.Header, body) {
		t.Error("what is old verifies")
	}
}
