package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"

	"ferry/internal/api/wire"
	"ferry/internal/fault"
)

// Details of a fault that the door reads itself; all others are shown as they are.
const (
	retryAfterKey = "retryAfterSeconds" // int, becomes Retry-After
	resourceKey   = "resource"          // string, becomes X-RateLimit-Resource
	pointerKey    = "pointer"           // string, the JSON pointer of the one field it is about
	fieldKey      = "field"             // string, its name, where rooms know no pointers
)

// notFoundCode is the code whose answer must not say which of its reasons it has.
const notFoundCode = "order_not_found"

// unavailableCode is the code that promises Retry-After, and when to come again where
// nobody knows better.
const (
	unavailableCode  = "service_unavailable"
	retryUnavailable = 5
)

// notFoundBody is the one body for an order that is missing and one that may not be
// seen. It has no request id: that is in the header only.
var notFoundBody = []byte(`{"type":"/v2/errors#order_not_found","title":"Order not found","status":404,"code":"order_not_found","detail":"` + wire.OrderNotFoundDetail + `","retryable":false}`)

var errInternal = fault.New(fault.Internal, "internal_error", "Something went wrong on our side. Report the requestId to the operator if it stays.")

// errDown is the refusal while the database does not answer.
var errDown = fault.New(fault.Unavailable, unavailableCode, "The service cannot reach its own records now; try again in a few seconds.")

// refuse writes a failure.
func (d *Door) refuse(c *Call, err error) {
	f, entry := d.classify(c, err)
	c.log.code = entry.Code
	c.out.Set("Cache-Control", "no-store")
	c.out.Set("Content-Type", problemMedia)
	c.out.Del("ETag", "Content-Encoding", "Vary", "Link")
	if entry.Code == notFoundCode {
		c.send(entry.Status, notFoundBody, true)
		return
	}
	if entry.Status == http.StatusUnauthorized {
		c.out.Set("WWW-Authenticate", `IntegratorKey realm="ferry", header="X-Integrator-Key"`)
	}
	body, err := wire.Bytes(d.refusal(c, f, entry))
	if err != nil { // a detail that is no JSON: say the code without it
		d.cfg.Log.LogAttrs(c.Context(), slog.LevelError, "a refusal could not be written",
			slog.String("requestId", c.ID), slog.String("code", f.Code), slog.Any("err", err))
		bare := fault.New(f.Kind, f.Code, "%s", f.Text)
		body, _ = wire.Bytes(d.refusal(c, bare, entry))
	}
	c.send(entry.Status, body, false)
}

// classify finds the catalogue's entry of an error. What is not in it is internal:
// it is logged and not shown.
func (d *Door) classify(c *Call, err error) (*fault.Error, wire.Code) {
	f := fault.Of(err)
	entry, known := wire.CodeOf(f.Code)
	gone := errors.Is(err, context.Canceled) && c.Context().Err() != nil
	if gone {
		f = fault.New(fault.Unavailable, "service_unavailable", "The request was given up before it was answered.")
		entry, _ = wire.CodeOf(f.Code)
		return f, entry
	}
	if _, refused := errors.AsType[*fault.Error](err); !refused && d.cfg.Down != nil && d.cfg.Down(err) {
		f = errDown.Because(err)
		entry, known = wire.CodeOf(f.Code)
	}
	if f == errInternal { // a panic, which is logged already
		return f, entry
	}
	if !known || f.Kind == fault.Internal {
		d.cfg.Log.LogAttrs(c.Context(), slog.LevelError, "a request failed inside",
			slog.String("requestId", c.ID), slog.String("route", c.template()), slog.String("code", f.Code), slog.Any("err", err))
		entry, _ = wire.CodeOf(errInternal.Code)
		return errInternal, entry
	}
	if entry.Status >= http.StatusInternalServerError && errors.Unwrap(f) != nil {
		d.cfg.Log.LogAttrs(c.Context(), slog.LevelWarn, "a request could not be served",
			slog.String("requestId", c.ID), slog.String("route", c.template()), slog.String("code", f.Code), slog.Any("err", err))
	}
	return f, entry
}

// refusal is the body of a failure; its headers are set on the way.
func (d *Door) refusal(c *Call, f *fault.Error, entry wire.Code) wire.Refusal {
	body := wire.Refusal{
		Type: "/v2/errors#" + entry.Code, Title: entry.Title, Status: entry.Status, Code: entry.Code,
		Detail: f.Text, RequestID: c.ID, Retryable: entry.Retryable, Actor: entry.Actor,
	}
	for name, value := range f.Detail {
		switch v := value.(type) {
		case int:
			if name == retryAfterKey {
				seconds := max(v, 1)
				body.RetryAfterSeconds = &seconds
				c.SetHeader("Retry-After", strconv.Itoa(seconds))
				continue
			}
		case string:
			if name == resourceKey {
				c.SetHeader("X-RateLimit-Resource", v)
			}
			if name == pointerKey || name == fieldKey {
				body.Errors = []wire.Problem{{Pointer: c.pointer(name, v), Code: entry.Code, Message: f.Text}}
				continue
			}
		case []wire.Problem:
			if name == wire.ProblemsKey {
				body.Errors = v
				continue
			}
		}
		if body.Details == nil {
			body.Details = map[string]any{}
		}
		body.Details[name] = value
	}
	if entry.Code == unavailableCode && body.RetryAfterSeconds == nil {
		seconds := retryUnavailable
		body.RetryAfterSeconds = &seconds
		c.SetHeader("Retry-After", strconv.Itoa(seconds))
	}
	return body
}

// pointer is where in the request a field is.
func (c *Call) pointer(key, name string) string {
	switch {
	case key == pointerKey:
		return name
	case c.op != nil && c.op.In == nil:
		return "?" + name
	}
	return "/" + name
}

// recovered turns a panic into a 500. Its stack is for the log only.
func (d *Door) recovered(c *Call) {
	why := recover()
	if why == nil {
		return
	}
	d.panics.Add(1)
	d.cfg.Log.LogAttrs(c.Context(), slog.LevelError, "a request panicked",
		slog.String("requestId", c.ID), slog.String("route", c.template()), slog.Any("panic", why), slog.String("stack", string(debug.Stack())))
	if c.log.status == 0 {
		c.log.code = errInternal.Code
		d.refuse(c, errInternal)
	}
	d.written(c)
}
