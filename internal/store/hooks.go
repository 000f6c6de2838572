package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ferry/internal/hooks"
	"ferry/internal/integrator"
	"ferry/internal/order"
)

var _ hooks.Store = (*DB)(nil)

const (
	hookColumns = `e.id, e.integrator, e.url, e.events, e.description, e.cursor, e.not_before, e.secret, e.old_secret, e.old_until, e.created_at,
  e.off, e.failing_since, e.last_status, e.last_why`
	sqlHookCount = `SELECT COUNT(*) FROM webhook_endpoints WHERE integrator = $1 AND off <> 'removed'`
	sqlNewHook   = `INSERT INTO webhook_endpoints (id, integrator, url, events, description, cursor, not_before, secret, old_secret, old_until, created_at,
  off, failing_since, last_status, last_why) VALUES ($1, $2, $3, $4, $5, $6, 0, $7, '', 0, $8, '', 0, 0, '')`
	sqlHooks      = `SELECT ` + hookColumns + ` FROM webhook_endpoints e WHERE e.integrator = $1 AND e.off <> 'removed' ORDER BY e.created_at, e.id`
	sqlHook       = `SELECT ` + hookColumns + ` FROM webhook_endpoints e WHERE e.id = $1 AND e.integrator = $2 AND e.off <> 'removed'`
	sqlRemoveHook = `UPDATE webhook_endpoints SET off = 'removed', secret = '', old_secret = '' WHERE id = $1`
	sqlSetSecrets = `UPDATE webhook_endpoints SET secret = $1, old_secret = $2, old_until = $3 WHERE id = $4 AND off <> 'removed'`
	sqlLeasedLast = `SELECT COALESCE(MAX(leased_until), 0) FROM webhook_deliveries WHERE endpoint = $1 AND state = 'due'`
	sqlUndo       = `DELETE FROM webhook_deliveries WHERE endpoint = $1 AND n > $2 AND ended_at = 0`
	sqlRewindHook = `UPDATE webhook_endpoints SET cursor = $1, not_before = $2, off = '', failing_since = 0 WHERE id = $3 AND off <> 'removed'`
	// All endpoints that are on are looked at: an integrator has ten at most.
	sqlSights = `SELECT ` + hookColumns + `,
  CASE WHEN EXISTS (SELECT 1 FROM order_events v WHERE v.integrator = e.integrator AND v.integrator <> '' AND v.n = e.cursor + 1) THEN 1 ELSE 0 END,
  COALESCE((SELECT MIN(d.due_at) FROM webhook_deliveries d WHERE d.endpoint = e.id AND d.state = 'due'), 0)
FROM webhook_endpoints e JOIN integrators i ON i.id = e.integrator WHERE e.off = '' AND i.status = 'active'`
)

// sinceNever is micro of a time that may not be there.
func sinceNever(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return micro(t)
}

func unlessNever(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return unmicro(us)
}

func scanHook(r row) (hooks.Endpoint, error) { return scanHookAnd(r) }

func scanHookAnd(r row, more ...any) (e hooks.Endpoint, err error) {
	var events string
	var before, old, created, failing int64
	into := []any{
		(*string)(&e.ID), (*string)(&e.Integrator), &e.URL, &events, &e.Description, &e.Cursor, &before, &e.Secrets.Now, &e.Secrets.Old, &old, &created,
		&e.Off, &failing, &e.LastStatus, (*string)(&e.LastTrouble),
	}
	if err = r.Scan(append(into, more...)...); err != nil {
		return e, err
	}
	if events != "" {
		e.Events = strings.Split(events, " ")
	}
	e.NotBefore, e.Secrets.OldUntil, e.CreatedAt, e.FailingSince = unlessNever(before), unlessNever(old), unmicro(created), unlessNever(failing)
	return e, nil
}

