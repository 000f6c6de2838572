package dev

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
	"ferry/internal/testseed"
)

// callers is how many ask for orders at once. A kill leaves at most as many
// requests without an answer.
const callers = 48

// patience bounds every wait of these tests; none of them should come near it.
const patience = 2 * time.Minute

func TestSweepNoAnsweredOrderIsLostToAKillOnPostgres(t *testing.T) {
	t.Parallel()
	killed(t, pgtest.URL(t))
}

func TestSweepNoAnsweredOrderIsLostToAKillOnSQLite(t *testing.T) {
	t.Parallel()
	killed(t, "sqlite:"+filepath.Join(t.TempDir(), "ferry.db"))
}

// killed kills the service again and again while everybody asks for orders, and
// holds each next one to every answer that was read.
func killed(t *testing.T, url string) {
	rng := testseed.Rand(t)
	l := &load{t: t, url: url, answered: map[string]answer{}}
	for range kills {
		l.round(start(t, url), 1+rng.IntN(400))
		l.look()
	}
	s := start(t, url)
	l.reach(s)
	l.repeat(s)
	for _, a := range l.answered {
		l.opens(s, a)
	}
	s.stop()
	l.look()
	l.reserved()
	t.Logf("%d kills: %d orders were answered, %d requests were repeated, %d of %d that had no answer and can not be repeated were written",
		kills, len(l.answered), l.repeated, l.written, l.silent)
}

// answer is an order as the one who asked for it was told.
type answer struct {
	asked   request
	OrderID string `json:"orderId"`
	Session string `json:"sessionId"`
	Funding struct {
		To string `json:"depositAddress"`
	} `json:"funding"`
	ExpiresAt string `json:"expiresAt"`
}

// load is everybody who asks for orders, and what they were told.
type load struct {
	t    *testing.T
	url  string
	key  string // the first service issued it, and it opens every later one
	next atomic.Int64

	mu         sync.Mutex
	answered   map[string]answer // by order
	latest     []answer          // since the last start
	unanswered []request         // that the last kill left, and may be repeated
	silent     int               // all that were left without an answer, and can not be repeated
	written    int               // orders of those that are there
	repeated   int
}

// round checks what the last kill left, and then kills the service after it has
// answered so many, at a moment when everybody asks.
func (l *load) round(s *service, after int) {
	l.t.Helper()
	l.reach(s)
	l.repeat(s)
	for _, a := range l.latest {
		l.opens(s, a)
	}
	l.latest = nil
	var left atomic.Int64
	left.Store(int64(after))
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for l.ask(s) {
				if left.Add(-1) == 0 {
					s.kill()
				}
			}
		})
	}
	wg.Wait()
	s.wasKilled()
	if len(l.latest) < after {
		l.t.Fatalf("the service ended after %d of %d answers", len(l.latest), after)
	}
}

// ask asks for one order. It reports whether the service still answers.
func (l *load) ask(s *service) bool {
	q := newRequest(l.next.Add(1), l.key)
	a, err := s.create(q)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.keep(a)
		return true
	}
	if !s.dying.Load() {
		l.t.Errorf("request %d: %v", q.n, err)
	}
	if q.repeat == "" {
		l.silent++
	} else {
		l.unanswered = append(l.unanswered, q)
	}
	return false
}

func (l *load) keep(a answer) {
	if before, known := l.answered[a.OrderID]; known {
		l.t.Errorf("requests %d and %d have the same order %s", before.asked.n, a.asked.n, a.OrderID)
	}
	l.answered[a.OrderID] = a
	l.latest = append(l.latest, a)
}

// reach waits until the key opens the service.
func (l *load) reach(s *service) {
	l.t.Helper()
	l.key = cmp.Or(l.key, s.key)
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		code, body, err := s.call(http.MethodGet, "/v2/integrator/me", request{key: l.key}, "")
		if err == nil && code == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			l.t.Fatalf("the key does not open the service: %d %s, %v", code, body, err)
		}
	}
}

// repeat sends again what was left without an answer: it makes one order, whether
// or not the first try had. What was answered is answered the same again.
func (l *load) repeat(s *service) {
	l.t.Helper()
	for _, q := range l.unanswered {
		first, err := s.create(q)
		if err != nil {
			l.t.Fatalf("request %d again: %v", q.n, err)
		}
		l.keep(first)
		l.same(s, first)
	}
	for i, a := range l.latest {
		if a.asked.repeat != "" && i%7 == 0 {
			l.same(s, a)
		}
	}
	l.unanswered = nil
}

