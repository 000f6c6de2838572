package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ferry/internal/api/operator"
	"ferry/internal/office"
	"ferry/internal/serve"
	"ferry/internal/store"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ferry": main})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			text, err := os.ReadFile("../../docs/ferry.example.toml")
			if err != nil {
				return err
			}
			e.Setenv("EVM", "0x52908400098527886e0f7030069857d2e4169ee7")
			e.Setenv("SOLANA", "7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs")
			e.Setenv("BITCOIN", "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080")
			return os.WriteFile(filepath.Join(e.WorkDir, "ferry.toml"), text, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"change": change, "sql": runSQL, "hold": hold, "keep": keep, "door": door, "served": served, "words": words, "waitfor": waitFor,
		},
	})
}

// change writes ferry.toml anew with one text in the place of another.
func change(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: change OLD NEW")
	}
	path := ts.MkAbs("ferry.toml")
	text := ts.ReadFile(path)
	if !strings.Contains(text, args[0]) {
		ts.Fatalf("the file has no %q", args[0])
	}
	ts.Check(os.WriteFile(path, []byte(strings.Replace(text, args[0], args[1], 1)), 0o600))
}

// runSQL does something to a SQLite file behind the program's back.
func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENT")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(err)
	ts.Check(db.Close())
}

// words writes words into a file that only its owner may read.
func words(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: words FILE WORD…")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(args[1:], " ")), 0o600))
}

// waitFor waits until a file is there.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not appear", args[0])
}

// keep sets a variable to what a pattern finds in the last output.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keep VARIABLE PATTERN")
	}
	found := regexp.MustCompile(args[1]).FindString(ts.ReadFile("stdout"))
	if found == "" {
		ts.Fatalf("the output has no %s", args[1])
	}
	ts.Setenv(args[0], found)
}

// door opens a database as a running service would, with the operators' API on
// $DOOR and alice's token in the file token, until the script ends.
func door(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: door FILE")
	}
	db, err := store.Open(context.Background(), store.Config{URL: "sqlite:" + ts.MkAbs(args[0])})
	ts.Check(err)
	token, digest, err := operator.MintToken(rand.Reader)
	ts.Check(err)
	api, err := operator.New(operator.Config{
		Office: office.New(db, serve.Addresses{}, time.Now).With(heap{}), Operators: []operator.Operator{{Name: "alice", Digest: digest}}, Log: slog.New(slog.DiscardHandler),
	})
	ts.Check(err)
	server := httptest.NewServer(api)
	ts.Defer(func() { server.Close(); ts.Check(db.Close()) })
	ts.Setenv("DOOR", server.URL)
	ts.Setenv("TOKEN", token.Reveal())
	ts.Check(os.WriteFile(ts.MkAbs("token"), []byte(token.Reveal()+"\n"), 0o600))
}

// hold keeps a database open until the script ends, as another process would.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold FILE")
	}
	db, err := store.Open(context.Background(), store.Config{URL: "sqlite:" + ts.MkAbs(args[0])})
	ts.Check(err)
	ts.Defer(func() { ts.Check(db.Close()) })
}

// served runs a command that serves until it has said one line, which goes into
// served.txt, and interrupts it.
func served(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: served COMMAND ARGS")
	}
	path, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator))
	cmd := exec.Command(filepath.Join(path, args[0]), args[1:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"PATH=" + ts.Getenv("PATH")}
	var trouble strings.Builder
	cmd.Stderr = &trouble
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		ts.Fatalf("it said nothing: %v\n%s", err, trouble.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("served.txt"), []byte(line), 0o600))
	ts.Check(cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("it did not end well: %v\n%s", err, trouble.String())
	}
}
