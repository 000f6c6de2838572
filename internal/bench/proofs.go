package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/dev"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

// A caller must not learn from the time of a refusal whether an order is there. Two
// means this far apart are told from chance in one of some hundred thousand tries.
const (
	maxT = 4.5
	// samples is how many of each case. Each waits for milliseconds in the door, many at
	// once: it takes about four minutes.
	samples = 100_000
	// believed is the share of the samples that count: what is slower was disturbed,
	// and would hide a difference among the others.
	believed = 0.9
)

// attempt is a request without access to what it asks for. Only requests of the same
// shape are compared: what a caller sends itself may take what time it takes.
type attempt struct {
	shape, name string
	request     *http.Request
	took        []float64 // microseconds
}

// runProofs measures A70 on each engine: for every shape of a proof, how long it takes
// to refuse it for an order that is missing, one that is there and an id that is none.
func runProofs(ctx context.Context, o options) error {
	return places(ctx, o, func(p *place) (err error) {
		dir, err := os.MkdirTemp("", "ferry-proofs-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		address, err := p.fresh(ctx)
		if err != nil {
			return err
		}
		run, stop := context.WithCancel(ctx)
		defer stop()
		d, err := dev.New(run, dev.Options{
			Dir: dir, Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "bench", Database: address, Log: slog.New(slog.DiscardHandler),
			Change: func(c *front.Config) {
				c.IP.Requests, c.IP.Creates, c.IP.OpenOrders, c.IP.AccessFailures = 0, 0, 0, 0
				// What settles orders would take its turns on the same processor.
				c.Pace.Watch, c.Pace.Settle, c.Pace.Send, c.Pace.Feed = time.Hour, time.Hour, time.Hour, time.Hour
			},
		})
		if err != nil {
			return err
		}
		ready, ended := make(chan struct{}), make(chan error, 1)
		go func() { ended <- d.Run(run, func() { close(ready) }) }()
		select {
		case err := <-ended:
			return err
		case <-ready:
		}
		err = tellApart(ctx, o, p.name, d)
		stop()
		return errors.Join(err, <-ended)
	})
}

// tellApart makes an order, takes the samples and judges them.
func tellApart(ctx context.Context, o options, engine string, d *dev.Dev) error {
	none := int64(0)
	stranger, err := d.Front.Office.Create(ctx, "Stranger", "bench")
	if err != nil {
		return err
	}
	limits := office.Limits{Requests: &none, Quotes: &none, Creates: &none, OpenOrders: &none}
	if _, err := d.Front.Office.SetLimits(ctx, stranger.ID, limits, "bench"); err != nil {
		return err
	}
	_, key, err := d.Front.Office.IssueKey(ctx, stranger.ID, office.NewKey{Kind: integrator.Server, Label: "bench", Requests: &none}, "bench")
	if err != nil {
		return err
	}
	id, session, err := anOrder(d)
	if err != nil {
		return err
	}
	all := attempts(id, session, key.Reveal())
	if err := known(ctx, d, all); err != nil {
		return err
	}
	progress("proofs: %s: %d samples of each of %d cases", engine, samples, len(all))
	if err := sample(ctx, d.Front.Door, all); err != nil {
		return err
	}
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			if a, b := &all[i], &all[j]; a.shape == b.shape {
				o.report.add(distance(engine, a, b))
			}
		}
	}
	return nil
}

