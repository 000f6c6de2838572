package front_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/store/pgtest"
)

// book is everything that was logged.
type book struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *book) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *book) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.text.Bytes())
}

// canaries are secrets by where they were planted.
type canaries struct {
	*stage
	planted map[string]string
	echoed  map[string]bool // what the caller may be told back, and what may be kept
	n       int
}

// canary makes a text that is found again wherever it turns up.
func (c *canaries) canary(where string) string {
	c.n++
	text := "CANARY" + string(rune('A'+c.n/26)) + string(rune('A'+c.n%26)) + "7f3a9c51d2e84b60"
	c.planted[where] = text
	return text
}

// shoot sends a request whose refusal, if it is one, must not repeat a secret.
func (c *canaries) shoot(t *testing.T, q shot) reply {
	t.Helper()
	r := q.request()
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	answer := c.send(t, r.Method, c.text(r))
	a := reply{answer.Status, answer.Header, answer.Body}
	if a.status < 400 {
		return a
	}
	if a.header.Get("X-Request-Id") == "" && !strings.Contains(q.path, "%zz") {
		t.Fatalf("the door did not see %s %s: %d", r.Method, r.Path, a.status)
	}
	for where, secret := range c.planted {
		if !c.echoed[where] && holds(a.body, secret) {
			t.Errorf("A66 a refusal repeats the %s: %d %s", where, a.status, a.body)
		}
		for name, values := range a.header {
			if holds([]byte(strings.Join(values, " ")), secret) {
				t.Errorf("A66 the header %s of a refusal repeats the %s", name, where)
			}
		}
	}
	return a
}

// holds reports whether a text has a secret in any form that we can think of.
func holds(text []byte, secret string) bool {
	forms := [][]byte{[]byte(secret), []byte(hex.EncodeToString([]byte(secret))), []byte(base64.StdEncoding.EncodeToString([]byte(secret))), []byte(url.QueryEscape(secret))}
	if body, ok := strings.CutPrefix(secret, "ses_"); ok {
		if raw, err := base64.RawURLEncoding.DecodeString(body); err == nil {
			forms = append(forms, raw, []byte(hex.EncodeToString(raw)))
		}
	}
	for _, form := range forms {
		if bytes.Contains(text, form) {
			return true
		}
	}
	return false
}

func TestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		logged := &book{}
		dir, address := t.TempDir(), ""
		database := "sqlite:" + filepath.Join(dir, "canary.db")
		const password = "CANARYPASSWORD5d1c0b9a"
		if engine == overPostgres {
			address = pgtest.URL(t)
			database = address + "&password=" + password
		}
		c := &canaries{planted: map[string]string{}, echoed: map[string]bool{}}
		c.stage = staged(t, newRig(t, engine, setup{database: database, change: func(f *front.Config) {
			f.Log = slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
		}}))
		if engine == overPostgres {
			c.planted["password of the database"] = password
		}
		kept := c.plantEverywhere(t)
		var dump []byte
		var err error
		if engine == overPostgres {
			if dump, err = pgtest.Dump(t.Context(), address); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.stop(); err != nil {
			t.Error(err)
		}
		if engine == overSQLite {
			dump = filesOf(t, dir)
		}
		c.search(t, logged.bytes(), dump, kept)
	})
}

// filesOf are the bytes of all files of a folder.
func filesOf(t *testing.T, dir string) (all []byte) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}

// search looks for every canary in the log and in the database.
func (c *canaries) search(t *testing.T, logged, dump []byte, kept string) {
	t.Helper()
	if !bytes.Contains(logged, []byte("msg=request")) || !bytes.Contains(logged, []byte("route=/v2/orders")) {
		t.Fatal("the log has no requests: nothing was searched")
	}
	if !bytes.Contains(dump, []byte(kept)) {
		t.Fatal("the database has no reference of an order: nothing was searched")
	}
	for where, secret := range c.planted {
		if holds(logged, secret) {
			t.Errorf("C02 the log holds the %s", where)
		}
		if secret != kept && !c.echoed[where] && holds(dump, secret) {
			t.Errorf("C01 the database holds the %s", where)
		}
	}
}

// plantEverywhere sends secrets in every place that a caller can put one, through good
// requests and bad ones. It gives back the one that is meant to be kept.
func (c *canaries) plantEverywhere(t *testing.T) string {
	t.Helper()
	c.plantKeys(t)
	c.plantURLs(t)
	kept := c.plantBodies(t)
	c.plantAddresses(t)
	c.plantOperators(t)
	return kept
}

