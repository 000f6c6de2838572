package prices

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"ferry/internal/secret"
)

// HTTPConfig is a source that is asked over HTTP.
type HTTPConfig struct {
	Name string
	URL  secret.Text // it may carry a key
	// Fields are where the answer has each symbol; empty: it is a document as File
	// reads it, in which the time may be left out.
	Fields map[string]Field
}

// HTTP is a source that is asked over HTTP with one GET.
type HTTP struct {
	name   string
	url    secret.Text
	fields map[string]Field
	client *http.Client
}

const (
	httpTimeout  = 5 * time.Second
	maxRedirects = 3
)

// errElsewhere: the source sent us to another host.
var errElsewhere = errors.New("it redirects to another host, or too often")

// NewHTTP checks the address: https, or http on this machine only, because whoever
// can change an answer on its way can set our prices.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) {
	u, err := url.Parse(cfg.URL.Reveal())
	if err != nil || u.Host == "" || (u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))) {
		return nil, fmt.Errorf("prices: source %s: its address must be https, or http on this machine", cfg.Name)
	}
	for symbol, f := range cfg.Fields {
		if f.Price == "" || f.Price[0] != '/' || (f.At != "" && f.At[0] != '/') {
			return nil, fmt.Errorf("prices: source %s: %s: its fields must be JSON pointers such as \"/bitcoin/usd\"", cfg.Name, symbol)
		}
	}
	h := &HTTP{name: cfg.Name, url: cfg.URL, fields: maps.Clone(cfg.Fields)}
	h.client = &http.Client{
		Timeout: httpTimeout,
		// No proxy: the environment does not decide where prices come from.
		Transport: &http.Transport{
			DialContext:     (&net.Dialer{Timeout: httpTimeout}).DialContext,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
			MaxIdleConns: 1, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != u.Host || r.URL.Scheme != u.Scheme || len(via) > maxRedirects {
				return errElsewhere
			}
			return nil
		},
	}
	return h, nil
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && a.IsLoopback())
}

// Name implements Source.
func (h *HTTP) Name() string { return h.name }

// Prices implements Source.
func (h *HTTP) Prices(ctx context.Context, now time.Time) (map[string]Quote, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url.Reveal(), nil)
	if err != nil {
		return nil, errors.New("its address cannot be asked")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "ferry")
	resp, err := h.client.Do(r)
	if err != nil {
		return nil, bare(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %d", resp.StatusCode)
	}
	b, err := readAll(resp.Body)
	if err != nil {
		if errors.Is(err, errDocument) {
			return nil, err
		}
		return nil, bare(err)
	}
	if len(h.fields) == 0 {
		return parseDocument(b, now)
	}
	return pick(b, h.fields, now)
}

// bare says what went wrong without where: the texts of the network's errors hold
// addresses, with the keys in them.
func bare(err error) error {
	var (
		dns   *net.DNSError
		errno syscall.Errno
		cert  *tls.CertificateVerificationError
		host  x509.HostnameError
		slow  net.Error
		outer *url.Error
	)
	if errors.As(err, &outer) {
		err = outer.Err
	}
	switch {
	case errors.Is(err, errElsewhere):
		return errElsewhere
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return context.DeadlineExceeded
	case errors.As(err, &cert), errors.As(err, &host):
		return errors.New("its certificate is not good")
	case errors.As(err, &dns):
		return errors.New("its name is not known")
	case errors.As(err, &errno):
		return fmt.Errorf("it cannot be reached: %w", errno)
	}
	return errors.New("it cannot be reached")
}
