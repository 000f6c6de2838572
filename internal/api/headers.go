package api

import (
	"net/http"
	"strings"
)

const (
	jsonMedia    = "application/json"
	problemMedia = "application/problem+json"
)

// Header values that never change are shared; nobody may write into them.
var (
	jsonType     = []string{jsonMedia}
	problemType  = []string{problemMedia}
	noStore      = []string{"no-store"}
	noSniff      = []string{"nosniff"}
	noReferrer   = []string{"no-referrer"}
	nothingLoads = []string{"default-src 'none'; frame-ancestors 'none'"}
	anyOrigin    = []string{"*"}
	exposed      = []string{"X-Request-ID, Retry-After, X-RateLimit-Resource, RateLimit, RateLimit-Policy, Link, ETag, Idempotency-Replayed, Deprecation, Sunset"}
)

// common sets what every answer has.
func (d *Door) common(c *Call) {
	h := c.writer.Header()
	c.idHeader[0] = c.ID
	h["X-Request-Id"] = c.idHeader[:]
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h["Referrer-Policy"] = noReferrer
	h["Content-Security-Policy"] = nothingLoads
}

// crossOrigin lets browsers of any origin read what is public, always without
// credentials, and never anything of an integrator's own. Which headers a script may
// read only a browser asks, so only it is told, and whoever may keep the answer for one.
func (d *Door) crossOrigin(c *Call) {
	open := c.route != nil && c.route.open
	if c.route == nil {
		open = !strings.Contains(c.request.URL.Path, "/integrator")
	}
	if !open {
		return
	}
	h := c.writer.Header()
	h["Access-Control-Allow-Origin"] = anyOrigin
	if len(c.request.Header["Origin"]) > 0 || c.route != nil && c.route.kept {
		h["Access-Control-Expose-Headers"] = exposed
	}
}

// options answers what a path knows, and a browser's question before a request.
func (d *Door) options(c *Call) any {
	c.SetHeader("Allow", c.route.allow)
	c.status = http.StatusNoContent
	if c.route.open && c.request.Header.Get("Access-Control-Request-Method") != "" {
		c.SetHeader("Access-Control-Allow-Methods", c.route.allow)
		c.SetHeader("Access-Control-Allow-Headers", "Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Integrator-Key, X-Session-ID")
		c.SetHeader("Access-Control-Max-Age", "600")
	}
	return nil
}
