package cctp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// node is a local chain's JSON-RPC. go-ethereum's own client would bring telemetry and
// sockets into the service for the five questions that are asked here.
type node string

func (n node) call(ctx context.Context, out any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, string(n), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	said := struct {
		Result any `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}{Result: out}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if said.Error != nil {
		return fmt.Errorf("%s: %s", method, said.Error.Message)
	}
	return nil
}

func (n node) number(ctx context.Context, method string, params ...any) (uint64, error) {
	var out hexutil.Uint64
	err := n.call(ctx, &out, method, params...)
	return uint64(out), err
}

// receipt is nil where the node has none.
func (n node) receipt(ctx context.Context, tx common.Hash) (*types.Receipt, error) {
	var out *types.Receipt
	err := n.call(ctx, &out, "eth_getTransactionReceipt", tx)
	return out, err
}
