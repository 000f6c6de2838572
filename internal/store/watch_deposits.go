package store

import (
	"context"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/watch"
)

const (
	depositColumns = `id, order_id, address, family, asset, amount, tx, sighting, stage, told_sighting, told_stage, first_seen,
  height, hash, parent, block_time`
	sqlUnripe = `SELECT (SELECT COUNT(*) FROM blocks WHERE blocks.chain = deposits.chain AND blocks.height >= deposits.height),
  ` + depositColumns + ` FROM deposits
WHERE chain = $1 AND stage = 'seen' AND height >= 0 ORDER BY height, id`
	sqlUntold = `SELECT 0, ` + depositColumns + ` FROM deposits
WHERE chain = $1 AND untold ORDER BY first_seen, id LIMIT CAST($2 AS BIGINT)`
	sqlPending      = `SELECT id FROM deposits WHERE chain = $1 AND stage = 'seen' AND height = -1 ORDER BY id`
	sqlDepositState = `SELECT chain, stage, sighting FROM deposits WHERE id = $1`
	sqlNewDeposit   = `INSERT INTO deposits (id, chain, address, family, order_id, asset, amount, tx, height, hash, parent, block_time,
  sighting, stage, told_sighting, told_stage, untold, first_seen, swept_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 1, 'seen', 0, '', TRUE, $13, $14)`
	sqlSeenAgain = `UPDATE deposits SET stage = 'seen', sighting = $1, untold = TRUE, asset = $2, amount = $3, tx = $4,
  height = $5, hash = $6, parent = $7, block_time = $8 WHERE id = $9`
	sqlMined       = `UPDATE deposits SET asset = $1, amount = $2, tx = $3, height = $4, hash = $5, parent = $6, block_time = $7 WHERE id = $8`
	sqlDropPending = `UPDATE deposits SET stage = 'gone', untold = TRUE WHERE id = $1`
	sqlRipen       = `UPDATE deposits SET stage = 'final', untold = TRUE
WHERE id = $1 AND sighting = $2 AND stage = 'seen' AND height = $3 AND hash = $4`
	sqlTold = `UPDATE deposits SET told_sighting = $1, told_stage = $2, untold = (sighting <> $1 OR stage <> $2)
WHERE id = $3 AND told_sighting = $4 AND told_stage = $5`
	sqlAddresses = `SELECT family, address, seq FROM addresses WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT CAST($3 AS BIGINT)`
)

// find is what is known of a payment that a scan brought.
type find struct {
	order    string // whose address it went to; empty if it is not ours
	chain    string // empty if the payment is new
	stage    watch.Stage
	sighting int64
}

// finds looks up all payments of a scan at once.
type finds struct {
	chain chain.ID
	of    map[chain.DepositID]*find
	asked []stmt
}

func newFinds(id chain.ID, ds []chain.Deposit) *finds {
	fs := &finds{chain: id, of: map[chain.DepositID]*find{}}
	for _, d := range ds {
		if fs.of[d.ID] != nil {
			continue
		}
		f := &find{}
		fs.of[d.ID] = f
		fs.asked = append(fs.asked,
			ask(func(r row) error { return r.Scan(&f.order) }, sqlAddressOwner, string(id), d.To.Text()),
			ask(func(r row) error { return r.Scan(&f.chain, (*string)(&f.stage), &f.sighting) }, sqlDepositState, string(d.ID)))
	}
	return fs
}

func (fs *finds) questions() []stmt { return fs.asked }

// sight records a payment that a block or, without one, the mempool shows.
func (t *tx) sight(fs *finds, d chain.Deposit, now time.Time) error {
	f := fs.of[d.ID]
	if f.order == "" {
		return nil
	}
	if f.chain != "" && f.chain != string(fs.chain) {
		return fmt.Errorf("deposit %s of chain %s was found on chain %s before", d.ID, fs.chain, f.chain)
	}
	high, err := height(d.Block.Height)
	if err != nil {
		return fmt.Errorf("deposit %s: %w", d.ID, err)
	}
	mined := !d.Block.IsZero()
	if !mined {
		high = noBlock
	}
	b := d.Block
	switch {
	case f.chain == "":
		t.write(sqlNewDeposit, string(d.ID), string(fs.chain), d.To.Text(), string(d.To.Family()), f.order, d.Asset.String(),
			d.Amount.String(), string(d.Tx), high, b.Hash, b.Parent, micro(b.Time), micro(now), bringer(d.To))
		f.chain, f.stage, f.sighting = string(fs.chain), watch.Seen, 1
	case f.stage == watch.Gone:
		f.stage, f.sighting = watch.Seen, f.sighting+1
		t.write(sqlSeenAgain, f.sighting, d.Asset.String(), d.Amount.String(), string(d.Tx), high, b.Hash, b.Parent, micro(b.Time), string(d.ID))
	case f.stage == watch.Seen && mined:
		// What a mempool showed is not believed: only what is in the block counts.
		t.write(sqlMined, d.Asset.String(), d.Amount.String(), string(d.Tx), high, b.Hash, b.Parent, micro(b.Time), string(d.ID))
	}
	return nil
}

