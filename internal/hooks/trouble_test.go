package hooks_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/feed"
	"ferry/internal/hooks"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/secret"
)

// shaky is a log that can not be read for a while.
type shaky struct {
	hooks.Log
	away atomic.Bool
}

func (s *shaky) IntegratorLog(ctx context.Context, id integrator.ID, after int64, n int) ([]feed.Entry, error) {
	if n == 1 && s.away.Load() { // the event of a delivery that was taken up
		return nil, errors.New("the log is away")
	}
	return s.Log.IntegratorLog(ctx, id, after, n)
}

// TestTroubleOfOurOwnIsNoFaultOfAnEndpoint: an endpoint that was sent nothing because the
// log could not be read is not failing, and gets everything as soon as it can be.
func TestTroubleOfOurOwnIsNoFaultOfAnEndpoint(t *testing.T) {
	bubble(t, hooks.Config{}, func(r *rig) {
		log, told := &shaky{Log: r.house.DB}, atomic.Int64{}
		var err error
		r.hooks, err = hooks.New(hooks.Config{Every: 30 * time.Second}, secret.New(strings.Repeat("k", 32)), hooks.Ports{
			Store: r.house.DB, Log: log, Wording: words{}, Poster: r.world, Now: time.Now, NewID: office.NewID,
			Trouble: func(error) { told.Add(1) },
		})
		if err != nil {
			r.Fatal(err)
		}
		id, _ := r.hook(acme, here)
		log.away.Store(true)
		r.order(acme)
		r.run()
		pass(26 * time.Hour)
		if e := r.state(id); !e.FailingSince.IsZero() || e.Off != "" {
			r.Errorf("the endpoint is said to fail: %+v", e)
		}
		if told.Load() == 0 || len(r.at(here)) > 0 {
			r.Errorf("%d troubles, posted %v", told.Load(), seqs(r.at(here)))
		}
		// It has its whole day from its first try on.
		r.set(func(context.Context, hooks.Message) (int, hooks.Trouble) {
			if len(r.at(here)) < 3 {
				return 500, hooks.BadStatus
			}
			return 204, ""
		})
		log.away.Store(false)
		pass(time.Hour)
		if got := seqs(r.at(here)); len(got) != 3 || r.deliveries(id)[0].State != hooks.Done {
			r.Errorf("posted %v", got)
		}
	})
}
