package store

import (
	"context"
	"fmt"

	"ferry/internal/chain"
)

// depthsAmong counts blocks as sqlUnripe does, for payments that are named.
var depthsAmong = among(`SELECT id, (SELECT COUNT(*) FROM blocks WHERE blocks.chain = deposits.chain AND blocks.height >= deposits.height)
FROM deposits WHERE height >= 0 AND id`)

// Depths implements desk.Store.
func (db *DB) Depths(ctx context.Context, ids []chain.DepositID) (map[chain.DepositID]uint64, error) {
	found := make(map[chain.DepositID]uint64, len(ids))
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = string(id)
	}
	var ss []stmt
	depthsAmong.each(args, func(sql string, args []any) {
		ss = append(ss, ask(func(r row) error {
			var id string
			var blocks int64
			err := r.Scan(&id, &blocks)
			found[chain.DepositID(id)] = uint64(max(blocks, 0))
			return err
		}, sql, args...))
	})
	if len(ss) == 0 {
		return found, nil
	}
	if err := db.engine.read(ctx, ss...); err != nil {
		return nil, fmt.Errorf("how deep %d deposits are: %w", len(ids), err)
	}
	return found, nil
}
