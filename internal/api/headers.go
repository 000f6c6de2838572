package api

import (
	"net/http"
	"strings"
)

const (
	jsonMedia    = "application/json"
	problemMedia = "application/problem+json"
)

// exposed are the headers that a script in a browser may read.
const exposed = "X-Request-ID, Retry-After, X-RateLimit-Resource, RateLimit, RateLimit-Policy, Link, ETag, Idempotency-Replayed, Deprecation, Sunset"

// common sets what every answer has. It is the first to set anything.
func (c *Call) common() {
	c.out.Add("X-Request-ID", c.ID)
	c.out.Add("Cache-Control", "no-store")
	c.out.Add("X-Content-Type-Options", "nosniff")
	c.out.Add("Referrer-Policy", "no-referrer")
	c.out.Add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
}

// crossOrigin lets browsers of any origin read what is public, always without
// credentials, and never anything of an integrator's own. Which headers a script may
// read only a browser asks, so only it is told, and whoever may keep the answer for one.
func (d *Door) crossOrigin(c *Call) {
	open := c.route != nil && c.route.open
	if c.route == nil {
		open = c.asked.path != "" && !strings.Contains(c.asked.path, "/integrator")
	}
	if !open {
		return
	}
	c.out.Set("Access-Control-Allow-Origin", "*")
	if len(c.asked.header["Origin"]) > 0 || c.route != nil && c.route.kept {
		c.out.Set("Access-Control-Expose-Headers", exposed)
	}
}

// options answers what a path knows, and a browser's question before a request.
func (d *Door) options(c *Call) any {
	c.SetHeader("Allow", c.route.allow)
	c.status = http.StatusNoContent
	if c.route.open && c.asked.header.Get("Access-Control-Request-Method") != "" {
		c.SetHeader("Access-Control-Allow-Methods", c.route.allow)
		c.SetHeader("Access-Control-Allow-Headers", "Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Integrator-Key, X-Session-ID")
		c.SetHeader("Access-Control-Max-Age", "600")
	}
	return nil
}
