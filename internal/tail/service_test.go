package tail_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/api/operator"
	"ferry/internal/dev"
	"ferry/internal/dev/devtest"
	"ferry/internal/secret"
	"ferry/internal/tail"
)

// made is an order as whoever made it was told.
type made struct {
	ID      string `json:"orderId"`
	Session string `json:"sessionId"`
}

// to is where the money of the tests goes.
const to = "7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK"

// create makes an order, with a key or without.
func create(t *testing.T, d *dev.Dev, key string) (o made) {
	t.Helper()
	body := `{"fromChainId":"ethereum","fromToken":"native","toChainId":"solana","toToken":"` + dev.SolanaUSD.Ref + `",
"amount":"10000000000000000","toAddress":"` + to + `","refundAddress":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}`
	wait(t, "an order is made", func() bool { // a new key takes a moment to be known
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.Card.API+"/v2/orders", bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if key != "" {
			r.Header.Set("X-Integrator-Key", key)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusCreated && json.NewDecoder(res.Body).Decode(&o) == nil
	})
	return o
}

// wait waits for a condition.
func wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); !holds(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// sight is what is looked at of an event.
type sight struct {
	Seq     int64  `json:"seq"`
	EventID string `json:"eventId"`
	Event   string `json:"event"`
	Data    struct {
		OrderID string `json:"orderId"`
		To      string `json:"to"`
		Version int64  `json:"version"`
	} `json:"data"`
}

// seen is a tail that runs, and what it showed.
type seen struct {
	mu    sync.Mutex
	all   []sight
	raw   []string
	ended chan error
	stop  context.CancelFunc
	tail  *tail.Tail
}

func follow(t *testing.T, cfg tail.Config) *seen {
	t.Helper()
	s := &seen{ended: make(chan error, 1)}
	cfg.Show = func(i tail.Item) error {
		var one sight
		if err := json.Unmarshal(i.Text, &one); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all, s.raw = append(s.all, one), append(s.raw, string(i.Text))
		return nil
	}
	cfg.First = 10 * time.Millisecond
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.tail = stop, tail.New(cfg)
	go func() { s.ended <- s.tail.Run(ctx) }()
	t.Cleanup(stop)
	return s
}

func (s *seen) events() []sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]sight(nil), s.all...)
}

// end waits until it ended by itself.
func (s *seen) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
		return nil
	}
}

func (s *seen) completed(id string) bool {
	for _, e := range s.events() {
		if e.Data.OrderID == id && e.Data.To == "completed" {
			return true
		}
	}
	return false
}

// numbered holds numbers to have no gap.
func numbered(t *testing.T, all []sight, from int64) {
	t.Helper()
	for i, e := range all {
		if e.Seq != from+int64(i) {
			t.Fatalf("event %d has number %d, not %d", i, e.Seq, from+int64(i))
		}
	}
}

