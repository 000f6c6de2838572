package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of refusal it is; a door maps it to its own numbers.
type Kind uint8

// The kinds. The zero value is Internal, so a fault nobody classified is not shown.
const (
	Internal Kind = iota
	Invalid
	Unauthenticated
	Forbidden
	NotFound
	Conflict
	Unprocessable
	Exhausted
	Unavailable
)

// Error is a refusal with a stable code.
type Error struct {
	Kind   Kind
	Code   string
	Text   string
	Detail map[string]any
	cause  error
}

// New makes a fault; the text says what is wrong and what to do next.
func New(kind Kind, code, text string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Text: fmt.Sprintf(text, args...)}
}

// Because keeps the cause for the log; it is never shown to a caller.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// With adds a detail that the caller may see.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Detail = make(map[string]any, len(e.Detail)+1)
	for k, v := range e.Detail {
		c.Detail[k] = v
	}
	c.Detail[name] = value
	return &c
}

// retryKey is the detail that doors turn into Retry-After.
const retryKey = "retryAfterSeconds"

// RetryAfter says when the same request may succeed, in whole seconds from 1.
func (e *Error) RetryAfter(d time.Duration) *Error {
	return e.With(retryKey, max(int((d+time.Second-1)/time.Second), 1))
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Text + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Text
}

func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is compare faults by code.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Code == e.Code
}

// Of finds the fault in err; anything else becomes an internal one whose text
// says nothing.
func Of(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return &Error{Kind: Internal, Code: "internal_error", Text: "Something went wrong on our side.", cause: err}
}
