package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/store/pgtest"
	"ferry/internal/testseed"
)

// How a round of the race for open orders is run.
const (
	quotaCreates   = 256 // at once, over all processes
	quotaProcesses = 3
	quotaMax       = 20 // the highest ceiling
	quotaPause     = 3 * time.Millisecond
	quotaBroken    = 25 // rounds within which a check before the lock must show
)

// gap is an engine with a failpoint between what counts open orders and what
// writes a new one. A check that is not one with its insert is seldom caught by
// a plain race: the gap must be wide for another process to step into it.
type gap struct {
	engine
	pause func()
	// early makes the mistake that the race is there to find: the count is taken
	// before the transaction has begun and the lock is held.
	early bool
}

func (g *gap) session(ctx context.Context) (session, error) {
	s, err := g.engine.session(ctx)
	return &gapSession{session: s, g: g}, err
}

type gapSession struct {
	session
	g *gap
}

func (s *gapSession) send(ctx context.Context, ss []stmt) error {
	counts := func(one stmt) bool { return one.sql == sqlOpenOrders }
	if !slices.ContainsFunc(ss, counts) {
		return s.session.send(ctx, ss)
	}
	if !s.g.early {
		err := s.session.send(ctx, ss)
		s.g.pause()
		return err
	}
	var checks []stmt
	for _, one := range ss {
		if counts(one) {
			checks = append(checks, one)
		}
	}
	if err := s.g.read(ctx, checks...); err != nil {
		return err
	}
	s.g.pause()
	return s.session.send(ctx, slices.DeleteFunc(slices.Clone(ss), counts))
}

// quotaAsk is a team's share of a round.
type quotaAsk struct {
	Subject string
	Max     int64
	From    int // number of the first order
	Good    int // creates that only the ceiling can refuse
	Poor    int // creates that the books refuse too
}

// quotaAnswer is what came of it.
type quotaAnswer struct {
	Made   []order.ID
	Full   int // refused by the ceiling
	Short  int // refused by the books
	Pauses int // how often the failpoint was passed
	Other  []string
}

// quotaTeam makes creates at once: one process does, or a part of this one.
type quotaTeam interface {
	prepare(quotaAsk) error // returns when all of them stand at the line
	run() (quotaAnswer, error)
}

// quotaOrder is an order that counts for a subject.
func quotaOrder(i int, a quotaAsk, poor bool) (order.Change, error) {
	n := money.FromUint64
	to := func(s string) chain.Address { return chain.CanonicalAddress(chain.Other, fmt.Sprintf("%s-%d", s, i)) }
	get := chain.Asset{Chain: "sim:get"}
	if poor {
		get.Chain = "sim:nothing" // which nobody has funded
	}
	return order.New(order.Ask{
		ID: order.ID(fmt.Sprintf("ord_%07d", i)), DepositTo: to("in"), PayTo: to("out"), FundingTime: time.Hour,
		Quote: quote.Quote{
			ID: "q", Give: chain.Asset{Chain: "sim:give"}, Get: get, In: n(10), Out: n(20), MinIn: n(1), MaxIn: n(50),
			Mode: quote.Float, Tolerance: quote.Tolerance{UnderAction: quote.Hold, OverAction: quote.Hold, WrongAsset: quote.Hold},
		},
		Patience: order.Patience{Confirming: 1, Executing: 1, Sending: 1, Held: 1, Refunding: 1, Recovery: 1},
		Ceilings: []order.Ceiling{
			{Name: "everybody", Subject: "everybody", Window: time.Hour}, // counted, not bounded
			{Name: "bounded", Subject: a.Subject, Max: a.Max, Window: time.Hour},
		},
	}, noon)
}

// quotaRacer is a team over a DB of this process.
type quotaRacer struct {
	db     *DB
	pauses int // only whoever leads a batch touches it

	line sync.WaitGroup
	gate chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	answer quotaAnswer
}

// newQuotaRacer puts the failpoint into a database.
func newQuotaRacer(db *DB, rng *rand.Rand, early bool) *quotaRacer {
	r := &quotaRacer{db: db}
	db.writer.engine = &gap{engine: db.engine, early: early, pause: func() {
		r.pauses++
		time.Sleep(time.Duration(rng.Int64N(int64(quotaPause))))
	}}
	return r
}

func (r *quotaRacer) prepare(a quotaAsk) error {
	r.answer, r.gate, r.pauses = quotaAnswer{}, make(chan struct{}), 0
	for i := range a.Good + a.Poor {
		// They are spread evenly among each other.
		poor := (i+1)*a.Poor/(a.Good+a.Poor) > i*a.Poor/(a.Good+a.Poor)
		c, err := quotaOrder(a.From+i, a, poor)
		if err != nil {
			return err
		}
		r.line.Add(1)
		r.done.Go(func() {
			r.line.Done()
			<-r.gate
			r.note(c.Now.ID, r.db.Create(context.Background(), c))
		})
	}
	r.line.Wait()
	return nil
}

func (r *quotaRacer) note(id order.ID, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var full *order.TooMany
	switch {
	case err == nil:
		r.answer.Made = append(r.answer.Made, id)
	case errors.As(err, &full):
		r.answer.Full++
	case errors.Is(err, ledger.ErrShort):
		r.answer.Short++
	default:
		r.answer.Other = append(r.answer.Other, err.Error())
	}
}

