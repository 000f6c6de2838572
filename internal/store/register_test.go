package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/store/pgtest"
	"ferry/internal/testseed"
)

// onBoth runs a test on both engines.
func onBoth(t *testing.T, test func(t *testing.T, db *DB)) {
	for name, url := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "x.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := Open(t.Context(), Config{URL: url(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, db)
		})
	}
}

// behind runs statements that no room has, in one transaction.
func behind(db *DB, statements ...string) error {
	s, err := db.engine.session(context.Background())
	if err != nil {
		return err
	}
	committed := false
	defer func() { s.release(committed) }()
	all := s.begin()
	for _, text := range statements {
		all = append(all, do(text))
	}
	err = s.send(context.Background(), append(all, do(sqlCommit)))
	committed = err == nil
	return err
}

func testOffice(db *DB) *office.Office {
	return office.New(db, nil, func() time.Time { return time.UnixMicro(1_770_000_000_123_456) })
}

func issued(t *testing.T, o *office.Office, kind integrator.Kind) (integrator.Key, string) {
	t.Helper()
	i, err := o.Create(t.Context(), "Acme", "alice")
	if err != nil {
		t.Fatal(err)
	}
	k, text, err := o.IssueKey(t.Context(), i.ID, office.NewKey{Kind: kind, Label: "prod"}, "alice")
	if err != nil {
		t.Fatal(err)
	}
	return k, text.Reveal()
}

func TestNoStatementChangesAKind(t *testing.T) {
	t.Parallel()
	sets := regexp.MustCompile(`(?is)\bSET\b(.*?)(\bWHERE\b|$)`)
	names := regexp.MustCompile(`(?i)\b(kind|digest|integrator)\s*=`)
	looked := 0
	texts := statements(t)
	for n, text := range usedKeys.texts {
		texts[fmt.Sprintf("usedKeys%d", n)] = text
	}
	for name, text := range texts {
		if !strings.Contains(text, "integrator_keys") {
			continue
		}
		looked++
		for _, m := range sets.FindAllStringSubmatch(text, -1) {
			if names.MatchString(m[1]) {
				t.Errorf("%s would change what a key is: %s", name, text)
			}
		}
		if strings.Contains(text, "DELETE") || strings.Contains(text, "ON CONFLICT") {
			t.Errorf("%s would put another key in the place of one: %s", name, text)
		}
	}
	if looked < 9 {
		t.Errorf("only %d statements about keys were found", looked)
	}
}

func TestTheDatabaseRefusesToChangeAKind(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		o := testOffice(db)
		k, _ := issued(t, o, integrator.Public)
		if _, err := o.RevokeKey(t.Context(), k.ID, "alice"); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"UPDATE integrator_keys SET kind = 'server'",
			"UPDATE integrator_keys SET digest = 'x'",
			"UPDATE integrator_keys SET integrator = 'int_other'",
			"UPDATE integrator_keys SET revoked_at = NULL",
			"DELETE FROM integrator_keys",
			"UPDATE operator_log SET operator = 'mallory'",
			"DELETE FROM operator_log",
		} {
			if err := behind(db, text); err == nil {
				t.Errorf("the database did: %s", text)
			}
		}
		now, err := db.Key(t.Context(), k.ID)
		if err != nil || now.Kind != integrator.Public || !now.Revoked() {
			t.Errorf("got %+v, %v", now, err)
		}
	})
}

