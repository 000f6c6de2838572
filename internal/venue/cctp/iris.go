package cctp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"golang.org/x/time/rate"

	"ferry/internal/chain"
)

// What is known of Circle's service: it takes 35 requests a second, and whoever asks more
// gets nothing for five minutes.
const (
	perSecond = 20
	burst     = 10
	banned    = 5 * time.Minute
)

// What an answer may be.
const (
	maxAnswer  = 1 << 20
	maxEntries = 256
	timeout    = 10 * time.Second
	tries      = 3
	pause      = 200 * time.Millisecond
)

// Errors of the attestation service.
var (
	ErrBusy     = errors.New("cctp: the attestation service takes no more questions for now")
	ErrAttester = errors.New("cctp: the attestation service does not answer as it should")
)

// Iris asks Circle's attestation service. It may be used by many at once; those of one
// process share its limit.
type Iris struct {
	base   string
	client *http.Client
	limit  *rate.Limiter
	now    func() time.Time

	mu    sync.Mutex
	until time.Time // no question is asked before
}

// NewIris makes a client of the service at a base address.
func NewIris(base string, now func() time.Time) (*Iris, error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("cctp: the attestation service's address must be http or https with a host, and nothing secret in it")
	}
	return &Iris{
		base: strings.TrimSuffix(base, "/"), now: now, limit: rate.NewLimiter(perSecond, burst),
		client: &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // nobody else is asked
		}},
	}, nil
}

// Messages implements Attester. A transaction that the service has not seen is nothing.
func (i *Iris) Messages(ctx context.Context, domain uint32, tx chain.TxID) ([]Attested, error) {
	where := i.base + "/v2/messages/" + strconv.FormatUint(uint64(domain), 10) + "?transactionHash=" + url.QueryEscape(string(tx))
	var err error
	for n := range tries {
		if n > 0 {
			select {
			case <-ctx.Done():
				return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
			case <-time.After(pause << n):
			}
		}
		var all []Attested
		var again bool
		if all, again, err = i.get(ctx, where); err == nil || !again {
			return all, err
		}
	}
	return nil, err
}

// get asks once, and says whether it is worth to ask again at once.
func (i *Iris) get(ctx context.Context, where string) (all []Attested, again bool, err error) {
	if at := i.resting(); !at.IsZero() {
		return nil, false, fmt.Errorf("%w: until %s", ErrBusy, at.UTC().Format(time.RFC3339))
	}
	if err := i.limit.Wait(ctx); err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, false, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := i.client.Do(req)
	if err != nil {
		return nil, ctx.Err() == nil, fmt.Errorf("%w: %w", ErrAttester, err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return nil, false, nil
	case resp.StatusCode == http.StatusTooManyRequests:
		i.rest(resp.Header.Get("Retry-After"))
		return nil, false, ErrBusy
	case resp.StatusCode != http.StatusOK:
		return nil, resp.StatusCode >= 500, fmt.Errorf("%w: status %d", ErrAttester, resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, true, fmt.Errorf("%w: %w", ErrAttester, err)
	}
	if len(body) > maxAnswer {
		return nil, false, fmt.Errorf("%w: its answer is longer than %d bytes", ErrAttester, maxAnswer)
	}
	all, err = readAnswer(body)
	return all, false, err
}

func (i *Iris) resting() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now().Before(i.until) {
		return i.until
	}
	return time.Time{}
}

// rest asks nobody for as long as the service says, and at least as long as it is known
// to refuse.
func (i *Iris) rest(after string) {
	long := banned
	if s, err := strconv.ParseUint(after, 10, 16); err == nil {
		long = max(long, time.Duration(s)*time.Second)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.until = i.now().Add(long)
}

// entry is a message in an answer. One that is not attested has no bytes of its own yet.
type entry struct {
	Message     string `json:"message"`
	Attestation string `json:"attestation"`
	Status      string `json:"status"`
}

func readAnswer(body []byte) ([]Attested, error) {
	var said struct {
		Messages []entry `json:"messages"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAttester, err)
	}
	if len(said.Messages) > maxEntries {
		return nil, fmt.Errorf("%w: it tells of %d messages", ErrAttester, len(said.Messages))
	}
	out := make([]Attested, 0, len(said.Messages))
	for _, e := range said.Messages {
		if e.Status != "complete" {
			continue
		}
		m, err := hexutil.Decode(e.Message)
		if err != nil {
			return nil, fmt.Errorf("%w: a message: %w", ErrAttester, err)
		}
		a, err := hexutil.Decode(e.Attestation)
		if err != nil {
			return nil, fmt.Errorf("%w: an attestation: %w", ErrAttester, err)
		}
		out = append(out, Attested{Message: m, Attestation: a})
	}
	return out, nil
}
