package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"ferry/internal/secret"
)

// A secret is not found in anything that a value holding it is printed as.
func TestNothingShowsASecret(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	s := secret.New(canary)
	if s.Reveal() != canary || s.IsZero() || !(secret.Text{}).IsZero() || (secret.Text{}).Reveal() != "" {
		t.Fatal("it does not hold what it was given")
	}
	type holder struct {
		Open   secret.Text
		closed secret.Text
		deep   map[string][]secret.Text
	}
	h := holder{Open: s, closed: s, deep: map[string][]secret.Text{"a": {s}}}
	var seen bytes.Buffer
	for _, v := range []any{s, &s, h, &h, []any{h}, map[string]any{"x": h}, errors.Join(fmt.Errorf("it is %v", s))} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&seen, verb, v)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(text)
		for _, handler := range []slog.Handler{slog.NewJSONHandler(&seen, nil), slog.NewTextHandler(&seen, nil)} {
			slog.New(handler).Info("m", "v", v, slog.Group("g", "v", v))
		}
	}
	for _, form := range []string{canary, fmt.Sprintf("%x", canary)} {
		if strings.Contains(seen.String(), form) {
			t.Errorf("%s is in what was printed:\n%s", form, seen.String())
		}
	}
	if !strings.Contains(seen.String(), "[redacted]") {
		t.Error("nothing says that something was hidden")
	}
}
