package api

import (
	"net/http"
	"net/netip"
	"time"

	"ferry/internal/access"
)

// Credentials are what a request shows, before anything is believed.
type Credentials struct {
	RawQuery string
	Header   http.Header
	Remote   netip.Addr // the other end of the connection; a proxy, perhaps
	Need     Need
}

// Admitter says who a request is. For NoKey it only refuses keys in the query; for
// OptionalKey it also checks a key that is shown; for ServerKey it wants one. Its
// errors are faults. It keeps nothing of the credentials.
type Admitter interface {
	Admit(c *Credentials, now time.Time) (access.Principal, error)
}

// Limiter takes what an operation spends from every allowance that applies, or from
// none. It sets RateLimit and RateLimit-Policy of the answer, and its
// refusal is a fault with the details retryAfterSeconds and resource.
type Limiter interface {
	Take(p *access.Principal, s Spend, now time.Time, header *Fields) error
}

// Ceiling bounds the requests that are worked on at once in the whole process. Enter
// refuses with a fault; Leave follows every Enter that did not.
type Ceiling interface {
	Enter() error
	Leave()
}
