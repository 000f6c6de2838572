package access_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"ferry/internal/access"
	"ferry/internal/integrator"
	"ferry/internal/testseed"
)

func TestNewSessionsAreValidAndDifferent(t *testing.T) {
	t.Parallel()
	r := bytesOf{testseed.Rand(t)}
	seen := map[string]bool{}
	for range 1000 {
		s, err := access.NewSession(r)
		if err != nil || !access.ValidSession(s.Reveal()) || seen[s.Reveal()] {
			t.Fatalf("%q, %v", s.Reveal(), err)
		}
		seen[s.Reveal()] = true
		if strings.Contains(fmt.Sprintf("%v %+v %#v", s, s, s), s.Reveal()[4:]) {
			t.Fatal("a session shows")
		}
	}
	if _, err := access.NewSession(bytes.NewReader(make([]byte, 31))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("too little randomness gives %v", err)
	}
	broken := errors.New("broken")
	if s, err := access.NewSession(iotest.ErrReader(broken)); !errors.Is(err, broken) || !s.IsZero() {
		t.Errorf("no randomness gives %v", err)
	}
}

func TestSessionsThatCouldBeGuessedAreRefused(t *testing.T) {
	t.Parallel()
	body := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xfb, 7}, 16))
	good := "ses_" + body
	for name, text := range map[string]string{
		"ours":                    good,
		"A80 random UUID":         "f47ac10b-58cc-4372-a567-0e02b2c3d479",
		"A80 UUID of variant b":   "f47ac10b-58cc-4372-b567-0e02b2c3d479",
		"A80 UUID of variant 8/9": "f47ac10b-58cc-4372-9567-0e02b2c3d479",
	} {
		if !access.ValidSession(text) {
			t.Errorf("%s: %q is refused", name, text)
		}
	}
	for name, text := range map[string]string{
		"empty":                      "",
		"A80 short":                  "1",
		"A80 UUIDv1":                 "f47ac10b-58cc-1372-a567-0e02b2c3d479",
		"A80 UUIDv7":                 "f47ac10b-58cc-7372-a567-0e02b2c3d479",
		"A80 other variant":          "f47ac10b-58cc-4372-c567-0e02b2c3d479",
		"A80 capitals":               "F47AC10B-58CC-4372-A567-0E02B2C3D479",
		"A80 without hyphens":        "f47ac10b58cc4372a5670e02b2c3d479",
		"A80 hyphens elsewhere":      "f47ac10b58-cc-4372-a567-0e02b2c3d47-",
		"A80 braces":                 "{f47ac10b-58cc-4372-a567-0e02b2c3d479}",
		"A80 not hex":                "g47ac10b-58cc-4372-a567-0e02b2c3d479",
		"A80 nil":                    "00000000-0000-0000-0000-000000000000",
		"another prefix":             "sid_" + body,
		"prefix in capitals":         "SES_" + body,
		"no prefix":                  body,
		"cut off":                    good[:len(good)-1],
		"longer":                     good + "A",
		"padding":                    good[:len(good)-1] + "=",
		"other alphabet":             strings.Replace(good, "-", "+", 1),
		"bits beyond the last":       good[:len(good)-1] + "B",
		"line break":                 good[:20] + "\n" + good[21:],
		"blank":                      good[:20] + " " + good[21:],
		"letters that look the same": strings.Replace(good, "f", "ｆ", 1)[:47],
	} {
		if access.ValidSession(text) {
			t.Errorf("%s: %q is taken", name, text)
		}
	}
}

func TestASessionIsOneIntegratorsOnly(t *testing.T) {
	t.Parallel()
	const session = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
	seen := map[[32]byte]string{}
	for _, i := range []integrator.ID{"", "int_a", "int_b", "int_a" + session} {
		for _, s := range []string{session, "", session + session, "x" + session} {
			d := access.SessionDigest(i, s)
			if before, twice := seen[d]; twice {
				t.Errorf("A78 %s and %s have one digest", before, string(i)+"/"+s)
			}
			seen[d] = string(i) + "/" + s
			if d != access.SessionDigest(i, s) {
				t.Error("a digest changes")
			}
		}
	}
}

// The digest is kept in databases, so it may never change.
func TestSessionDigestIsForGood(t *testing.T) {
	t.Parallel()
	got := fmt.Sprintf("%x", access.SessionDigest("int_a", "ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"))
	if want := "e9dcbf0e791c8a79bd6c71e7fe560749a4036fb5165c93f53da924a55acec6b1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

var sessionForm = regexp.MustCompile(`^(?:ses_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$`)

func FuzzSession(f *testing.F) {
	for _, s := range []string{"", "ses_", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", "ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB"} {
		f.Add(s, []byte(s))
	}
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		if got, want := access.ValidSession(text), sessionForm.MatchString(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
		if len(raw) < 32 {
			return
		}
		s, err := access.NewSession(bytes.NewReader(raw))
		if err != nil || !access.ValidSession(s.Reveal()) {
			t.Errorf("%x: %v", raw, err)
		}
	})
}
