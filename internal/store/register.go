package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

var _ office.Store = (*DB)(nil)

const (
	sqlRegisterHead      = `SELECT COALESCE(MAX(version), 0) FROM register_log`
	sqlRegisterNext      = `INSERT INTO register_log (version, subject, at) VALUES ($1, $2, $3)`
	sqlIntegrator        = `SELECT ` + integratorColumns + ` FROM integrators WHERE id = $1`
	sqlIntegratorVersion = `SELECT version FROM integrators WHERE id = $1`
	sqlIntegrators       = `SELECT ` + integratorColumns + ` FROM integrators WHERE id > $1 ORDER BY id LIMIT CAST($2 AS BIGINT)`
	sqlNewIntegrator     = `INSERT INTO integrators (id, name, status, version, created_at, updated_at, doc, changed_in)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	sqlSetIntegrator = `UPDATE integrators SET name = $1, status = $2, version = $3, updated_at = $4, doc = $5, changed_in = $6 WHERE id = $7`
	sqlKey           = `SELECT ` + keyColumns + ` FROM integrator_keys WHERE id = $1`
	sqlKeys          = `SELECT ` + keyColumns + ` FROM integrator_keys WHERE integrator = $1 ORDER BY created_at, id`
	sqlNewKey        = `INSERT INTO integrator_keys (id, integrator, kind, label, hint, digest, requests, created_at, last_used_at, changed_in)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	sqlRevokeKey          = `UPDATE integrator_keys SET revoked_at = $1, changed_in = $2 WHERE id = $3`
	sqlChangedIntegrators = `SELECT ` + integratorColumns + ` FROM integrators WHERE changed_in > $1 ORDER BY changed_in`
	sqlChangedKeys        = `SELECT ` + keyColumns + ` FROM integrator_keys WHERE changed_in > $1 ORDER BY changed_in`
)

// usedKeys says when keys were used last; it never goes back.
var usedKeys = updates("integrator_keys", "last_used_at = CASE WHEN last_used_at < $2 THEN $2 ELSE last_used_at END", "id", "TEXT", "BIGINT")

// registering is a change of the register on its way: what it stands on, and the
// numbers it takes. Both are read under the writer's lock, so whoever commits later
// has the higher number.
type registering struct {
	version int64
	log     logHead
}

// begin asks for the numbers together with what the change wants to know.
func (g *registering) begin(t *tx, questions ...stmt) error {
	*g = registering{}
	head := ask(func(r row) error { return r.Scan(&g.version) }, sqlRegisterHead)
	return t.read(append(questions, head, g.log.question())...)
}

// end takes the next version for a change and writes down who made it.
func (g *registering) end(t *tx, e office.Entry) {
	t.write(sqlRegisterNext, g.version+1, e.Target, micro(e.At))
	t.logged(g.log, e)
}

// CreateIntegrator implements office.Store.
func (db *DB) CreateIntegrator(ctx context.Context, i integrator.Integrator, e office.Entry) error {
	doc, err := writeDoc(integratorToRow(i))
	if err != nil {
		return fmt.Errorf("integrator %s: %w", i.ID, err)
	}
	var g registering
	err = db.writer.do(ctx, &op{run: func(t *tx) error {
		if err := g.begin(t); err != nil {
			return err
		}
		t.write(sqlNewIntegrator, string(i.ID), i.Name, string(i.Status), i.Version, micro(i.CreatedAt), micro(i.UpdatedAt), doc, g.version+1)
		g.end(t, e)
		return nil
	}})
	if err != nil {
		return fmt.Errorf("integrator %s: %w", i.ID, err)
	}
	return nil
}

// ChangeIntegrator implements office.Store.
func (db *DB) ChangeIntegrator(ctx context.Context, i integrator.Integrator, e office.Entry) error {
	doc, err := writeDoc(integratorToRow(i))
	if err != nil {
		return fmt.Errorf("integrator %s: %w", i.ID, err)
	}
	var g registering
	err = db.writer.do(ctx, &op{run: func(t *tx) error {
		var version int64
		if err := g.begin(t, ask(func(r row) error { return r.Scan(&version) }, sqlIntegratorVersion, string(i.ID))); err != nil {
			return err
		}
		switch version {
		case 0:
			return office.ErrNotFound
		case i.Version:
		default:
			return fmt.Errorf("it has version %d, not %d: %w", version, i.Version, office.ErrChanged)
		}
		t.write(sqlSetIntegrator, i.Name, string(i.Status), version+1, micro(i.UpdatedAt), doc, g.version+1, string(i.ID))
		g.end(t, e)
		return nil
	}})
	if err != nil {
		return fmt.Errorf("integrator %s: %w", i.ID, err)
	}
	return nil
}

// Integrator implements office.Store.
func (db *DB) Integrator(ctx context.Context, id integrator.ID) (integrator.Integrator, error) {
	found, err := one(ctx, db, scanIntegrator, sqlIntegrator, string(id))
	if err != nil {
		return integrator.Integrator{}, fmt.Errorf("integrator %s: %w", id, err)
	}
	return found, nil
}

// Integrators implements office.Store.
func (db *DB) Integrators(ctx context.Context, after integrator.ID, n int) ([]integrator.Integrator, error) {
	var found []integrator.Integrator
	if err := db.engine.read(ctx, collect(&found, scanIntegrator, sqlIntegrators, string(after), int64(n))); err != nil {
		return nil, fmt.Errorf("integrators after %s: %w", after, err)
	}
	return found, nil
}

