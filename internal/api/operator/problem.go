package operator

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"ferry/internal/fault"
)

// problem is a refusal as callers read it, after RFC 9457.
type problem struct {
	Type              string         `json:"type"`
	Title             string         `json:"title"`
	Status            int            `json:"status"`
	Code              string         `json:"code"`
	Detail            string         `json:"detail"`
	RequestID         string         `json:"requestId"`
	Retryable         bool           `json:"retryable"`
	Actor             string         `json:"actor"`
	RetryAfterSeconds *int64         `json:"retryAfterSeconds"`
	Errors            []fieldProblem `json:"errors,omitempty"`
	Details           map[string]any `json:"details"`
}

// fieldProblem is what is wrong with one field of a body.
type fieldProblem struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// refused is a fault with a status that its kind does not say.
type refused struct {
	status int
	fault  *fault.Error
}

func (r *refused) Error() string { return r.fault.Error() }

// Unwrap finds the fault.
func (r *refused) Unwrap() error { return r.fault }

func refuse(status int, code, text string, args ...any) *refused {
	return &refused{status: status, fault: fault.New(fault.Invalid, code, text, args...)}
}

// statuses are what the kinds of faults are in HTTP.
var statuses = map[fault.Kind]int{
	fault.Internal: http.StatusInternalServerError, fault.Invalid: http.StatusBadRequest, fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden: http.StatusForbidden, fault.NotFound: http.StatusNotFound, fault.Conflict: http.StatusConflict,
	fault.Unprocessable: http.StatusUnprocessableEntity, fault.Exhausted: http.StatusTooManyRequests, fault.Unavailable: http.StatusServiceUnavailable,
}

// kindOf is the other way round, for the client.
func kindOf(status int) fault.Kind {
	for kind, s := range statuses {
		if s == status {
			return kind
		}
	}
	if status >= 400 && status < 500 {
		return fault.Invalid
	}
	return fault.Internal
}

func problemOf(status int, f *fault.Error, requestID string) problem {
	title := strings.ReplaceAll(f.Code, "_", " ")
	p := problem{
		Type: prefix + "/errors#" + f.Code, Title: strings.ToUpper(title[:1]) + title[1:], Status: status, Code: f.Code, Detail: f.Text,
		RequestID: requestID, Retryable: f.Kind == fault.Unavailable || f.Kind == fault.Exhausted, Actor: "caller", Details: map[string]any{},
	}
	if status >= http.StatusInternalServerError {
		p.Actor = "operator"
	}
	for name, value := range f.Detail {
		field, is := value.(string)
		if name == "field" && is {
			p.Errors = append(p.Errors, fieldProblem{Pointer: "/" + strings.ReplaceAll(field, ".", "/"), Code: f.Code, Message: f.Text})
			continue
		}
		p.Details[name] = value
	}
	return p
}

// errGone: the caller does not listen any more, so nobody can be told.
var errGone = errors.New("the answer was not sent")

// write answers with an object.
func write(w http.ResponseWriter, status int, contentType string, body any) error {
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	if _, err = w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
