package front

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ferry/internal/integrator"
)

// uses remembers when keys were used, until it is written down: never while a request
// waits. Keys are told apart by where the directory has them, which costs a request
// nothing; one that changed meanwhile is written under its name all the same.
type uses struct{ seen sync.Map } // *integrator.Key → *atomic.Int64, Unix seconds

// saw notes that a key was used.
func (u *uses) saw(k *integrator.Key, now time.Time) {
	if k == nil {
		return
	}
	at := now.Unix()
	last, ok := u.seen.Load(k)
	if !ok {
		last, _ = u.seen.LoadOrStore(k, new(atomic.Int64))
	}
	if t := last.(*atomic.Int64); t.Load() != at {
		t.Store(at)
	}
}

// flush writes down what was seen. What can not be written is seen again soon.
func (u *uses) flush(ctx context.Context, touch func(context.Context, map[integrator.KeyID]time.Time) error) error {
	times := map[integrator.KeyID]time.Time{}
	u.seen.Range(func(k, v any) bool {
		u.seen.Delete(k)
		id, at := k.(*integrator.Key).ID, time.Unix(v.(*atomic.Int64).Load(), 0).UTC()
		if at.After(times[id]) {
			times[id] = at
		}
		return true
	})
	if len(times) == 0 {
		return nil
	}
	if err := touch(ctx, times); err != nil {
		return fmt.Errorf("when keys were used: %w", err)
	}
	return nil
}

// usesEvery is how often uses of keys are written down.
const usesEvery = 10 * time.Second

func (f *Front) keepUses(ctx context.Context) error {
	t := time.NewTicker(usesEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if err := f.uses.flush(ctx, f.db.TouchKeys); err != nil && ctx.Err() == nil {
				f.cfg.Log.WarnContext(ctx, "uses of keys could not be written, will be with the next", "error", err)
			}
		}
	}
}
