package watch

import "ferry/internal/order"

// fact is an event for an order with the point the order knows after it.
type fact struct {
	event order.Event
	after Point
}

// facts says what an order must hear to get to how its deposit stands now. What was
// noted as told may be behind what the order really heard: a process dies between
// the two, and a worker sleeps. So an earlier sighting is always said to be gone
// before a later one is told, unless that was noted, and it is left to the order
// what that undoes.
func facts(s Sight) []fact {
	if s.Now == s.Told {
		return nil
	}
	gone := func(p Point) fact {
		return fact{
			event: order.DepositGone{Deposit: s.Deposit, Sighting: p.Sighting, SeenAt: s.FirstSeen, WasFinal: s.Told.Stage == Final},
			after: Point{Sighting: p.Sighting, Stage: Gone},
		}
	}
	var out []fact
	if before := (Point{Sighting: s.Now.Sighting - 1, Stage: Gone}); before.Sighting > 0 && s.Told.Sighting < s.Now.Sighting && s.Told != before {
		out = append(out, gone(before))
	}
	switch s.Now.Stage {
	case Seen:
		out = append(out, fact{order.DepositSeen{Deposit: s.Deposit, Sighting: s.Now.Sighting, At: s.FirstSeen}, s.Now})
	case Final:
		out = append(out, fact{order.DepositFinal{Deposit: s.Deposit, Sighting: s.Now.Sighting, SeenAt: s.FirstSeen}, s.Now})
	case Gone:
		out = append(out, gone(s.Now))
	}
	return out
}
