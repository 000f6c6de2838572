package main

import (
	"context"
	"testing"
	"time"
)

// TestACrowdHearsEveryEvent on our own servers, as the bench has it.
func TestACrowdHearsEveryEvent(t *testing.T) {
	t.Parallel()
	for kind, serve := range map[string]func(context.Context, func(card) error) error{socketKind: serveSocket, writesKind: serveWrites} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			cards, ended := make(chan card, 1), make(chan error, 1)
			go func() { ended <- serve(ctx, func(c card) error { cards <- c; return nil }) }()
			its := <-cards
			l, err := connectAll(kind, its.Address, 20)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []task{{Events: 1}, {Events: 100}, {Events: 3, Length: 50 * time.Millisecond}} {
				h, err := l.obey(o)
				if err != nil {
					t.Fatal(err)
				}
				if h.Events < o.Events || h.Events != len(h.Late)*o.Events {
					t.Errorf("%+v: %d events in %d times", o, h.Events, len(h.Late))
				}
			}
			if want := len(eventHead) + len(eventBody) + 4; l.each != want {
				t.Errorf("an event is %d bytes on the wire, want %d", l.each, want)
			}
			l.close()
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
