package dev

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/front"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
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
	Actual  struct{ ToAmount *string }
	Steps   []toldStep
	Failure *struct{ Code string }
}

type toldStep struct {
	StepID, Actor, Status string
	ReadyAt, TxHash       *string
	Attempts              int
	Error                 *string
}

func (w toldRide) step(id string) (status, actor string) {
	for _, s := range w.Steps {
		if s.StepID == id {
			return s.Status, s.Actor
		}
	}
	return "", ""
}

// bridged makes an order over a bridge: of dollars over CCTP, of coins otherwise.
func (r *real) bridged(t *testing.T, bridge string, more fields) *ride {
	t.Helper()
	from, to, amount := "ethereum", "base", rideCoins
	if bridge == "base_withdraw" || strings.HasPrefix(bridge, "cctp_base") {
		from, to = to, from
	}
	token, token2 := "native", "native"
	if strings.HasPrefix(bridge, "cctp_") {
		token, token2, amount = r.Card.Tokens[from]["USDC"], r.Card.Tokens[to]["USDC"], rideDollars
	}
	body := fields{
		"bridgeId": bridge, "termsVersion": 1, "fromChainId": from, "fromToken": token, "toChainId": to, "toToken": token2, "amount": amount,
		"toAddress": r.fresh(to, "friend of "+bridge+fmt.Sprint(networks.Add(1))), "refundAddress": r.fresh(from, "back"),
	}
	for k, v := range more {
		body[k] = v
	}
	code, text := r.insist(t, r.key, "/v2/bridges/orders", body)
	var o toldRide
	if err := json.Unmarshal(text, &o); err != nil || code != http.StatusCreated || o.Kind != "bridge" || o.Status != "awaiting_deposit" {
		t.Fatalf("%d: %s", code, text)
	}
	return &ride{real: r, t: t, id: o.OrderID, session: o.SessionID}
}

// What goes over the bridges.
const (
	rideCoins   = "50000000000000000"
	rideDollars = "40000000"
)

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

// onward has small payments brought home too: fees for claiming are small.
func onward(c *front.Config) {
	calm(c)
	c.Sweep.Least, c.Sweep.Share = money.Dollar/100, money.Whole
}

// TestNativeBridgesOnRealNodes has owners go over every bridge by themselves, and others
// let the service claim for its fee, or perform all of it.
func TestNativeBridgesOnRealNodes(t *testing.T) {
	t.Parallel()
	r := stage{dir: t.TempDir(), prefix: networkPrefix(), only: []chain.ID{Ethereum, Base}, blocks: fewBlocks, change: onward}.begin(t)
	r.closeChains(t)
	r.key = r.company(t, "nobody", nil)
	r.dollars(t)
	r.bridgeRefusals(t)
	var wg sync.WaitGroup
	wg.Go(func() { r.oneOrderOnly(t) })
	for _, one := range []struct {
		bridge, last, amount string
	}{
		{"base_deposit", "relay", rideCoins},
		{"base_withdraw", "finalize", rideCoins},
		{"cctp_ethereum_base", "mint", rideDollars},
		{"cctp_base_ethereum", "mint", rideDollars},
	} {
		wg.Go(func() {
			w := r.bridged(t, one.bridge, nil)
			o := w.until("completed")
			if status, _ := o.step(one.last); status != "confirmed" || o.Actual.ToAmount == nil || *o.Actual.ToAmount != one.amount {
				t.Errorf("%s brought %v, and its last step is %s", one.bridge, o.Actual.ToAmount, status)
			}
			if names := w.events(); !slices.Contains(names, "order.step_changed") || len(names) > 24 ||
				(one.bridge != "base_deposit") != slices.Contains(names, "order.step_ready") {
				t.Errorf("%s was told as %v", one.bridge, names)
			}
		})
	}
	for _, bridge := range []string{"base_withdraw", "cctp_ethereum_base", "cctp_base_ethereum"} {
		wg.Go(func() { r.claimed(t, bridge) })
	}
	for _, bridge := range []string{"cctp_ethereum_base_managed", "cctp_base_ethereum_managed"} {
		wg.Go(func() { r.performed(t, bridge) })
	}
	wg.Wait()
	for _, id := range []chain.ID{Ethereum, Base} {
		earned, err := r.DB.Balance(t.Context(), ledger.Key{Account: ledger.Revenue, Asset: id.Native()})
		if err != nil || earned.Credits.IsZero() {
			t.Errorf("on %s the service earned %v for claiming: %v", id, earned, err)
		}
	}
	_, text := r.ask(t, "", "", http.MethodGet, "/v2/stats", nil)
	var told struct {
		Bridges []struct {
			BridgeID string
			Orders   int
		}
	}
	if err := json.Unmarshal(text, &told); err != nil || len(told.Bridges) != 6 {
		t.Errorf("six bridges were used, and this is told: %s", text)
	}
	r.booksAreChains(t)
}

// dollars gives the faucet, which sends what owners send here, dollars on both chains.
func (r *real) dollars(t *testing.T) {
	t.Helper()
	rich, err := crypto.ToECDSA(crypto.Keccak256([]byte(faucet)))
	if err != nil {
		t.Fatal(err)
	}
	to := evmAddress(strings.ToLower(crypto.PubkeyToAddress(rich.PublicKey).Hex()))
	for _, slug := range []string{"ethereum", "base"} {
		id := r.on[slug].ID
		if _, err := r.Network.grounds[id].pay(t.Context(), to, chain.Asset{Chain: id, Ref: r.Card.Tokens[slug]["USDC"]}, money.FromUint64(1_000_000_000)); err != nil {
			t.Fatal(err)
		}
	}
}

// claimed begins a trip, pays for claiming, and leaves the rest to the service.
func (r *real) claimed(t *testing.T, bridge string) {
	w := r.bridged(t, bridge, fields{"autoClaim": true})
	w.do("pay_fee")
	first := w.now().NextAction.StepID
	w.wait(t, "the service has claimed over "+bridge, func() bool {
		o := w.now()
		if o.NextAction.By == "user" && o.NextAction.StepID == first { // also again: another owner here may use up what was approved
			w.do(first)
		}
		return o.Status == "completed"
	})
	for _, s := range w.now().Steps {
		claims := s.StepID == "prove" || s.StepID == "finalize" || s.StepID == "mint"
		if s.Status != "confirmed" || claims != (s.Actor == "service") {
			t.Errorf("%s of %s is %s by the %s", s.StepID, bridge, s.Status, s.Actor)
		}
	}
}

// performed pays once and leaves everything to the service.
func (r *real) performed(t *testing.T, bridge string) {
	w := r.bridged(t, bridge, nil)
	o, err := r.DB.Order(t.Context(), order.ID(w.id))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Network.Pay(t.Context(), o, o.Quote.In); err != nil {
		t.Fatal(err)
	}
	w.wait(t, "the service has performed "+bridge, func() bool { return w.now().Status == "completed" })
}
