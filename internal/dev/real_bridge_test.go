package dev

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"sync"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/ledger"
)

// ride is an order over a native bridge, as its owner sees it over HTTP.
type ride struct {
	*real
	t           *testing.T
	id, session string
}

// toldRide is what is read of such an order.
type toldRide struct {
	OrderID, SessionID, Kind, Status string
	Version                          int
	NextAction                       struct {
		Kind, By string
		StepID   string
	}
	Actual struct{ ToAmount *string }
	Steps  []struct {
		StepID, Actor, Status string
		ReadyAt, TxHash       *string
		Attempts              int
		Error                 *string
	}
	Failure *struct{ Code string }
}

func (w toldRide) step(id string) (status, actor string) {
	for _, s := range w.Steps {
		if s.StepID == id {
			return s.Status, s.Actor
		}
	}
	return "", ""
}

// bridged makes an order over a bridge.
func (r *real) bridged(t *testing.T, bridge string, more fields) *ride {
	t.Helper()
	from, to, token := "ethereum", "base", "native"
	if bridge == "base_withdraw" {
		from, to = to, from
	}
	body := fields{
		"bridgeId": bridge, "termsVersion": 1, "fromChainId": from, "fromToken": token, "toChainId": to, "toToken": token,
		"amount": "50000000000000000", "toAddress": r.fresh(to, "friend of "+bridge+fmt.Sprint(networks.Add(1))), "refundAddress": r.fresh(from, "back"),
	}
	for k, v := range more {
		body[k] = v
	}
	code, text := r.ask(t, r.key, "", http.MethodPost, "/v2/bridges/orders", body)
	var o toldRide
	if err := json.Unmarshal(text, &o); err != nil || code != http.StatusCreated || o.Kind != "bridge" || o.Status != "awaiting_deposit" {
		t.Fatalf("%d: %s", code, text)
	}
	return &ride{real: r, t: t, id: o.OrderID, session: o.SessionID}
}

// now is the order as it is.
func (w *ride) now() (o toldRide) {
	w.t.Helper()
	code, text := w.ask(w.t, w.key, w.session, http.MethodGet, "/v2/orders/"+w.id, nil)
	if err := json.Unmarshal(text, &o); err != nil || code != http.StatusOK {
		w.t.Fatalf("%d: %s", code, text)
	}
	return o
}

// do sends what a step asks for, as anybody with coins could, and names it.
func (w *ride) do(step string) {
	w.t.Helper()
	path := "/v2/orders/" + w.id + "/steps/" + step + "/"
	code, text := w.ask(w.t, w.key, w.session, http.MethodPost, path+"transaction", fields{})
	type tx struct{ ChainID, To, Data, Value string }
	var told struct {
		Transaction tx
		Approvals   []tx
	}
	if err := json.Unmarshal(text, &told); err != nil || code != http.StatusOK {
		w.t.Fatalf("step %s: %d: %s", step, code, text)
	}
	var hash chain.TxID
	for _, one := range slices.Concat(told.Approvals, []tx{told.Transaction}) {
		value, _ := new(big.Int).SetString(one.Value, 10)
		var out sent
		in := fields{"to": one.To, "value": fmt.Sprintf("0x%x", value), "data": one.Data}
		if err := nodeOf(w.Network.grounds[w.on[one.ChainID].ID]).on.Do(w.t.Context(), "send", in, &out); err != nil {
			w.t.Fatalf("step %s: %v", step, err)
		}
		hash = out.Tx
	}
	if code, text = w.ask(w.t, w.key, w.session, http.MethodPost, path+"submissions", fields{"txHash": hash}); code != http.StatusOK {
		w.t.Fatalf("step %s: %d: %s", step, code, text)
	}
}

// until does every step that is the owner's until the order has a status.
func (w *ride) until(status string) (o toldRide) {
	w.t.Helper()
	done := map[string]int{}
	w.wait(w.t, "the bridge order is "+status, func() bool {
		o = w.now()
		if next := o.NextAction; o.Status != status && next.Kind == "submit_step" && next.By == "user" {
			if done[next.StepID]++; done[next.StepID] > 3 {
				w.t.Fatalf("step %s again and again: %+v", next.StepID, o)
			}
			w.do(next.StepID)
		}
		return o.Status == status
	})
	return o
}

func (w *ride) events() (names []string) {
	w.t.Helper()
	_, text := w.ask(w.t, w.key, w.session, http.MethodGet, "/v2/orders/"+w.id+"/events", nil)
	var all struct{ Events []struct{ Event string } }
	if err := json.Unmarshal(text, &all); err != nil {
		w.t.Fatal(err)
	}
	for _, e := range all.Events {
		names = append(names, e.Event)
	}
	return names
}

// TestOwnersRunTheRollupsBridgeOnRealNodes has an owner deposit and withdraw by himself,
// and another let the service prove and finalize for its fee.
func TestOwnersRunTheRollupsBridgeOnRealNodes(t *testing.T) {
	t.Parallel()
	r := stage{dir: t.TempDir(), prefix: networkPrefix(), only: []chain.ID{Ethereum, Base}, blocks: fewBlocks, change: calm}.begin(t)
	r.closeChains(t)
	r.key = r.company(t, "nobody", nil)
	var wg sync.WaitGroup
	const amount = "50000000000000000"
	wg.Go(func() {
		w := r.bridged(t, "base_deposit", nil)
		if o := w.until("completed"); o.Actual.ToAmount == nil || *o.Actual.ToAmount != amount {
			t.Errorf("a deposit brought %v", o.Actual.ToAmount)
		}
	})
	wg.Go(func() {
		w := r.bridged(t, "base_withdraw", nil)
		o := w.until("completed")
		if _, who := o.step("finalize"); who != "user" || o.Actual.ToAmount == nil || *o.Actual.ToAmount != amount {
			t.Errorf("a withdrawal brought %v, by the %s", o.Actual.ToAmount, who)
		}
		if names := w.events(); !slices.Contains(names, "order.step_ready") || !slices.Contains(names, "order.step_changed") || len(names) > 20 {
			t.Errorf("it was told as %v", names)
		}
	})
	wg.Go(func() {
		w := r.bridged(t, "base_withdraw", fields{"autoClaim": true})
		w.do("pay_fee")
		w.do("initiate")
		r.wait(t, "the service has claimed", func() bool { return w.now().Status == "completed" })
		o := w.now()
		for _, step := range []string{"prove", "finalize"} {
			if status, who := o.step(step); status != "confirmed" || who != "service" {
				t.Errorf("%s is %s by the %s", step, status, who)
			}
		}
	})
	wg.Wait()
	earned, err := r.DB.Balance(t.Context(), ledger.Key{Account: ledger.Revenue, Asset: Base.Native()})
	if err != nil || earned.Credits.IsZero() {
		t.Errorf("the service earned %v for claiming: %v", earned, err)
	}
	r.booksAreChains(t)
}
