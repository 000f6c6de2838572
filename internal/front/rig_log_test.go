package front_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Words that may be an address: of numbers and points, or of hex and colons.
var addressLike = regexp.MustCompile(`[0-9]+(\.[0-9]+){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*`)

// literal is the first address of a network in a text, as nobody may be shown one.
func literal(text string) string {
	for _, word := range addressLike.FindAllString(text, -1) {
		if a, err := netip.ParseAddr(strings.Trim(word, ".")); err == nil && a.IsValid() {
			return word
		}
	}
	return ""
}

// Secrets that no line of the log may hold.
var secretLike = regexp.MustCompile(`[sp]k_live_[0-9A-Za-z]{12}|ses_[0-9A-Za-z_-]{43}`)

// watched is a log that is read while it is written: it keeps what it must not hold.
type watched struct {
	mu     sync.Mutex
	leaks  []string
	bad    bytes.Buffer               // warnings and errors
	values map[string]map[string]bool // of the attributes that a metric would be labelled with
}

// labels are the attributes whose values must be few.
var labels = []string{"msg", "method", "route", "code"}

func (w *watched) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var said map[string]any
	if err := json.Unmarshal(line, &said); err != nil {
		w.leaks = append(w.leaks, "no JSON: "+string(line))
		return len(line), nil
	}
	delete(said, "time")
	delete(said, "stack")
	rest, _ := json.Marshal(said)
	if secretLike.Match(rest) || literal(string(rest)) != "" {
		w.leaks = append(w.leaks, string(line))
	}
	if said["level"] != "INFO" && w.bad.Len() < 1<<16 {
		w.bad.Write(line)
	}
	if w.values == nil {
		w.values = map[string]map[string]bool{}
	}
	for _, name := range labels {
		if v, ok := said[name].(string); ok {
			if w.values[name] == nil {
				w.values[name] = map[string]bool{}
			}
			w.values[name][v] = true
		}
	}
	return len(line), nil
}

// trouble is what went wrong so far.
func (w *watched) trouble() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bad.String()
}

// label are the values of an attribute so far.
func (w *watched) label(name string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.values[name]))
}

// leaked is an error if the log holds a secret or an address of a network.
func (w *watched) leaked() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.leaks) == 0 {
		return nil
	}
	return fmt.Errorf("the log holds what it must not, %d times; first: %s", len(w.leaks), w.leaks[0])
}

func TestTheRigSeesWhatMustNotBeSeen(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":"1.2.3.4"}`, "2001:db8::1", "from ::1 to", "::ffff:1.2.3.4", "[fe80::1]:80", "1.2.3.4:80", "at 1.2.3.4."} {
		if literal(text) == "" {
			t.Errorf("no address is seen in %s", text)
		}
	}
	for _, text := range []string{"2026-01-01T00:00:00.000Z", "1.2.3", "0x5290:8400", "bip122:0f9188f13cb7b2c71f2a335e3a4fc328", "eip155:31337", `"company_requests";r=1;t=2`, ""} {
		if got := literal(text); got != "" {
			t.Errorf("an address %q is seen in %s", got, text)
		}
	}
	for _, line := range []string{`{"msg":"sk_live_abcdefghijkl"}`, `{"a":{"b":"10.0.0.1"}}`, `no JSON`} {
		w := &watched{}
		if _, err := w.Write([]byte(line)); err != nil || w.leaked() == nil {
			t.Errorf("the log may hold %s (%v)", line, err)
		}
	}
	w := &watched{}
	if _, err := w.Write([]byte(`{"time":"2026-01-01T00:00:00Z","level":"INFO","msg":"request","route":"/v2/docs"}`)); err != nil || w.leaked() != nil {
		t.Errorf("the log may not hold a request: %v", w.leaked())
	}
}
