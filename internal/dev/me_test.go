package dev_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ferry/internal/dev"
	"ferry/internal/dev/devtest"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

// me is what the tests read of GET /v2/integrator/me.
type me struct {
	Integrator struct {
		CallingKeyID string
		Keys         []struct{ KeyID string }
	}
	Stats  struct{ Orders struct{ Total int } }
	Access struct {
		OpenOrders            int
		KeyRequestLimitPerMin int
	}
}

// send asks the API with a key, and reads the answer into a value where one is wanted.
func send(t *testing.T, method, url, key, body string, into any) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Integrator-Key", key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if into != nil && answer.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return answer.StatusCode
}

func TestEachKeySeesItselfInTheSameReport(t *testing.T) {
	t.Parallel()
	d := devtest.Running(t)
	const limit = 123
	requests := int64(limit)
	second, key, err := d.Front.Office.IssueKey(t.Context(), integrator.ID(d.Card.IntegratorID), office.NewKey{
		Kind: integrator.Server, Label: "second", Requests: &requests,
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	url := d.Card.API + "/v2/integrator/me"
	for _, k := range []string{d.Card.ServerKey, key.Reveal()} {
		until(t, "a key is known", func() bool { return send(t, http.MethodGet, url, k, "", nil) == http.StatusOK })
	}
	for range 3 { // again and again, in turns: from the same report for most
		var one, other me
		send(t, http.MethodGet, url, d.Card.ServerKey, "", &one)
		send(t, http.MethodGet, url, key.Reveal(), "", &other)
		if other.Integrator.CallingKeyID != string(second.ID) || other.Access.KeyRequestLimitPerMin != limit {
			t.Errorf("the second key sees %+v", other)
		}
		if one.Integrator.CallingKeyID == "" || one.Integrator.CallingKeyID == string(second.ID) || one.Access.KeyRequestLimitPerMin == limit {
			t.Errorf("the first key sees %+v", one)
		}
	}
}

func TestANewOrderIsReportedWithinASecond(t *testing.T) {
	t.Parallel()
	d := devtest.Running(t)
	url := d.Card.API + "/v2/integrator/me"
	var before me
	until(t, "the key is known", func() bool { return send(t, http.MethodGet, url, d.Card.ServerKey, "", &before) == http.StatusOK })
	if before.Stats.Orders.Total != 0 {
		t.Fatalf("%+v", before)
	}
	body := strings.NewReplacer("TOKEN", dev.SolanaUSD.Ref).Replace(`{"fromChainId":"ethereum","fromToken":"native","toChainId":"solana","toToken":"TOKEN",
"amount":"10000000000000000","toAddress":"7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK","refundAddress":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}`)
	if status := send(t, http.MethodPost, d.Card.API+"/v2/orders", d.Card.ServerKey, body, nil); status != http.StatusCreated {
		t.Fatalf("creation was answered with %d", status)
	}
	made := time.Now()
	until(t, "the order is reported", func() bool {
		asked := time.Now()
		var m me
		send(t, http.MethodGet, url, d.Card.ServerKey, "", &m)
		if m.Stats.Orders.Total != 1 && asked.Sub(made) > time.Second {
			t.Fatalf("asked %s after it was made, and it is not there", asked.Sub(made))
		}
		return m.Stats.Orders.Total == 1 && m.Access.OpenOrders == 1
	})
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(30 * time.Second); !holds(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
