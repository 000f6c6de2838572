package main

import (
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ferry/internal/access"
	"ferry/internal/limit"
)

//go:embed peer/limits.lua
var limitsLua string

const (
	quotaCallers   = 64
	manyCompanies  = 1000
	redisGoal      = 100
	hotGoal        = 0.5
	overTries      = 1_000_000
	overLimit      = overTries / 2
	takesAtOneTime = 256
)

// runQuota measures P5: limits in the process beside limits in Redis, one busy
// company beside many, and that never more is admitted than allowed.
func runQuota(ctx context.Context, o options) error {
	if err := hotBesideMany(o); err != nil {
		return err
	}
	if err := overAdmissions(o); err != nil {
		return err
	}
	return besideRedis(ctx, o)
}

// claimants are the six claims of requests of some companies for many end users.
func claimants(companies int, most int64) ([][]limit.Claim, error) {
	all := make([][]limit.Claim, 0, manyCompanies)
	for n := range manyCompanies {
		i, k, _, err := company(n % companies)
		if err != nil {
			return nil, err
		}
		i.Limits.Requests = most
		p := access.Principal{Integrator: &i, Key: &k, Source: access.Forwarded, Client: netip.AddrFrom4([4]byte{198, 51, byte(n >> 8), byte(n)})}
		claims := limit.Claims(nil, &p, limit.Quote|limit.Create, limit.DefaultIPLimits)
		if len(claims) != sixLimits {
			return nil, fmt.Errorf("%d limits of six", len(claims))
		}
		all = append(all, claims)
	}
	return all, nil
}

// takes is a side that takes from a counter with many callers for a while.
func takes(companies int, length time.Duration) (side, error) {
	all, err := claimants(companies, plenty)
	if err != nil {
		return nil, err
	}
	m, err := limit.NewMemory(time.Now(), limit.DefaultEntries)
	if err != nil {
		return nil, err
	}
	return func(int, int) (int, time.Duration, error) {
		var done, refused atomic.Int64
		start := time.Now()
		var callers sync.WaitGroup
		for c := range quotaCallers {
			callers.Go(func() {
				for n := c * 7919; time.Since(start) < length; {
					for range takesAtOneTime {
						if v := m.Take(time.Now(), all[n%len(all)]); !v.Allowed() {
							refused.Add(1)
						}
						n++
					}
					done.Add(takesAtOneTime)
				}
			})
		}
		callers.Wait()
		if refused.Load() > 0 {
			return 0, 0, fmt.Errorf("%d were refused", refused.Load())
		}
		return int(done.Load()), time.Since(start), nil
	}, nil
}

func hotBesideMany(o options) error {
	length := o.length / slicesOfRound
	hot, err1 := takes(1, length)
	many, err2 := takes(manyCompanies, length)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	d, err := interleave("quota: one company beside many", o.rounds, pace, [2]side{hot, many})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("one company beside %d, %d callers", manyCompanies, quotaCallers)
	o.report.add(result{Bench: "quota", Name: name, Unit: "checks/s", AtLeast: hotGoal}.judged(d))
	return nil
}

// overAdmissions tries twice as often as is allowed, all at once. Minutes do not end
// meanwhile: all tries say the same time.
func overAdmissions(o options) error {
	all, err := claimants(1, overLimit)
	if err != nil {
		return err
	}
	now := time.Now()
	m, err := limit.NewMemory(now, limit.DefaultEntries)
	if err != nil {
		return err
	}
	var admitted atomic.Int64
	done, _, err := together(quotaCallers, overTries, 0, func(i int) error {
		if v := m.Take(now, all[i%len(all)]); v.Allowed() {
			admitted.Add(1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	over := float64(admitted.Load() - overLimit)
	progress("quota: %d of %d admitted where %d are allowed", admitted.Load(), done, overLimit)
	if over < 0 {
		return fmt.Errorf("only %d of %d were admitted", admitted.Load(), overLimit)
	}
	o.report.add(result{Bench: "quota", Name: fmt.Sprintf("admitted beyond the limit in %d tries at once", done), Unit: "requests", Ours: over}.within(0))
	return nil
}

func besideRedis(ctx context.Context, o options) (err error) {
	path, err1 := program("redis-server")
	cli, err2 := program("redis-cli")
	if err := errors.Join(err1, err2); err != nil {
		o.report.skip("quota: beside a script in Redis: %v", err)
		return nil
	}
	at, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		return err
	}
	o.report.version("Redis", fieldBetween(versionOf(exec.CommandContext(ctx, path, "--version")), "v=", " "))
	c := pinned(ctx, path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning")
	s, err := peerServer(ctx, "Redis", at, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	sha, err := exec.CommandContext(ctx, cli, "-p", port, "SCRIPT", "LOAD", limitsLua).Output()
	if err != nil {
		return fmt.Errorf("load the script: %w", err)
	}
	asking, err := openRedis(ctx, at, strings.TrimSpace(string(sha)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asking.close()) }()
	length := o.length / slicesOfRound
	ours, err := takes(manyCompanies, length)
	if err != nil {
		return err
	}
	theirs := func(int, int) (int, time.Duration, error) { return asking.slice(length) }
	d, err := interleave("quota: beside Redis", o.rounds, pace, [2]side{ours, theirs})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("6 limits in the process beside 5 in a Redis script, %d callers", quotaCallers)
	o.report.add(result{Bench: "quota", Name: name, Unit: "checks/s", AtLeast: redisGoal}.judged(d))
	return nil
}

// redisCallers are callers who ask Redis over a connection each, as a door would that
// keeps its limits there.
type redisCallers struct {
	lines []net.Conn
	asks  [][]byte // one for each company
}

func openRedis(ctx context.Context, at, sha string) (*redisCallers, error) {
	r := &redisCallers{}
	for n := range manyCompanies {
		ask := fmt.Appendf(nil, "*8\r\n$7\r\nEVALSHA\r\n$%d\r\n%s\r\n$1\r\n5\r\n", len(sha), sha)
		for i := range 5 {
			key := fmt.Sprintf("{int_%026d}:%d", n, i)
			ask = fmt.Appendf(ask, "$%d\r\n%s\r\n", len(key), key)
		}
		r.asks = append(r.asks, ask)
	}
	for range quotaCallers {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", at)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.lines = append(r.lines, c)
	}
	return r, nil
}

func (r *redisCallers) close() error {
	var errs []error
	for _, c := range r.lines {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// slice asks for a while with all callers.
func (r *redisCallers) slice(length time.Duration) (int, time.Duration, error) {
	start := time.Now()
	counts, errs := make([]int, len(r.lines)), make([]error, len(r.lines))
	var callers sync.WaitGroup
	for i, c := range r.lines {
		callers.Go(func() {
			var answer [64]byte
			for n := i * 7919; time.Since(start) < length && errs[i] == nil; n++ {
				if _, errs[i] = c.Write(r.asks[n%len(r.asks)]); errs[i] != nil {
					return
				}
				got, err := c.Read(answer[:])
				if errs[i] = err; err == nil && string(answer[:got]) != ":1\r\n" {
					errs[i] = fmt.Errorf("the script in Redis said %q", answer[:got])
				}
				counts[i]++
			}
		})
	}
	callers.Wait()
	done := 0
	for _, n := range counts {
		done += n
	}
	return done, time.Since(start), errors.Join(errs...)
}

func fieldBetween(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	value, _, _ := strings.Cut(rest, after)
	return value
}