// cameHome stands in the place of the transfer that brought a deposit home where none
// had to.
const cameHome = "home"

// bringer is what brings a deposit home: nothing yet, or its own payment.
func bringer(to chain.Address) string {
	if _, is := to.Reference(); is {
		return cameHome
	}
	return ""
}

// Glimpse implements watch.Store.
func (db *DB) Glimpse(ctx context.Context, id chain.ID, pending []chain.Deposit, now time.Time) error {
	return db.writer.do(ctx, &op{run: func(t *tx) error {
		var before []chain.DepositID
		found := newFinds(id, pending)
		err := t.read(append(found.questions(), ask(func(r row) error {
			var d string
			err := r.Scan(&d)
			before = append(before, chain.DepositID(d))
			return err
		}, sqlPending, string(id)))...)
		if err != nil {
			return fmt.Errorf("chain %s: %w", id, err)
		}
		for _, d := range pending {
			d.Block = chain.Block{}
			if err := t.sight(found, d, now); err != nil {
				return err
			}
		}
		for _, d := range before {
			if found.of[d] == nil {
				t.write(sqlDropPending, string(d))
			}
		}
		return nil
	}})
}

// Ripen implements watch.Store. The condition on sighting and block passes over a
// deposit that has changed.
func (db *DB) Ripen(ctx context.Context, id chain.ID, at chain.Block, ripe []watch.Sight) error {
	return db.writer.do(ctx, &op{run: func(t *tx) error {
		question, check := cursorIs(id, at)
		if err := t.read(question); err != nil {
			return fmt.Errorf("chain %s: %w", id, err)
		}
		if err := check(); err != nil {
			return err
		}
		for _, s := range ripe {
			high, err := height(s.Deposit.Block.Height)
			if err != nil {
				return fmt.Errorf("deposit %s: %w", s.Deposit.ID, err)
			}
			if s.Deposit.Block.IsZero() {
				return fmt.Errorf("deposit %s is in no block and can not be final", s.Deposit.ID)
			}
			t.write(sqlRipen, string(s.Deposit.ID), int64(s.Now.Sighting), high, s.Deposit.Block.Hash)
		}
		return nil
	}})
}

// Unripe implements watch.Store.
func (db *DB) Unripe(ctx context.Context, id chain.ID) ([]watch.Sight, error) {
	return db.sights(ctx, sqlUnripe, string(id))
}

// Untold implements watch.Store.
func (db *DB) Untold(ctx context.Context, id chain.ID, n int) ([]watch.Sight, error) {
	return db.sights(ctx, sqlUntold, string(id), int64(n))
}

func (db *DB) sights(ctx context.Context, sql string, args ...any) ([]watch.Sight, error) {
	var found []watch.Sight
	err := db.engine.read(ctx, ask(func(r row) error {
		s, err := scanSight(r)
		found = append(found, s)
		return err
	}, sql, args...))
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", args[0], err)
	}
	return found, nil
}

func scanSight(r row) (s watch.Sight, err error) {
	var id, owner, address, family, asset, amount, tx, stage, told string
	var first int64
	err = scanBlock(r, &s.Deposit.Block, &s.Depth, &id, &owner, &address, &family, &asset, &amount, &tx,
		&s.Now.Sighting, &stage, &s.Told.Sighting, &told, &first)
	if err != nil {
		return s, err
	}
	d := &s.Deposit
	d.ID, d.To, d.Tx = chain.DepositID(id), chain.CanonicalAddress(chain.Family(family), address), chain.TxID(tx)
	s.Order, s.Now.Stage, s.Told.Stage, s.FirstSeen = order.ID(owner), watch.Stage(stage), watch.Stage(told), unmicro(first)
	if d.Asset, err = chain.ParseAsset(asset); err != nil {
		return s, fmt.Errorf("deposit %s: %w", id, err)
	}
	if d.Amount, err = money.Parse(amount); err != nil {
		return s, fmt.Errorf("deposit %s: %w", id, err)
	}
	return s, nil
}

// Told implements watch.Store.
func (db *DB) Told(ctx context.Context, d chain.DepositID, was, now watch.Point) error {
	return db.write(ctx, "deposit "+string(d), do(sqlTold, int64(now.Sighting), string(now.Stage), string(d), int64(was.Sighting), string(was.Stage)))
}

// AddressesSince implements watch.Store.
func (db *DB) AddressesSince(ctx context.Context, id chain.ID, seq int64, n int) ([]watch.Watched, error) {
	var found []watch.Watched
	err := db.engine.read(ctx, ask(func(r row) error {
		var w watch.Watched
		var family, address string
		err := r.Scan(&family, &address, &w.Seq)
		w.Address = chain.CanonicalAddress(chain.Family(family), address)
		found = append(found, w)
		return err
	}, sqlAddresses, string(id), seq, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("addresses of %s: %w", id, err)
	}
	return found, nil
}
