package front_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	operators "ferry/internal/api/operator"
	secrets "ferry/internal/secret"
)

const webhooks = "/v2/integrator/webhooks"

// inbox is a server that takes webhooks.
type inbox struct {
	url string

	mu      sync.Mutex
	got     []*http.Request
	bodies  [][]byte
	refuses bool
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	b := &inbox{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.refuses {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		b.got, b.bodies = append(b.got, r), append(b.bodies, body)
	}))
	t.Cleanup(s.Close)
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	b.url = "http://localhost:" + at.Port() // answers hold no addresses
	return b
}

func (b *inbox) all() ([]*http.Request, [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got), slices.Clone(b.bodies)
}

func (b *inbox) refuse(yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuses = yes
}

// verified fails the test if a secret did not sign a request.
func verified(t *testing.T, secret string, r *http.Request, body []byte) {
	t.Helper()
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Verify(body, r.Header); err != nil {
		t.Errorf("%v: %v", err, r.Header)
	}
}

// hooked makes a webhook of a company.
func (s *stage) hooked(t *testing.T, c company, body string) (id, secret string) {
	t.Helper()
	a := s.do(t, shot{path: webhooks, body: body, header: withKey(c.Server.Text)})
	if a.status != 201 || !strings.HasPrefix(a.text("secret"), "whsec_") {
		t.Fatalf("no webhook: %d %s", a.status, a.body)
	}
	return a.text("webhook", "webhookId"), a.text("secret")
}

// list reads a member that is a list.
func (a reply) list(name string) []any {
	l, _ := a.field(name).([]any)
	return l
}

// What an integrator is told of its orders is what it may read, with the same numbers,
// signed, and without anything of its end users.
func TestWebhooksTellWhatHappensToOrders(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := staged(t, newRig(t, engine))
		box := newInbox(t)
		id, secret := s.hooked(t, s.a, `{"url":"`+box.url+`/x?token=1","description":"of the shop"}`)
		key := withKey(s.a.Server.Text)
		if a := s.do(t, shot{method: http.MethodPost, path: webhooks + "/" + id + "/test", header: key}); a.status != 200 || a.field("delivered") != true {
			t.Fatalf("the test: %d %s", a.status, a.body)
		}
		got, bodies := box.all()
		verified(t, secret, got[0], bodies[0])
		if !bytes.Contains(bodies[0], []byte(`"event":"webhook.test"`)) {
			t.Errorf("the test is %s", bodies[0])
		}
		m := s.order(t, s.a.Server.Text, eth(`,"refundAddress":"`+evmBack+`","clientReference":"invoice-7"`))
		s.order(t, s.b.Server.Text, eth(""))
		s.pay(t, m, "")
		s.until(t, m, "completed")
		var events []any
		s.patiently(t, "everything to be told", func() bool {
			events = s.do(t, shot{path: "/v2/integrator/events", header: key}).list("events")
			got, bodies = box.all()
			return len(events) >= 4 && len(bodies) == len(events)+1
		})
		for i, event := range events {
			verified(t, secret, got[i+1], bodies[i+1])
			var told any
			if err := json.Unmarshal(bodies[i+1], &told); err != nil {
				t.Fatal(err)
			}
			if a, b := fmt.Sprint(told), fmt.Sprint(event); a != b {
				t.Errorf("told\n%s\nand read\n%s", a, b)
			}
			fields := event.(map[string]any)
			if fields["seq"] != float64(i+1) || fields["type"] != "event" || fields["eventId"] != got[i+1].Header.Get("Webhook-Id") {
				t.Errorf("event %d is %v with id %s", i+1, fields, got[i+1].Header.Get("Webhook-Id"))
			}
			for what, text := range map[string]string{"session": m.session, "destination": evmTo, "refund address": evmBack, "subscription": "subscriptionId"} {
				if strings.Contains(strings.ToLower(string(bodies[i+1])), strings.ToLower(text)) {
					t.Errorf("the %s of an end user is told: %s", what, bodies[i+1])
				}
			}
			if at := literal(string(bodies[i+1])); at != "" {
				t.Errorf("the address %s is told", at)
			}
		}
		if last := events[len(events)-1].(map[string]any)["data"].(map[string]any)["order"].(map[string]any); last["status"] != "completed" || last["clientReference"] != "invoice-7" {
			t.Errorf("the order is %v", last)
		}
		s.holdsLog(t, id, key, len(events))
	})
}

