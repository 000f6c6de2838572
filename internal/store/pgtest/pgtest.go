package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrMissing: there is no PostgreSQL on this machine.
var ErrMissing = errors.New("pgtest: no PostgreSQL here; run `make setup`, which installs the apt package postgresql")

// T is what URL needs of a test or a benchmark.
type T interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// shared is the server of this process.
var shared = sync.OnceValues(func() (*Server, error) { return Start() })

// URL is the address of a fresh, empty database, which is dropped when the test
// ends. A machine without PostgreSQL fails the test: what was not run is not known.
func URL(t T) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("%v", err)
		return ""
	}
	address, drop, err := s.Database(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
		return ""
	}
	t.Cleanup(func() {
		if err := drop(context.Background()); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return address
}

// Server is a running PostgreSQL.
type Server struct {
	dir   string
	shell *exec.Cmd
	leash io.Closer // the server lives as long as this is open
	count atomic.Int64
}

// script runs the server until its standard input ends, which it does when the
// process that holds the other end is gone; then it stops it and cleans up.
const script = `dir=$1; shift
"$0" -D "$dir/data" -k "$dir" "$@" & server=$!
cat > /dev/null
kill -INT $server
wait $server
rm -rf "$dir"`

// Start starts a server. Further settings are given as name=value.
func Start(settings ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ferry-pg-")
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	as, err := unprivileged(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", dir+"/data", "-U", "ferry", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("pgtest: initdb: %w: %s", err, out), os.RemoveAll(dir))
	}
	s := &Server{dir: dir}
	if err := s.run(filepath.Join(bin, "postgres"), as, settings); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) run(postgres string, as *syscall.Credential, settings []string) error {
	args := []string{"-c", script, postgres, s.dir}
	for _, set := range append([]string{
		"listen_addresses=", "fsync=on", "synchronous_commit=on", "full_page_writes=on", "max_connections=200",
	}, settings...) {
		args = append(args, "-c", set)
	}
	s.shell = exec.Command("/bin/sh", args...)
	// A process group of its own keeps a Ctrl-C for the test from the server,
	// which is stopped in order by its leash.
	s.shell.Dir, s.shell.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: as, Setpgid: true}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	s.shell.Stdout, s.shell.Stderr = log, log
	if s.leash, err = s.shell.StdinPipe(); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	if err := errors.Join(s.shell.Start(), log.Close()); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	return s.await()
}

// await waits until the server answers.
func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		if ctx.Err() != nil {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("pgtest: the server does not answer: %w: %s", err, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *Server) url(database string) string {
	return "postgres:///" + database + "?" + url.Values{"host": {s.dir}, "user": {"ferry"}}.Encode()
}

// Database makes a fresh database; drop takes it away, whoever is still connected.
func (s *Server) Database(ctx context.Context) (address string, drop func(context.Context) error, err error) {
	name := "t" + strconv.FormatInt(s.count.Add(1), 10)
	if err := s.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	return s.url(name), func(ctx context.Context) error {
		return s.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
	}, nil
}

// Exec runs a statement as the server's owner.
func (s *Server) Exec(ctx context.Context, sql string) error {
	return Exec(ctx, s.url("postgres"), sql)
}

// Exec runs a statement in the database of an address.
func Exec(ctx context.Context, address, sql string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	_, err = conn.Exec(ctx, sql)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("pgtest: %.60s: %w", sql, err)
	}
	return nil
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	if s.leash == nil {
		return os.RemoveAll(s.dir)
	}
	if err := s.leash.Close(); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	if err := s.shell.Wait(); err != nil {
		return fmt.Errorf("pgtest: stop: %w", err)
	}
	return nil
}

// binaries finds the folder with initdb and postgres, the newest where there are several.
func binaries() (string, error) {
	has := func(dir string) bool {
		_, initdb := os.Stat(filepath.Join(dir, "initdb"))
		_, server := os.Stat(filepath.Join(dir, "postgres"))
		return initdb == nil && server == nil
	}
	if path, err := exec.LookPath("initdb"); err == nil && has(filepath.Dir(path)) {
		return filepath.Dir(path), nil
	}
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	version := func(dir string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))) // what is no number is the oldest
		return n
	}
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	for _, dir := range dirs {
		if has(dir) {
			return dir, nil
		}
	}
	return "", ErrMissing
}

// unprivileged gives the folder to somebody who is not root, because PostgreSQL
// refuses to run as root. Nobody else needs to be told who that is.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("pgtest: user %s: %w", name, err)
		}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			return nil, fmt.Errorf("pgtest: %w", err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("pgtest: PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

// Dump is every row of every table of a database, as COPY writes them.
func Dump(ctx context.Context, address string) (text []byte, err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	rows, err := conn.Query(ctx, "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1")
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	var b bytes.Buffer
	for _, name := range tables {
		if _, err := conn.PgConn().CopyTo(ctx, &b, "COPY "+name+" TO STDOUT"); err != nil {
			return nil, fmt.Errorf("pgtest: dump %s: %w", name, err)
		}
	}
	return b.Bytes(), nil
}