// A log of some changes, of which one row is then changed, taken out or doubled by
// somebody who may do with the database what he likes.
func TestAnyChangeOfTheOperatorsLogIsFound(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		r := testseed.Rand(t)
		o := testOffice(db)
		for n := range 6 {
			k, _ := issued(t, o, integrator.Server)
			if n%2 == 0 {
				if _, err := o.RevokeKey(t.Context(), k.ID, "bob"); err != nil {
					t.Fatal(err)
				}
			}
		}
		sound, err := o.VerifyAudit(t.Context())
		if err != nil || sound.Entries != 15 {
			t.Fatalf("got %+v, %v", sound, err)
		}
		off := map[string]string{"*store.liteEngine": "DROP TRIGGER %s", "*store.pgEngine": "DROP TRIGGER %s ON operator_log"}[fmt.Sprintf("%T", db.engine)]
		if err := behind(db, fmt.Sprintf(off, "operator_log_fixed")); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(off, "%s") {
			if err := behind(db, fmt.Sprintf(off, "operator_log_kept")); err != nil {
				t.Fatal(err)
			}
		}
		if err := behind(db, "CREATE TABLE kept AS SELECT * FROM operator_log", "CREATE TABLE kept_heads AS SELECT * FROM operator_heads"); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			for _, spoil := range spoils(1 + r.Int64N(sound.Entries)) {
				err := behind(db, spoil)
				if err != nil {
					t.Fatalf("%s: %v", spoil, err)
				}
				if v, err := o.VerifyAudit(t.Context()); !errors.Is(err, office.ErrBroken) {
					t.Errorf("%s: not found: %+v, %v", spoil, v, err)
				}
				err = behind(db, "DELETE FROM operator_log", "INSERT INTO operator_log SELECT * FROM kept",
					"DELETE FROM operator_heads", "INSERT INTO operator_heads SELECT * FROM kept_heads")
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if v, err := o.VerifyAudit(t.Context()); err != nil || v != sound {
			t.Errorf("the log that was put back is not sound: %+v, %v", v, err)
		}
	})
}

// spoils are ways to change one row of the log.
func spoils(seq int64) []string {
	at := fmt.Sprintf(" WHERE seq = %d", seq)
	all := []string{
		"DELETE FROM operator_log" + at,
		"UPDATE operator_heads SET seq = seq - 1",
		"UPDATE operator_heads SET sum = 'ab'",
		"DELETE FROM operator_heads",
		fmt.Sprintf("DELETE FROM operator_log WHERE seq >= %d", seq),
		"INSERT INTO operator_log SELECT seq + 100, at, operator, action, target, was, became, prev, sum FROM operator_log" + at,
		"UPDATE operator_log SET was = was || became, became = ''" + at,
		"UPDATE operator_log SET seq = seq + 100" + at,
		"UPDATE operator_log SET at = at + 1" + at,
	}
	for _, column := range []string{"operator", "action", "target", "was", "became"} {
		all = append(all, "UPDATE operator_log SET "+column+" = "+column+" || ' '"+at)
	}
	for _, column := range []string{"prev", "sum"} {
		all = append(all,
			"UPDATE operator_log SET "+column+" = CASE SUBSTR("+column+", 1, 1) WHEN 'f' THEN 'e' ELSE 'f' END || SUBSTR("+column+", 2)"+at,
			"UPDATE operator_log SET "+column+" = 'nonsense'"+at)
	}
	return all
}

func TestAnIssuedKeyIsNowhereInTheDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := Open(t.Context(), Config{URL: "sqlite:" + filepath.Join(dir, "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	o := testOffice(db)
	var keys []string
	for _, kind := range []integrator.Kind{integrator.Server, integrator.Public} {
		k, text := issued(t, o, kind)
		keys = append(keys, text)
		if _, err := o.RevokeKey(t.Context(), k.ID, "alice"); err != nil {
			t.Fatal(err)
		}
	}
	look := func() (found int) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			for _, key := range keys {
				if bytes.Contains(text, []byte(key[10:len(key)-4])) {
					t.Errorf("%s holds a key", path)
				}
				if bytes.Contains(text, []byte(integrator.HintOf(key))) {
					found++
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if look() == 0 { // in the log that SQLite writes ahead
		t.Error("not even the hint was found, so this test looks in the wrong place")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if look() == 0 {
		t.Error("not even the hint was found, so this test looks in the wrong place")
	}
}

func TestALiftedHaltIsWrittenDown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		o := testOffice(db)
		id := chain.ID("eip155:1")
		if err := db.Halt(t.Context(), id, "it went back", time.UnixMicro(5).UTC()); err != nil {
			t.Fatal(err)
		}
		if err := o.ResumeChain(t.Context(), id, "alice"); err != nil {
			t.Fatal(err)
		}
		log, err := o.Audit(t.Context(), 0, 10)
		if err != nil || len(log) != 1 || log[0].By != "alice" || log[0].Target != string(id) || !strings.Contains(log[0].Before, "it went back") {
			t.Errorf("got %+v, %v", log, err)
		}
	})
}