// IssueKey implements office.Store.
func (db *DB) IssueKey(ctx context.Context, k integrator.Key, e office.Entry) error {
	var g registering
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		var version int64
		if err := g.begin(t, ask(func(r row) error { return r.Scan(&version) }, sqlIntegratorVersion, string(k.Integrator))); err != nil {
			return err
		}
		if version == 0 {
			return fmt.Errorf("integrator %s: %w", k.Integrator, office.ErrNotFound)
		}
		t.write(sqlNewKey, string(k.ID), string(k.Integrator), string(k.Kind), k.Label, k.Hint, hex.EncodeToString(k.Digest[:]), k.Requests,
			micro(k.CreatedAt), micro(k.LastUsedAt), g.version+1)
		g.end(t, e)
		return nil
	}})
	if err != nil {
		return fmt.Errorf("key %s: %w", k.ID, err)
	}
	return nil
}

// RevokeKey implements office.Store.
func (db *DB) RevokeKey(ctx context.Context, id integrator.KeyID, at time.Time, e office.Entry) (revoked bool, err error) {
	var g registering
	err = db.writer.do(ctx, &op{run: func(t *tx) error {
		revoked = false
		var found []integrator.Key
		if err := g.begin(t, collect(&found, scanKey, sqlKey, string(id))); err != nil {
			return err
		}
		switch {
		case len(found) == 0:
			return office.ErrNotFound
		case found[0].Revoked():
			return nil
		}
		t.write(sqlRevokeKey, micro(at), g.version+1, string(id))
		g.end(t, e)
		revoked = true
		return nil
	}})
	if err != nil {
		return false, fmt.Errorf("key %s: %w", id, err)
	}
	return revoked, nil
}

// Key implements office.Store.
func (db *DB) Key(ctx context.Context, id integrator.KeyID) (integrator.Key, error) {
	k, err := one(ctx, db, scanKey, sqlKey, string(id))
	if err != nil {
		return integrator.Key{}, fmt.Errorf("key %s: %w", id, err)
	}
	return k, nil
}

// Keys implements office.Store.
func (db *DB) Keys(ctx context.Context, id integrator.ID) ([]integrator.Key, error) {
	var found []integrator.Key
	if err := db.engine.read(ctx, collect(&found, scanKey, sqlKeys, string(id))); err != nil {
		return nil, fmt.Errorf("keys of integrator %s: %w", id, err)
	}
	return found, nil
}

// TouchKeys writes down when keys were used last, all in one go. It is no change of
// the register: it is for people, and may be late.
func (db *DB) TouchKeys(ctx context.Context, used map[integrator.KeyID]time.Time) error {
	if len(used) == 0 {
		return nil
	}
	values := make([]any, 0, 2*len(used))
	for _, id := range slices.Sorted(maps.Keys(used)) { // in one order, so that no two wait for each other
		values = append(values, string(id), micro(used[id]))
	}
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		usedKeys.each(values, func(sql string, args []any) { t.write(sql, args...) })
		return nil
	}})
	if err != nil {
		return fmt.Errorf("when %d keys were used: %w", len(used), err)
	}
	return nil
}

// Changes are all integrators and keys that changed after a version of the register,
// as they are now, at one moment. After zero, or after a version that this register
// never had, they are all there are.
func (db *DB) Changes(ctx context.Context, after int64) (office.Changes, error) {
	for {
		var c office.Changes
		err := db.engine.read(ctx,
			ask(func(r row) error { return r.Scan(&c.Version) }, sqlRegisterHead),
			collect(&c.Integrators, scanIntegrator, sqlChangedIntegrators, after),
			collect(&c.Keys, scanKey, sqlChangedKeys, after))
		if err != nil {
			return office.Changes{}, fmt.Errorf("register after %d: %w", after, err)
		}
		if after <= c.Version || after == 0 {
			return c, nil
		}
		after = 0
	}
}

// Enter implements office.Store.
func (db *DB) Enter(ctx context.Context, e office.Entry) error {
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		var log logHead
		if err := t.read(log.question()); err != nil {
			return err
		}
		t.logged(log, e)
		return nil
	}})
	if err != nil {
		return fmt.Errorf("operators' log: %w", err)
	}
	return nil
}

// LiftHalt implements office.Store.
func (db *DB) LiftHalt(ctx context.Context, id chain.ID, e office.Entry) (lifted bool, err error) {
	err = db.writer.do(ctx, &op{run: func(t *tx) error {
		lifted = false
		var log logHead
		halted := ask(func(r row) error {
			lifted = true
			var why string
			return r.Scan(&why)
		}, sqlHalted, string(id))
		if err := t.read(halted, log.question()); err != nil || !lifted {
			return err
		}
		t.write(sqlResume, string(id))
		t.logged(log, e)
		return nil
	}})
	if err != nil {
		return false, fmt.Errorf("resume %s: %w", id, err)
	}
	return lifted, nil
}

// one asks for one row; ErrNotFound says that there is none.
func one[T any](ctx context.Context, db *DB, scan func(row) (T, error), sql string, args ...any) (T, error) {
	var found []T
	var none T
	switch err := db.engine.read(ctx, collect(&found, scan, sql, args...)); {
	case err != nil:
		return none, err
	case len(found) == 0:
		return none, office.ErrNotFound
	}
	return found[0], nil
}

// collect asks for rows.
func collect[T any](into *[]T, scan func(row) (T, error), sql string, args ...any) stmt {
	return ask(func(r row) error {
		v, err := scan(r)
		*into = append(*into, v)
		return err
	}, sql, args...)
}