// plantKeys: keys that are good, unknown, malformed and in wrong places.
func (c *canaries) plantKeys(t *testing.T) {
	t.Helper()
	for name, k := range map[string]string{"server key": c.a.Server.Text, "public key": c.a.Public.Text, "other server key": c.b.Server.Text} {
		c.planted[name] = k
		for _, header := range []string{"X-Integrator-Key", "X-API-Key"} {
			c.shoot(t, shot{path: "/v2/chains", header: []string{header, k}})
			c.shoot(t, shot{path: "/v2/chains", header: []string{header, k + "x"}})
		}
		c.shoot(t, shot{path: "/v2/chains?X-Integrator-Key=" + k})
		c.shoot(t, shot{path: "/v2/chains?foo=" + k})
		c.shoot(t, shot{path: "/v2/" + k})
		c.shoot(t, shot{path: "/v2/orders/" + k})
		c.shoot(t, shot{path: "/v2/orders", body: `{"toAddress":"` + k + `"}`})
		c.shoot(t, shot{path: "/v2/chains", header: []string{"Authorization", "Bearer " + k, "Cookie", "key=" + k, "User-Agent", k, "Referer", "https://x/?k=" + k}})
	}
	revoked := c.issue(t, c.a.ID, office.NewKey{Kind: integrator.Server, Requests: new(int64)})
	c.known(t, revoked)
	c.planted["revoked key"] = revoked.Text
	if _, err := c.Front.Office.RevokeKey(t.Context(), revoked.ID, operator); err != nil {
		t.Fatal(err)
	}
	c.settled(t)
	if a := c.shoot(t, shot{path: "/v2/chains", header: withKey(revoked.Text)}); a.status != 401 {
		t.Errorf("a revoked key: %d %s", a.status, a.body)
	}
	for _, path := range []string{"/v2/integrator/me", "/v2/integrator/orders"} {
		for _, k := range []string{c.a.Server.Text, c.a.Public.Text, c.canary("made-up key of " + path)} {
			c.shoot(t, shot{path: path, header: withKey(k)})
		}
	}
}

// plantURLs: secrets in queries and paths.
func (c *canaries) plantURLs(t *testing.T) {
	t.Helper()
	for _, name := range []string{"X-Integrator-Key", "apiKey", "token", "key", "sessionId", "session", "verify", "cursor", "search", "limit", "nothing"} {
		for _, path := range []string{"/v2/chains", "/v2/tokens", "/v2/orders", "/v2/orders/" + nobodysOrder, "/v2/orders/" + nobodysOrder + "/events", "/v2/integrator/orders", "/v2/health", "/v2/stats/timeseries", "/v2/activity"} {
			c.shoot(t, shot{path: path + "?" + name + "=" + c.canary("query "+name+" of "+path), header: withKey(c.a.Server.Text)})
		}
	}
	c.shoot(t, shot{path: "/v2/orders/" + c.canary("path")})
	c.shoot(t, shot{path: "/" + c.canary("path of nothing")})
	c.shoot(t, shot{path: "/v2/tokens/ethereum/" + c.canary("path of a token")})
	c.shoot(t, shot{path: "/v2/points/accounts/" + c.canary("path of an account")})
	c.planted["address whose points are asked for"], c.echoed["address whose points are asked for"] = evmTokenless, true
	c.shoot(t, shot{path: "/v2/points/accounts/" + evmTokenless})
	c.shoot(t, shot{path: "/v2/orders/%zz" + c.canary("broken path")})
}

// evmTokenless is an address that is asked for and never used.
const evmTokenless = "0xde709f2102306220921060314715629080e2fb77"

