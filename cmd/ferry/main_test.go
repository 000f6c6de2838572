package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

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
			return os.WriteFile(filepath.Join(e.WorkDir, "ferry.toml"), text, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"change": change, "sql": runSQL, "hold": hold,
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

// hold keeps a database open until the script ends, as another process would.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold FILE")
	}
	db, err := store.Open(context.Background(), store.Config{URL: "sqlite:" + ts.MkAbs(args[0])})
	ts.Check(err)
	ts.Defer(func() { ts.Check(db.Close()) })
}
