package feed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"ferry/internal/feed"
	"ferry/internal/house"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log is a real store into which orders are written: each is one entry.
type log struct {
	*house.House
	*store.DB
	t    *testing.T
	made *atomic.Int64
}

func newLog(t *testing.T, url string) log {
	t.Helper()
	h, err := house.New(t.Context(), house.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.DB.Close() })
	return log{h, h.DB, t, new(atomic.Int64)}
}

// write makes n orders.
func (l log) write(n int) {
	for range n {
		id := order.ID(fmt.Sprintf("ord_%05d", l.made.Add(1)))
		q, err := l.Terms("quo_1", house.EVMUSD, house.Sol, l.Net(house.EVM).Config().Dust, house.Start)
		if err != nil {
			l.t.Error(err)
			return
		}
		c, err := order.New(l.Ask(id, q, l.Net(house.SOL).User("to"), l.Net(house.EVM).User("back")), house.Start)
		if err == nil {
			err = l.Create(context.Background(), c)
		}
		if err != nil {
			l.t.Error(err)
			return
		}
	}
}

func newHub(t *testing.T, l feed.Log) *feed.Hub {
	t.Helper()
	h, err := feed.NewHub(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// hear listens to everything.
func hear(h *feed.Hub, buffer int) (entries <-chan feed.Entry, after int64, stop func()) {
	line := feed.NewLine(buffer)
	after, leave := h.Listen(feed.Everything, line)
	return line.C, after, func() {
		leave()
		line.Close()
	}
}

// take reads n entries and holds them to their numbers: they follow after.
func take(t *testing.T, ch <-chan feed.Entry, after int64, n int) int64 {
	t.Helper()
	for range n {
		e, open := <-ch
		if !open {
			t.Errorf("closed after %d", after)
			return math.MaxInt64
		}
		if e.Seq != after+1 || e.Event != "created" || e.Version != 1 || e.State != order.Awaiting {
			t.Errorf("%+v follows %d", e, after)
			return math.MaxInt64
		}
		after = e.Seq
	}
	return after
}

func step(t *testing.T, h *feed.Hub) {
	t.Helper()
	if err := h.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// runHub runs a hub and returns all trouble it had.
func runHub(ctx context.Context, h *feed.Hub, every time.Duration) error {
	var trouble error
	h.Run(ctx, every, func(err error) { trouble = errors.Join(trouble, err) })
	return trouble
}

func TestEveryListenerGetsEveryEntryInOrder(t *testing.T) {
	t.Parallel()
	const writers, each, listeners = 8, 40, 12
	l := newLog(t, "")
	l.write(3) // before the hub: nobody hears of them
	h := newHub(t, l.DB)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- runHub(ctx, h, time.Hour) }()
	var write, listen sync.WaitGroup
	for range writers {
		write.Go(func() { l.write(each) })
	}
	for range listeners { // each begins where the hub happens to be
		entries, after, stop := hear(h, writers*each)
		listen.Go(func() {
			defer stop()
			for after < 3+writers*each {
				after = take(t, entries, after, 1)
			}
		})
	}
	write.Wait()
	listen.Wait()
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

func TestAHubBeginsAtTheEndOfTheLog(t *testing.T) {
	t.Parallel()
	l := newLog(t, "")
	l.write(5)
	h := newHub(t, l.DB)
	entries, after, stop := hear(h, 10)
	defer stop()
	if after != 5 {
		t.Errorf("it begins after %d", after)
	}
	l.write(2)
	step(t, h)
	take(t, entries, 5, 2)
	if len(entries) != 0 {
		t.Errorf("%d entries too many", len(entries))
	}
}

func TestMoreThanAPageIsHandedOutInOneStep(t *testing.T) {
	t.Parallel()
	l := newLog(t, "")
	h := newHub(t, l.DB)
	entries, after, stop := hear(h, 2000)
	defer stop()
	l.write(1100)
	step(t, h)
	take(t, entries, after, 1100)
}

func TestAListenerHearsOnlyWhatItWants(t *testing.T) {
	t.Parallel()
	l := newLog(t, "")
	h := newHub(t, l.DB)
	line := feed.NewLine(1)
	_, stop := h.Listen(feed.OfOrder("ord_00007"), line)
	defer stop()
	l.write(20) // what it does not want does not fill its buffer
	step(t, h)
	if e, open := <-line.C; !open || e.Order != "ord_00007" || e.Seq != 7 {
		t.Errorf("got %+v, %t", e, open)
	}
}

func TestASlowListenerIsClosedAndReadsOnFromTheLog(t *testing.T) {
	t.Parallel()
	l := newLog(t, "")
	h := newHub(t, l.DB)
	slow, after, stopSlow := hear(h, 3)
	quick, _, stopQuick := hear(h, 100)
	defer stopQuick()
	l.write(10)
	step(t, h)
	l.write(10)
	step(t, h)
	last := take(t, slow, after, 3) // what fitted, and then the end
	if e, open := <-slow; open {
		t.Fatalf("it was fed %+v after a hole", e)
	}
	stopSlow() // it is closed already
	stopSlow()
	if end := take(t, quick, after, 20); end != 20 {
		t.Errorf("the other listener is at %d", end)
	}
	// The log is the truth: it reads the rest there, and listens again.
	again, from, stop := hear(h, 100)
	defer stop()
	rest, err := l.Since(t.Context(), last, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rest {
		if e.Seq != last+1 {
			t.Fatalf("entry %d follows %d", e.Seq, last)
		}
		last = e.Seq
	}
	if last != from {
		t.Errorf("the log ends at %d, the hub is at %d", last, from)
	}
	l.write(5)
	step(t, h)
	take(t, again, from, 5)
}

func TestAListenerThatStopsWhileEntriesComeIsClosedOnce(t *testing.T) {
	t.Parallel()
	l := newLog(t, "")
	h := newHub(t, l.DB)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 {
			l.write(1)
			if err := h.Step(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	for range 4 {
		wg.Go(func() {
			for range 200 {
				entries, after, stop := hear(h, 1)
				stop()
				for e := range entries {
					if e.Seq != after+1 {
						t.Errorf("entry %d follows %d", e.Seq, after)
					}
					after = e.Seq
				}
			}
		})
	}
	wg.Wait()
}

// holes is a log that hides an entry.
type holes struct {
	feed.Log
	hide int64
}

func (h holes) Since(ctx context.Context, seq int64, n int) ([]feed.Entry, error) {
	es, err := h.Log.Since(ctx, seq, n)
	var left []feed.Entry
	for _, e := range es {
		if e.Seq != h.hide {
			left = append(left, e)
		}
	}
	return left, err
}

func TestAHoleInTheLogIsAnErrorAndIsNotHandedOut(t *testing.T) {
	t.Parallel()
	l := newLog(t, "")
	h := newHub(t, holes{l.DB, 4})
	entries, after, stop := hear(h, 10)
	defer stop()
	l.write(8)
	for range 2 {
		if err := h.Step(t.Context()); err == nil || !strings.Contains(err.Error(), "5 follows 3") {
			t.Fatalf("got %v", err)
		}
	}
	take(t, entries, after, 3)
	if len(entries) != 0 {
		t.Errorf("%d entries behind the hole", len(entries))
	}
}

// deaf is a log of which another process writes: nobody is woken.
type deaf struct{ feed.Log }

func (deaf) Woken() <-chan struct{} { return make(chan struct{}) }

// broken is a log that cannot be read.
type broken struct{ feed.Log }

var errBroken = errors.New("the log is away")

func (broken) Since(context.Context, int64, int) ([]feed.Entry, error) { return nil, errBroken }
func (broken) Head(context.Context) (int64, error)                     { return 0, errBroken }

func TestAHubIsNotMadeOfALogThatCannotBeRead(t *testing.T) {
	t.Parallel()
	if h, err := feed.NewHub(t.Context(), broken{}); !errors.Is(err, errBroken) || h != nil {
		t.Errorf("got %v, %v", h, err)
	}
}

// TestRunWakesWhenSomethingWasWrittenHereAndByItselfOtherwise uses a clock that
// stands still unless everybody waits.
func TestRunWakesWhenSomethingWasWrittenHereAndByItselfOtherwise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		see   func(feed.Log) feed.Log
		waits time.Duration
	}{
		{"written here", func(l feed.Log) feed.Log { return l }, 0},
		{"written by another process", func(l feed.Log) feed.Log { return deaf{l} }, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLog(t, "")
				h := newHub(t, c.see(l.DB))
				ctx, cancel := context.WithCancel(t.Context())
				ran := make(chan error)
				go func() { ran <- runHub(ctx, h, time.Minute) }()
				entries, after, stop := hear(h, 10)
				defer stop()
				synctest.Wait()
				for range 3 {
					asked := time.Now()
					l.write(1)
					after = take(t, entries, after, 1)
					if waited := time.Since(asked); waited > c.waits || (c.waits == 0) != (waited == 0) {
						t.Errorf("it came after %s, not within %s", waited, c.waits)
					}
				}
				cancel()
				if err := <-ran; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestEntriesOfAnotherProcessAreHandedOut(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	here, there := newLog(t, url), newLog(t, url)
	h := newHub(t, here.DB)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- runHub(ctx, h, time.Millisecond) }()
	entries, after, stop := hear(h, 100)
	defer stop()
	there.write(30)
	take(t, entries, after, 30)
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

// Nobody looks by himself here: the other process is heard of.
func TestAnotherProcessIsHeardOf(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	here, there := newLog(t, url), newLog(t, url)
	h := newHub(t, here.DB)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	trouble := func(err error) { t.Error(err) }
	for _, l := range []log{here, there} {
		running.Go(func() {
			if err := l.Follow(ctx, trouble); err != nil {
				t.Error(err)
			}
		})
	}
	running.Go(func() { h.Run(ctx, time.Hour, trouble) })
	defer running.Wait()
	defer cancel()
	// Until it listens nothing is heard, so somebody writes until that is so.
	entries, after, stop := hear(h, 100_000)
	defer stop()
	wrote, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(wrote)
		for {
			select {
			case <-done:
				return
			default:
				there.write(1)
			}
		}
	}()
	take(t, entries, after, 1)
	close(done)
	<-wrote
	line := feed.NewLine(10)
	id := order.ID(fmt.Sprintf("ord_%05d", there.made.Load()+5))
	_, leave := h.Listen(feed.OfOrder(id), line)
	defer leave()
	there.write(9)
	if e := <-line.C; e.Order != id || e.Now == nil || e.Now.ID != id || e.Now.Version != e.Version {
		t.Errorf("heard %+v of %s, with %+v", e, id, e.Now)
	}
}

// A listener that was there before the entries of another process were read gets each
// with its order; nothing is read for topics without listeners.
func TestOrdersAreReadForThoseWhoListen(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	here, there := newLog(t, url), newLog(t, url)
	reads := &countedReads{Log: here.DB}
	h := newHub(t, reads)
	there.write(20)
	step(t, h)
	if reads.asked.Load() != 0 {
		t.Errorf("%d orders were read for nobody", reads.asked.Load())
	}
	line := feed.NewLine(10)
	h.Listen(feed.OfOrder("ord_00025"), line)
	there.write(20)
	step(t, h)
	if e := <-line.C; e.Now == nil || e.Now.ID != "ord_00025" || reads.asked.Load() != 1 {
		t.Errorf("%+v after %d orders were read", e, reads.asked.Load())
	}
}

// countedReads counts how many orders are read.
type countedReads struct {
	feed.Log
	asked atomic.Int64
}

func (c *countedReads) Moments(ctx context.Context, seqs []int64) ([]feed.Entry, error) {
	c.asked.Add(int64(len(seqs)))
	return c.Log.Moments(ctx, seqs)
}