// plantBodies: sessions, names of requests and texts of bodies. An order runs to its
// end with all of them, so that every room has had its part.
func (c *canaries) plantBodies(t *testing.T) string {
	t.Helper()
	for _, body := range []string{
		with(eth(""), "toAddress", `"`+c.canary("toAddress")+`"`), with(eth(""), "refundAddress", `"`+c.canary("refundAddress")+`"`),
		with(eth(""), "sessionId", `"`+c.canary("malformed sessionId")+`"`), with(eth(""), "unheard", `"`+c.canary("unknown field")+`"`),
		with(eth(""), "amount", `"`+c.canary("amount")+`"`), with(eth(""), "side", `"`+c.canary("side")+`"`), with(eth(""), "integratorFeePercent", `"`+c.canary("fee")+`"`),
		`{"quoteId":"` + c.canary("quoteId") + `","toAddress":"` + evmTo + `"}`, `{"toAddress":"` + c.canary("cut short"), c.canary("no JSON"), `"` + c.canary("a string") + `"`,
		with(eth(""), "metadata", `{"a":{"b":"`+c.canary("nested")+`"}}`), with(eth(""), "clientReference", `"`+strings.Repeat("x", 60)+c.canary("long reference")+`"`),
	} {
		for _, path := range []string{"/v2/orders", "/v2/quotes"} {
			if a := c.shoot(t, shot{path: path, body: body, header: withKey(c.a.Server.Text)}); a.status != 400 && a.status != 404 {
				t.Errorf("%s: %d %s", body, a.status, a.body)
			}
		}
	}
	reference, note := c.canary("reference that is kept"), c.canary("note that is kept")
	c.echoed["reference that is kept"], c.echoed["note that is kept"] = true, true
	const supplied = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	c.planted["supplied session"] = supplied
	header := append(withKey(c.a.Server.Text), "Idempotency-Key", c.canary("name of a request"), "X-Session-ID", c.canary("session of nobody"))
	for name, body := range map[string]string{
		"own session": eth(`,"clientReference":"` + reference + `","metadata":{"n":"` + note + `"},"refundAddress":"` + evmBack + `"`),
		"supplied":    eth(`,"sessionId":"` + supplied + `"`),
	} {
		h := header
		if name == "supplied" {
			h = withKey(c.a.Server.Text)
		}
		a := c.shoot(t, shot{path: "/v2/orders", body: body, header: h})
		if a.status != 201 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		m := made{a.text("orderId"), a.text("sessionId"), c.a.Server.Text}
		c.planted["session of an order, "+name] = m.session
		c.shoot(t, shot{path: m.path("?sessionId=" + m.session)})
		c.shoot(t, shot{path: m.path("?verify=" + m.session)})
		c.shoot(t, shot{path: m.path(""), header: []string{"X-Session-ID", m.session + "x"}})
		c.shoot(t, shot{path: "/v2/orders/" + m.session, header: m.header()})
		for _, one := range actions("quo_A") {
			if one.name != "cancel" {
				c.shoot(t, shot{method: "POST", path: m.path(one.rest), body: one.body, header: m.header()})
			}
		}
		c.pay(t, m, "")
		c.until(t, m, "completed")
	}
	return reference
}

// plantAddresses: end users' addresses, forwarded and own.
func (c *canaries) plantAddresses(t *testing.T) {
	t.Helper()
	const egress = "198.51.100.7"
	yes, servers := true, []string{egress}
	c.change(t, c.b.ID, office.Patch{Forwarding: office.Forwarding{Enabled: &yes, Replace: &servers}})
	for i, user := range []string{"203.0.113.77", "2001:db8:77::beef"} {
		c.planted["address of an end user "+string(rune('0'+i))] = user
		h := append(withKey(c.b.Server.Text), "X-End-User-IP", user)
		if a := c.shoot(t, shot{path: "/v2/orders", body: eth(""), header: h, from: egress}); a.status != 201 {
			t.Errorf("%d %s", a.status, a.body)
		}
		c.shoot(t, shot{path: "/v2/chains", header: h}) // from a server that nobody approved
		c.shoot(t, shot{path: "/v2/orders", body: eth(""), header: append(withKey(c.a.Public.Text), "Idempotency-Key", strings.Repeat("i", 40)), from: user})
		c.shoot(t, shot{path: "/v2/orders", body: eth(""), from: user})
	}
	bad := append(withKey(c.b.Server.Text), "X-End-User-IP", c.canary("end user's address that is none"))
	if a := c.shoot(t, shot{path: "/v2/chains", header: bad, from: egress}); a.status != 400 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// plantOperators: tokens of operators, good and wrong.
func (c *canaries) plantOperators(t *testing.T) {
	t.Helper()
	c.planted["token of an operator"] = c.Card.OperatorToken
	for _, token := range []string{c.Card.OperatorToken, c.Card.OperatorToken + "x", c.canary("wrong token"), ""} {
		for _, path := range []string{"/admin/v1/integrators", "/admin/v1/integrators?token=" + c.canary("token in the URL "+token), "/admin/v1/audit", "/nothing", "/dev/v1/pay"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Card.OperatorAPI+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			_, _ = b.ReadFrom(resp.Body)
			_ = resp.Body.Close()
			for where, secret := range c.planted {
				if !c.echoed[where] && holds(b.Bytes(), secret) {
					t.Errorf("A05 the operators' API repeats the %s: %s", where, b.Bytes())
				}
			}
		}
	}
}
