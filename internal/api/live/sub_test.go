package live

import (
	"context"
	"sync"
	"testing"

	"ferry/internal/access"
	"ferry/internal/feed"
)

// A connection may end while a subscription of it begins to read the log: neither may
// touch what the other holds, and nothing may be left reading.
func TestASubscriptionMayEndWhileItBeginsToReplay(t *testing.T) {
	t.Parallel()
	l := New(Config{}, Ports{})
	for range 500 {
		s := &sub{conn: &conn{live: l}, id: "s1", log: &log{
			number: func(e *feed.Entry) int64 { return e.Version },
			right:  func(*feed.Entry) access.Right { return access.None },
			read: func(ctx context.Context, _ int64, _ int) ([]feed.Entry, error) {
				<-ctx.Done() // a log that answers only to whoever leaves
				return nil, ctx.Err()
			},
		}}
		var both sync.WaitGroup
		both.Go(s.replay)
		both.Go(s.end)
		both.Wait()
		l.work.Wait()
	}
}
