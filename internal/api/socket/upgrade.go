package socket

import (
	"crypto/sha1" //nolint:gosec // the handshake's own, which keeps nothing secret
	"encoding/base64"
	"slices"
	"strings"

	"ferry/internal/fault"
)

// Protocol is the sub-protocol that is spoken.
const Protocol = "swap.v2.json"

// version is that of the protocol, the only one there is.
const version = "13"

// handshake is what a key is answered with (RFC 6455, section 4.2.2).
const handshake = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

var (
	errNoUpgrade = fault.New(fault.Invalid, "upgrade_required", "This path speaks WebSocket only: send a GET of HTTP/1.1 with Connection: Upgrade, Upgrade: websocket and Sec-WebSocket-Version: 13.")
	errKey       = fault.New(fault.Invalid, "malformed_request", "Sec-WebSocket-Key must be there once: 16 random bytes in base64.")
)

// Upgrade judges the headers of a request for a WebSocket and tells the headers of the
// answer, those of a refusal too. Nothing is ever compressed, whatever is offered.
func Upgrade(asked func(name string) []string, tell func(name, value string)) error {
	tell("Upgrade", "websocket")
	tell("Connection", "Upgrade")
	if !has(asked("Connection"), "upgrade") || !has(asked("Upgrade"), "websocket") || !has(asked("Sec-WebSocket-Version"), version) {
		tell("Sec-WebSocket-Version", version)
		return errNoUpgrade
	}
	keys := asked("Sec-WebSocket-Key")
	if len(keys) != 1 {
		return errKey
	}
	if raw, err := base64.StdEncoding.Strict().DecodeString(keys[0]); err != nil || len(raw) != 16 {
		return errKey
	}
	sum := sha1.Sum([]byte(keys[0] + handshake)) //nolint:gosec // see above
	tell("Sec-WebSocket-Accept", base64.StdEncoding.EncodeToString(sum[:]))
	if slices.Contains(tokens(asked("Sec-WebSocket-Protocol")), Protocol) {
		tell("Sec-WebSocket-Protocol", Protocol)
	}
	return nil
}

// has reports whether a list of tokens, over one or several headers, has this one in
// any case of its letters.
func has(headers []string, token string) bool {
	return slices.ContainsFunc(tokens(headers), func(t string) bool { return strings.EqualFold(t, token) })
}

// tokens are those of a list over one or several headers.
func tokens(headers []string) (all []string) {
	for _, h := range headers {
		for one := range strings.SplitSeq(h, ",") {
			all = append(all, strings.Trim(one, " \t"))
		}
	}
	return all
}