// holdsLog reads the deliveries of a webhook page by page.
func (s *stage) holdsLog(t *testing.T, id string, key []string, n int) {
	t.Helper()
	s.patiently(t, "the last delivery to be written down", func() bool {
		l := s.do(t, shot{path: webhooks + "/" + id + "/deliveries", header: key}).list("deliveries")
		return len(l) > 0 && l[0].(map[string]any)["status"] == "delivered"
	})
	path, want := webhooks+"/"+id+"/deliveries?limit=2", n
	for next := any(0.0); next != nil; {
		a := s.do(t, shot{path: path, header: key})
		for _, d := range a.list("deliveries") {
			one := d.(map[string]any)
			if one["seq"] != float64(want) || one["status"] != "delivered" || one["httpStatus"] != 200.0 {
				t.Errorf("delivery %d is %v", want, one)
			}
			want--
		}
		if next = a.field("nextBefore"); next != nil {
			path = webhooks + "/" + id + fmt.Sprintf("/deliveries?limit=2&before=%d", int(next.(float64)))
		}
	}
	if want != 0 {
		t.Errorf("%d deliveries are missing", want)
	}
	a := s.do(t, shot{path: webhooks, header: key})
	if l := a.list("webhooks"); len(l) != 1 || l[0].(map[string]any)["status"] != "active" || bytes.Contains(a.body, []byte("whsec_")) {
		t.Errorf("the list is %s", a.body)
	}
}

func TestWebhooksAreChangedAndRemoved(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		box := newInbox(t)
		id, old := s.hooked(t, s.a, `{"url":"`+box.url+`/hidden?hidden","events":["order.created","order.held"]}`)
		key, post := withKey(s.a.Server.Text), func(what, body string) reply {
			t.Helper()
			return s.do(t, shot{method: http.MethodPost, path: webhooks + "/" + id + what, body: body, header: withKey(s.a.Server.Text)})
		}
		s.order(t, s.a.Server.Text, eth(""))
		wait(t, "the order to be told", func() bool { _, b := box.all(); return len(b) == 1 })
		a := post("/rotate", "{}")
		renewed := a.text("secret")
		if a.status != 200 || renewed == "" || renewed == old || a.text("webhook", "oldSecretEndsAt") == "" {
			t.Fatalf("rotated: %d %s", a.status, a.body)
		}
		if a := post("/replay", `{"after":0}`); a.status != 200 {
			t.Fatalf("replayed: %d %s", a.status, a.body)
		}
		wait(t, "the order to be told again", func() bool { _, b := box.all(); return len(b) == 2 })
		got, bodies := box.all()
		verified(t, old, got[0], bodies[0])
		verified(t, old, got[1], bodies[1])
		verified(t, renewed, got[1], bodies[1])
		if !bytes.Equal(bodies[0], bodies[1]) || got[0].Header.Get("Webhook-Id") != got[1].Header.Get("Webhook-Id") {
			t.Errorf("it is another the second time: %s %s", bodies[0], bodies[1])
		}
		if a := post("/rotate", `{"endOld":true}`); a.status != 200 || a.field("secret") != nil || a.field("webhook", "oldSecretEndsAt") != nil {
			t.Errorf("ended: %d %s", a.status, a.body)
		}
		box.refuse(true)
		if a := post("/test", ""); a.status != 200 || a.field("delivered") != false || a.field("httpStatus") != 418.0 || a.text("error") != "status" {
			t.Errorf("a test that fails: %d %s", a.status, a.body)
		}
		s.order(t, s.a.Server.Text, eth(""))
		wait(t, "the list to say that it fails", func() bool {
			l := s.do(t, shot{path: webhooks, header: key}).list("webhooks")
			return l[0].(map[string]any)["status"] == "failing"
		})
		office, err := operators.NewClient(s.Card.OperatorAPI, secrets.New(s.Card.OperatorToken))
		if err != nil {
			t.Fatal(err)
		}
		if seen, err := office.Webhooks(t.Context(), string(s.a.ID)); err != nil || len(seen.Webhooks) != 1 || seen.Webhooks[0].Status != "failing" ||
			seen.Webhooks[0].LastStatus != 418 || strings.Contains(fmt.Sprint(seen), "hidden") || !strings.HasPrefix(seen.Webhooks[0].Host, "localhost:") {
			t.Errorf("operators see %+v, %v", seen, err)
		}
		for range 2 {
			a := s.do(t, shot{method: http.MethodDelete, path: webhooks + "/" + id, header: withKey(s.b.Server.Text)})
			if a.status != 404 || a.code() != "webhook_not_found" {
				t.Errorf("another's: %d %s", a.status, a.body)
			}
		}
		if a := s.do(t, shot{method: http.MethodDelete, path: webhooks + "/" + id, header: key}); a.status != 204 || len(a.body) > 0 {
			t.Errorf("removed: %d %s", a.status, a.body)
		}
		if a := post("/rotate", "{}"); a.code() != "webhook_not_found" {
			t.Errorf("of a removed one: %d %s", a.status, a.body)
		}
	})
}

