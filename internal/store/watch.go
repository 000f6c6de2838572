package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"ferry/internal/chain"
	"ferry/internal/watch"
)

var _ watch.Store = (*DB)(nil)

const (
	sqlBlocks      = `SELECT height, hash, parent, at FROM blocks WHERE chain = $1 ORDER BY height DESC`
	sqlTrack       = `SELECT final, synced_at FROM tracks WHERE chain = $1`
	sqlCursor      = `SELECT height, hash, parent, at FROM blocks WHERE chain = $1 ORDER BY height DESC LIMIT 1`
	sqlNewBlock    = `INSERT INTO blocks (chain, height, hash, parent, at) VALUES ($1, $2, $3, $4, $5)`
	sqlForgetBelow = `DELETE FROM blocks WHERE chain = $1 AND height < $2`
	sqlForgetFrom  = `DELETE FROM blocks WHERE chain = $1 AND height >= $2`
	sqlFinalAbove  = `SELECT id FROM deposits WHERE chain = $1 AND height > $2 AND stage = 'final' LIMIT 1`
	sqlEndedAbove  = `SELECT id FROM transfers WHERE chain = $1 AND landed_height > $2 AND landed_height >= 0 AND NOT open AND NOT vigil LIMIT 1`
	sqlGoneAbove   = `UPDATE deposits SET stage = 'gone', untold = TRUE, height = -1, hash = '', parent = '', block_time = $1
WHERE chain = $2 AND height > $3 AND stage IN ('seen', 'final')`
	sqlLowerFinal = `UPDATE tracks SET final = $1 WHERE chain = $2 AND final > $1`
	sqlVigil      = `UPDATE transfers SET vigil = TRUE WHERE chain = $1 AND landed_height > $2 AND landed_height >= 0 AND NOT open`
	sqlCaught     = `INSERT INTO tracks (chain, final, synced_at) VALUES ($1, $2, $3)
ON CONFLICT (chain) DO UPDATE SET
  synced_at = CASE WHEN excluded.synced_at > tracks.synced_at THEN excluded.synced_at ELSE tracks.synced_at END,
  final = CASE WHEN excluded.final > tracks.final THEN excluded.final ELSE tracks.final END`
	sqlHalt = `INSERT INTO halts (chain, why, at) VALUES ($1, $2, $3) ON CONFLICT (chain) DO NOTHING`
)

// noBlock is the height of a deposit that is in no block.
const noBlock = int64(-1)

// height carries a height into the database, where it has 63 bits.
func height(n uint64) (int64, error) {
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("height %d is beyond any chain", n)
	}
	return int64(n), nil
}

func scanBlock(r row, b *chain.Block, before ...any) error {
	var high, at int64
	if err := r.Scan(append(before, &high, &b.Hash, &b.Parent, &at)...); err != nil {
		return err
	}
	b.Height, b.Time = uint64(max(high, 0)), unmicro(at)
	return nil
}

// Track implements watch.Store.
func (db *DB) Track(ctx context.Context, id chain.ID) (watch.Track, error) {
	var t watch.Track
	err := db.engine.read(ctx,
		ask(func(r row) error { return scanBlock(r, &t.Cursor) }, sqlCursor, string(id)),
		ask(func(r row) error {
			var final, synced int64
			err := r.Scan(&final, &synced)
			t.Final, t.Synced = uint64(final), unmicro(synced)
			return err
		}, sqlTrack, string(id)))
	if err != nil {
		return watch.Track{}, fmt.Errorf("chain %s: %w", id, err)
	}
	return t, nil
}

// Remembered implements watch.Store.
func (db *DB) Remembered(ctx context.Context, id chain.ID) ([]chain.Block, error) {
	var blocks []chain.Block
	err := db.engine.read(ctx, ask(func(r row) error {
		var b chain.Block
		err := scanBlock(r, &b)
		blocks = append(blocks, b)
		return err
	}, sqlBlocks, string(id)))
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", id, err)
	}
	return blocks, nil
}

// cursorIs asks for the cursor; check, after the answer, says ErrStale unless it
// is the block that was expected.
func cursorIs(id chain.ID, want chain.Block) (question stmt, check func() error) {
	var have chain.Block
	question = ask(func(r row) error { return scanBlock(r, &have) }, sqlCursor, string(id))
	return question, func() error {
		if have.Height != want.Height || have.Hash != want.Hash {
			return fmt.Errorf("chain %s: the cursor is at %d %s, not at %d %s: %w",
				id, have.Height, have.Hash, want.Height, want.Hash, watch.ErrStale)
		}
		return nil
	}
}

