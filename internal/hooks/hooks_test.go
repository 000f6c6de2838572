package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ferry/internal/fault"
	"ferry/internal/hooks"
	"ferry/internal/integrator"
	"ferry/internal/order"
	"ferry/internal/testseed"
)

const here, there = "https://example.com/here", "https://example.com/there"

// bubble runs a test where time passes only while everybody waits.
func bubble(t *testing.T, cfg hooks.Config, run func(r *rig)) {
	t.Helper()
	t.Parallel()
	if cfg.Every == 0 {
		cfg.Every = 30 * time.Second // days pass here
	}
	synctest.Test(t, func(t *testing.T) { run(newRig(t, cfg)) })
}

func TestEveryEventIsPostedInOrderAndSigned(t *testing.T) {
	bubble(t, hooks.Config{}, func(r *rig) {
		before := r.order(acme) // of which nobody is told
		id, s := r.hook(acme, here)
		some, _ := r.hook(acme, there, "order.created")
		r.run()
		a := r.order(acme)
		r.move(a, 0)
		r.order("") // of nobody
		r.move(before, 0)
		pass(time.Second)
		got := seqs(r.at(here))
		if slices.Index(got, 2) > slices.Index(got, 3) {
			r.Errorf("posted %v", got)
		}
		if slices.Sort(got); !slices.Equal(got, []int64{2, 3, 4}) {
			r.Errorf("posted %v", got)
		}
		if got := seqs(r.at(there)); !slices.Equal(got, []int64{2}) {
			r.Errorf("posted %v to who wants new orders only", got)
		}
		for _, h := range r.at(here) {
			if err := verify(h.Message, s, h.Secrets); err != nil || h.ID != fmt.Sprintf("evt_%s_%d", h.order, h.version) || len(h.Secrets) != 1 {
				r.Errorf("%s: %v", h.ID, err)
			}
		}
		if e := r.state(id); e.Cursor != 4 || !e.FailingSince.IsZero() {
			r.Errorf("%+v", e)
		}
		if e := r.state(some); e.Cursor != 4 {
			r.Errorf("%+v", e)
		}
		for _, d := range r.deliveries(id) {
			if d.State != hooks.Done || d.Tries != 1 || d.Status != 200 || d.EndedAt.IsZero() {
				r.Errorf("%+v", d)
			}
		}
	})
}

// A post that fails is tried again for a day with longer and longer waits, and then given
// up; what follows it waits so long, and everything else does not.
func TestBackOffIsLongerAndLongerAndEndsAfterADay(t *testing.T) {
	bubble(t, hooks.Config{}, func(r *rig) {
		id, _ := r.hook(acme, here)
		bad, good := r.order(acme), order.ID("")
		r.set(func(_ context.Context, m hooks.Message) (int, hooks.Trouble) {
			if strings.Contains(m.ID, string(bad)+"_1") {
				return 500, hooks.BadStatus
			}
			return 204, ""
		})
		r.move(bad, 0)
		r.run()
		pass(time.Second)
		good = r.order(acme)
		pass(time.Second)
		if got := r.at(here); got[len(got)-1].order != string(good) {
			r.Errorf("another order waits: %v", seqs(got))
		}
		pass(25 * time.Hour)
		var tries []time.Time
		for _, h := range r.at(here) {
			if h.order == string(bad) && h.version == 1 {
				tries = append(tries, h.at)
			}
		}
		waits := hooks.Defaults().Waits
		for i := 1; i < len(tries); i++ {
			least := waits[min(i, len(waits))-1]
			if took := tries[i].Sub(tries[i-1]); took < least || took > least+least/5+2*time.Second {
				r.Errorf("wait %d is %s, not from %s", i, took, least)
			}
		}
		if last := tries[len(tries)-1].Sub(tries[0]); last > 24*time.Hour || last < 22*time.Hour || len(tries) < 20 {
			r.Errorf("%d tries in %s", len(tries), last)
		}
		all := r.deliveries(id)
		if d := all[len(all)-1]; d.State != hooks.Failed || d.Status != 500 || d.Trouble != hooks.BadStatus {
			r.Errorf("the first is %+v", d)
		}
		if d := all[len(all)-2]; d.State != hooks.Done || d.EndedAt.Sub(tries[len(tries)-1]) > 2*time.Second {
			r.Errorf("the next of the order is %+v", d)
		}
	})
}

