package solana

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// svm is one Surfpool network: who executes.
type svm struct {
	rpc    string
	client *http.Client
}

// rpcError is an error of JSON-RPC.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// patience is how long an answer is waited for: all are given within milliseconds, and
// whoever waits holds the chain.
const patience = 30 * time.Second

// faucetSOL is what the faucet has at first, in lamports.
const faucetSOL = 500_000_000_000_000

func startSVM(ctx context.Context, faucet []byte) (*svm, error) {
	key := make([]int, len(faucet)) // JSON would write bytes as a text
	for i, b := range faucet {
		key[i] = int(b)
	}
	rpc, err := shared.ask(ctx, map[string]any{"op": "start", "config": map[string]any{
		"offline": true, "blockProductionMode": "manual",
		// Its own clock seals a block after 75 slots whatever the mode: it never comes to that.
		"slotTimeMs": 24 * 3_600_000,
		"airdropSol": faucetSOL, "payerSecretKey": key,
	}})
	if err != nil {
		return nil, err
	}
	return &svm{rpc: rpc, client: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}, nil
}

func (s *svm) close() error {
	s.client.CloseIdleConnections()
	_, err := shared.ask(context.Background(), map[string]any{"op": "stop", "rpc": s.rpc})
	return err
}

// call asks for a method; out may be nil.
func (s *svm) call(ctx context.Context, out any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.rpc, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(r)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var a struct {
		Result json.RawMessage
		Error  *rpcError
	}
	if err := json.Unmarshal(said, &a); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if a.Error != nil {
		return a.Error
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(a.Result, out)
}

type object = map[string]any

var newest = object{"commitment": "processed"}

// travel seals the current slot and begins another.
func (s *svm) travel(ctx context.Context, to uint64) error {
	return s.call(ctx, nil, "surfnet_timeTravel", object{"absoluteSlot": to})
}

func (s *svm) slot(ctx context.Context) (n uint64, err error) {
	err = s.call(ctx, &n, "getSlot", newest)
	return n, err
}

func (s *svm) blockhash(ctx context.Context) (string, error) {
	var v struct{ Value struct{ Blockhash string } }
	err := s.call(ctx, &v, "getLatestBlockhash", newest)
	return v.Value.Blockhash, err
}