// Advance implements watch.Store.
func (db *DB) Advance(ctx context.Context, id chain.ID, a watch.Advance) error {
	high, err := height(a.Block.Height)
	if err != nil {
		return fmt.Errorf("chain %s: %w", id, err)
	}
	if a.Block.IsZero() || (!a.After.IsZero() && a.Block.Height <= a.After.Height) {
		return fmt.Errorf("chain %s: block %d %q does not follow block %d", id, a.Block.Height, a.Block.Hash, a.After.Height)
	}
	keep, err := height(a.KeepFrom)
	if err != nil {
		return fmt.Errorf("chain %s: %w", id, err)
	}
	return db.writer.do(ctx, &op{run: func(t *tx) error {
		question, check := cursorIs(id, a.After)
		found := newFinds(id, a.Deposits)
		if err := t.read(append(found.questions(), question)...); err != nil {
			return fmt.Errorf("chain %s: %w", id, err)
		}
		if err := check(); err != nil {
			return err
		}
		for _, d := range a.Deposits {
			d.Block = a.Block
			if err := t.sight(found, d, a.Now); err != nil {
				return err
			}
		}
		t.write(sqlNewBlock, string(id), high, a.Block.Hash, a.Block.Parent, micro(a.Block.Time))
		t.write(sqlForgetBelow, string(id), min(keep, high))
		return nil
	}})
}

// Rewind implements watch.Store.
func (db *DB) Rewind(ctx context.Context, id chain.ID, from, to chain.Block, now time.Time) error {
	bound, err := height(to.Height)
	if err != nil {
		return fmt.Errorf("chain %s: %w", id, err)
	}
	if to.IsZero() {
		bound = noBlock
	} else if to.Height >= from.Height {
		return fmt.Errorf("chain %s: block %d is not before block %d", id, to.Height, from.Height)
	}
	return db.writer.do(ctx, &op{run: func(t *tx) error {
		question, check := cursorIs(id, from)
		broken, landed, final := "", "", noBlock
		err := t.read(question,
			ask(func(r row) error { return r.Scan(&broken) }, sqlFinalAbove, string(id), bound),
			ask(func(r row) error { return r.Scan(&landed) }, sqlEndedAbove, string(id), bound),
			ask(func(r row) error { var synced int64; return r.Scan(&final, &synced) }, sqlTrack, string(id)))
		if err != nil {
			return fmt.Errorf("chain %s: %w", id, err)
		}
		if err := check(); err != nil {
			return err
		}
		t.write(sqlForgetFrom, string(id), max(bound, 0))
		if !to.IsZero() {
			t.write(sqlNewBlock, string(id), bound, to.Hash, to.Parent, micro(to.Time))
		}
		t.write(sqlGoneAbove, micro(time.Time{}), string(id), bound)
		if broken == "" && landed == "" && bound >= final {
			return nil
		}
		why := fmt.Sprintf("the chain went back to height %d, behind %d which was believed final", bound, final)
		switch {
		case broken != "":
			why = fmt.Sprintf("the chain went back to height %d and took back deposit %s, which was believed final", bound, broken)
		case bound >= final:
			why = fmt.Sprintf("the chain went back to height %d and took back %s, which was believed final", bound, landed)
		}
		t.write(sqlHalt, string(id), why, micro(now))
		t.write(sqlVigil, string(id), bound)
		t.write(sqlLowerFinal, max(bound, 0), string(id))
		return nil
	}})
}

// Caught implements watch.Store.
func (db *DB) Caught(ctx context.Context, id chain.ID, final uint64, read time.Time) error {
	high, err := height(final)
	if err != nil {
		return fmt.Errorf("chain %s: %w", id, err)
	}
	return db.write(ctx, "chain "+string(id), do(sqlCaught, string(id), high, micro(read)))
}

// Halt implements watch.Store and send.Store. The first reason stays.
func (db *DB) Halt(ctx context.Context, id chain.ID, why string, now time.Time) error {
	if why == "" { // an empty reason would read as no halt
		why = "halted without a reason"
	}
	return db.write(ctx, "halt "+string(id), do(sqlHalt, string(id), plain(why), micro(now)))
}
