package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"ferry/internal/chain"
	"ferry/internal/dev"
)

// bought is what the measured orders get, which the treasury has enough of.
var bought = []chain.Asset{dev.SolanaUSD}

// orderBody is the measured order: the chain's own coin for dollars of another
// chain, from fields, with an integrator's fee. Each goes to addresses of its own.
const orderBody = `{"fromChainId":"ethereum","fromToken":"native","toChainId":"solana","toToken":"Gh9ZwEmdLJ8DscKNTkTqPbNwLNNBjuSzaG9Vp2KGtKJr",` +
	`"amount":"10000000000000000","toAddress":"7EqQdEULxWcraVx3` + varies + `84LhCkMGZCkRuDpvcMwJ","refundAddress":"0x70997970c51812dc` + varies + `7d01b50e0d17dc79"}`

// creators is how many callers make orders at once.
const creators = 64

// The goals of creation: acknowledged orders beside pgbench and beside one insert
// for each request, with as many callers; and the median time of one caller.
const (
	createBesidePgbench = 1.3
	createBesideInsert  = 2.0
	createAloneTimes    = 1.5
)

// runCreate measures POST /v2/orders on PostgreSQL.
func runCreate(ctx context.Context, o options) error {
	return apart(func(p *place) error { return errors.Join(p.note(ctx, o.report), createOn(ctx, p, o)) })
}

// arena is the service and its peers over one PostgreSQL.
type arena struct {
	ferry, insert *service
	address       string // of the service's database
	peers         string // of the peers' database
	dir           string
	made          int
}

func createOn(ctx context.Context, p *place, o options) (err error) {
	a, err := newArena(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	for _, c := range []struct {
		callers int
		peer    func(context.Context, int) (side, func() error, error)
		result  result
		figure  func(int, time.Duration) float64
	}{
		{creators, a.pgbench, result{Name: "64 callers beside pgbench with 64 clients", Unit: "orders/s", AtLeast: createBesidePgbench}, pace},
		{creators, a.inserts, result{Name: "64 callers beside one insert for each request", Unit: "orders/s", AtLeast: createBesideInsert}, pace},
		{1, a.pgbench, result{Name: "median of 1 caller beside pgbench with 1 client", Unit: "µs", AtMost: createAloneTimes}, cost},
	} {
		d, bills, err := a.duel(ctx, c.callers, c.peer, c.figure, o)
		if err != nil {
			return err
		}
		c.result.Bench = "create"
		o.report.add(c.result.judged(d))
		for i, name := range []string{"of the database", "of the servers before it"} {
			ours, theirs := bills[0].each(i), bills[1].each(i)
			o.report.add(result{Bench: "create", Name: "  CPU " + name + " for each", Unit: "µs", Ours: ours, Floor: theirs})
		}
	}
	return nil
}

func newArena(ctx context.Context, p *place) (a *arena, err error) {
	a = &arena{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if a.dir, err = os.MkdirTemp("", "ferry-bench-"); err != nil {
		return a, err
	}
	if a.address, err = p.fresh(ctx); err != nil {
		return a, err
	}
	if a.peers, err = p.fresh(ctx); err != nil {
		return a, err
	}
	db, err := raw(a.peers, 1, "full")
	if err != nil {
		return a, err
	}
	_, err = db.ExecContext(ctx, sqlPeerTable)
	if err := errors.Join(err, db.Close()); err != nil {
		return a, err
	}
	if a.insert, err = startOver(ctx, "insert", a.peers); err != nil {
		return a, err
	}
	if a.ferry, err = startOver(ctx, "ferry", a.address); err != nil {
		return a, err
	}
	return a, a.ferry.admits(ctx)
}

func (a *arena) close() error {
	var errs []error
	for _, s := range []*service{a.ferry, a.insert} {
		if s != nil {
			errs = append(errs, s.stop())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(a.dir))...)
}

// pgbench is PostgreSQL's own load as a side.
func (a *arena) pgbench(ctx context.Context, callers int) (side, func() error, error) {
	b, err := newPgbench(a.peers, a.dir, callers)
	return func(int, int) (int, time.Duration, error) { return b.slice(ctx, peerSlice) }, func() error { return nil }, err
}

// inserts is one insert for each request as a side.
func (a *arena) inserts(_ context.Context, callers int) (side, func() error, error) {
	body := make([]byte, bareBytes)
	for i := range body {
		body[i] = 'x'
	}
	l, err := newLoad(a.insert.Address, callers, http.StatusCreated, requestTo(http.MethodPost, "/", "", body))
	if err != nil {
		return nil, nil, err
	}
	return func(int, int) (int, time.Duration, error) { return l.slice(peerSlice) }, l.close, nil
}

// peerSlice is how long a side is let run before it is the other's turn.
const peerSlice = 500 * time.Millisecond

func (a *arena) duel(ctx context.Context, callers int, peer func(context.Context, int) (side, func() error, error), figure func(int, time.Duration) float64, o options) (d duel, bills [2]*billed, err error) {
	of, err := a.meters()
	if err != nil {
		return d, bills, err
	}
	bills = [2]*billed{{of: of}, {of: of}}
	theirs, closePeer, err := peer(ctx, callers)
	if err != nil {
		return d, bills, err
	}
	defer func() { err = errors.Join(err, closePeer()) }()
	l, err := newLoad(a.ferry.Address, callers, http.StatusCreated, requestTo(http.MethodPost, "/v2/orders", a.ferry.Key, []byte(orderBody)))
	if err != nil {
		return d, bills, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	ours := func(int, int) (int, time.Duration, error) {
		done, took, err := l.slice(peerSlice)
		a.made += done
		if err == nil && callers == 1 {
			var middle time.Duration
			middle, err = l.middle()
			took = middle * time.Duration(done)
		}
		return done, took, err
	}
	sides := [2]side{ours, theirs}
	for i, run := range sides {
		sides[i] = func(round, slice int) (int, time.Duration, error) {
			return bills[i].bill(func() (int, time.Duration, error) { return run(round, slice) })
		}
	}
	for _, warm := range sides {
		for range 3 {
			if _, _, err := warm(0, 0); err != nil {
				return d, bills, err
			}
		}
	}
	*bills[0], *bills[1] = billed{of: of}, billed{of: of} // warming up is not billed
	if d, err = interleave(fmt.Sprintf("create: %d at once", callers), o.rounds, figure, sides); err != nil {
		return d, bills, err
	}
	return d, bills, a.check(ctx)
}

// meters are of the database and of the servers before it: those that have nothing
// to do cost both sides the same.
func (a *arena) meters() ([]meter, error) {
	db, err := postmaster(a.address)
	return []meter{{db}, {a.ferry.cmd.Process.Pid, a.insert.cmd.Process.Pid}}, err
}

// check makes sure that every order that was acknowledged is there, and no other.
func (a *arena) check(ctx context.Context) error {
	db, err := raw(a.address, 1, "full")
	if err != nil {
		return err
	}
	var n, commits int
	err = db.QueryRowContext(ctx, "SELECT COUNT(*), COUNT(DISTINCT CAST(xmin AS TEXT)) FROM orders").Scan(&n, &commits)
	if err == nil && n != a.made {
		err = fmt.Errorf("%d orders were acknowledged, and there are %d", a.made, n)
	}
	progress("create: %d orders in %d transactions so far", n, commits)
	return errors.Join(err, db.Close())
}
