package tail

import (
	"errors"
	"fmt"
	"time"

	"ferry/internal/fault"
)

// Refusal is a no that stays one.
type Refusal struct{ Code, Text, Hint string }

// Error says what was refused and what to do.
func (r *Refusal) Error() string {
	text := plain(r.Text)
	if r.Code != "" {
		text = plain(r.Code) + ": " + text
	}
	if r.Hint != "" {
		text += " " + r.Hint
	}
	return text
}

// hints are what to do about refusals of the public API, where that is not in their words.
var hints = map[string]string{
	"order_not_found":     "Check the order's id, and that the session or the address given with --verify is the one of this order.",
	"invalid_key":         "Check the key in --key-file or FERRY_INTEGRATOR_KEY; one that was just issued may take a minute.",
	"key_revoked":         "Ask for a new key.",
	"key_required":        "Give --key-file, or set FERRY_INTEGRATOR_KEY.",
	"server_key_required": "Give a key that begins with sk_.",
}

// laterError is a no that may be a yes after a while.
type laterError struct {
	wait time.Duration // zero where nobody said
	why  error
}

func (l *laterError) Error() string { return l.why.Error() }

// Unwrap finds the reason.
func (l *laterError) Unwrap() error { return l.why }

// passing are codes that say nothing about what was asked.
var passing = map[string]bool{
	"rate_limited": true, "too_many_connections": true, "too_many_streams": true, "service_unavailable": true, "internal_error": true, "overloaded": true,
	"too_many_failed_attempts": true,
}

// refused is a refusal, or a reason to come back.
func refused(code, text string, seconds *int) error {
	no := &Refusal{Code: code, Text: text, Hint: hints[code]}
	if !passing[code] {
		return no
	}
	l := &laterError{why: errors.New(no.Error())}
	if seconds != nil {
		l.wait = time.Duration(*seconds) * time.Second
	}
	return l
}

// ofFault is a fault of the operators' API as a refusal or a reason to come back.
func ofFault(f *fault.Error) error {
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable || f.Kind == fault.Exhausted {
		return &laterError{why: fmt.Errorf("%s: %s", f.Code, f.Text)}
	}
	return &Refusal{Code: f.Code, Text: f.Text}
}
