package api

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"ferry/internal/access"
)

// Call is one request on its way through a row, which must not keep it.
type Call struct {
	Who access.Principal
	Now time.Time
	ID  string // the request's id

	op     *Operation
	route  *route
	values [maxPathValues]string
	query  []pair
	body   any
	form   string
	status int

	writer writer
	asked  *asked
	out    Fields
	usual  [usualFields]field // where out begins
	log    line
}

// Body is the decoded body of a row whose In is a T.
func Body[T any](c *Call) *T { return c.body.(*T) }

// Context ends when nobody waits for the answer any more.
func (c *Call) Context() context.Context { return c.asked.ctx }

// Path is a value of the path by its name in the template.
func (c *Call) Path(name string) string {
	for i, n := range c.route.names {
		if n == name {
			return c.values[i]
		}
	}
	return ""
}

// Query is a parameter of the query, and whether it was given.
func (c *Call) Query(name string) (string, bool) {
	for _, p := range c.query {
		if p.name == name {
			return p.value, true
		}
	}
	return "", false
}

// Form is the media type that the answer is to have: JSON, or one of the row's forms.
func (c *Call) Form() string { return c.form }

// Whole is a whole-number parameter, or what it is if it was not given.
func (c *Call) Whole(name string, otherwise int64) int64 {
	text, ok := c.Query(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil { // cannot be: the query was checked against the row
		return otherwise
	}
	return n
}

// Flag is a true-or-false parameter, or what it is if it was not given.
func (c *Call) Flag(name string, otherwise bool) bool {
	text, ok := c.Query(name)
	if !ok {
		return otherwise
	}
	return text == "true"
}

// Shown is every proof of an order that a request shows, unjudged: a repeated one is
// a wrong one, and Verify proves nothing to a row that acts.
type Shown struct{ Session, Verify []string }

// Proof is what the request shows.
func (c *Call) Proof() Shown {
	s := Shown{Session: c.asked.header["X-Session-Id"]}
	for _, p := range c.query {
		if p.name == verifyParam {
			s.Verify = append(s.Verify, p.value)
		}
	}
	return s
}

// Headers are all values of a request header. Upgrade has none where the connection
// cannot go on in another protocol: it is to be ignored there.
func (c *Call) Headers(name string) []string {
	if name == "Upgrade" && !c.switches() {
		return nil
	}
	return c.asked.header.Values(name)
}

// SetHeader sets a header of the answer.
func (c *Call) SetHeader(name, value string) { c.out.Set(name, value) }

// SetStatus makes the answer's status another than the row's.
func (c *Call) SetStatus(status int) { c.status = status }

// Next links the page that follows: the same request with another cursor.
func (c *Call) Next(cursor string) {
	q := url.Values{}
	for _, p := range c.query {
		q.Add(p.name, p.value)
	}
	q.Set("cursor", cursor)
	c.SetHeader("Link", "<"+c.asked.rawPath+"?"+q.Encode()+`>; rel="next"`)
}
