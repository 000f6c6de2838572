package operator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Follow says which events are wanted: after a number, after all but the last few, or
// from now on; all of them, or those of an order or of an integrator.
type Follow struct {
	Order, Integrator string
	After, Last       *int64
}

// Of a stream as its reader sees it: the longest line, and how long nothing may come
// before it is taken for dead.
const (
	maxLine    = 1 << 20
	maxSilence = 45 * time.Second
)

// Events hears a stream, line by line, until it ends: nil is that the service ended it.
// What hear refuses ends it too. A line is good until hear returns.
func (c *Client) Events(ctx context.Context, f Follow, hear func(line []byte) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+prefix+"/events?"+f.query().Encode(), nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	silent := time.AfterFunc(maxSilence, stop)
	defer silent.Stop()
	res, err := (&http.Client{Transport: c.http.Transport, CheckRedirect: stay}).Do(r) // no bound for the whole: it goes on
	if err != nil {
		return fmt.Errorf("ask the service: %w; check --operator-url and that it runs", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 300 {
		text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		return said(res.StatusCode, text)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		silent.Reset(maxSilence)
		if err := hear(lines.Bytes()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the stream broke: %w", err)
	}
	return nil
}

func (f Follow) query() url.Values {
	v := url.Values{}
	for name, text := range map[string]string{"order": f.Order, "integrator": f.Integrator} {
		if text != "" {
			v.Set(name, text)
		}
	}
	for name, n := range map[string]*int64{"after": f.After, "last": f.Last} {
		if n != nil {
			v.Set(name, strconv.FormatInt(*n, 10))
		}
	}
	return v
}
