package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5/stdlib"

	"ferry/internal/limit"
)

// Allowances are a limit.Pool for the processes on one PostgreSQL. They go by their own
// row locks and not through the writer: nothing of an order waits for them.
type Allowances struct{ engine *pgEngine }

var _ limit.Pool = Allowances{}

// Allowances is the pool of a database that several processes may use, and whether it
// is such a one.
func (db *DB) Allowances() (Allowances, bool) {
	e, is := db.engine.(*pgEngine)
	return Allowances{e}, is
}

const (
	// An account that nobody spoke of for so long has nobody who holds anything: a
	// process says how it stands every minute, or loses its lease.
	allowanceKept = 10 * time.Minute
	// allowanceLock is how long a trade waits for another: it must not come so late
	// that its process has given up and asked anew.
	allowanceLock = "SET LOCAL lock_timeout = '500ms'"
)

const (
	pgNewLease   = `INSERT INTO allowance_processes (process, until) VALUES ($1, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT + $2) ON CONFLICT DO NOTHING RETURNING 1`
	pgRenewLease = `UPDATE allowance_processes SET until = (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT + $2
WHERE process = $1 AND until > (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT RETURNING 1`
	pgLeases = `SELECT process, until FROM allowance_processes`
	pgWanted = `SELECT subject FROM allowances WHERE wanted > 0 AND wanted > (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT`
	// In one order for all, so that no two wait for each other.
	pgOpenAccounts = `INSERT INTO allowances (subject, doc, wanted, until) SELECT s, '{}', 0, 0 FROM unnest($1::TEXT[]) s ORDER BY s ON CONFLICT DO NOTHING`
	pgAccounts     = `SELECT subject, doc FROM allowances WHERE subject = ANY($1::TEXT[]) ORDER BY subject FOR UPDATE`
	pgSetAccounts  = `UPDATE allowances a SET doc = n.doc, wanted = n.wanted, until = n.until
FROM unnest($1::TEXT[], $2::TEXT[], $3::BIGINT[], $4::BIGINT[]) n (subject, doc, wanted, until) WHERE a.subject = n.subject`
	pgForgetAccounts = `DELETE FROM allowances WHERE subject IN (SELECT subject FROM allowances WHERE until > 0 AND until < $1 ORDER BY until LIMIT 1000) AND until < $1`
	pgForgetLeases   = `DELETE FROM allowance_processes WHERE until < $1`
)

// Beat implements limit.Pool.
func (p Allowances) Beat(ctx context.Context, process string, lease time.Duration, fresh bool) (alive bool, wanted []string, err error) {
	renew := pgRenewLease
	if fresh {
		renew = pgNewLease
	}
	conn, err := p.conn(ctx)
	if err != nil {
		return false, nil, err
	}
	defer conn.Close()
	err = pgSend(ctx, conn, []stmt{
		ask(func(row) error { alive = true; return nil }, renew, process, lease.Microseconds()),
		ask(func(r row) error {
			var subject string
			err := r.Scan(&subject)
			wanted = append(wanted, subject)
			return err
		}, pgWanted),
	})
	if err != nil {
		return false, nil, fmt.Errorf("lease of %s: %w", process, err)
	}
	return alive, wanted, nil
}

func (p Allowances) conn(ctx context.Context) (*sql.Conn, error) {
	if p.engine.closed.Load() {
		return nil, ErrClosed
	}
	conn, err := p.engine.pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return conn, nil
}

// Trade implements limit.Pool.
func (p Allowances) Trade(ctx context.Context, process string, offers []limit.Offer) (deals []limit.Deal, err error) {
	conn, err := p.conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	committed := false
	defer func() {
		if !committed {
			rollBack(conn)
		}
	}()
	book, err := openBook(ctx, conn, offers)
	if err != nil {
		return nil, fmt.Errorf("allowances: %w", err)
	}
	for _, o := range offers {
		deals = append(deals, book.accounts[o.Subject].Trade(book.now*int64(time.Microsecond), process, book.lease, o))
	}
	set, err := book.set()
	if err != nil {
		return nil, fmt.Errorf("allowances: %w", err)
	}
	if err := pgSend(ctx, conn, []stmt{set, do(sqlCommit)}); err != nil {
		return nil, fmt.Errorf("allowances: %w", err)
	}
	committed = true
	return deals, nil
}

// book is some accounts and all leases at one moment.
type book struct {
	now      int64
	leases   map[string]int64
	accounts map[string]*limit.Account
}

// openBook locks the accounts of some offers and reads them. The time is read when
// they are locked.
func openBook(ctx context.Context, conn *sql.Conn, offers []limit.Offer) (*book, error) {
	b := &book{leases: map[string]int64{}, accounts: map[string]*limit.Account{}}
	names := make([]string, len(offers))
	for i, o := range offers {
		names[i] = o.Subject
	}
	slices.Sort(names)
	err := pgSend(ctx, conn, []stmt{
		do(pgBegin), do(allowanceLock), do(pgOpenAccounts, names),
		ask(func(r row) error {
			var subject, doc string
			if err := r.Scan(&subject, &doc); err != nil {
				return err
			}
			a := &limit.Account{}
			b.accounts[subject] = a
			return json.Unmarshal([]byte(doc), a)
		}, pgAccounts, names),
		ask(func(r row) error {
			var process string
			var until int64
			err := r.Scan(&process, &until)
			b.leases[process] = until
			return err
		}, pgLeases),
		ask(func(r row) error { return r.Scan(&b.now) }, pgNow),
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if b.accounts[name] == nil {
			return nil, fmt.Errorf("the account of %s is gone", name)
		}
	}
	return b, nil
}

// lease implements limit.Leases.
func (b *book) lease(process string) (int64, bool) {
	until, known := b.leases[process]
	return until * int64(time.Microsecond), known
}

// set writes the accounts back.
func (b *book) set() (stmt, error) {
	var names, docs []string
	var wanted, until []int64
	for name, a := range b.accounts {
		doc, err := json.Marshal(a)
		if err != nil {
			return stmt{}, err
		}
		names, docs = append(names, name), append(docs, string(doc))
		// The account's clock may have been shifted; who waits does so by the real one.
		left := max(a.Wanted-a.Clock.Now, 0) / int64(time.Microsecond)
		at := int64(0)
		if left > 0 {
			at = b.now + left
		}
		wanted, until = append(wanted, at), append(until, b.now+allowanceKept.Microseconds())
	}
	return do(pgSetAccounts, names, docs, wanted, until), nil
}

// Forget removes what nobody goes by any more.
func (p Allowances) Forget(ctx context.Context) error {
	now, err := p.engine.now(ctx)
	if err != nil {
		return fmt.Errorf("forget allowances: %w", err)
	}
	conn, err := p.conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	err = pgSend(ctx, conn, []stmt{do(pgForgetAccounts, micro(now)), do(pgForgetLeases, micro(now.Add(-allowanceKept)))})
	if err != nil {
		return fmt.Errorf("forget allowances: %w", err)
	}
	return nil
}

// rollBack ends a transaction that was not committed. A connection that can not even do
// that is thrown away, and the server rolls back.
func rollBack(conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), pgIdle)
	defer cancel()
	_ = conn.Raw(func(dc any) error {
		c := dc.(*stdlib.Conn).Conn()
		if c.IsClosed() {
			return driver.ErrBadConn
		}
		if c.PgConn().TxStatus() == 'I' {
			return nil
		}
		if _, err := c.Exec(ctx, "ROLLBACK"); err != nil {
			return errors.Join(driver.ErrBadConn, c.Close(ctx))
		}
		return nil
	})
}
