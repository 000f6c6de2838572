package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// maxSkew is how far the machine's clock may be from the database's unremarked.
const maxSkew = 5 * time.Second

// Clock tells the database's time, so that all processes on one database agree
// and a machine whose clock is stepped does not take its orders with it. Between
// two looks it goes on by the monotonic clock, which is never stepped.
type Clock struct {
	ask func(context.Context) (time.Time, error)
	log *slog.Logger

	mu    sync.Mutex
	base  time.Time // of the database
	at    time.Time // of this machine, with its monotonic reading
	floor time.Time // what was told before; the clock never goes back behind it
}

// NewClock asks for the time once. A machine whose clock is off is told to the log.
func NewClock(ctx context.Context, log *slog.Logger, ask func(context.Context) (time.Time, error)) (*Clock, error) {
	c := &Clock{ask: ask, log: log}
	return c, c.Sync(ctx)
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().UTC()
}

// now is the time; the caller holds the lock.
func (c *Clock) now() time.Time {
	t := c.base.Add(time.Since(c.at))
	if t.Before(c.floor) {
		return c.floor
	}
	return t
}

// Sync asks again. The clock never goes back: if the database's did, ours stands
// still until it is reached.
func (c *Clock) Sync(ctx context.Context) error {
	t, err := c.ask(ctx)
	if err != nil {
		return fmt.Errorf("time of the database: %w", err)
	}
	local := time.Now()
	if skew := t.Sub(local).Abs(); skew > maxSkew {
		c.log.WarnContext(ctx, "this machine's clock differs from the database's", "skew", skew)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.base.IsZero() {
		c.floor = c.now()
	}
	c.base, c.at = t, local
	return nil
}
