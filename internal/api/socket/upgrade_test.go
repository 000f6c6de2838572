package socket_test

import (
	"net/http"
	"testing"

	"ferry/internal/api/socket"
	"ferry/internal/fault"
)

// TestAnUpgradeIsJudgedByItsHeaders; the door's own tests ask over both of its servers.
func TestAnUpgradeIsJudgedByItsHeaders(t *testing.T) {
	t.Parallel()
	good := map[string][]string{
		"Connection": {"keep-alive", "x, uPgrade"}, "Upgrade": {"WebSocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="},
	}
	for _, c := range []struct {
		name, header string
		values       []string
		code         string
		protocol     string
	}{
		{"all is well", "X", nil, "", ""},
		{"our protocol", "Sec-Websocket-Protocol", []string{"other", "a,swap.v2.json"}, "", "swap.v2.json"},
		{"other protocols", "Sec-Websocket-Protocol", []string{"other", "SWAP.V2.JSON"}, "", ""},
		{"compression", "Sec-Websocket-Extensions", []string{"permessage-deflate"}, "", ""},
		{"no connection token", "Connection", []string{"keep-alive"}, "upgrade_required", ""},
		{"nothing to upgrade to", "Upgrade", nil, "upgrade_required", ""},
		{"another version", "Sec-Websocket-Version", []string{"8"}, "upgrade_required", ""},
		{"no version", "Sec-Websocket-Version", nil, "upgrade_required", ""},
		{"no key", "Sec-Websocket-Key", nil, "malformed_request", ""},
		{"two keys", "Sec-Websocket-Key", []string{"dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=="}, "malformed_request", ""},
		{"a key that is no base64", "Sec-Websocket-Key", []string{"dGhlIHNhbXBsZSBub25jZQ=!"}, "malformed_request", ""},
		{"a key of 15 bytes", "Sec-Websocket-Key", []string{"dGhlIHNhbXBsZSBub25j"}, "malformed_request", ""},
	} {
		asked, told := http.Header{}, http.Header{}
		for name, values := range good {
			asked[name] = values
		}
		asked[c.header] = c.values
		err := socket.Upgrade(asked.Values, told.Set)
		if code := codeOf(err); code != c.code {
			t.Errorf("%s: the code is %q, want %q", c.name, code, c.code)
		}
		if told.Get("Upgrade") != "websocket" || told.Get("Connection") != "Upgrade" || told.Get("Sec-WebSocket-Extensions") != "" {
			t.Errorf("%s: told %v", c.name, told)
		}
		if (told.Get("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != (err == nil) || told.Get("Sec-WebSocket-Protocol") != c.protocol {
			t.Errorf("%s: told %v", c.name, told)
		}
		if (told.Get("Sec-WebSocket-Version") == "13") != (c.code == "upgrade_required") {
			t.Errorf("%s: told %v", c.name, told)
		}
	}
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err).Code
}
