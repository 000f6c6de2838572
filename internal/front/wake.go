package front

import (
	"context"
	"time"

	"ferry/internal/integrator"
	"ferry/internal/office"
)

// waking is a register whose changes wake who serves from a copy of it, so that what
// an operator did is in force in this process at once. Other processes hear of it when
// they ask the next time.
type waking struct {
	office.Store
	wake func()
}

// after passes on what became of a change. A change that failed may still have been
// written, so everybody is woken for it, too.
func (w waking) after(err error) error {
	w.wake()
	return err
}

// CreateIntegrator implements office.Store.
func (w waking) CreateIntegrator(ctx context.Context, i integrator.Integrator, e office.Entry) error {
	return w.after(w.Store.CreateIntegrator(ctx, i, e))
}

// ChangeIntegrator implements office.Store.
func (w waking) ChangeIntegrator(ctx context.Context, i integrator.Integrator, e office.Entry) error {
	return w.after(w.Store.ChangeIntegrator(ctx, i, e))
}

// IssueKey implements office.Store.
func (w waking) IssueKey(ctx context.Context, k integrator.Key, e office.Entry) error {
	return w.after(w.Store.IssueKey(ctx, k, e))
}

// RevokeKey implements office.Store.
func (w waking) RevokeKey(ctx context.Context, id integrator.KeyID, at time.Time, e office.Entry) (bool, error) {
	first, err := w.Store.RevokeKey(ctx, id, at, e)
	return first, w.after(err)
}