// AddHook implements hooks.Store.
func (db *DB) AddHook(ctx context.Context, e hooks.Endpoint, most int) (hooks.Endpoint, error) {
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		var have int
		if err := t.read(
			ask(func(r row) error { return r.Scan(&have) }, sqlHookCount, string(e.Integrator)),
			ask(func(r row) error { return r.Scan(&e.Cursor) }, sqlIntegratorHead, string(e.Integrator)),
		); err != nil {
			return err
		}
		if have >= most {
			return hooks.ErrTooMany
		}
		t.write(sqlNewHook, string(e.ID), string(e.Integrator), e.URL, strings.Join(e.Events, " "), e.Description, e.Cursor, e.Secrets.Now, micro(e.CreatedAt))
		return nil
	}})
	if err != nil {
		return hooks.Endpoint{}, fmt.Errorf("webhook %s: %w", e.ID, err)
	}
	return e, nil
}

// Hooks implements hooks.Store.
func (db *DB) Hooks(ctx context.Context, id integrator.ID) (found []hooks.Endpoint, err error) {
	if err := db.engine.read(ctx, collect(&found, scanHook, sqlHooks, string(id))); err != nil {
		return nil, fmt.Errorf("webhooks of %s: %w", id, err)
	}
	return found, nil
}

// Hook implements hooks.Store.
func (db *DB) Hook(ctx context.Context, whose integrator.ID, id hooks.ID) (hooks.Endpoint, error) {
	var found []hooks.Endpoint
	err := db.engine.read(ctx, collect(&found, scanHook, sqlHook, string(id), string(whose)))
	if err == nil && len(found) == 0 {
		err = hooks.ErrNone
	}
	if err != nil {
		return hooks.Endpoint{}, fmt.Errorf("webhook %s: %w", plain(string(id)), err)
	}
	return found[0], nil
}

// RemoveHook implements hooks.Store.
func (db *DB) RemoveHook(ctx context.Context, whose integrator.ID, id hooks.ID) error {
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		var found []hooks.Endpoint
		if err := t.read(collect(&found, scanHook, sqlHook, string(id), string(whose))); err != nil {
			return err
		}
		if len(found) == 0 {
			return hooks.ErrNone
		}
		t.write(sqlRemoveHook, string(id))
		return nil
	}})
	if err != nil {
		return fmt.Errorf("remove webhook %s: %w", plain(string(id)), err)
	}
	return nil
}

// SetHookSecrets implements hooks.Store.
func (db *DB) SetHookSecrets(ctx context.Context, id hooks.ID, s hooks.Secrets) error {
	return db.write(ctx, "secrets of webhook "+string(id), do(sqlSetSecrets, s.Now, s.Old, sinceNever(s.OldUntil), string(id)))
}

// RewindHook implements hooks.Store. What is on its way is forgotten, and nothing is sent
// until it has come to its end: so nothing of it stands beside what is sent again.
func (db *DB) RewindHook(ctx context.Context, id hooks.ID, after int64, now time.Time) error {
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		var leased int64
		if err := t.read(ask(func(r row) error { return r.Scan(&leased) }, sqlLeasedLast, string(id))); err != nil {
			return err
		}
		t.write(sqlUndo, string(id), after)
		t.write(sqlRewindHook, after, max(leased, micro(now)), string(id))
		return nil
	}})
	if err != nil {
		return fmt.Errorf("replay of webhook %s after %d: %w", id, after, err)
	}
	return nil
}

// HookSights implements hooks.Store.
func (db *DB) HookSights(ctx context.Context) (all []hooks.Sight, err error) {
	err = db.engine.read(ctx, ask(func(r row) error {
		var behind, due int64
		e, err := scanHookAnd(r, &behind, &due)
		all = append(all, hooks.Sight{Endpoint: e, Behind: behind == 1, DueAt: unlessNever(due)})
		return err
	}, sqlSights))
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return all, nil
}

func scanDelivery(r row) (d hooks.Delivery, err error) {
	var due, taken, first, ended int64
	var id string
	if err = r.Scan((*string)(&d.Endpoint), &d.Number, &id, &d.Event, (*string)(&d.State), &d.Tries, &due, &taken, &first, &ended, &d.Status, (*string)(&d.Trouble)); err != nil {
		return d, err
	}
	d.Order = order.ID(id)
	d.DueAt, d.TakenAt, d.FirstAt, d.EndedAt = unlessNever(due), unmicro(taken), unlessNever(first), unlessNever(ended)
	return d, nil
}
