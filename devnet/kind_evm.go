package main

import (
	"context"
	"encoding/json"

	"ferry/devnet/evm"
)

func init() {
	kinds["evm"] = func(ctx context.Context, dir string, spec json.RawMessage, others others) (node, error) {
		return evm.Open(ctx, dir, spec, func(name string) *evm.Node {
			below, _ := others(name).(*evm.Node)
			return below
		})
	}
}
