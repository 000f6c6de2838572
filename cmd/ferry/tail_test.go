package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/dev"
	"ferry/internal/dev/devtest"
)

// page is an output that can be looked at while it is written.
type page struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// has waits until a text is there.
func (p *page) has(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(p.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %q in:\n%s", text, p)
		}
	}
}

func TestATailThatIsInterruptedSaysWhereToGoOn(t *testing.T) {
	t.Parallel()
	d := devtest.Running(t)
	private := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	begin := func(args ...string) (out, trouble *page, stop func() int) {
		ctx, cancel := context.WithCancel(t.Context())
		out, trouble = &page{}, &page{}
		code := make(chan int, 1)
		go func() { code <- run(ctx, append([]string{"tail"}, args...), &output{Out: out, Err: trouble}) }()
		return out, trouble, func() int { cancel(); return <-code }
	}
	office := []string{"--operator-url", d.Card.OperatorAPI, "--operator-token-file", private("token", d.Card.OperatorToken)}
	id, session := order(t, d)
	order(t, d)
	order(t, d)

	out, trouble, stop := begin(append(office, "--last", "2")...)
	out.has(t, "#3")
	if code := stop(); code != 0 || trouble.String() != "resume with --after 3\n" {
		t.Errorf("it ended with %d and said %q", code, trouble)
	}
	line := regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +#2  …\w{8} +awaiting_deposit  order.created +0.01 ETH → [0-9.]+ USDC +-\n.* +#3  `)
	if text := out.String(); !line.MatchString(text) || strings.Contains(text, "\x1b") || strings.Count(text, "\n") != 2 {
		t.Errorf("it printed\n%s", text)
	}

	out, trouble, stop = begin(append(office, "--after", "1", "--json")...)
	out.has(t, `"seq":3`)
	if code := stop(); code != 0 || trouble.String() != "resume with --after 3\n" {
		t.Errorf("it ended with %d and said %q", code, trouble)
	}
	for text := range strings.Lines(out.String()) {
		var e struct{ Type, EventID string }
		if err := json.Unmarshal([]byte(text), &e); err != nil || e.Type != "event" || e.EventID == "" {
			t.Errorf("%s: %v", text, err)
		}
	}

	out, trouble, stop = begin("--url", d.Card.API, "--order", id, "--session-file", private("session", session))
	out.has(t, "(as it is)")
	if code := stop(); code != 0 || trouble.String() != "resume with --after 1\n" {
		t.Errorf("it ended with %d and said %q", code, trouble)
	}
	if strings.Contains(out.String(), session) {
		t.Error("a session is in what is shown")
	}
}

// order makes an order of nobody.
func order(t *testing.T, d *dev.Dev) (id, session string) {
	t.Helper()
	res, err := http.Post(d.Card.API+"/v2/orders", "application/json", strings.NewReader(`{"fromChainId":"ethereum","fromToken":"native","toChainId":"solana","toToken":"`+dev.SolanaUSD.Ref+`",
"amount":"10000000000000000","toAddress":"7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK","refundAddress":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var made struct {
		OrderID   string `json:"orderId"`
		SessionID string `json:"sessionId"`
	}
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("%d %v", res.StatusCode, err)
	}
	return made.OrderID, made.SessionID
}
