package front_test

import (
	"testing"

	"ferry/internal/office"
)

// TestHelloDoesNotChangeForWhomAConnectionAsks: who was named with the upgrade is who
// counts, also after the same key was shown again in hello.
func TestHelloDoesNotChangeForWhomAConnectionAsks(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		c := s.company(t, forwards(unlimited, office.ClientLimits{Requests: new(int64(3))}))
		w := s.socket(t, "X-Forwarded-For", egress4, "X-Integrator-Key", c.Server.Text, "X-End-User-IP", someUser)
		if m := w.ask(`"type":"hello","integratorKey":"%s"`, c.Server.Text); m.Type != "welcome" {
			t.Fatalf("%s", m.raw)
		}
		w.subscribe("status", "")
		w.subscribe("status", "")
		if m := w.ask(`"type":"subscribe","channel":"status"`); m.Type != "error" || m.Code != "rate_limited" {
			t.Errorf("one end user had more than three requests in a minute: %s", m.raw)
		}
	})
}
