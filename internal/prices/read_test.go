package prices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"ferry/internal/market"
)

// Whatever a source sends, what is taken from it is JSON, has a time and stands for
// nothing that the board would not refuse.
func FuzzDocuments(f *testing.F) {
	for _, text := range []string{
		`{"prices":{"BTC":{"price":"97100.5","at":"2026-01-02T03:04:05Z"}}}`, `{"prices":{"BTC":{"price":1e-7,"at":1767323045}}}`,
		`{"prices":{"BTC":{"price":null,"at":1767323045000}}}`, `{"a":[{"b":1.5,"at":1}]}`, `[]`, `null`, `{"prices":{"A":{"price":"1","at":-1}}}`, `{"a":"1","a":"2"}`,
	} {
		f.Add([]byte(text), "/a/0/b")
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, b []byte, pointer string) {
		own, err1 := parseDocument(b, time.Time{})
		picked, err2 := pick(b, map[string]Field{"X": {Price: pointer, At: pointer}, "Y": {Price: pointer}}, now)
		if (err1 == nil || err2 == nil) && !json.Valid(b) {
			t.Fatalf("%q is not JSON and was taken", b)
		}
		for _, quotes := range []map[string]Quote{own, picked} {
			for symbol, q := range quotes {
				if q.At.IsZero() || q.At.Location() != time.UTC {
					t.Fatalf("%q: %q is of %s", b, symbol, q.At)
				}
				w := (&Board{}).hear(q, now)
				if (w.why == "") == w.price.IsZero() {
					t.Fatalf("%q: %q is heard as %+v", b, symbol, w)
				}
				if _, err := market.ParsePrice(q.Price); err != nil && w.why == "" {
					t.Fatalf("%q: %q is no price and was heard", b, q.Price)
				}
			}
		}
	})
}

func TestPointersLeadNowhereElse(t *testing.T) {
	t.Parallel()
	v, err := tree([]byte(`{"a":{"b":[10,{"c":20}]},"":{"":30},"x/y":40,"x~y":50}`))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{
		"/a/b/0": "10", "/a/b/1/c": "20", "/x~1y": "40", "/x~0y": "50", "//": "30",
		"/a/b/2": "", "/a/b/-1": "", "/a/b/x": "", "/a/c": "", "/a/b/0/d": "", "a": "", "/a/b": "", "/a": "",
	} {
		got, _ := at(v, pointer)
		if textOf(got) != want {
			t.Errorf("%q leads to %v, want %q", pointer, got, want)
		}
	}
}

// The errors of the network hold names and addresses; what is told of them does not.
func TestNetworkTroubleIsToldWithoutItsAddress(t *testing.T) {
	t.Parallel()
	wrapped := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://canary/?key=canary", Err: fmt.Errorf("canary: %w", err)}
	}
	for want, err := range map[string]error{
		"its name is not known":                    &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "canary", IsNotFound: true}},
		"it cannot be reached: connection refused": &net.OpError{Op: "dial", Addr: &net.UnixAddr{Name: "canary"}, Err: syscall.ECONNREFUSED},
		"it cannot be reached":                     errors.New("canary"),
		context.DeadlineExceeded.Error():           &net.DNSError{Err: "timeout", Name: "canary", IsTimeout: true},
		context.Canceled.Error():                   context.Canceled,
		errElsewhere.Error():                       errElsewhere,
	} {
		if got := bare(wrapped(err)); got.Error() != want || strings.Contains(fmt.Sprintf("%+v %#v", got, got), "canary") {
			t.Errorf("got %#v, want %s", got, want)
		}
	}
}
