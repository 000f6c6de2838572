package kyber

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"
)

// What is asked at most, and what an answer may be.
const (
	timeout   = 5 * time.Second
	maxAnswer = 1 << 20
	maxFails  = 5                // one after another, after which nobody is asked
	restFor   = 30 * time.Second // before one is asked again
	maxRest   = 10 * time.Minute
)

// Errors of the aggregator's service.
var (
	errBusy    = errors.New("kyber: the aggregator takes no questions for now")
	errService = errors.New("kyber: the aggregator does not answer as it should")
	errNoWay   = errors.New("kyber: the aggregator knows no way")
	errLittle  = errors.New("kyber: it brings too little")
)

// ClientConfig is how the aggregator's service is asked.
type ClientConfig struct {
	URL string // its base, without a chain
	// ID is the name under which we ask; the service counts by it.
	ID string
	// PerSecond is how many questions it takes. Steps that run may use all of them, and
	// quotes one fewer: money that waits goes before curiosity.
	PerSecond int
	Now       func() time.Time
}

// Client asks the aggregator's service. It may be used by many at once; those of one
// process share its limit, and its rest after failures.
type Client struct {
	cfg     ClientConfig
	base    string
	http    *http.Client
	all     *rate.Limiter
	quotes  *rate.Limiter
	breaker *gobreaker.CircuitBreaker[[]byte]

	mu    sync.Mutex
	until time.Time // no question is asked before
}

// clientID is the form of the name under which we ask: it goes out in a header.
var clientID = regexp.MustCompile(`^[a-zA-Z0-9][-_.a-zA-Z0-9]{0,63}$`)

// NewClient makes a client of the service.
func NewClient(cfg ClientConfig) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	switch {
	case err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, errors.New("kyber: the service's address must be http or https with a host, and nothing secret in it")
	case !clientID.MatchString(cfg.ID):
		return nil, errors.New("kyber: say under which name to ask, in letters, digits and hyphens")
	case cfg.PerSecond < 2 || cfg.PerSecond > 1000:
		return nil, errors.New("kyber: say how many questions a second it takes, from 2 to 1000: a step asks two")
	case cfg.Now == nil:
		return nil, errors.New("kyber: a client without a clock")
	}
	c := &Client{
		cfg: cfg, base: strings.TrimSuffix(cfg.URL, "/"),
		all: rate.NewLimiter(rate.Limit(cfg.PerSecond), cfg.PerSecond), quotes: rate.NewLimiter(rate.Limit(cfg.PerSecond-1), cfg.PerSecond-1),
		http: &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // nobody else is asked
		}},
	}
	c.breaker = gobreaker.NewCircuitBreaker[[]byte](gobreaker.Settings{
		Name: Name, Timeout: restFor, MaxRequests: 1,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= maxFails },
		// That it refuses us, or has no way, is an answer.
		IsSuccessful: func(err error) bool { return err == nil || !errors.Is(err, errService) },
		// Who went away before the answer came says nothing about it.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
	})
	return c, nil
}

// why a question is asked.
type why bool

const (
	forQuote why = false
	forStep  why = true
)

// ask asks once. Nothing is asked again at once: quotes are in a hurry, and steps come
// again by themselves.
func (c *Client) ask(ctx context.Context, w why, method, path string, body []byte) ([]byte, error) {
	if at := c.resting(); !at.IsZero() {
		return nil, fmt.Errorf("%w: until %s", errBusy, at.UTC().Format(time.RFC3339))
	}
	if w == forQuote {
		if err := c.quotes.Wait(ctx); err != nil {
			return nil, fmt.Errorf("%w: %w", errBusy, err)
		}
	}
	if err := c.all.Wait(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errBusy, err)
	}
	got, err := c.breaker.Execute(func() ([]byte, error) { return c.send(ctx, method, path, body) })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return nil, fmt.Errorf("%w: it failed %d times one after another", errBusy, maxFails)
	}
	return got, err
}

func (c *Client) send(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Client-Id", c.cfg.ID)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errService, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusTooManyRequests {
		c.rest(resp.Header.Get("Retry-After"))
		return nil, errBusy
	}
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errService, err)
	case len(got) > maxAnswer:
		return nil, fmt.Errorf("%w: its answer is longer than %d bytes", errService, maxAnswer)
	}
	return open(resp.StatusCode, got)
}

func (c *Client) resting() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cfg.Now().Before(c.until) {
		return c.until
	}
	return time.Time{}
}

// rest asks nobody for as long as the service says, within reason, or for a second.
func (c *Client) rest(after string) {
	long := time.Second
	if s, err := strconv.ParseUint(after, 10, 16); err == nil {
		long = min(max(long, time.Duration(s)*time.Second), maxRest)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = c.cfg.Now().Add(long)
}