func TestWhatIsWrongWithAWebhookIsNamed(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		post := func(path, body string) shot { return shot{path: path, body: body, header: withKey(s.a.Server.Text)} }
		none := webhooks + "/whk_none"
		s.try(t, []tried{
			{name: "no url", q: post(webhooks, `{}`), status: 400, code: "missing_field", about: []string{"/url missing_field"}},
			{name: "no TLS", q: post(webhooks, `{"url":"http://example.com/"}`), status: 400, code: "invalid_field", about: []string{"/url invalid_field"}},
			{name: "an inner address", q: post(webhooks, `{"url":"https://169.254.169.254/"}`), status: 400, code: "invalid_field", about: []string{"/url invalid_field"}},
			{name: "too long", q: post(webhooks, `{"url":"https://example.com/`+strings.Repeat("x", 2048)+`"}`), status: 400, code: "invalid_field", about: []string{"/url invalid_field"}},
			{name: "no such event", q: post(webhooks, `{"url":"https://example.com/","events":["order.created","order.eaten"]}`), status: 400, code: "invalid_field", about: []string{"/events/1 invalid_field"}},
			{name: "a long description", q: post(webhooks, `{"url":"https://example.com/","description":"`+strings.Repeat("x", 201)+`"}`), status: 400, code: "invalid_field", about: []string{"/description invalid_field"}},
			{name: "a secret of one's own", q: post(webhooks, `{"url":"https://example.com/","secret":"whsec_x"}`), status: 400, code: "unknown_field", about: []string{"/secret unknown_field"}},
			{name: "a description that nobody can see", q: post(webhooks, `{"url":"https://example.com/","description":"a\u0000b"}`), status: 400, code: "invalid_field", about: []string{"/description invalid_field"}},
			{name: "an id that is none", q: post(webhooks+"/whk_%00%ff/rotate", `{}`), status: 404, code: "webhook_not_found"},
			{name: "no number", q: post(none+"/replay", `{}`), status: 400, code: "missing_field", about: []string{"/after missing_field"}},
			{name: "below zero", q: post(none+"/replay", `{"after":-1}`), status: 400, code: "invalid_field", about: []string{"/after invalid_field"}},
			{name: "none to replay", q: post(none+"/replay", `{"after":1}`), status: 404, code: "webhook_not_found"},
			{name: "none to rotate", q: post(none+"/rotate", `{}`), status: 404, code: "webhook_not_found"},
			{name: "none to test", q: post(none+"/test", `{}`), status: 404, code: "webhook_not_found"},
			{name: "none to read", q: shot{path: none + "/deliveries", header: withKey(s.a.Server.Text)}, status: 404, code: "webhook_not_found"},
			{name: "a long page", q: shot{path: none + "/deliveries?limit=501", header: withKey(s.a.Server.Text)}, status: 400, code: "invalid_field", about: []string{"?limit invalid_field"}},
			{name: "events before the first", q: shot{path: "/v2/integrator/events?after=-1", header: withKey(s.a.Server.Text)}, status: 400, code: "invalid_field", about: []string{"?after invalid_field"}},
		})
		for range 10 {
			s.hooked(t, s.b, `{"url":"https://example.com/","events":["*"]}`)
		}
		a := s.do(t, shot{path: webhooks, body: `{"url":"https://example.com/"}`, header: withKey(s.b.Server.Text)})
		if a.status != 409 || a.code() != "too_many_webhooks" {
			t.Errorf("one too many: %d %s", a.status, a.body)
		}
	})
}
