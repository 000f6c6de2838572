package watch

import "ferry/internal/order"

// fact is an event for an order with the point the order knows after it.
type fact struct {
	event order.Event
	after Point
}

// facts says what an order must hear to get from what it was told of a deposit to
// how the deposit stands now. A finality that was told is always taken back before
// anything else is said.
func facts(s Sight) []fact {
	if s.Now == s.Told {
		return nil
	}
	var out []fact
	if s.Told.Stage == Final {
		out = append(out, fact{
			event: order.DepositLost{Deposit: s.Deposit, Sighting: s.Told.Sighting},
			after: Point{Sighting: s.Told.Sighting, Stage: Gone},
		})
	}
	switch s.Now.Stage {
	case Seen:
		out = append(out, fact{order.DepositSeen{Deposit: s.Deposit, Sighting: s.Now.Sighting, At: s.FirstSeen}, s.Now})
	case Final:
		out = append(out, fact{order.DepositFinal{Deposit: s.Deposit, Sighting: s.Now.Sighting, SeenAt: s.FirstSeen}, s.Now})
	case Gone:
		if s.Told.Stage == Seen {
			out = append(out, fact{order.DepositDropped{Deposit: s.Deposit.ID, Sighting: s.Now.Sighting}, s.Now})
			break
		}
		// Nothing was told, or only what the loss above takes back.
		out = append(out, fact{nil, s.Now})
	}
	return out
}
