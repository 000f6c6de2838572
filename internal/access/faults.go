package access

import (
	"time"

	"ferry/internal/fault"
)

// Details that a door reads for its headers.
const (
	detailRetry    = "retryAfterSeconds"
	detailResource = "resource"
)

// failuresResource names the limit of failed proofs, of keys as of orders.
const failuresResource = "ip_access_failures"

// retryStale is when to come again while the register does not answer.
const retryStale = 5

// The refusals. They never vary, so none is built while somebody attacks.
var (
	errKeyInQuery = fault.New(fault.Unauthenticated, "key_in_query",
		"A key must not be in a URL, where logs and histories keep it. Send it in the header X-Integrator-Key; if it was a real key, have it revoked and replaced.")
	errInvalidKey = fault.New(fault.Unauthenticated, "invalid_key",
		"That key is not known here. Send exactly one key, as it was issued, in the header X-Integrator-Key, or none at all.")
	errKeyRevoked = fault.New(fault.Unauthenticated, "key_revoked",
		"That key was revoked. Use another key of the integration, or ask the operator for a new one.")
	errSuspended = fault.New(fault.Unauthenticated, "integration_suspended",
		"The integration of that key is suspended. Ask the operator to resume it.")
	errKeyRequired = fault.New(fault.Unauthenticated, "key_required",
		"This route needs a server key. Send it in the header X-Integrator-Key.")
	errServerKey = fault.New(fault.Forbidden, "server_key_required",
		"This route needs a server key; a public-client key cannot open it. Ask the operator for a server key and keep it on your backend.")
	errForwarding = fault.New(fault.Forbidden, "forwarding_not_allowed",
		"X-End-User-IP is only for servers that the operator approved, with a server key of an integration that forwards. Leave the header out, or ask the operator for approval.")
	errEndUser = fault.New(fault.Invalid, "invalid_end_user_ip",
		"X-End-User-IP must be sent once, with exactly one IPv4 or IPv6 address of an end user: no port, host name, network, zone or list.")
	errStale = fault.New(fault.Unavailable, "service_unavailable",
		"Keys cannot be checked at the moment. Try again in a few seconds.").With(detailRetry, retryStale)
)

// tooMany are the refusals of an address whose keys failed too often, by the seconds
// it has to wait.
var tooMany = func() (all [int(failureWindow/time.Second) + 1]*fault.Error) {
	for s := range all {
		all[s] = fault.New(fault.Exhausted, "too_many_access_failures",
			"Too many wrong keys came from this address. Correct the key, and wait before trying again.").
			With(detailRetry, max(s, 1)).With(detailResource, failuresResource)
	}
	return all
}()
