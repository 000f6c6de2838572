package routes

import (
	"net/http"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/desk"
	"ferry/internal/order"
)

// Pages of lists.
const (
	sessionPage, maxSessionPage = 20, 100
	eventPage, maxEventPage     = 100, 500
)

var (
	cursorParam = api.Param{Name: "cursor", Kind: api.TextParam, Doc: "Where the last page ended, from its Link header.", MaxLength: 400}
	limitParam  = func(most string) api.Param {
		return api.Param{Name: "limit", Kind: api.WholeParam, Doc: "How many at most, up to " + most + ".", Example: "20"}
	}
)

// proving are the refusals of anything that needs a proof.
var proving = []string{"order_not_found", "too_many_access_failures", "secret_in_url", "service_unavailable"}

func (r Rooms) orders() []api.Operation {
	return []api.Operation{
		{
			ID: "listOrders", Method: http.MethodGet, Path: "/v2/orders", Tag: "orders", Summary: "Orders of a session",
			Description: "The orders that the session in X-Session-ID owns, newest first.",
			Key:         api.OptionalKey, Proof: api.ActProof, Spends: api.Requests, Out: wire.Orders{}, Codes: append([]string{"invalid_cursor"}, proving...),
			Query: []api.Param{cursorParam, limitParam("100")}, Do: r.list,
		},
		{
			ID: "getOrder", Method: http.MethodGet, Path: "/v2/orders/{orderId}", Tag: "orders", Summary: "Read an order",
			Description: "Needs X-Session-ID, or verify with the order's destination address, which shows less. A missing order and a wrong proof are the same 404.",
			Key:         api.OptionalKey, Proof: api.ReadProof, Spends: api.Requests, Out: wire.Order{}, Codes: proving, Do: r.read,
		},
		{
			ID: "listOrderEvents", Method: http.MethodGet, Path: "/v2/orders/{orderId}/events", Tag: "orders", Summary: "What happened to an order",
			Description: "Its changes after a number, oldest first. The same numbers are in live events.",
			Key:         api.OptionalKey, Proof: api.ReadProof, Spends: api.Requests, Out: wire.Events{}, Codes: proving,
			Query: []api.Param{{Name: "after", Kind: api.WholeParam, Doc: "The last number you have.", Example: "0"}, limitParam("500")}, Do: r.events,
		},
	}
}

func (r Rooms) list(c *api.Call) (any, error) {
	from, err := place(c, wire.ByCreation)
	if err != nil {
		return nil, err
	}
	n, err := pageSize(c, sessionPage, maxSessionPage)
	if err != nil {
		return nil, err
	}
	return r.guarded(c, func(by desk.Seeker) (any, error) {
		found, next, err := r.Desk.List(c.Context(), by, from, n)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 && next == (order.Place{}) {
			r.Failed(&c.Who, c.Now)
		}
		goOn(c, next, wire.ByCreation)
		out, all := wire.Orders{Orders: []wire.Order{}}, make([]*order.Order, len(found))
		for i := range found {
			all[i] = &found[i]
		}
		depths, err := r.Desk.Depths(c.Context(), all...)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			out.Orders = append(out.Orders, r.view(o, access.Act, depths))
		}
		return out, nil
	})
}

func (r Rooms) read(c *api.Call) (any, error) {
	return r.guarded(c, func(by desk.Seeker) (any, error) {
		o, right, err := r.Desk.Read(c.Context(), c.Path("orderId"), by)
		if err != nil {
			return nil, err
		}
		depths, err := r.Desk.Depths(c.Context(), &o)
		if err != nil {
			return nil, err
		}
		return r.view(o, right, depths), nil
	})
}

// eventsAsked is which part of a log is asked for.
func eventsAsked(c *api.Call) (after int64, n int, err error) {
	if n, err = pageSize(c, eventPage, maxEventPage); err != nil {
		return 0, 0, err
	}
	if after = c.Whole("after", 0); after < 0 {
		return 0, 0, wire.Invalid(wire.Problem{Pointer: "?after", Code: "invalid_field", Message: "must be a whole number, not below 0"})
	}
	return after, n, nil
}

func (r Rooms) events(c *api.Call) (any, error) {
	after, n, err := eventsAsked(c)
	if err != nil {
		return nil, err
	}
	return r.guarded(c, func(by desk.Seeker) (any, error) {
		id := c.Path("orderId")
		all, _, err := r.Desk.Events(c.Context(), id, by, after, n)
		if err != nil {
			return nil, err
		}
		out := wire.Events{Events: []wire.Event{}}
		for _, h := range all {
			out.Events = append(out.Events, wire.Event{
				Seq: int(h.Version), EventID: wire.EventID(order.ID(id), h.Version), Event: wire.EventName(h.Name, h.From, h.To), OccurredAt: wire.Time{Time: h.At},
				Data: wire.EventData{OrderID: id, From: string(h.From), To: string(h.To), Version: int(h.Version)},
			})
		}
		return out, nil
	})
}
