package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ferry/internal/chain"
	"ferry/internal/feed"
	"ferry/internal/hooks"
	"ferry/internal/house"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/order"
	"ferry/internal/secret"
)

// words are a plain wording: the name of the event is that of the order.
type words struct{}

func (words) Name(e *feed.Entry) string { return "order." + e.Event }
func (words) Names() []string {
	return []string{"order.created", "order.deposit_seen", "order.cancelled"}
}

func (words) Event(e *feed.Entry) (string, []byte, error) {
	return fmt.Sprintf("evt_%s_%d", e.Order, e.Version), fmt.Appendf(nil, `{"seq":%d,"orderId":%q,"version":%d}`, e.Number, e.Order, e.Version), nil
}

func (words) Test(id hooks.ID, _ time.Time) (string, []byte, error) {
	return "evt_test", []byte(`{"event":"webhook.test"}`), nil
}

// heard is one post that arrived.
type heard struct {
	hooks.Message
	seq, version int64
	order        string
	at           time.Time
}

// world receives posts, by the path of their addresses.
type world struct {
	t *testing.T

	mu     sync.Mutex
	posts  map[string][]heard
	flying map[string]bool // endpoint and order
	answer func(ctx context.Context, m hooks.Message) (int, hooks.Trouble)
}

// Post implements hooks.Poster.
func (w *world) Post(ctx context.Context, m hooks.Message) (int, hooks.Trouble) {
	var body struct {
		Seq, Version int64
		OrderID      string
	}
	if err := json.Unmarshal(m.Body, &body); err != nil {
		w.t.Error(err)
	}
	key := m.URL + " " + body.OrderID
	w.mu.Lock()
	if w.flying[key] {
		w.t.Errorf("two events of %s at once", key)
	}
	w.flying[key] = true
	w.posts[m.URL] = append(w.posts[m.URL], heard{m, body.Seq, body.Version, body.OrderID, time.Now()})
	answer := w.answer
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.flying, key)
	}()
	if answer == nil {
		return 200, ""
	}
	return answer(ctx, m)
}

func (w *world) at(url string) []heard {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]heard(nil), w.posts[url]...)
}

func (w *world) set(answer func(ctx context.Context, m hooks.Message) (int, hooks.Trouble)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// rig is hooks over a real store.
type rig struct {
	*testing.T
	*world
	house *house.House
	hooks *hooks.Hooks
	stop  func()
	made  int
}

const acme integrator.ID = "int_acme"

// newRig makes a rig in a bubble of synctest, whose clock runs only while everybody waits.
func newRig(t *testing.T, cfg hooks.Config) *rig {
	t.Helper()
	h, err := house.New(t.Context(), house.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, house: h, world: &world{t: t, posts: map[string][]heard{}, flying: map[string]bool{}}}
	r.company(acme)
	t.Cleanup(func() {
		if r.stop != nil {
			r.stop()
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	r.hooks, err = hooks.New(cfg, secret.New(strings.Repeat("k", 32)), hooks.Ports{
		Store: h.DB, Log: h.DB, Wording: words{}, Poster: r.world, Now: time.Now, NewID: office.NewID,
		Trouble: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) company(id integrator.ID) {
	r.Helper()
	err := r.house.DB.CreateIntegrator(r.Context(), integrator.Integrator{
		ID: id, Name: string(id), Status: integrator.Active, Version: 1, CreatedAt: time.Now(), UpdatedAt: time.Now(), Limits: integrator.DefaultLimits,
		Window: integrator.DefaultWindow, AttributionDays: 30,
	}, office.Entry{At: time.Now(), By: "test", Action: office.CreatedIntegrator, Target: string(id), Before: "{}", After: "{}"})
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) status(id integrator.ID, s integrator.Status) {
	r.Helper()
	i, err := r.house.DB.Integrator(r.Context(), id)
	if err == nil {
		i.Status = s
		err = r.house.DB.ChangeIntegrator(r.Context(), i, office.Entry{At: time.Now(), By: "test", Action: office.ChangedIntegrator, Target: string(id), Before: "{}", After: "{}"})
	}
	if err != nil {
		r.Fatal(err)
	}
}

// run runs the hooks until stop.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.hooks.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.Error(err)
		}
	})
}

// hook makes an endpoint.
func (r *rig) hook(whose integrator.ID, url string, events ...string) (hooks.ID, string) {
	r.Helper()
	e, s, err := r.hooks.Create(r.Context(), whose, hooks.Wish{URL: url, Events: events})
	if err != nil {
		r.Fatal(err)
	}
	return e.ID, s.Reveal()
}

// order makes an order, which is an event.
func (r *rig) order(whose integrator.ID) order.ID {
	r.Helper()
	r.made++
	id := order.ID(fmt.Sprintf("ord_%05d", r.made))
	l := r.house
	q, err := l.Terms("quo_1", house.EVMUSD, house.Sol, l.Net(house.EVM).Config().Dust, house.Start)
	if err != nil {
		r.Fatal(err)
	}
	q.Integrator = whose
	c, err := order.New(l.Ask(id, q, l.Net(house.SOL).User("to"), l.Net(house.EVM).User("back")), house.Start)
	if err == nil {
		err = l.DB.Create(context.Background(), c)
	}
	if err != nil {
		r.Fatal(err)
	}
	return id
}

// move makes another event of an order.
func (r *rig) move(id order.ID, n int) {
	r.Helper()
	_, err := r.house.DB.Move(context.Background(), id, func(o order.Order) (order.Change, error) {
		d := chain.Deposit{ID: chain.DepositID(fmt.Sprintf("%s:%d", id, n)), To: o.DepositTo, Asset: o.Quote.Give, Amount: o.Quote.In, Tx: chain.TxID(fmt.Sprintf("tx-%s-%d", id, n))}
		return o.Apply(order.DepositSeen{Deposit: d, Sighting: n + 1, At: house.Start}, house.Start)
	})
	if err != nil {
		r.Fatal(err)
	}
}

// settle waits until everybody waits, for so long.
func pass(d time.Duration) {
	time.Sleep(d) // in a bubble: the clock jumps when everybody waits
	synctest.Wait()
}

// state is an endpoint as it is.
func (r *rig) state(id hooks.ID) hooks.Endpoint {
	r.Helper()
	e, err := r.house.DB.Hook(r.Context(), acme, id)
	if err != nil {
		r.Fatal(err)
	}
	return e
}

func (r *rig) deliveries(id hooks.ID) []hooks.Delivery {
	r.Helper()
	all, err := r.hooks.Deliveries(r.Context(), acme, id, 1<<62, 1000)
	if err != nil {
		r.Fatal(err)
	}
	return all
}

// seqs are the numbers of posts.
func seqs(all []heard) (ns []int64) {
	for _, h := range all {
		ns = append(ns, h.seq)
	}
	return ns
}

// verify holds a message to what a stranger's library says of its signatures.
func verify(m hooks.Message, secretText string, from []secret.Text) error {
	w, err := standardwebhooks.NewWebhook(secretText)
	if err != nil {
		return err
	}
	h := http.Header{}
	h.Set(standardwebhooks.HeaderWebhookID, m.ID)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(m.At.Unix(), 10))
	var all []string
	for _, s := range from {
		one, err := standardwebhooks.NewWebhook(s.Reveal())
		if err != nil {
			return err
		}
		signature, err := one.Sign(m.ID, m.At, m.Body)
		if err != nil {
			return err
		}
		all = append(all, signature)
	}
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(all, " "))
	return errors.Join(w.VerifyIgnoringTimestamp(bytes.Clone(m.Body), h))
}
