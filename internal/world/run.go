package world

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// PerWorld is how many orders one world holds. Many small worlds try more
// histories than a large one, and run side by side.
const PerWorld = 1000

// Config is what a simulation is asked for.
type Config struct {
	Seed   uint64
	Orders int
	// World, if set, runs that one world alone, as a failure's replay does.
	World uint64
	// Calm leaves out all faults.
	Calm bool
	// Open makes the database of a world; empty is a private one in memory.
	Open func(ctx context.Context, seed uint64) (url string, err error)
	// Progress gets a line now and then; nil is silence.
	Progress io.Writer
	// Parallel is how many worlds run at a time; 0 is as many as there are cores.
	Parallel int
}

// outcome is what one world came to.
type outcome struct {
	seed                             uint64
	planned, orders                  int
	endings, faults, steps           map[string]int
	reorgs, deepReorgs, crashes      int
	doublePayments, lost, unfinished int
	drift                            int
	entries                          map[string]int64 // of points, by kind
	conservation                     map[string]string
	trace                            []byte
	err                              error
}

// worldSeed is the seed of the i-th world of a run.
func worldSeed(seed uint64, i int) uint64 {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], seed)
	binary.BigEndian.PutUint64(b[8:], uint64(i))
	sum := sha256.Sum256(b[:])
	return binary.BigEndian.Uint64(sum[:8])>>1 | 1 // never zero, and fits every reader of JSON integers
}

// Run simulates. It returns an error only for what kept it from running; what
// went wrong in a world is in the report.
func Run(ctx context.Context, cfg Config) (Report, error) {
	if cfg.Orders <= 0 {
		return Report{}, fmt.Errorf("simulate %d orders: at least one is needed", cfg.Orders)
	}
	began := time.Now()
	plan := plan(cfg)
	results := make([]outcome, len(plan))
	p := &progress{w: cfg.Progress, worlds: len(plan), orders: cfg.Orders, began: began}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, parallel(cfg)))
	for i, w := range plan {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			results[i] = live(ctx, cfg, w)
			p.done(results[i])
			return ctx.Err() // a world that was interrupted proves nothing
		})
	}
	if err := g.Wait(); err != nil {
		return Report{}, err
	}
	r := Report{Seed: cfg.Seed, Endings: map[string]int{}, Faults: map[string]int{}, Steps: map[string]int{}, Conservation: map[string]string{}, Points: map[string]int{}, Failures: []Failure{}}
	h := sha256.New()
	for _, o := range results {
		r.add(o)
		h.Write(o.trace)
	}
	r.TraceHash = hex.EncodeToString(h.Sum(nil))
	r.Took = time.Since(began)
	return r, nil
}

// planned is one world to be run.
type planned struct {
	seed   uint64
	orders int
}

func plan(cfg Config) []planned {
	if cfg.World != 0 {
		return []planned{{cfg.World, cfg.Orders}}
	}
	var out []planned
	for left, i := cfg.Orders, 0; left > 0; left, i = left-PerWorld, i+1 {
		out = append(out, planned{worldSeed(cfg.Seed, i), min(left, PerWorld)})
	}
	return out
}

func parallel(cfg Config) int {
	if cfg.Parallel > 0 {
		return cfg.Parallel
	}
	return runtime.GOMAXPROCS(0)
}

// progress tells how far the worlds are.
type progress struct {
	w              io.Writer
	worlds, orders int
	began          time.Time

	mu              sync.Mutex
	doneW, doneO    int
	failed, crashes int
	last            time.Time
}

func (p *progress) done(o outcome) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doneW++
	p.doneO += o.orders
	p.crashes += o.crashes
	if o.err != nil {
		p.failed++
		fmt.Fprintf(p.w, "world %d FAILED: %v\n", o.seed, o.err)
	}
	if time.Since(p.last) < time.Second && p.doneW < p.worlds {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.w, "%6d of %d orders, %d of %d worlds, %d crashes, %d failed, %s\n",
		p.doneO, p.orders, p.doneW, p.worlds, p.crashes, p.failed, time.Since(p.began).Round(time.Second))
}
