package prices

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"ferry/internal/secret"
)

// web is a place that is asked with GET and nothing else.
type web struct {
	url    secret.Text
	client *http.Client
}

// said is what such a place answered; at is when, by its own clock, and zero where it
// does not say.
type said struct {
	body []byte
	at   time.Time
}

const (
	httpTimeout  = 5 * time.Second
	maxRedirects = 3
)

// errElsewhere: the source sent us to another host.
var errElsewhere = errors.New("it redirects to another host, or too often")

func newWeb(name string, address secret.Text) (*web, error) {
	u, err := url.Parse(address.Reveal())
	if err != nil || u.Host == "" || (u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))) {
		return nil, fmt.Errorf("prices: source %s: its address must be https, or http on this machine", name)
	}
	return &web{url: address, client: &http.Client{
		Timeout: httpTimeout,
		// No proxy: the environment does not decide where prices come from.
		Transport: &http.Transport{
			DialContext:     (&net.Dialer{Timeout: httpTimeout}).DialContext,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
			MaxIdleConns: maxIdle, MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != u.Host || r.URL.Scheme != u.Scheme || len(via) > maxRedirects {
				return errElsewhere
			}
			return nil
		},
	}}, nil
}

// maxIdle is how many connections wait for the next look: some places are asked several
// questions at once.
const maxIdle = 4

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && a.IsLoopback())
}

// get asks for what stands under the address, followed by a path and a query.
func (w *web) get(ctx context.Context, rest string) (said, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url.Reveal()+rest, nil)
	if err != nil {
		return said{}, errors.New("its address cannot be asked")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "ferry")
	resp, err := w.client.Do(r)
	if err != nil {
		return said{}, bare(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK {
		return said{}, fmt.Errorf("it answered %d", resp.StatusCode)
	}
	b, err := readAll(resp.Body)
	if err != nil {
		if errors.Is(err, errDocument) {
			return said{}, err
		}
		return said{}, bare(err)
	}
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		at = time.Time{}
	}
	return said{b, at.UTC()}, nil
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
