package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// rpcCall asks a node itself, past everything of ours.
func rpcCall(ctx context.Context, url string, out any, method string, params ...any) error {
	text, err := json.Marshal(fields{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var a struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(said, &a); err != nil {
		return fmt.Errorf("%s: %w: %s", method, err, said)
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		return fmt.Errorf("%s: %s", method, a.Error)
	}
	return json.Unmarshal(a.Result, out)
}

// has is what an address has of an asset by what its node says.
func (n *Network) has(t testing.TB, x chain.Asset, address string) money.Amount {
	t.Helper()
	got, err := n.balance(t.Context(), x, address)
	if err != nil {
		t.Fatalf("balance of %s in %s: %v", address, x, err)
	}
	return got
}

func (n *Network) balance(ctx context.Context, x chain.Asset, address string) (money.Amount, error) {
	url := nodeOf(n.grounds[x.Chain]).on.RPC
	switch n.grounds[x.Chain].(type) {
	case evmNode:
		return evmBalance(ctx, url, x, address)
	case bitcoinNode:
		var out struct {
			Total json.Number `json:"total_amount"`
		}
		if err := rpcCall(ctx, url, &out, "scantxoutset", "start", []string{"addr(" + address + ")"}); err != nil {
			return money.Amount{}, err
		}
		return money.ParseDecimal(out.Total.String(), 8)
	}
	return solanaBalance(ctx, url, x, address)
}

func evmBalance(ctx context.Context, url string, x chain.Asset, address string) (money.Amount, error) {
	var hex string
	var err error
	if x.IsNative() {
		err = rpcCall(ctx, url, &hex, "eth_getBalance", address, "latest")
	} else {
		const balanceOf = "0x70a08231000000000000000000000000"
		err = rpcCall(ctx, url, &hex, "eth_call", fields{"to": x.Ref, "data": balanceOf + strings.ToLower(address[2:])}, "latest")
	}
	if err != nil || hex == "0x" { // there is no contract yet
		return money.Amount{}, err
	}
	v, ok := new(big.Int).SetString(strings.TrimPrefix(hex, "0x"), 16)
	if !ok {
		return money.Amount{}, fmt.Errorf("%q is no number", hex)
	}
	return money.Parse(v.String())
}

// solanaBalance is what an owner has; of a token in all accounts of that owner.
func solanaBalance(ctx context.Context, url string, x chain.Asset, address string) (money.Amount, error) {
	if x.IsNative() {
		var out struct{ Value json.Number }
		if err := rpcCall(ctx, url, &out, "getBalance", address, fields{"commitment": "confirmed"}); err != nil {
			return money.Amount{}, err
		}
		return money.Parse(out.Value.String())
	}
	var out struct {
		Value []struct {
			Account struct {
				Data struct {
					Parsed struct {
						Info struct {
							TokenAmount struct{ Amount string }
						}
					}
				}
			}
		}
	}
	err := rpcCall(ctx, url, &out, "getTokenAccountsByOwner", address, fields{"mint": x.Ref}, fields{"encoding": "jsonParsed", "commitment": "processed"})
	var sum money.Amount
	for _, v := range out.Value {
		var n money.Amount
		if n, err = money.Parse(v.Account.Data.Parsed.Info.TokenAmount.Amount); err != nil {
			return sum, err
		}
		if sum, err = sum.Add(n); err != nil {
			return sum, err
		}
	}
	return sum, err
}
