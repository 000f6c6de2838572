package front_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/front"
	"ferry/internal/store/pgtest"
)

// HTTP/2 has floods of its own. It is not spoken here: whoever offers or demands it is
// answered in HTTP/1.1, and a flood of resets finds nobody who counts streams.
func TestHTTP2IsNotSpoken(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		for name, text := range map[string]string{
			"A63 asked for with prior knowledge": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
			"A63 a flood of resets":              "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x08", 5000),
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				conn := r.dial(t)
				defer conn.Close()
				go func() { _, _ = io.WriteString(conn, text) }() // the other side may hang up before it has all
				if got, err := statuses(conn, 2); len(got) != 1 || got[0] != 400 || err == nil {
					t.Errorf("answered %v, and then %v", got, err)
				}
			})
		}
		t.Run("A63 offered as an upgrade", func(t *testing.T) {
			a := r.do(t, request{Path: "/v2/health", Header: map[string][]string{"Upgrade": {"h2c"}, "HTTP2-Settings": {"AAMAAABkAAQAAP__"}}})
			a.want(t, 200, "")
			if a.Header.Get("Upgrade") != "" {
				t.Errorf("it upgrades to %s", a.Header.Get("Upgrade"))
			}
		})
	})
}

// held keeps the table of events locked until it is told to go on.
const held = `DO $$ BEGIN
	LOCK TABLE order_events IN ACCESS EXCLUSIVE MODE;
	WHILE NOT EXISTS (SELECT 1 FROM go_on) LOOP PERFORM pg_sleep(0.02); END LOOP;
END $$`

// isHeld fails unless the lock is held.
const isHeld = `DO $$ BEGIN
	IF NOT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'order_events'::regclass AND mode = 'AccessExclusiveLock' AND granted) THEN RAISE 'not yet'; END IF;
END $$`

// Only a database that others use too can be slow without being ours to blame.
func TestASlowDatabaseFillsTheRoomAndNoMore(t *testing.T) {
	t.Parallel()
	const room = 4
	address := pgtest.URL(t)
	r := newRig(t, overPostgres, setup{database: address, change: func(c *front.Config) { c.Room = room }})
	run := func(sql string) error { return pgtest.Exec(context.Background(), address, sql) }
	if err := run("CREATE TABLE go_on (n INT)"); err != nil {
		t.Fatal(err)
	}
	released := make(chan error, 1)
	go func() { released <- run(held) }()
	wait(t, "the database is slow", func() bool { return run(isHeld) == nil })
	// Some find no room, because who asks whether there is any takes it meanwhile.
	callers, made := 0, make(chan answer, 1000)
	wait(t, "A64 the room is full", func() bool {
		if callers++; callers > cap(made) {
			t.Fatal("A64 a room of 4 has not been filled by 1000")
		}
		go func() { made <- r.do(t, create(nil)) }()
		a := r.do(t, chainsRow(nil))
		if a.Status == 200 {
			return false
		}
		a.want(t, 503, "service_unavailable")
		if a.Header.Get("Retry-After") == "" {
			t.Error("A64 it does not say when to come again")
		}
		return true
	})
	r.do(t, request{Path: "/v2/health"}).want(t, 200, "")
	if err := errors.Join(run("INSERT INTO go_on VALUES (1)"), <-released); err != nil {
		t.Fatal(err)
	}
	good := 0
	for range callers {
		a := <-made
		if a.Status == 201 {
			good++
			continue
		}
		a.want(t, 503, "service_unavailable")
	}
	if good == 0 || good > room {
		t.Errorf("A64 %d orders were made in a room of %d", good, room)
	}
	r.do(t, chainsRow(nil)).want(t, 200, "")
}

func TestAPanicIsAnsweredAndCounted(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		const why = "CANARYPANIC77"
		with := setup{change: func(c *front.Config) {
			c.Rows = []api.Operation{{
				ID: "break", Method: http.MethodPost, Path: "/v2/break", Tag: "service", Summary: "Break", Key: api.OptionalKey, Spends: api.Requests, Out: wire.Health{},
				Do: func(*api.Call) (any, error) { panic(why) },
			}}
		}}
		if engine == overPostgres {
			with.database = pgtest.URL(t)
		}
		r, err := start(engine, t.TempDir(), with)
		if err != nil {
			t.Fatal(err)
		}
		a := r.do(t, request{Method: http.MethodPost, Path: "/v2/break"})
		a.want(t, 500, "internal_error")
		if bytes.Contains(a.Body, []byte(why)) || bytes.Contains(a.Body, []byte("goroutine")) {
			t.Errorf("A65 it is shown: %s", a.Body)
		}
		r.do(t, chainsRow(nil)).want(t, 200, "")
		if n := r.Front.Door.Panics(); n != 1 {
			t.Errorf("A65 %d panics were counted", n)
		}
		if err := r.stop(); err == nil || !strings.Contains(err.Error(), "1 requests panicked") {
			t.Errorf("A65 the rig, which every test ends with, does not see it: %v", err)
		}
	})
}

func TestVerifyOpensNoAction(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		m := s.order(t, s.a.Server.Text, eth(""))
		before := s.read(t, m)
		for _, a := range actions(s.quoteOf(t)) {
			t.Run("A72 "+a.name, func(t *testing.T) {
				got := s.do(t, shot{method: http.MethodPost, path: m.path(a.rest) + "?verify=" + before.text("toAddress"), body: a.body})
				if got.status != 404 || got.code() != "order_not_found" {
					t.Errorf("answered %d %s", got.status, got.body)
				}
			})
		}
		if after := s.read(t, m); after.text("status") != before.text("status") || after.field("version") != before.field("version") {
			t.Errorf("A72 the order was %s and is %s", before.body, after.body)
		}
	})
}

func TestASessionAtRestIsADigest(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		dir := t.TempDir()
		database := "sqlite:" + filepath.Join(dir, "rest.db")
		if engine == overPostgres {
			database = pgtest.URL(t)
		}
		s := staged(t, newRig(t, engine, setup{database: database}))
		m := s.order(t, "", eth(""))
		var dump []byte
		if engine == overPostgres {
			var err error
			if dump, err = pgtest.Dump(t.Context(), database); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if engine == overSQLite {
			dump = filesOf(t, dir)
		}
		sum := access.SessionDigest("", m.session)
		found := bytes.Contains(dump, []byte(hex.EncodeToString(sum[:])))
		if !found || bytes.Contains(dump, []byte(m.session)) {
			t.Errorf("A82 the digest is kept: %t; the session is kept: %t", found, bytes.Contains(dump, []byte(m.session)))
		}
	})
}