func socketOf(t *testing.T, d *dev.Dev) *tail.Socket {
	t.Helper()
	s, err := tail.NewSocket(d.Card.API)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func officeOf(t *testing.T, d *dev.Dev) *operator.Client {
	t.Helper()
	c, err := operator.NewClient(d.Card.OperatorAPI, secret.New(d.Card.OperatorToken))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEverybodySeesTheSameOrderToItsEnd(t *testing.T) {
	t.Parallel()
	d := devtest.Running(t)
	keyed, office := socketOf(t, d), officeOf(t, d)
	keyed.Key = secret.New(d.Card.ServerKey)
	zero := int64(0)
	mine := create(t, d, d.Card.ServerKey)
	other := create(t, d, "")
	bySession, byAddress := socketOf(t, d), socketOf(t, d)
	bySession.Order, bySession.Session = mine.ID, secret.New(mine.Session)
	byAddress.Order, byAddress.Verify = mine.ID, to
	all := map[string]*seen{
		"session":    follow(t, tail.Config{Source: bySession, From: tail.From{After: &zero}}),
		"address":    follow(t, tail.Config{Source: byAddress}), // as it is, and what follows
		"operator":   follow(t, tail.Config{Source: tail.Office{Client: office, Order: mine.ID}, From: tail.From{After: &zero}}),
		"integrator": follow(t, tail.Config{Source: keyed, From: tail.From{After: &zero}, Dense: true}),
		"their":      follow(t, tail.Config{Source: tail.Office{Client: office, Integrator: d.Card.IntegratorID}, From: tail.From{After: &zero}}),
		"everything": follow(t, tail.Config{Source: tail.Office{Client: office}, From: tail.From{Last: 2}, Dense: true}),
	}
	wait(t, "all listen", func() bool {
		for _, s := range all {
			if len(s.events()) == 0 {
				return false
			}
		}
		return true
	})
	for _, o := range []made{mine, other} {
		if _, err := dev.Pay(t.Context(), d.Card, o.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"session", "address", "operator"} { // they end by themselves
		if err := all[name].end(t); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !all[name].completed(mine.ID) {
			t.Errorf("%s: the end was not shown", name)
		}
	}
	for _, name := range []string{"integrator", "their", "everything"} {
		wait(t, name+" sees the end", func() bool { return all[name].completed(mine.ID) })
	}
	wait(t, "the other order is seen", func() bool { return all["everything"].completed(other.ID) })
	for _, name := range []string{"session", "address", "integrator", "everything"} {
		numbered(t, all[name].events(), 1)
	}
	for _, e := range append(all["integrator"].events(), all["their"].events()...) {
		if e.Data.OrderID != mine.ID {
			t.Errorf("an integrator sees order %s", e.Data.OrderID)
		}
	}
	same := map[int64]string{} // by version
	for name, s := range all {
		for _, e := range s.events() {
			if e.Data.OrderID != mine.ID || e.EventID == "" {
				continue
			}
			if was, known := same[e.Data.Version]; known && was != e.EventID {
				t.Errorf("%s: version %d is event %s, and %s elsewhere", name, e.Data.Version, e.EventID, was)
			}
			same[e.Data.Version] = e.EventID
		}
		s.mu.Lock()
		for _, text := range s.raw {
			for _, secret := range []string{mine.Session, d.Card.ServerKey, d.Card.OperatorToken} {
				if strings.Contains(text, secret) {
					t.Errorf("%s: a secret is in what is shown", name)
				}
			}
		}
		s.mu.Unlock()
	}
}

func TestATailOfAnOrderAtItsEndEnds(t *testing.T) {
	t.Parallel()
	d := devtest.Running(t)
	o := create(t, d, "")
	if _, err := dev.Pay(t.Context(), d.Card, o.ID, ""); err != nil {
		t.Fatal(err)
	}
	own := socketOf(t, d)
	own.Order, own.Session = o.ID, secret.New(o.Session)
	whole := follow(t, tail.Config{Source: own})
	if err := whole.end(t); err != nil {
		t.Fatal(err)
	}
	last := whole.events()[len(whole.events())-1].Seq
	office := tail.Office{Client: officeOf(t, d), Order: o.ID}
	for name, c := range map[string]struct {
		source tail.Source
		from   tail.From
		shows  int64
	}{
		"nothing is missing":            {own, tail.From{After: &last}, 0},
		"as it is":                      {own, tail.From{}, 1},
		"the last two":                  {own, tail.From{Last: 2}, 2},
		"more than there are":           {own, tail.From{Last: 1000}, last},
		"for operators, nothing":        {office, tail.From{}, 0},
		"for operators, the last two":   {office, tail.From{Last: 2}, 2},
		"for operators, more than all":  {office, tail.From{Last: 1000}, last},
		"for operators, from the start": {office, tail.From{After: new(int64)}, last},
	} {
		s := follow(t, tail.Config{Source: c.source, From: c.from})
		if err := s.end(t); err != nil || int64(len(s.events())) != c.shows {
			t.Errorf("%s: %d events, not %d: %v", name, len(s.events()), c.shows, err)
		}
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	d := devtest.Running(t)
	one, two := create(t, d, d.Card.ServerKey), create(t, d, "")
	with := func(change func(*tail.Socket)) tail.Source {
		s := socketOf(t, d)
		change(s)
		return s
	}
	far := int64(1000)
	office := officeOf(t, d)
	for name, c := range map[string]struct {
		source tail.Source
		from   tail.From
		code   string
		says   string
	}{
		"another session":  {with(func(s *tail.Socket) { s.Order, s.Session = one.ID, secret.New(two.Session) }), tail.From{}, "order_not_found", "--verify"},
		"no order":         {with(func(s *tail.Socket) { s.Order, s.Session = "ord_0", secret.New(two.Session) }), tail.From{}, "order_not_found", "Check the order's id"},
		"another address":  {with(func(s *tail.Socket) { s.Order, s.Verify = one.ID, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" }), tail.From{}, "order_not_found", ""},
		"a wrong key":      {with(func(s *tail.Socket) { s.Key = secret.New("sk_live_wrong") }), tail.From{}, "invalid_key", "FERRY_INTEGRATOR_KEY"},
		"a public key":     {with(func(s *tail.Socket) { s.Key = secret.New(d.Card.PublicKey) }), tail.From{}, "server_key_required", "sk_"},
		"no key":           {with(func(*tail.Socket) {}), tail.From{}, "key_required", "--key-file"},
		"never given":      {with(func(s *tail.Socket) { s.Key = secret.New(d.Card.ServerKey) }), tail.From{After: &far}, "unknown_seq", "1000 was never given"},
		"never of order":   {with(func(s *tail.Socket) { s.Order, s.Session = one.ID, secret.New(one.Session) }), tail.From{After: &far}, "unknown_seq", ""},
		"never to the log": {tail.Office{Client: office}, tail.From{After: &far}, "unknown_seq", "the log ends with number"},
		"no such order":    {tail.Office{Client: office, Order: "ord_0"}, tail.From{}, "order_not_found", "look up its id"},
		"no integrator":    {tail.Office{Client: office, Integrator: "int_0"}, tail.From{}, "integrator_not_found", "list the integrators"},
	} {
		err := follow(t, tail.Config{Source: c.source, From: c.from}).end(t)
		no, is := errors.AsType[*tail.Refusal](err)
		if !is || no.Code != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
