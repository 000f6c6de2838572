package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// What both peers write: a row of about as many bytes as an order's own row.
const (
	sqlPeerTable  = "CREATE TABLE peer (id BIGINT PRIMARY KEY, body TEXT NOT NULL)"
	sqlPeerInsert = "INSERT INTO peer (id, body) VALUES ($1, $2)"
)

// peerConnections is how many connections the server that inserts has.
const peerConnections = 64

// serveInsert is a bare handler that inserts one row for each request.
func serveInsert(ctx context.Context, address string, ready func(greeting) error) error {
	free := make(chan *pgx.Conn, peerConnections)
	for range peerConnections {
		c, err := pgx.Connect(ctx, address)
		if err != nil {
			return err
		}
		free <- c
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	id := time.Now().UnixMicro() << 8
	ids := make(chan int64, 1024)
	go func() {
		for ; ctx.Err() == nil; id++ {
			select {
			case ids <- id:
			case <-ctx.Done():
			}
		}
	}()
	s := &http.Server{ReadHeaderTimeout: time.Minute, IdleTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c := <-free
		_, err = c.Exec(context.Background(), sqlPeerInsert, <-ids, string(body))
		free <- c
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	})}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	if err := ready(greeting{Address: l.Addr().String()}); err != nil {
		return err
	}
	<-ctx.Done()
	if err := errors.Join(s.Close(), ignoreClosed(<-failed)); err != nil {
		return err
	}
	for range peerConnections {
		c := <-free
		_ = c.Close(context.Background())
	}
	return nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// pgbench runs PostgreSQL's own load: one prepared insert of one row in each
// transaction, from some clients at once.
type pgbench struct {
	address string
	dir     string
	clients int
	pace    float64 // of the fastest slice, for how many to ask for next
}

func newPgbench(address, dir string, clients int) (*pgbench, error) {
	script := "\\set id random(1, 9000000000000000000)\nINSERT INTO peer (id, body) VALUES (:id, '" + strings.Repeat("x", bareBytes) + "');\n"
	p := &pgbench{address: address, dir: dir, clients: clients, pace: 500}
	return p, os.WriteFile(p.script(), []byte(script), 0o644)
}

func (p *pgbench) script() string { return filepath.Join(p.dir, "insert.sql") }

// slice inserts for about that long and says how many rows in what time. With one
// client the time is as many times the median, which is what one is compared by.
func (p *pgbench) slice(ctx context.Context, length time.Duration) (int, time.Duration, error) {
	u, err := url.Parse(p.address)
	if err != nil {
		return 0, 0, err
	}
	each := max(1, int(p.pace*length.Seconds())/p.clients)
	prefix := filepath.Join(p.dir, "log")
	args := []string{"-h", u.Query().Get("host"), "-U", u.Query().Get("user"), "-n", "-M", "prepared", "-f", p.script(), "-c", strconv.Itoa(p.clients), "-j", "1", "-t", strconv.Itoa(each)}
	if p.clients == 1 {
		args = append(args, "-l", "--log-prefix", prefix)
	}
	cmd := exec.CommandContext(ctx, "pgbench", append(args, strings.TrimPrefix(u.Path, "/"))...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("pgbench: %w: %s", err, out)
	}
	pace, err := tpsOf(string(out))
	if err != nil {
		return 0, 0, err
	}
	p.pace = max(p.pace, pace)
	done := each * p.clients
	if p.clients > 1 {
		return done, time.Duration(float64(done) / pace * float64(time.Second)), nil
	}
	took, err := medianOfLogs(prefix)
	return done, took * time.Duration(done), err
}

// tpsOf finds the rate in what pgbench prints.
func tpsOf(out string) (float64, error) {
	for line := range strings.SplitSeq(out, "\n") {
		if text, ok := strings.CutPrefix(line, "tps = "); ok {
			number, _, _ := strings.Cut(text, " ")
			tps, err := strconv.ParseFloat(number, 64)
			if err == nil && tps > 0 && !math.IsInf(tps, 0) {
				return tps, nil
			}
		}
	}
	return 0, fmt.Errorf("pgbench said no rate: %s", out)
}

// medianOfLogs reads the times of single transactions, and removes the files.
func medianOfLogs(prefix string) (time.Duration, error) {
	files, err := filepath.Glob(prefix + ".*")
	if err != nil {
		return 0, err
	}
	var all []time.Duration
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if fields := strings.Fields(lines.Text()); len(fields) > 2 {
				n, err := strconv.Atoi(fields[2]) // microseconds
				if err != nil {
					return 0, fmt.Errorf("log of pgbench: %w", err)
				}
				all = append(all, time.Duration(n)*time.Microsecond)
			}
		}
		if err := errors.Join(f.Close(), os.Remove(name)); err != nil {
			return 0, err
		}
	}
	return medianTime(all)
}

func medianTime(all []time.Duration) (time.Duration, error) {
	if len(all) == 0 {
		return 0, errors.New("nothing was timed")
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
