package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Node is one node. Its methods may be called by many at once.
type Node struct {
	name    string
	url     *url.URL
	client  *http.Client
	timeout time.Duration
	most    int64
	rest    time.Duration
	check   func(ctx context.Context, n *Node) error

	inspection sync.Mutex // held while the node is checked

	mu      sync.Mutex
	checked bool
	fails   int
	rests   time.Time // until when it is left alone
}

// Error is what a node answered instead of a result. It is an answer: whether it
// says that something is not there is for the family to judge.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *Error) Error() string { return fmt.Sprintf("node answered %d: %s", e.Code, clip(e.Message)) }

// Errors of a node that did not answer.
var (
	// ErrSilent: it could not be reached, or what it said is no answer.
	ErrSilent = errors.New("rpc: the node does not answer")
	// ErrResting: it failed again and again and is left alone for a while.
	ErrResting = errors.New("rpc: the node rests after it failed")
	// ErrWrongChain: it is a node of another chain.
	ErrWrongChain = errors.New("rpc: the node is on another chain")
)

// A node rests after so many failures in a row, and longer after each more.
const (
	failsToRest = 3
	longestRest = 30 * time.Second
)

// Name is how the node is called in logs; it tells nothing of where it is.
func (n *Node) Name() string { return n.name }

// Query is one question of a batch. Err is the node's own answer to it.
type Query struct {
	Method string
	Params []any
	Out    any
	Err    error
}

// Call asks one question.
func (n *Node) Call(ctx context.Context, out any, method string, params ...any) error {
	q := []Query{{Method: method, Params: params, Out: out}}
	if err := n.ask(ctx, q, false); err != nil {
		return fmt.Errorf("%s: %s: %w", n.name, method, err)
	}
	if q[0].Err != nil {
		return fmt.Errorf("%s: %s: %w", n.name, method, q[0].Err)
	}
	return nil
}

// Batch asks several questions in one request. Its error means that none was
// answered; each question has its own besides.
func (n *Node) Batch(ctx context.Context, all []Query) error {
	if len(all) == 0 {
		return nil
	}
	if err := n.ask(ctx, all, true); err != nil {
		return fmt.Errorf("%s: batch of %s: %w", n.name, all[0].Method, err)
	}
	return nil
}

func (n *Node) ask(ctx context.Context, all []Query, batch bool) error {
	if err := n.admit(ctx); err != nil {
		return err
	}
	err := n.post(ctx, all, batch)
	n.judge(ctx, err)
	return err
}

// checking marks the questions of a node's own check, which must not wait for it.
type checking struct{}

// admit lets a node be asked that does not rest and is on our chain. Whoever comes
// while it is being checked waits for that.
func (n *Node) admit(ctx context.Context) error {
	if ctx.Value(checking{}) == n {
		return nil
	}
	if known, err := n.standing(); known || err != nil {
		return err
	}
	n.inspection.Lock()
	defer n.inspection.Unlock()
	if known, err := n.standing(); known || err != nil {
		return err
	}
	if err := n.check(context.WithValue(ctx, checking{}, n), n); err != nil {
		return err
	}
	n.mu.Lock()
	n.checked = true
	n.mu.Unlock()
	return nil
}

// standing reports whether a node was checked; a node that rests is an error.
func (n *Node) standing() (known bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Now().Before(n.rests) {
		return false, ErrResting
	}
	return n.checked || n.check == nil, nil
}

// judge counts failures in a row. A caller that gave up says nothing of the node.
func (n *Node) judge(ctx context.Context, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err == nil:
		n.fails = 0
	case ctx.Err() != nil:
	default:
		if n.fails++; n.fails >= failsToRest {
			rest := min(n.rest<<min(n.fails-failsToRest, 8), longestRest)
			n.rests, n.checked = time.Now().Add(rest), false
		}
	}
}