func TestASlowEndpointDelaysNobody(t *testing.T) {
	bubble(t, hooks.Config{AtOnce: 12, PerEndpoint: 4}, func(r *rig) {
		const other integrator.ID = "int_other"
		r.company(other)
		r.hook(acme, here)
		r.hook(acme, there)
		r.hook(other, "https://example.com/other")
		r.set(func(ctx context.Context, m hooks.Message) (int, hooks.Trouble) {
			if m.URL == here {
				<-ctx.Done() // it never answers
				return 0, hooks.TimedOut
			}
			return 200, ""
		})
		r.run()
		for range 40 {
			r.order(acme)
			r.order(other)
		}
		pass(2 * time.Second)
		if n, m := len(r.at(there)), len(r.at("https://example.com/other")); n != 40 || m != 40 {
			r.Errorf("%d and %d of 40 were posted beside a slow one", n, m)
		}
		if n := len(r.at(here)); n > 4 {
			r.Errorf("%d posts at once to the slow one", n)
		}
		pass(10 * time.Second)
		if before := len(r.at(here)); before > 5 {
			r.Errorf("%d posts to an endpoint that takes nothing", before)
		}
	})
}

func TestDeliveriesOfASuspendedIntegrationGoOnAfterIt(t *testing.T) {
	bubble(t, hooks.Config{}, func(r *rig) {
		r.hook(acme, here)
		r.run()
		r.order(acme)
		pass(time.Second)
		r.status(acme, integrator.Suspended)
		a := r.order(acme)
		r.move(a, 0)
		pass(48 * time.Hour)
		if n := len(r.at(here)); n != 1 {
			r.Errorf("%d posts while it is suspended", n)
		}
		r.status(acme, integrator.Active)
		pass(time.Minute)
		if got := seqs(r.at(here)); !slices.Equal(got, []int64{1, 2, 3}) {
			r.Errorf("posted %v", got)
		}
	})
}

func TestReplaySendsEverythingAfterANumberAgain(t *testing.T) {
	bubble(t, hooks.Config{}, func(r *rig) {
		id, _ := r.hook(acme, here)
		r.run()
		a := r.order(acme)
		for n := range 4 {
			r.move(a, n)
		}
		pass(time.Second)
		first := r.at(here)
		if _, err := r.hooks.Replay(r.Context(), acme, id, 2); err != nil {
			r.Fatal(err)
		}
		pass(time.Minute)
		if got := seqs(r.at(here)); !slices.Equal(got, []int64{1, 2, 3, 4, 5, 3, 4, 5}) {
			r.Errorf("posted %v", got)
		}
		for i, h := range r.at(here)[5:] {
			if was := first[2+i]; h.ID != was.ID || string(h.Body) != string(was.Body) {
				r.Errorf("%s is %s the second time", was.ID, h.ID)
			}
		}
		// A number that was not reached leaves nothing out.
		if _, err := r.hooks.Replay(r.Context(), acme, id, 1000); err != nil {
			r.Fatal(err)
		}
		r.order(acme)
		pass(time.Minute)
		if got := r.at(here); got[len(got)-1].seq != 6 || len(got) != 9 {
			r.Errorf("posted %v", seqs(got))
		}
	})
}

func TestAnEndpointThatIsGoneIsSwitchedOffUntilItIsReplayed(t *testing.T) {
	bubble(t, hooks.Config{}, func(r *rig) {
		id, _ := r.hook(acme, here)
		r.set(func(context.Context, hooks.Message) (int, hooks.Trouble) { return 410, hooks.BadStatus })
		r.run()
		a := r.order(acme)
		r.move(a, 0)
		pass(48 * time.Hour)
		if e := r.state(id); e.Off != hooks.Gone || e.LastStatus != 410 || len(r.at(here)) != 1 {
			r.Errorf("%+v after %d posts", e, len(r.at(here)))
		}
		r.set(nil)
		if _, err := r.hooks.Replay(r.Context(), acme, id, 0); err != nil {
			r.Fatal(err)
		}
		pass(time.Minute)
		if got := seqs(r.at(here)); !slices.Equal(got, []int64{1, 1, 2}) || r.state(id).Off != "" {
			r.Errorf("posted %v", got)
		}
	})
}

