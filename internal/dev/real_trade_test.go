package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

// fields are those of a JSON object.
type fields = map[string]any

// toldOrder and toldPayout are what a caller reads of an order.
type (
	toldOrder struct {
		OrderID, SessionID, Status, FeeStatus string
		Actual                                struct{ DepositedAmount, ToAmount string }
		Deposits                              []toldDeposit
		Payouts                               []toldPayout
		Failure                               *struct{ Code string }
		Recovery                              *struct{ Status string }
		IntegratorFee                         *struct{ PayoutAddress string }
	}
	toldPayout  struct{ Kind, TxHash, Amount, Token, ToAddress, State string }
	toldDeposit struct{ TxHash, Token, Amount, State, Issue string }
)

func (o toldOrder) recovery() string {
	if o.Recovery == nil {
		return ""
	}
	return o.Recovery.Status
}

func (o toldOrder) failure() string {
	if o.Failure == nil {
		return ""
	}
	return o.Failure.Code
}

// trade is an order of one asset for another with everything that its owner knows.
type trade struct {
	*real
	t                *testing.T
	from, to         place
	id, session, key string
	toAddr, back     string // where the money goes, and where it goes back to
	order            order.Order
}

// place is an asset as callers name it.
type place struct{ slug, symbol string }

func (p place) String() string { return p.slug + " " + p.symbol }

// asset is the asset of a place.
func (r *real) asset(p place) chain.Asset {
	for _, a := range r.Network.assets {
		if a.Symbol == p.symbol && a.Asset.Asset.Chain == r.on[p.slug].ID {
			return a.Asset.Asset
		}
	}
	panic("no asset " + p.String())
}

func (r *real) token(p place) string {
	if a := r.asset(p); !a.IsNative() {
		return a.Ref
	}
	return "native"
}

// worth is so many dollars of an asset.
func (r *real) worth(p place, dollars string) money.Amount {
	for _, a := range r.Network.assets {
		if a.Symbol != p.symbol {
			continue
		}
		each, err := perDollar(a.price, int64(a.Decimals))
		if err != nil {
			panic(err)
		}
		many, _ := new(big.Int).SetString(dollars, 10)
		return money.MustParse(many.Mul(many, each).String())
	}
	panic("no asset " + p.String())
}

// insist asks again while it is told that it may: a node of a busy machine may take
// too long to say what sending costs.
func (r *real) insist(t *testing.T, key, path string, body any) (code int, text []byte) {
	t.Helper()
	r.wait(t, path+" is answered", func() bool {
		code, text = r.ask(t, key, "", http.MethodPost, path, body)
		return code != http.StatusServiceUnavailable
	})
	return code, text
}

// open asks for a quote and makes an order of it.
func (r *real) open(t *testing.T, key string, from, to place) *trade {
	t.Helper()
	return r.openNamed(t, key, from, to, t.Name())
}

// openNamed is open for somebody whose addresses are nobody else's.
func (r *real) openNamed(t *testing.T, key string, from, to place, whose string) *trade {
	t.Helper()
	w := &trade{real: r, t: t, from: from, to: to, key: key}
	w.toAddr, w.back = r.fresh(to.slug, whose+" receives"), r.fresh(from.slug, whose+" gets back")
	var quoted struct {
		QuoteID string `json:"quoteId"`
	}
	code, text := r.insist(t, key, "/v2/quotes", fields{
		"fromChainId": from.slug, "fromToken": r.token(from), "toChainId": to.slug, "toToken": r.token(to),
		"amount": r.worth(from, "240").String(), "toAddress": w.toAddr,
	})
	if err := json.Unmarshal(text, &quoted); code != http.StatusOK || err != nil || quoted.QuoteID == "" {
		t.Fatalf("the quote was answered with %d %s, %v", code, text, err)
	}
	code, text = r.insist(t, key, "/v2/orders", fields{"quoteId": quoted.QuoteID, "toAddress": w.toAddr, "refundAddress": w.back})
	var made toldOrder
	if err := json.Unmarshal(text, &made); code != http.StatusCreated || err != nil {
		t.Fatalf("the order was answered with %d %s, %v", code, text, err)
	}
	w.id, w.session = made.OrderID, made.SessionID
	var err error
	if w.order, err = r.DB.Order(t.Context(), order.ID(w.id)); err != nil {
		t.Fatal(err)
	}
	return w
}

// pay pays what the order asks for, or so many hundredths of it.
func (w *trade) pay(percent uint64) money.Amount {
	w.t.Helper()
	n, err := w.order.Quote.In.MulDiv(money.FromUint64(percent), money.FromUint64(100), money.Down)
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(w.order.Quote.Give, n)
	return n
}

// send pays in whatever asset of the chain.
func (w *trade) send(x chain.Asset, n money.Amount) chain.TxID {
	w.t.Helper()
	tx, err := w.Network.Send(w.t.Context(), x, w.order, n)
	if err != nil {
		w.t.Fatal(err)
	}
	return tx
}

// read reads the order as its owner.
func (w *trade) read() (o toldOrder) {
	w.t.Helper()
	code, text := w.ask(w.t, w.key, w.session, http.MethodGet, "/v2/orders/"+w.id, nil)
	if err := json.Unmarshal(text, &o); code != http.StatusOK || err != nil {
		w.t.Fatalf("order %s was answered with %d %s, %v", w.id, code, text, err)
	}
	return o
}

// until waits until the order has a status.
func (w *trade) until(status ...string) (o toldOrder) {
	w.t.Helper()
	w.so(strings.Join(status, " or "), func(now toldOrder) bool { return slices.Contains(status, now.Status) }, &o)
	return o
}

// so waits until something is so of the order.
func (w *trade) so(what string, so func(toldOrder) bool, last *toldOrder) {
	w.t.Helper()
	var o toldOrder
	defer func() {
		if w.t.Failed() {
			text, _ := json.Marshal(o)
			w.t.Logf("order %s is now: %s", w.id, text)
		}
	}()
	w.wait(w.t, w.id+" is "+what, func() bool { o = w.read(); return so(o) })
	if last != nil {
		*last = o
	}
}

// act does what an owner may do.
func (w *trade) act(what string, body any) {
	w.t.Helper()
	if code, text := w.ask(w.t, w.key, w.session, http.MethodPost, "/v2/orders/"+w.id+"/"+what, body); code != http.StatusOK {
		w.t.Fatalf("%s of order %s was answered with %d %s", what, w.id, code, text)
	}
}

var errNoPayout = errors.New("there is none")

// payout is the one payment of a kind that the order tells of.
func payout(o toldOrder, kind string) (toldPayout, error) {
	var found []toldPayout
	for _, p := range o.Payouts {
		if p.Kind == kind {
			found = append(found, p)
		}
	}
	if len(found) != 1 || found[0].State != "confirmed" || found[0].TxHash == "" {
		return toldPayout{}, fmt.Errorf("%w that is confirmed: %+v", errNoPayout, found)
	}
	return found[0], nil
}
