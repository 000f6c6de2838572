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

// Where the network is moved, on the operators' listener.
const (
	payPath   = "/dev/v1/pay"
	minePath  = "/dev/v1/mine"
	reorgPath = "/dev/v1/reorg"
)

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
	mux.Handle("POST "+payPath, lever(d, d.pay))
	mux.Handle("POST "+minePath, lever(d, d.mine))
	mux.Handle("POST "+reorgPath, lever(d, d.reorg))
	return mux
}

// lever serves one thing that only a development network does.
func lever[In, Out any](d *Dev, do func(ctx context.Context, in In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if got := sha256.Sum256([]byte(token)); subtle.ConstantTimeCompare(got[:], d.token[:]) != 1 {
			http.Error(w, "the operator's token is wrong", http.StatusUnauthorized)
			return
		}
		var in In
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&in); err != nil {
			http.Error(w, "what is asked can not be read: "+err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(r.Context(), in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out) // a caller who went away is not told
	}
}

func (d *Dev) pay(ctx context.Context, p payment) (Paid, error) {
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
	tx, err := d.Network.Pay(ctx, o, amount)
	if err != nil {
		return Paid{}, err
	}
	return Paid{Order: string(o.ID), TxHash: string(tx), Amount: amount.String(), Status: string(o.State)}, nil
}

// Move is blocks of a chain that are made or replaced.
type Move struct {
	Chain  string `json:"chainId"`
	Blocks int    `json:"blocks"`
}

func (d *Dev) mine(ctx context.Context, m Move) (Move, error) {
	return m, d.Network.Mine(ctx, m.Chain, m.Blocks)
}

func (d *Dev) reorg(ctx context.Context, m Move) (Move, error) {
	return m, d.Network.Reorg(ctx, m.Chain, m.Blocks)
}

// Pay asks a network that runs to pay an order.
func Pay(ctx context.Context, c Card, id, amount string) (paid Paid, err error) {
	err = ask(ctx, c, payPath, payment{Order: id, Amount: amount}, &paid)
	return paid, err
}

// Mine asks a network that runs to make blocks.
func Mine(ctx context.Context, c Card, m Move) error { return ask(ctx, c, minePath, m, nil) }

// Reorg asks a network that runs to replace its newest blocks.
func Reorg(ctx context.Context, c Card, m Move) error { return ask(ctx, c, reorgPath, m, nil) }

func ask(ctx context.Context, c Card, path string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.OperatorAPI+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.OperatorToken)
	client := &http.Client{Timeout: time.Minute}
	resp, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("the network does not answer: %w; is ferry dev running?", err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(answer)))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
