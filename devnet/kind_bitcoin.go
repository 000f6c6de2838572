package main

import (
	"context"
	"encoding/json"

	"ferry/devnet/bitcoin"
)

func init() {
	kinds["bitcoin"] = func(ctx context.Context, dir string, spec json.RawMessage, _ others) (node, error) {
		return bitcoin.Open(ctx, dir, spec)
	}
}