type question struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type answer struct {
	ID     *int           `json:"id"`
	Result jsontext.Value `json:"result"`
	Error  *Error         `json:"error"`
}

func (n *Node) post(ctx context.Context, all []Query, batch bool) error {
	asked := make([]question, len(all))
	for i, q := range all {
		asked[i] = question{"2.0", i, q.Method, q.Params}
		if q.Params == nil {
			asked[i].Params = []any{}
		}
	}
	var body any = asked
	if !batch {
		body = asked[0]
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("the question can not be written: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	said, err := n.fetch(ctx, text)
	if err != nil {
		return err
	}
	// Results can be megabytes: they are gone over once here. A name that stands twice
	// is no answer, since nobody knows which of the two is meant.
	answers := make([]answer, 1, len(all))
	if batch {
		err = jsonv2.Unmarshal(said, &answers, jsontext.AllowInvalidUTF8(true))
	} else {
		err = jsonv2.Unmarshal(said, &answers[0], jsontext.AllowInvalidUTF8(true))
	}
	if err != nil {
		return fmt.Errorf("%w: what it said is no JSON-RPC", ErrSilent)
	}
	return match(all, answers)
}

// match gives each question its answer, by its number and not by its place.
func match(all []Query, answers []answer) error {
	got := make([]bool, len(all))
	for _, a := range answers {
		if a.ID == nil || *a.ID < 0 || *a.ID >= len(all) || got[*a.ID] {
			return fmt.Errorf("%w: it answered what was not asked", ErrSilent)
		}
		i := *a.ID
		got[i] = true
		switch {
		case a.Error != nil:
			all[i].Err = a.Error
		case all[i].Out == nil:
		default:
			if err := read(a.Result, all[i].Out); err != nil {
				return fmt.Errorf("%w: the answer to %s has another form: %w", ErrSilent, all[i].Method, err)
			}
		}
	}
	for i, ok := range got {
		if !ok {
			return fmt.Errorf("%w: %s was left out", ErrSilent, all[i].Method)
		}
	}
	return nil
}

// read takes a result that is known to be JSON: a block has megabytes. What reads itself
// is not looked through before, and a long text is only cut out.
func read(result jsontext.Value, out any) error {
	if u, ok := out.(json.Unmarshaler); ok && len(result) > 0 {
		return u.UnmarshalJSON(result)
	}
	if text, ok := out.(*string); ok && result.Kind() == '"' && !bytes.ContainsRune(result, '\\') {
		*text = string(result[1 : len(result)-1])
		return nil
	}
	return json.Unmarshal(result, out)
}

// fetch posts a text. Errors of the transport hold the address, so only their kind
// is told.
func (n *Node) fetch(ctx context.Context, text []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url.String(), bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%w: its address can not be used", ErrSilent)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := n.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrSilent, kind(ctx, err))
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(resp.Body, n.most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %s", ErrSilent, kind(ctx, err))
	case int64(len(said)) > n.most:
		return nil, fmt.Errorf("%w: its answer is above %d bytes", ErrSilent, n.most)
	case resp.StatusCode/100 != 2 && !bytes.HasPrefix(bytes.TrimSpace(said), []byte("{")):
		// Some nodes answer errors of JSON-RPC with a status of HTTP that says so too.
		return nil, fmt.Errorf("%w: HTTP status %d", ErrSilent, resp.StatusCode)
	}
	return said, nil
}

func kind(ctx context.Context, err error) string {
	var u *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "it took too long"
	case ctx.Err() != nil:
		return "it was not waited for"
	case errors.As(err, &u) && u.Timeout():
		return "it took too long"
	}
	return "the connection failed"
}

// clip keeps what a node says short and on one line.
func clip(s string) string {
	const most = 200
	out := []rune(s)
	if len(out) > most {
		out = append(out[:most], '…')
	}
	for i, r := range out {
		if r < ' ' || r == 0x7f {
			out[i] = ' '
		}
	}
	return string(out)
}
