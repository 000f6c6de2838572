package post

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ferry/internal/hooks"
)

// Bounds of a post beside the time that the context gives it.
const (
	dialTimeout = 5 * time.Second
	idleTimeout = 30 * time.Second
	idlePerHost = 8
	maxHeaders  = 16 << 10
	// drained is how much of an answer is read so that the connection can be used again.
	drained = 4 << 10
)

// Config is how posts are made.
type Config struct {
	// Loopback allows this machine, also without TLS: for development.
	Loopback bool
	Agent    string // who says it posts
	// Resolver is whom names are asked of, and Roots whom certificates are believed of;
	// nil is the machine's own.
	Resolver *net.Resolver
	Roots    *x509.CertPool
}

// Poster posts.
type Poster struct {
	client *http.Client
	agent  string
}

var _ hooks.Poster = (*Poster)(nil)

// New makes a poster.
func New(cfg Config) *Poster {
	g := guard{loopback: cfg.Loopback}
	dialer := &net.Dialer{Timeout: dialTimeout, Control: g.control, Resolver: cfg.Resolver}
	return &Poster{agent: cfg.Agent, client: &http.Client{
		Transport: &http.Transport{
			Proxy: nil, DialContext: dialer.DialContext, TLSHandshakeTimeout: dialTimeout, DisableCompression: true,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots}, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: idlePerHost, MaxIdleConns: 16 * idlePerHost, IdleConnTimeout: idleTimeout, MaxResponseHeaderBytes: maxHeaders,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close lets go of connections that wait for the next post.
func (p *Poster) Close() { p.client.CloseIdleConnections() }

// errForbidden says that an address must not be dialled.
var errForbidden = errors.New("post: an address that nothing is sent to")

// guard looks at every address that is dialled.
type guard struct{ loopback bool }

// control implements net.Dialer.Control: it sees the very address that is connected to.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return errForbidden
	}
	if g.loopback && at.Addr().Unmap().IsLoopback() {
		return nil
	}
	if !hooks.AllowedAddr(at.Addr()) || !hooks.AllowedPort(at.Port()) {
		return errForbidden
	}
	return nil
}

// Post implements hooks.Poster.
func (p *Poster) Post(ctx context.Context, m hooks.Message) (status int, t hooks.Trouble) {
	r, err := p.request(ctx, m)
	if err != nil {
		return 0, hooks.Unreadable
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return 0, troubleOf(err)
	}
	defer resp.Body.Close() //nolint:errcheck // what was answered is not looked at
	_, _ = io.CopyN(io.Discard, resp.Body, drained)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode, hooks.BadStatus
	}
	return resp.StatusCode, ""
}

// request is the message with its signatures.
func (p *Poster) request(ctx context.Context, m hooks.Message) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return nil, err
	}
	signatures := make([]string, len(m.Secrets))
	for i, s := range m.Secrets {
		signer, err := standardwebhooks.NewWebhook(s.Reveal())
		if err == nil {
			signatures[i], err = signer.Sign(m.ID, m.At, m.Body)
		}
		if err != nil {
			return nil, fmt.Errorf("sign %s: %w", m.ID, err)
		}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", p.agent)
	r.Header.Set(standardwebhooks.HeaderWebhookID, m.ID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(m.At.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return r, nil
}

// troubleOf is the class of an error, whose words may hold what was answered.
func troubleOf(err error) hooks.Trouble {
	var dns *net.DNSError
	var timeout net.Error
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errForbidden):
		return hooks.Forbidden
	case errors.As(err, &dns) && !dns.IsTimeout:
		return hooks.NoName
	case errors.As(err, &verify), errors.As(err, &alert), errors.As(err, &record):
		return hooks.BadTLS
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return hooks.TimedOut
	}
	return hooks.NoAnswer
}