func TestAnEndpointThatFailsForDaysIsSwitchedOff(t *testing.T) {
	bubble(t, hooks.Config{}, func(r *rig) {
		id, _ := r.hook(acme, here)
		r.set(func(context.Context, hooks.Message) (int, hooks.Trouble) { return 0, hooks.NoAnswer })
		r.run()
		for day := range 7 {
			r.order(acme)
			pass(23 * time.Hour)
			if off := r.state(id).Off; off != "" && day < 4 || off == "" && day > 5 {
				r.Fatalf("after day %d it is off: %q", day, off)
			}
		}
		if e := r.state(id); e.Off != hooks.Failing || e.LastTrouble != hooks.NoAnswer {
			r.Errorf("%+v", e)
		}
	})
}

// For a while both secrets sign, and each verifies; then only the new one does.
func TestBothSecretsSignDuringARotation(t *testing.T) {
	for _, end := range []bool{false, true} {
		t.Run(fmt.Sprintf("ended early %t", end), func(t *testing.T) {
			bubble(t, hooks.Config{}, func(r *rig) {
				id, old := r.hook(acme, here)
				r.run()
				rotate := func(end bool) string {
					r.Helper()
					_, s, err := r.hooks.Rotate(r.Context(), acme, id, end)
					if err != nil {
						r.Fatal(err)
					}
					return s.Reveal()
				}
				signs := func(s string) bool {
					r.Helper()
					r.order(acme)
					pass(time.Second)
					all := r.at(here)
					last := all[len(all)-1]
					return verify(last.Message, s, last.Secrets) == nil
				}
				lost := rotate(false)
				renewed := rotate(false) // the answer before was lost
				if lost == renewed || !signs(renewed) || !signs(old) || signs(lost) {
					r.Error("the old and the newest do not both sign")
				}
				if end {
					if s := rotate(true); s != "" {
						r.Error("the end of the old one makes another")
					}
				} else {
					pass(24 * time.Hour)
				}
				if signs(old) || !signs(renewed) {
					r.Error("the old one signs after its time")
				}
				if e := r.state(id); strings.Contains(e.Secrets.Now+e.Secrets.Old, strings.TrimPrefix(renewed, "whsec_")) || !strings.HasPrefix(renewed, "whsec_") {
					r.Error("a secret is kept in clear")
				}
			})
		})
	}
}

func TestATestIsPostedOnceAndItsAnswerTold(t *testing.T) {
	bubble(t, hooks.Config{}, func(r *rig) {
		id, _ := r.hook(acme, here)
		for _, c := range []struct {
			status int
			t      hooks.Trouble
		}{{200, ""}, {404, hooks.BadStatus}, {0, hooks.TimedOut}} {
			r.set(func(context.Context, hooks.Message) (int, hooks.Trouble) { return c.status, c.t })
			got, err := r.hooks.Test(r.Context(), acme, id)
			if err != nil || got.Status != c.status || got.Trouble != c.t || got.Event != "evt_test" {
				r.Errorf("%+v, %v", got, err)
			}
		}
		if n := len(r.at(here)); n != 3 {
			r.Errorf("%d posts", n)
		}
	})
}

