package market_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ferry/internal/market"
)

// A deadline is what context.WithTimeout makes, whoever looks at it and when.
func TestADeadlineIsAContextLikeAnyOther(t *testing.T) {
	t.Parallel()
	type key struct{}
	for name, c := range map[string]struct {
		parent time.Duration // of whoever asks; zero: none
		wait   time.Duration
		quit   bool // whoever asks goes away
		end    bool
		want   error
	}{
		"in time":                 {wait: time.Second},
		"past it":                 {wait: 2 * time.Second, want: context.DeadlineExceeded},
		"past that of the caller": {parent: time.Second, wait: time.Second, want: context.DeadlineExceeded},
		"the caller is gone":      {quit: true, want: context.Canceled},
		"it was ended":            {end: true, want: context.Canceled},
	} {
		for _, early := range []bool{true, false} { // whether somebody waits from the start
			synctest.Test(t, func(t *testing.T) {
				parent, quit := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
				defer quit()
				if c.parent > 0 {
					var cancel context.CancelFunc
					parent, cancel = context.WithTimeout(parent, c.parent)
					defer cancel()
				}
				d, end := market.Within(parent, 2*time.Second)
				defer end()
				at, ok := d.Deadline()
				if want := min(2*time.Second, cmp.Or(c.parent, time.Hour)); !ok || time.Until(at) != want {
					t.Errorf("%s: ends in %s, %t", name, time.Until(at), ok)
				}
				var child context.Context
				if early {
					var cancel context.CancelFunc
					child, cancel = context.WithCancel(d)
					defer cancel()
				}
				time.Sleep(c.wait)
				if c.quit {
					quit()
				}
				synctest.Wait() // for timers
				if c.end {
					end()
				}
				if err := d.Err(); !errors.Is(err, c.want) {
					t.Errorf("%s, waited for %t: got %v, want %v", name, early, err, c.want)
				}
				select {
				case <-d.Done():
					if c.want == nil {
						t.Errorf("%s, waited for %t: it is done", name, early)
					}
				default:
					if c.want != nil {
						t.Errorf("%s, waited for %t: it is not done", name, early)
					}
				}
				if child != nil && (child.Err() != nil) != (c.want != nil) {
					t.Errorf("%s: one that is made of it says %v", name, child.Err())
				}
				if d.Value(key{}) != "kept" {
					t.Errorf("%s: a value is lost", name)
				}
			})
		}
	}
}

// near is a venue that is asked where the quote is made.
type near struct{ *venue }

func (near) Near() {}

// The one that is near minds the context, and neither holds up the others nor is held
// up by them; whoever goes away gets no answer.
func TestAVenueThatIsNearIsAskedLikeAnyOther(t *testing.T) {
	t.Parallel()
	mad := near{&venue{name: "mad", say: func(context.Context, market.Intent) ([]market.Route, error) { panic("mad") }}}
	slow := func(name string) *venue {
		return &venue{name: name, say: func(ctx context.Context, _ market.Intent) ([]market.Route, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
	}
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			venues  []market.Venue
			takes   time.Duration
			best    string
			dropped int
		}{
			"alone":              {[]market.Venue{near{pays("a", 5)}}, 0, "a", 0},
			"beside one afar":    {[]market.Venue{near{pays("a", 5)}, pays("b", 7)}, 0, "b", 0},
			"the first of equal": {[]market.Venue{pays("b", 5), near{pays("a", 5)}}, 0, "b", 0},
			"beside a mad one":   {[]market.Venue{mad, near{pays("a", 5)}}, 0, "a", 1},
			"beside a slow one":  {[]market.Venue{near{slow("s")}, near{pays("a", 5)}, slow("t")}, 2 * time.Second, "a", 2},
		} {
			began := time.Now()
			o, err := over(t, c.venues...).Quote(t.Context(), swap(usdc, 100_000), start)
			if err != nil || o.Venue != c.best || len(o.Dropped) != c.dropped || time.Since(began) != c.takes {
				t.Errorf("%s: got %+v after %s, %v", name, o, time.Since(began), err)
			}
		}
		ctx, quit := context.WithCancel(t.Context())
		gone := near{&venue{name: "gone", say: func(context.Context, market.Intent) ([]market.Route, error) { quit(); return nil, nil }}}
		if _, err := over(t, gone, near{pays("a", 5)}).Quote(ctx, swap(usdc, 100_000), start); !errors.Is(err, context.Canceled) {
			t.Errorf("whoever went away is answered: %v", err)
		}
	})
}
