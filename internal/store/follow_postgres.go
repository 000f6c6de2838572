package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// The wake-up between processes. It carries the newest number of the feed and nothing
// else: what is there is read from the log. Whoever misses one looks by itself.
const (
	pgListen = "LISTEN ferry_feed"
	pgNotify = "SELECT pg_notify('ferry_feed', $1)"
	pgRest   = 2 * time.Second      // before another try to listen
	pgPace   = 5 * time.Millisecond // between two of them
	pgQuiet  = 90 * time.Second
)

// follow implements engine.
func (e *pgEngine) follow(ctx context.Context, f follower) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.notify(ctx, f) })
	g.Go(func() error {
		for ctx.Err() == nil {
			if err := e.listen(ctx, f.heard); ctx.Err() == nil {
				f.trouble(fmt.Errorf("listen to other processes: %w", err))
				rest(ctx, pgRest)
			}
		}
		return nil
	})
	return g.Wait()
}

// notify tells others what this process wrote, after it is committed: the first of many
// commits in a row at once, the others together, and none waits for it.
func (e *pgEngine) notify(ctx context.Context, f follower) error {
	told := int64(0)
	for {
		woken := f.woken()
		if seq := f.written(); seq > told {
			if err := e.read(ctx, do(pgNotify, strconv.FormatInt(seq, 10))); err != nil && ctx.Err() == nil {
				f.trouble(fmt.Errorf("tell other processes: %w", err))
				rest(ctx, pgRest)
				continue
			}
			told = seq
			rest(ctx, pgPace)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		}
	}
}

// listen hears of what other processes wrote, on a connection of its own.
func (e *pgEngine) listen(ctx context.Context, heard func(seq int64)) (err error) {
	c, err := pgx.ConnectConfig(ctx, e.config.Copy())
	if err != nil {
		return err
	}
	defer func() {
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), pgIdle)
		defer cancel()
		err = errors.Join(err, c.Close(bye))
	}()
	if _, err := c.Exec(ctx, pgListen); err != nil {
		return err
	}
	for {
		// A connection that is quiet may be dead.
		some, cancel := context.WithTimeout(ctx, pgQuiet)
		n, err := c.WaitForNotification(some)
		quiet := some.Err() != nil && ctx.Err() == nil
		cancel()
		if quiet && err != nil {
			if err = c.Ping(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		seq, err := strconv.ParseInt(n.Payload, 10, 64)
		if err != nil {
			return fmt.Errorf("heard %q: %w", n.Payload, err)
		}
		heard(seq)
	}
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
