package dev

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"ferry/internal/money"
	"ferry/internal/order"
)

// payPath is where the network pays an order, on the operators' listener.
const payPath = "/dev/v1/pay"

// payment is what is asked of it; an empty amount is what the order asks for.
type payment struct {
	Order  string `json:"order"`
	Amount string `json:"amount"` // smallest units
}

// Paid is a payment that is on its way.
type Paid struct {
	Order  string `json:"orderId"`
	TxHash string `json:"txHash"`
	Amount string `json:"amount"`
	Status string `json:"status"`
}

// operators is the operators' API with what only a development network does.
func (d *Dev) operators() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", d.Front.Operator)
	mux.HandleFunc("POST "+payPath, d.servePay)
	return mux
}

func (d *Dev) servePay(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if got := sha256.Sum256([]byte(token)); subtle.ConstantTimeCompare(got[:], d.token[:]) != 1 {
		http.Error(w, "the operator's token is wrong", http.StatusUnauthorized)
		return
	}
	paid, err := d.pay(r.Context(), http.MaxBytesReader(w, r.Body, 4096))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(paid) // a caller who went away is not told
}

func (d *Dev) pay(ctx context.Context, body io.Reader) (Paid, error) {
	var p payment
	if err := json.NewDecoder(body).Decode(&p); err != nil {
		return Paid{}, fmt.Errorf("the payment can not be read: %w", err)
	}
	o, err := d.DB.Order(ctx, order.ID(p.Order))
	if err != nil {
		return Paid{}, fmt.Errorf("order %s: there is none of that id on this network", p.Order)
	}
	amount := o.Quote.In
	if p.Amount != "" {
		if amount, err = money.Parse(p.Amount); err != nil {
			return Paid{}, err
		}
	}
	tx, err := d.Network.Pay(o, amount)
	if err != nil {
		return Paid{}, err
	}
	return Paid{Order: string(o.ID), TxHash: string(tx), Amount: amount.String(), Status: string(o.State)}, nil
}

// Pay asks a network that runs to pay an order.
func Pay(ctx context.Context, c Card, id, amount string) (Paid, error) {
	text, err := json.Marshal(payment{Order: id, Amount: amount})
	if err != nil {
		return Paid{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.OperatorAPI+payPath, bytes.NewReader(text))
	if err != nil {
		return Paid{}, err
	}
	r.Header.Set("Authorization", "Bearer "+c.OperatorToken)
	client := &http.Client{Timeout: time.Minute}
	resp, err := client.Do(r)
	if err != nil {
		return Paid{}, fmt.Errorf("the network does not answer: %w; is ferry dev running?", err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return Paid{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return Paid{}, errors.New(strings.TrimSpace(string(answer)))
	}
	var paid Paid
	return paid, json.Unmarshal(answer, &paid)
}
