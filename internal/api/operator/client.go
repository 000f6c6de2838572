package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"ferry/internal/fault"
	"ferry/internal/office"
	"ferry/internal/secret"
)

// patience is how long a client waits for an answer, and maxAnswer how much of one
// it takes.
const (
	patience  = time.Minute
	maxAnswer = 16 << 20
)

// Client asks the operators' API.
type Client struct {
	base  string
	token secret.Text
	http  *http.Client
}

// NewClient asks a running service. A token goes only to the loopback address or
// over TLS, and never where an answer points to.
func NewClient(base string, token secret.Text) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("the operators' URL is not one; write such as http://127.0.0.1:8081")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("the token would travel to %s where others can read it; use https, or a tunnel to a loopback address", u.Hostname())
	}
	if !strings.HasPrefix(token.Reveal(), tokenPrefix) || strings.ContainsFunc(token.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("the operator's token is not one; it begins with %s", tokenPrefix)
	}
	return &Client{base: strings.TrimSuffix(u.String(), "/"), token: token, http: &http.Client{Timeout: patience, CheckRedirect: stay}}, nil
}

// stay follows no redirect: whoever answers with one is not the door.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && a.IsLoopback())
}

// ask sends a request and reads its answer.
func ask[T any](ctx context.Context, c *Client, method, path string, body any) (answer T, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return answer, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+prefix+path, bytes.NewReader(text))
	if err != nil {
		return answer, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(r)
	if err != nil {
		return answer, fmt.Errorf("ask the service: %w; check --operator-url and that it runs", err)
	}
	text, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return answer, fmt.Errorf("read the answer: %w", err)
	}
	if res.StatusCode >= 300 {
		return answer, said(res.StatusCode, text)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("the answer is not of this API: %w; check --operator-url", err)
	}
	return answer, nil
}

// said is the refusal in an answer.
func said(status int, text []byte) error {
	var p problem
	if err := json.Unmarshal(text, &p); err != nil || p.Code == "" {
		return fmt.Errorf("the service answered with status %d, which is not of this API; check --operator-url", status)
	}
	f := fault.New(kindOf(status), p.Code, "%s", p.Detail)
	if status >= http.StatusInternalServerError {
		f.Text += " Its log says more about request " + p.RequestID + "."
	}
	return f
}

// Create makes an integrator.
func (c *Client) Create(ctx context.Context, name string) (Integrator, error) {
	return ask[Integrator](ctx, c, http.MethodPost, "/integrators", newIntegrator{Name: name})
}

// Show is one integrator.
func (c *Client) Show(ctx context.Context, id string) (Integrator, error) {
	return ask[Integrator](ctx, c, http.MethodGet, "/integrators/"+url.PathEscape(id), nil)
}

// List is all integrators.
func (c *Client) List(ctx context.Context) (all Integrators, err error) {
	all.Integrators = []Integrator{}
	for cursor := ""; ; {
		page, err := ask[Integrators](ctx, c, http.MethodGet, "/integrators?limit="+strconv.Itoa(office.MaxPage)+"&cursor="+url.QueryEscape(cursor), nil)
		if err != nil {
			return all, err
		}
		all.Integrators = append(all.Integrators, page.Integrators...)
		if page.NextCursor == nil {
			return all, nil
		}
		cursor = *page.NextCursor
	}
}

// Change changes an integrator.
func (c *Client) Change(ctx context.Context, id string, p Patch) (Integrator, error) {
	return ask[Integrator](ctx, c, http.MethodPatch, "/integrators/"+url.PathEscape(id), p)
}

// IssueKey makes a key. A limit of nil is the usual one.
func (c *Client) IssueKey(ctx context.Context, id, kind, label string, requests *int64) (Issued, error) {
	return ask[Issued](ctx, c, http.MethodPost, "/integrators/"+url.PathEscape(id)+"/keys", newKey{Kind: kind, Label: label, Requests: requests})
}

// Keys are those of an integrator.
func (c *Client) Keys(ctx context.Context, id string) (Keys, error) {
	return ask[Keys](ctx, c, http.MethodGet, "/integrators/"+url.PathEscape(id)+"/keys", nil)
}

// Webhooks are those of an integrator.
func (c *Client) Webhooks(ctx context.Context, id string) (Webhooks, error) {
	return ask[Webhooks](ctx, c, http.MethodGet, "/integrators/"+url.PathEscape(id)+"/webhooks", nil)
}

// RevokeKey makes a key open nothing.
func (c *Client) RevokeKey(ctx context.Context, id string) (Key, error) {
	return ask[Key](ctx, c, http.MethodPost, "/keys/"+url.PathEscape(id)+"/revoke", nil)
}

// Audit is a page of the operators' log after an entry.
func (c *Client) Audit(ctx context.Context, after int64) (Entries, error) {
	return ask[Entries](ctx, c, http.MethodGet, "/audit?after="+strconv.FormatInt(after, 10), nil)
}

// Verify goes through the operators' log.
func (c *Client) Verify(ctx context.Context) (Verdict, error) {
	return ask[Verdict](ctx, c, http.MethodGet, "/audit/verify", nil)
}

// Halts are the chains that are stopped.
func (c *Client) Halts(ctx context.Context) (Halts, error) {
	return ask[Halts](ctx, c, http.MethodGet, "/halts", nil)
}

// ResumeChain lets a chain go on, and says which are still stopped.
func (c *Client) ResumeChain(ctx context.Context, id string) (Halts, error) {
	return ask[Halts](ctx, c, http.MethodPost, "/halts/"+url.PathEscape(id)+"/resume", nil)
}

// Queue are the oldest orders that wait for an operator.
func (c *Client) Queue(ctx context.Context) (Questions, error) {
	return ask[Questions](ctx, c, http.MethodGet, "/queue", nil)
}