func (r *quotaRacer) run() (quotaAnswer, error) {
	close(r.gate)
	r.done.Wait()
	r.answer.Pauses = r.pauses
	return r.answer, nil
}

// quotaRace runs rounds and remembers what was made.
type quotaRace struct {
	t     *testing.T
	db    *DB // looks, and does not race
	rng   *rand.Rand
	teams []quotaTeam
	next  int
	made  map[order.ID]bool
}

// round races for the slots of a fresh subject. It returns how many were there to
// be had, how many creates say that they have one, and how many there are.
func (q *quotaRace) round(n int) (slots, made int, open int64) {
	t := q.t
	ask := quotaAsk{Subject: fmt.Sprintf("subject-%d", n), Max: 1 + q.rng.Int64N(quotaMax)}
	good := quotaCreates
	if q.rng.IntN(3) == 0 { // few that could be made: the ceiling may not be reached
		good = q.rng.IntN(2 * quotaMax)
	}
	poor := quotaCreates - good
	slots = min(int(ask.Max), good)
	for i, team := range q.teams {
		left := len(q.teams) - i
		ask.Good, ask.Poor, ask.From = good/left, poor/left, q.next
		good, poor, q.next = good-ask.Good, poor-ask.Poor, q.next+ask.Good+ask.Poor
		if err := team.prepare(ask); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
	}
	answers := make([]quotaAnswer, len(q.teams))
	var wg sync.WaitGroup
	for i, team := range q.teams {
		wg.Go(func() {
			var err error
			if answers[i], err = team.run(); err != nil {
				t.Errorf("round %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, a := range answers {
		for _, id := range a.Made {
			q.made[id] = true
		}
		made += len(a.Made)
		sum += len(a.Made) + a.Full + a.Short
		if len(a.Other) > 0 {
			t.Errorf("round %d: refused for no reason of ours: %v", n, a.Other)
		}
		if a.Pauses == 0 {
			t.Errorf("round %d: nobody passed the failpoint", n)
		}
	}
	if sum != quotaCreates {
		t.Errorf("round %d: %d of %d creates were answered", n, sum, quotaCreates)
	}
	open, err := q.db.OpenOrders(t.Context(), ask.Subject, noon.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		t.FailNow()
	}
	return slots, made, open
}

// exact runs rounds in which the slots must be taken to the last one and no further.
func (q *quotaRace) exact(rounds int) {
	t := q.t
	for n := range rounds {
		if slots, made, open := q.round(n); made != slots || open != int64(slots) {
			t.Fatalf("round %d: of %d slots %d were given and %d are taken", n, slots, made, open)
		}
	}
	q.whole()
}

// whole holds the database to what creates were told.
func (q *quotaRace) whole() {
	t := q.t
	all, err := q.db.OpenOrders(t.Context(), "everybody", noon.Add(-time.Hour))
	if err != nil || all != int64(len(q.made)) {
		t.Errorf("%d orders were made and %d count: %v", len(q.made), all, err)
	}
	entries, err := q.db.Since(t.Context(), 0, len(q.made)+100)
	if err != nil || len(entries) != len(q.made) {
		t.Fatalf("%d orders were made and the feed has %d: %v", len(q.made), len(entries), err)
	}
	checkWhole(t, entries)
	for _, e := range entries {
		if !q.made[e.Order] {
			t.Errorf("order %s is there, and its create was refused", e.Order)
		}
	}
	if err := q.db.Audit(t.Context()); err != nil {
		t.Error(err)
	}
	t.Logf("%d orders were made", len(q.made))
}

func newQuotaRace(t *testing.T, url string, rng *rand.Rand) *quotaRace {
	t.Helper()
	db, err := Open(t.Context(), Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Fund(t.Context(), chain.Asset{Chain: "sim:get"}, money.FromUint64(1_000_000_000), noon); err != nil {
		t.Fatal(err)
	}
	return &quotaRace{t: t, db: db, rng: rng, made: map[order.ID]bool{}}
}

func TestSweepThreeProcessesNeverPassACeiling(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	url := pgtest.URL(t)
	q := newQuotaRace(t, url, rng)
	q.teams = quotaWorkers(t, url, rng.Uint64(), false)
	q.exact(quotaRounds)
}

// The race is worth something only if a wrong check loses it.
func TestThreeProcessesPassACeilingThatIsCheckedBeforeTheLock(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	url := pgtest.URL(t)
	q := newQuotaRace(t, url, rng)
	q.teams = quotaWorkers(t, url, rng.Uint64(), true)
	for n := range quotaBroken {
		slots, made, open := q.round(n)
		if int64(made) != open {
			t.Fatalf("round %d: %d creates were told that they made an order, and there are %d", n, made, open)
		}
		if made > slots {
			t.Logf("round %d: of %d slots %d were given", n, slots, made)
			return
		}
	}
	t.Fatalf("a check before the lock was not caught in %d rounds", quotaBroken)
}

func TestSweepOneProcessNeverPassesACeiling(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	q := newQuotaRace(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), rng)
	q.teams = []quotaTeam{newQuotaRacer(q.db, rng, false)}
	q.exact(quotaRounds)
}
