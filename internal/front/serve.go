package front

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Bounds of a connection of an operator.
const (
	headerTimeout = 5 * time.Second
	wholeTimeout  = 30 * time.Second
	stopTimeout   = 10 * time.Second
	lookEvery     = 50 * time.Millisecond
)

// poolsWait is how long pools are waited for in the beginning: without them everything
// else can be served.
const poolsWait = 30 * time.Second

// Serve answers on a listener until ctx ends.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: wholeTimeout, WriteTimeout: wholeTimeout, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve operators: %w", err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := s.Shutdown(stopping); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// Synced waits until every chain was read to its tip once: before that no order can
// be made, because nobody would see its deposit. Keys that were issued before are
// known then, too, and pools were read, unless that takes too long.
func (f *Front) Synced(ctx context.Context) error {
	began := time.Now()
	f.directory.Wake()
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		waits := f.directory.Asked().Before(began) || time.Since(began) < poolsWait && !f.cfg.Venues.fresh(f.clock.Now())
		for _, c := range f.Desk.Chains() {
			h, err := f.health(ctx, c.ID)
			if err != nil {
				return err
			}
			waits = waits || h.Synced.IsZero()
		}
		if !waits {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}
