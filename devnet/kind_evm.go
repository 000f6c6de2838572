package main

import (
	"context"
	"encoding/json"

	"ferry/devnet/evm"
)

func init() {
	kinds["evm"] = func(ctx context.Context, dir string, spec json.RawMessage) (node, error) {
		return evm.Open(ctx, dir, spec)
	}
}
