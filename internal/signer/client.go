package signer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"ferry/internal/chain"
)

// Client asks a signer in a process of its own. It is safe for concurrent use.
//
// ErrRefused says that it answered and would not; ErrUnreachable that nothing is known.
type Client struct {
	http http.Client
	path string
}

// NewClient makes a client of the signer that listens at a path.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "unix", path)
	}
	return &Client{path: path, http: http.Client{
		Timeout:   maxWait,
		Transport: &http.Transport{DialContext: dial, MaxIdleConns: 4, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute},
	}}
}

// Close lets go of what it keeps open.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Format says where it asks and not what it keeps: others use that at the same time.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[signer at " + c.path + "]")) }

// Sign has a paper signed.
func (c *Client) Sign(ctx context.Context, p chain.Paper) ([]byte, error) {
	a, err := c.ask(ctx, http.MethodPost, signPath, paperToWord(p))
	if err != nil {
		return nil, err
	}
	if len(a.Raw) == 0 {
		return nil, fmt.Errorf("%w at %s: it answered without a signature", ErrUnreachable, c.path)
	}
	return a.Raw, nil
}

// Address is the address of a key.
func (c *Client) Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error) {
	a, err := c.ask(ctx, http.MethodPost, addressPath, addressWord{Chain: string(id), Key: keyWord{string(k.Account), k.Index}})
	if err != nil {
		return chain.Address{}, err
	}
	if a.Address == "" || a.Family == "" {
		return chain.Address{}, fmt.Errorf("%w at %s: it answered without an address", ErrUnreachable, c.path)
	}
	return chain.CanonicalAddress(chain.Family(a.Family), a.Address), nil
}

// Health are the hot accounts that it signs for, by chain.
func (c *Client) Health(ctx context.Context) (map[chain.ID]string, error) {
	a, err := c.ask(ctx, http.MethodGet, healthPath, nil)
	if err != nil {
		return nil, err
	}
	hot := make(map[chain.ID]string, len(a.Hot))
	for id, text := range a.Hot {
		hot[chain.ID(id)] = text
	}
	return hot, nil
}

// Lists is the Digest of what it lets be called.
func (c *Client) Lists(ctx context.Context) (string, error) {
	a, err := c.ask(ctx, http.MethodGet, healthPath, nil)
	return a.Lists, err
}

// ask asks one question and reads one answer, whole and not too long.
func (c *Client) ask(ctx context.Context, method, path string, question any) (a answerWord, err error) {
	var body bytes.Buffer
	if question != nil {
		if err := json.NewEncoder(&body).Encode(question); err != nil {
			return a, fmt.Errorf("signer: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://signer"+path, &body)
	if err != nil {
		return a, fmt.Errorf("signer: %w", err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return a, fmt.Errorf("%w at %s: %w", ErrUnreachable, c.path, err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&a); err != nil {
		return a, fmt.Errorf("%w at %s: its answer cannot be read: %w", ErrUnreachable, c.path, err)
	}
	switch {
	case res.StatusCode == http.StatusOK:
		return a, nil
	case res.StatusCode == http.StatusForbidden && a.Refused != "":
		return a, &Refusal{Reason: a.Refused, Text: a.Text}
	case res.StatusCode == http.StatusNotFound && a.Unknown:
		return a, fmt.Errorf("%w: %s", ErrUnknownKey, a.Text)
	default:
		return a, fmt.Errorf("%w at %s: it answered %d: %s", ErrUnreachable, c.path, res.StatusCode, a.Text)
	}
}