// anOrder makes an order of the demo integrator.
func anOrder(d *dev.Dev) (id, session string, err error) {
	body := `{"fromChainId":"ethereum","fromToken":"native","toChainId":"ethereum","toToken":"` + dev.EthereumUSD.Ref + `","amount":"100000000000000000","toAddress":"` + payTo + `"}`
	r := httptest.NewRequest(http.MethodPost, "/v2/orders", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Integrator-Key", d.Card.ServerKey)
	w := httptest.NewRecorder()
	d.Front.Door.ServeHTTP(w, r)
	var made struct{ OrderID, SessionID string }
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusCreated {
		return "", "", fmt.Errorf("no order is made: %d %s", w.Code, w.Body)
	}
	return made.OrderID, made.SessionID, nil
}

const (
	payTo  = "0x52908400098527886E0F7030069857D2E4169EE7"
	noBody = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
)

// attempts are the cases. Ids are equally long, and so are proofs.
func attempts(id, session, key string) []attempt {
	const missing = "ord_0123456789ABCDEFGHJKMNPQRS"
	wrong := "ses_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	var all []attempt
	add := func(shape, name, id, query, session, key string) {
		r := httptest.NewRequest(http.MethodGet, "/v2/orders/"+id+query, nil)
		if session != "" {
			r.Header.Set("X-Session-ID", session)
		}
		if key != "" {
			r.Header.Set("X-Integrator-Key", key)
		}
		all = append(all, attempt{shape: shape, name: name, request: r})
	}
	for _, s := range []struct{ name, query, session, key string }{
		{"no proof", "", "", ""}, {"wrong session", "", wrong, ""}, {"wrong address", "?verify=" + noBody, "", ""}, {"another's order", "", session, key},
	} {
		add(s.name, "missing", missing, s.query, s.session, s.key)
		add(s.name, "there", id, s.query, s.session, s.key)
		add(s.name, "malformed", strings.ToLower(id), s.query, s.session, s.key)
	}
	return all
}

// known waits until every attempt is answered with 404: until the key opens.
func known(ctx context.Context, d *dev.Dev, all []attempt) error {
	for _, a := range all {
		for {
			w := httptest.NewRecorder()
			d.Front.Door.ServeHTTP(w, a.request)
			if w.Code == http.StatusNotFound {
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return nil
}

// quiet is a response that nobody reads.
type quiet struct {
	header http.Header
	status int
}

func (q *quiet) Header() http.Header         { return q.header }
func (q *quiet) WriteHeader(status int)      { q.status = status }
func (q *quiet) Write(p []byte) (int, error) { return len(p), nil }

// askers is how many ask at once: a refusal is mostly waiting.
const askers = 32

// sample takes the cases by turns, in another order each time.
func sample(ctx context.Context, h http.Handler, all []attempt) error {
	const warm = 50 // rounds of each asker that do not count
	rounds := samples / askers
	told := max(rounds/10, 1)
	took := make([][askers][]float64, len(all))
	g, ctx := errgroup.WithContext(ctx)
	for who := range askers {
		g.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(who)))
			for round := range warm + rounds {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if who == 0 && round%told == 0 {
					progress("proofs: round %d of %d", round, warm+rounds)
				}
				for _, i := range random.Perm(len(all)) {
					t, err := all[i].once(ctx, h)
					if err != nil {
						return err
					}
					if round >= warm {
						took[i][who] = append(took[i][who], t)
					}
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range all {
		all[i].took = slices.Concat(took[i][:]...)
	}
	return nil
}

// once asks, and says in how many microseconds it was refused.
func (a *attempt) once(ctx context.Context, h http.Handler) (float64, error) {
	r := a.request.Clone(ctx)
	w := &quiet{header: http.Header{}}
	begun := time.Now()
	h.ServeHTTP(w, r)
	took := time.Since(begun)
	if w.status != http.StatusNotFound {
		return 0, fmt.Errorf("%s, %s: answered %d", a.shape, a.name, w.status)
	}
	return float64(took.Nanoseconds()) / 1000, nil
}

// distance compares two cases, by the samples that are believed and by all of them. Its
// ratio is the larger |t|, so that the goal is a bound of it.
func distance(engine string, a, b *attempt) result {
	both := slices.Concat(a.took, b.took)
	slices.Sort(both)
	bound := both[int(float64(len(both))*believed)]
	x, y := below(a.took, bound), below(b.took, bound)
	t, all := math.Abs(welch(x, y)), math.Abs(welch(a.took, b.took))
	return result{
		Bench: "proofs", Name: fmt.Sprintf("%s, %s: %s or %s", engine, a.shape, a.name, b.name), Unit: "µs; ratio is |t|",
		Ours: mean(x), Floor: mean(y), Ratio: max(t, all), Low: min(t, all), High: max(t, all), AtMost: maxT, Missed: max(t, all) >= maxT,
	}
}

func below(all []float64, bound float64) (some []float64) {
	for _, v := range all {
		if v < bound {
			some = append(some, v)
		}
	}
	return some
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

// welch is Welch's t of two samples.
func welch(x, y []float64) float64 {
	mx, my := mean(x), mean(y)
	variance := func(all []float64, m float64) float64 {
		sum := 0.0
		for _, v := range all {
			sum += (v - m) * (v - m)
		}
		return sum / float64(len(all)-1)
	}
	return (mx - my) / math.Sqrt(variance(x, mx)/float64(len(x))+variance(y, my)/float64(len(y)))
}