func (l *load) same(s *service, a answer) {
	l.t.Helper()
	l.repeated++
	if again, err := s.create(a.asked); err != nil || again != a {
		l.t.Errorf("request %d was answered with %+v, and when repeated with %+v, %v", a.asked.n, a, again, err)
	}
}

// opens holds the service to an answer: the order is there, it is the same, and its
// session opens it.
func (l *load) opens(s *service, a answer) {
	l.t.Helper()
	code, body, err := s.call(http.MethodGet, "/v2/orders/"+a.OrderID, request{key: a.asked.key, session: a.Session}, "")
	var now answer
	if err == nil && code == http.StatusOK {
		err = json.Unmarshal(body, &now)
	}
	now.asked, now.Session = a.asked, a.Session // which is never shown again
	if err != nil || code != http.StatusOK || now != a {
		l.t.Errorf("order %s was answered to request %d, and now it is: %d %s, %v", a.OrderID, a.asked.n, code, body, err)
	}
}

// look opens the database while no service runs and holds it to the answers.
func (l *load) look() {
	t := l.t
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: l.url})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Audit(t.Context()); err != nil { // the books told from scratch, and the balances
		t.Error(err)
	}
	head, err := db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	entries, err := db.Since(t.Context(), 0, int(head)+100)
	if err != nil || int64(len(entries)) < head { // the server may still end what the service had sent
		t.Fatalf("the feed has %d entries, its head is %d: %v", len(entries), head, err)
	}
	versions := map[order.ID]int64{}
	for i, e := range entries {
		if e.Seq != int64(i+1) || e.Version != versions[e.Order]+1 {
			t.Fatalf("at place %d the feed has %+v after version %d", i+1, e, versions[e.Order])
		}
		versions[e.Order] = e.Version
	}
	for id, a := range l.answered {
		if versions[order.ID(id)] == 0 {
			t.Errorf("order %s was answered to request %d and is lost", id, a.asked.n)
		}
	}
	l.written = len(versions) - len(l.answered)
	// Nothing is there that nobody asked for.
	if most := len(l.answered) + len(l.unanswered) + l.silent; len(versions) > most {
		t.Errorf("there are %d orders, and %d were asked for", len(versions), most)
	}
	if halts, err := db.Halts(t.Context()); err != nil || len(halts) > 0 {
		t.Errorf("chains do not go on: %v, %v", halts, err)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// reserved holds the books to the orders: nobody has paid, so each order has one
// reservation, and nothing else is reserved.
func (l *load) reserved() {
	t := l.t
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: l.url})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	books, err := db.Books(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if orders := len(l.answered) + l.written; len(books.Reservations) != orders {
		t.Errorf("%d orders are open and %d payouts are reserved", orders, len(books.Reservations))
	}
}

// request is what somebody asks for.
type request struct {
	n                    int64
	key, session, repeat string
	body                 string
}

// newRequest is one of several kinds: with a key or without, with a name that lets
// it be repeated or without, with a session of the caller's own or without.
func newRequest(n int64, key string) request {
	pairs := []string{
		`"fromChainId":"ethereum","fromToken":"native","amount":"10000000000000000","toChainId":"solana","toToken":"native","toAddress":"7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"`,
		`"fromChainId":"solana","fromToken":"native","amount":"200000000","toChainId":"ethereum","toToken":"native","toAddress":"0x52908400098527886E0F7030069857D2E4169EE7"`,
		`"fromChainId":"solana","fromToken":"native","amount":"1000000000","toChainId":"ethereum","toToken":"` + EthereumUSD.Ref + `","toAddress":"0x52908400098527886E0F7030069857D2E4169EE7"`,
	}
	q := request{n: n, body: pairs[n%int64(len(pairs))]}
	if n%4 > 0 {
		q.key = key
	}
	if n%2 > 0 {
		q.repeat = fmt.Sprintf("request-number-%032d", n)
	}
	if n%4 == 3 {
		q.body += fmt.Sprintf(`,"sessionId":"7d444840-9dc0-41b3-8f5b-%012d"`, n)
	}
	q.body = "{" + q.body + "}"
	return q
}
