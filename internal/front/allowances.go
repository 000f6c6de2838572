package front

import (
	"context"
	"fmt"
	"time"

	"ferry/internal/limit"
	"ferry/internal/office"
)

// allowances counts requests. Where other processes may serve from the same database,
// the limits of companies are shared with them.
func (f *Front) allowances(ctx context.Context) (limit.Counter, error) {
	m, err := limit.NewMemory(time.Now(), limit.DefaultEntries)
	if err != nil {
		return nil, err
	}
	pool, shares := f.db.Allowances()
	if !shares {
		return m, nil
	}
	f.shared, err = limit.NewShared(m, limit.SharedConfig{
		Pool: pool, Now: time.Now, Name: func() string { return office.NewID("prc_") },
		Trouble: func(err error) {
			f.cfg.Log.Warn("allowances are not shared now, will be tried again", "error", err)
		},
	})
	if err != nil {
		return nil, err
	}
	if err := f.shared.Beat(ctx); err != nil {
		return nil, fmt.Errorf("share the limits of companies: %w", err)
	}
	return f.shared, nil
}
