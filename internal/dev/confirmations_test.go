package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/watch"
)

// deepEnough is how many blocks the payments of this story need.
const deepEnough = 5

// counting is a service whose chains ask for several blocks, and say each of them soon.
func counting(t *testing.T) *Dev {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	d, err := New(ctx, Options{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Change: func(c *front.Config) { c.Live.DepthEvery = 20 * time.Millisecond },
		over: func(all []front.Chain) {
			for i := range all {
				all[i].Confirmations, all[i].Tiers = deepEnough, []watch.Tier{{Confirmations: deepEnough}}
			}
		},
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

// counted is what somebody heard, or read, of an order.
type counted struct {
	Type, Event, Code string
	Seq               *int
	Data              struct {
		OrderID  string
		To       string
		Deposits []counts
	}
}

type counts struct {
	TxHash, State                        string
	Confirmations, RequiredConfirmations *int
}

type bought struct{ OrderID, SessionID, Status string }

const buyer = "0x52908400098527886E0F7030069857D2E4169EE7"

// buy makes an order of the newcomer's integration.
func (d *Dev) buy(t *testing.T) (b bought) {
	t.Helper()
	d.call(t, http.MethodPost, "/v2/orders", "", `{"fromChainId":"bitcoin","fromToken":"native","toChainId":"ethereum","toToken":"native","amount":"1000000","toAddress":"`+buyer+`","refundAddress":"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}`, &b)
	return b
}

func (d *Dev) call(t *testing.T, method, path, session, body string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.Card.API+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Integrator-Key", d.Card.ServerKey)
	if session != "" {
		r.Header.Set("X-Session-ID", session)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %d %s, %v", method, path, answer.StatusCode, text, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// follow hears of a channel, everything of it, until the test ends.
func (d *Dev) follow(t *testing.T, channel, params string) <-chan counted {
	t.Helper()
	dialer := ws.Dialer{Header: ws.HandshakeHeaderHTTP(http.Header{"X-Integrator-Key": {d.Card.ServerKey}})}
	conn, early, _, err := dialer.Dial(t.Context(), "ws"+strings.TrimPrefix(d.Card.API, "http")+"/v2/ws")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if params != "" {
		params = `,"params":{` + params + `}`
	}
	if err := wsutil.WriteClientText(conn, []byte(`{"type":"subscribe","id":"1","channel":"`+channel+`"`+params+`}`)); err != nil {
		t.Fatal(err)
	}
	var from io.Reader = conn
	if early != nil {
		from = early
	}
	heard := make(chan counted, 1000)
	go func() {
		defer close(heard)
		for {
			text, err := wsutil.ReadServerText(struct {
				io.Reader
				io.Writer
			}{from, conn})
			var m counted
			if err != nil || json.Unmarshal(text, &m) != nil {
				return
			}
			heard <- m
		}
	}()
	for m := range heard {
		if m.Type == "error" {
			t.Fatalf("%s is refused: %s", channel, m.Code)
		}
		if m.Type == "subscribed" {
			return heard
		}
	}
	t.Fatalf("%s cannot be followed", channel)
	return nil
}

// TestAPaymentIsFollowedBlockByBlock: whoever may see the order hears how deep its
// payment is, more with every block, until it is final and never behind what is read;
// whoever follows anything else hears nothing of it.
func TestAPaymentIsFollowedBlockByBlock(t *testing.T) {
	t.Parallel()
	d := counting(t)
	mine, other := d.buy(t), d.buy(t)
	owner := d.follow(t, "order", fmt.Sprintf(`"orderId":"%s","sessionId":"%s"`, mine.OrderID, mine.SessionID))
	reader := d.follow(t, "order", fmt.Sprintf(`"orderId":"%s","verify":"%s"`, mine.OrderID, buyer))
	session := d.follow(t, "session", fmt.Sprintf(`"sessionId":"%s"`, mine.SessionID))
	stranger := d.follow(t, "session", fmt.Sprintf(`"sessionId":"%s"`, other.SessionID))
	company := d.follow(t, "integrator_orders", "")

	o, err := d.DB.Order(t.Context(), order.ID(mine.OrderID))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := d.Network.Pay(t.Context(), o, money.FromUint64(1_000_000))
	if err != nil {
		t.Fatal(err)
	}
	told := d.countUp(t, owner, mine, string(tx))
	for name, who := range map[string]<-chan counted{"who verifies": reader, "the session": session} {
		if n := d.countUp(t, who, mine, string(tx)); n < 2 {
			t.Errorf("%s was told %d times", name, n)
		}
	}
	if told < 2 {
		t.Errorf("the owner was told %d times", told)
	}
	for m := range company {
		if m.Event == "order.confirmations" {
			t.Fatalf("the integrator hears %+v", m)
		}
		if m.Data.To == string(order.Completed) {
			break
		}
	}
	for len(stranger) > 0 {
		if m := <-stranger; m.Type == "event" {
			t.Errorf("a stranger hears %+v", m)
		}
	}
}

// countUp hears of an order until it is completed, and gives how often it was told how
// deep its payment is.
func (d *Dev) countUp(t *testing.T, heard <-chan counted, of bought, tx string) (told int) {
	t.Helper()
	last, final, patience := -1, false, time.After(2*time.Minute)
	for {
		var m counted
		select {
		case m = <-heard:
		case <-patience:
			t.Fatalf("waited in vain after %d", last)
		}
		switch {
		case m.Type == "":
			t.Fatalf("the connection ended after %d", last)
		case m.Type != "event":
		case m.Event == "order.confirmations":
			told++
			if final || m.Seq != nil || m.Data.OrderID != of.OrderID || len(m.Data.Deposits) != 1 {
				t.Fatalf("heard %+v", m)
			}
			one := m.Data.Deposits[0]
			if one.TxHash != tx || *one.RequiredConfirmations != deepEnough || *one.Confirmations <= last || *one.Confirmations > deepEnough+1 {
				t.Fatalf("%d of %d for %s after %d", *one.Confirmations, *one.RequiredConfirmations, one.TxHash, last)
			}
			last = *one.Confirmations
			d.mustRead(t, of, last)
		case m.Seq == nil:
			t.Fatalf("an event without a number: %+v", m)
		case m.Event == "order.deposit_confirmed":
			final = true
		case m.Data.To == string(order.Completed):
			return told
		}
	}
}

// mustRead: an order that is read is never behind what was told.
func (d *Dev) mustRead(t *testing.T, of bought, least int) {
	t.Helper()
	var now struct{ Deposits []counts }
	d.call(t, http.MethodGet, "/v2/orders/"+of.OrderID, of.SessionID, "", &now)
	if len(now.Deposits) != 1 {
		t.Fatalf("%+v", now)
	}
	one := now.Deposits[0]
	pending := one.State == string(order.DepositPending)
	if pending != (one.Confirmations != nil) || pending && *one.Confirmations < least {
		t.Errorf("told %d, and then %s with %v is read", least, one.State, one.Confirmations)
	}
	var all struct{ Orders []struct{ Deposits []counts } }
	d.call(t, http.MethodGet, "/v2/orders", of.SessionID, "", &all)
	if len(all.Orders) != 1 || len(all.Orders[0].Deposits) != 1 {
		t.Fatalf("%+v", all)
	}
	if listed := all.Orders[0].Deposits[0]; (listed.State == string(order.DepositPending)) != (listed.Confirmations != nil) || listed.Confirmations != nil && *listed.Confirmations < least {
		t.Errorf("told %d, and then %s with %v is listed", least, listed.State, listed.Confirmations)
	}
}
