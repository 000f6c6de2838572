package front_test

import (
	"fmt"
	"testing"

	"ferry/internal/order"
)

// change is the data of an event of an order.
type change struct {
	OrderID, From, To string
	Version           int
	Order             struct {
		OrderID, Status, Access, SessionID string
		RefundAddress                      *string
		Version                            int
	}
}

// An order is followed from its creation to its end; its numbers are its versions, and
// who comes back with one gets what came after it.
func TestAnOrderIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		m := s.order(t, "", eth(`,"refundAddress":"`+evmTo+`"`))
		w := s.socket(t)
		if got := w.subscribe("order", m.proof()); got.Seq != 1 || got.Replayed != 0 || got.SubscriptionID != "s1" {
			t.Errorf("%s", got.raw)
		}
		snap := w.of("snapshot")
		var first struct {
			Order struct{ OrderID, Status, Access string }
		}
		if snap.data(t, &first); first.Order.OrderID != m.id || first.Order.Status != "awaiting_deposit" || first.Order.Access != "session" || snap.Seq != 1 {
			t.Errorf("%s", snap.raw)
		}
		s.pay(t, m, "")
		seq, status := 1, "awaiting_deposit"
		for status != "completed" {
			e := w.of("event")
			var c change
			e.data(t, &c)
			if e.Seq != seq+1 || c.Version != e.Seq || c.Order.Version != e.Seq || c.OrderID != m.id || c.From != status || c.Order.Status != c.To {
				t.Fatalf("after %d %s: %s", seq, status, e.raw)
			}
			if c.Order.SessionID != "" {
				t.Fatalf("a session is told: %s", e.raw)
			}
			seq, status = e.Seq, c.To
			// Whoever reads after an event never sees what was before it.
			if now := s.read(t, m); int(now.field("version").(float64)) < seq {
				t.Fatalf("version %v is read after event %d", now.field("version"), seq)
			}
		}
		history, err := s.DB.History(t.Context(), order.ID(m.id), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for after := range len(history) + 1 {
			again := s.socket(t)
			got := again.subscribe("order", m.proof()+fmt.Sprintf(`,"after":%d`, after))
			if got.Seq != len(history) || got.Replayed != len(history)-after {
				t.Errorf("after %d: %s", after, got.raw)
			}
			for n := after + 1; n <= len(history); n++ {
				if e := again.of("event"); e.Seq != n {
					t.Errorf("%d instead of %d: %s", e.Seq, n, e.raw)
				}
			}
			if pong := again.ask(`"type":"ping"`); pong.Type != "pong" {
				t.Errorf("more came: %s", pong.raw)
			}
			again.cut()
		}
		beyond := s.socket(t)
		beyond.subscribe("order", m.proof()+`,"after":1000`)
		if re := beyond.hear(); re.Type != "resync_required" || re.Reason != "unknown_seq" || re.Seq != len(history) {
			t.Errorf("%s", re.raw)
		}
		if snap := beyond.hear(); snap.Type != "snapshot" || snap.Seq != len(history) {
			t.Errorf("%s", snap.raw)
		}
	})
}

// verify shows an order and less of it.
func TestVerifyFollowsAndShowsLess(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		m := s.order(t, "", eth(`,"refundAddress":"`+evmTo+`","clientReference":"mine"`))
		w := s.socket(t)
		w.subscribe("order", fmt.Sprintf(`,"params":{"orderId":"%s","verify":"%s"},"after":0`, m.id, evmTo))
		e := w.of("event")
		var c change
		if e.data(t, &c); c.Order.Access != "verify" || c.Order.RefundAddress != nil || c.Order.SessionID != "" {
			t.Errorf("%s", e.raw)
		}
	})
}

// A session is followed with all of its orders, those that are made later too, and
// nobody else's.
func TestASessionIsFollowed(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		key := s.a.Server.Text
		first := s.order(t, key, eth(""))
		s.order(t, key, eth("")) // of another session
		w := s.socket(t, withKey(key)...)
		w.subscribe("session", fmt.Sprintf(`,"params":{"sessionId":"%s"}`, first.session))
		var orders struct{ Orders []struct{ OrderID string } }
		if w.of("snapshot").data(t, &orders); len(orders.Orders) != 1 || orders.Orders[0].OrderID != first.id {
			t.Errorf("%+v", orders)
		}
		s.order(t, key, eth(""))
		second := s.order(t, key, eth(fmt.Sprintf(`,"sessionId":"%s"`, first.session)))
		e := w.of("event")
		var c change
		if e.data(t, &c); c.OrderID != second.id || e.Event != "order.created" {
			t.Errorf("%s", e.raw)
		}
		// From the start again: both, and nothing else.
		again := s.socket(t, withKey(key)...)
		if got := again.subscribe("session", fmt.Sprintf(`,"params":{"sessionId":"%s"},"after":0`, first.session)); got.Replayed != 2 {
			t.Errorf("%s", got.raw)
		}
		for _, id := range []string{first.id, second.id} {
			if again.of("event").data(t, &c); c.OrderID != id {
				t.Errorf("%+v is not of %s", c, id)
			}
		}
		if pong := again.ask(`"type":"ping"`); pong.Type != "pong" {
			t.Errorf("more came: %s", pong.raw)
		}
	})
}

// An integration is followed across all of its keys by the numbers of its own log,
// without what is the end user's.
func TestAnIntegrationIsFollowed(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		key := s.a.Server.Text
		other := s.b.Server.Text
		s.order(t, other, eth(""))
		w := s.socket(t, withKey(key)...)
		if got := w.subscribe("integrator_orders", ""); got.Seq != 0 {
			t.Errorf("%s", got.raw)
		}
		w.of("snapshot")
		for n := 1; n <= 3; n++ {
			m := s.order(t, key, eth(`,"clientReference":"mine"`))
			s.order(t, other, eth(""))
			e := w.of("event")
			var c change
			if e.data(t, &c); e.Seq != n || c.OrderID != m.id || c.Order.SessionID != "" || c.Order.RefundAddress != nil {
				t.Errorf("%s", e.raw)
			}
		}
		again := s.socket(t, withKey(key)...)
		if got := again.subscribe("integrator_orders", `,"after":1`); got.Seq != 3 || got.Replayed != 2 {
			t.Errorf("%s", got.raw)
		}
		for n := 2; n <= 3; n++ {
			if e := again.of("event"); e.Seq != n {
				t.Errorf("%s", e.raw)
			}
		}
	})
}