func TestWhatIsRefused(t *testing.T) {
	bubble(t, hooks.Config{}, func(r *rig) {
		for _, c := range []struct {
			w       hooks.Wish
			pointer string
		}{
			{hooks.Wish{URL: "http://example.com/"}, "/url"},
			{hooks.Wish{URL: "https://127.0.0.1/"}, "/url"},
			{hooks.Wish{URL: here, Events: []string{"order.created", "order.eaten"}}, "/events/1"},
			{hooks.Wish{URL: here, Description: strings.Repeat("x", 201)}, "/description"},
		} {
			var bad *hooks.BadField
			if _, _, err := r.hooks.Create(r.Context(), acme, c.w); !errors.As(err, &bad) || bad.Pointer != c.pointer || strings.Contains(err.Error(), "eaten") {
				r.Errorf("%+v: %v", c.w, err)
			}
		}
		for range hooks.MaxEndpoints {
			r.hook(acme, here, "*")
		}
		if _, _, err := r.hooks.Create(r.Context(), acme, hooks.Wish{URL: here}); fault.Of(err).Code != "too_many_webhooks" {
			r.Errorf("one too many: %v", err)
		}
		_, err := r.hooks.Deliveries(r.Context(), "int_other", r.mine(), 10, 10)
		errs := []error{err, r.hooks.Remove(r.Context(), "int_other", r.mine())}
		_, err = r.hooks.Replay(r.Context(), "int_other", r.mine(), 0)
		errs = append(errs, err)
		_, _, err = r.hooks.Rotate(r.Context(), "int_other", r.mine(), false)
		errs = append(errs, err)
		_, err = r.hooks.Test(r.Context(), "int_other", r.mine())
		for i, err := range append(errs, err) {
			if fault.Of(err).Code != "webhook_not_found" {
				r.Errorf("another's endpoint, %d: %v", i, err)
			}
		}
	})
}

// mine is an endpoint of acme.
func (r *rig) mine() hooks.ID {
	r.Helper()
	all, err := r.hooks.List(r.Context(), acme)
	if err != nil || len(all) == 0 {
		r.Fatal(all, err)
	}
	return all[0].ID
}

// TestRandomFailuresLoseNothingSweep: receivers fail at random, and the process stops at
// random. Every event arrives, those of an order never before an earlier one, and never
// two at once (which the receiver watches).
func TestRandomFailuresLoseNothingSweep(t *testing.T) {
	cfg := hooks.Config{PerEndpoint: 3, AtOnce: 5, Waits: []time.Duration{time.Second, 3 * time.Second}}
	bubble(t, cfg, func(r *rig) {
		random := rand.New(rand.NewPCG(testseed.Of(r.T), 1))
		var mu sync.Mutex
		dice := func(n int) int {
			mu.Lock()
			defer mu.Unlock()
			return random.IntN(n)
		}
		taken := map[string][]heard{}
		r.set(func(ctx context.Context, m hooks.Message) (int, hooks.Trouble) {
			time.Sleep(time.Duration(dice(2000)) * time.Millisecond)
			take := func() {
				r.world.mu.Lock()
				defer r.world.mu.Unlock()
				all := r.world.posts[m.URL]
				for i := len(all) - 1; i >= 0; i-- {
					if all[i].ID == m.ID {
						taken[m.URL] = append(taken[m.URL], all[i])
						return
					}
				}
			}
			switch dice(8) {
			case 0:
				return 500, hooks.BadStatus
			case 1:
				<-ctx.Done()
				return 0, hooks.TimedOut
			case 2: // it was taken, and hung up on us
				take()
				return 0, hooks.NoAnswer
			}
			if ctx.Err() != nil {
				return 0, hooks.NoAnswer
			}
			take()
			return 200, ""
		})
		r.hook(acme, here)
		r.hook(acme, there)
		events := burst(r, dice)
		for range 200 {
			r.run()
			pass(time.Duration(1+dice(40)) * time.Second)
			r.stop()
		}
		r.run()
		pass(10 * time.Minute)
		r.world.mu.Lock()
		defer r.world.mu.Unlock()
		for _, url := range []string{here, there} {
			seen, last := map[int64]bool{}, map[string]int64{}
			for _, h := range taken[url] {
				seen[h.seq] = true
				if h.seq < last[h.order] {
					r.Errorf("%s: %d of %s came after %d", url, h.seq, h.order, last[h.order])
				}
				last[h.order] = h.seq
			}
			if len(seen) != events {
				r.Errorf("%s: %d of %d events arrived", url, len(seen), events)
			}
		}
	})
}

// burst makes orders and moves them.
func burst(r *rig, dice func(int) int) (events int) {
	r.Helper()
	var ids []order.ID
	moves := map[order.ID]int{}
	for range 120 {
		if len(ids) < 3 || dice(5) == 0 {
			ids = append(ids, r.order(acme))
		} else {
			id := ids[dice(len(ids))]
			r.move(id, moves[id])
			moves[id]++
		}
		events++
	}
	return events
}
