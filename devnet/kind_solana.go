package main

import (
	"context"
	"encoding/json"

	"ferry/devnet/solana"
)

func init() {
	kinds["solana"] = func(ctx context.Context, dir string, spec json.RawMessage, _ others) (node, error) {
		return solana.Open(ctx, dir, spec)
	}
}
