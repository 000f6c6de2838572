package routes

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/integrator"
	"ferry/internal/order"
	"ferry/internal/report"
)

const (
	reportPage, maxReportPage = 50, 200
	csvMedia                  = "text/csv"
	createdAt, updatedAt      = "createdAt", "updatedAt"
)

// csvExample is a list of one order.
var csvExample = func() string {
	at := wire.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	return string(wire.AttributedOrders{Orders: []wire.AttributedOrder{{
		OrderID: "ord_0123456789ABCDEFGHJKMNPQRS", Kind: "swap", Status: "awaiting_deposit", FeeStatus: "none",
		KeyID: "key_0123456789ABCDEFGHJKMNPQRS", KeyKind: "server", From: wire.Side{ChainID: "bitcoin", Symbol: "BTC"},
		To: wire.Side{ChainID: "solana", Symbol: "SOL"}, CreatedAt: at, UpdatedAt: at, ExpiresAt: wire.Time{Time: at.Add(30 * time.Minute)},
	}}}.CSV())
}()

func (r Rooms) reports() []api.Operation {
	text := func(name, doc, example string, enum ...string) api.Param {
		return api.Param{Name: name, Kind: api.TextParam, Doc: doc, Example: example, Enum: enum}
	}
	return []api.Operation{
		{
			ID: "getIntegrator", Method: http.MethodGet, Path: "/v2/integrator/me", Tag: "integrator", Summary: "Your integration",
			Description: "Profile, statistics, limits and usage of the whole integration across all its keys.",
			Key:         api.ServerKey, Spends: api.Requests, Out: wire.Me{}, Hidden: true, Do: r.me,
		},
		{
			ID: "listAttributedOrders", Method: http.MethodGet, Path: "/v2/integrator/orders", Tag: "integrator", Summary: "Your recent orders",
			Description: "Orders made with any key of the integration, newest first, or with sort=updatedAt those that changed last. " +
				"With a filter or that sort a page may be short, even empty, and still have a next one: follow Link until there is none. " +
				"With Accept: text/csv it is a table, in which a text that a spreadsheet would take for a formula begins with a quote.",
			Key: api.ServerKey, Spends: api.Requests, Out: wire.AttributedOrders{}, Hidden: true, Codes: []string{"invalid_cursor"},
			Forms: []api.Form{{Media: csvMedia, Doc: "One line for each order, after a header line on every page.", Example: csvExample}},
			Query: []api.Param{
				text("status", "Only orders in this status.", "completed", states()...),
				text("feeStatus", "Only orders whose fee is so.", "paid", "none", "projected", "paid", "skipped"),
				text("kind", "Only orders of this kind.", "swap", "swap", "bridge"),
				text("keyId", "Only orders made with this key.", "key_0123456789ABCDEFGHJKMNPQRS"),
				text("clientReference", "Only orders with this reference.", "invoice-1842"),
				text("fromTime", "At or after this time; of the time that is sorted by.", "2026-01-01T00:00:00.000Z"),
				text("toTime", "Before this time; of the time that is sorted by.", "2026-02-01T00:00:00.000Z"),
				text("sort", "By which time the list is sorted, the latest first; createdAt unless given. An order that changes moves to the front of updatedAt.", "updatedAt", createdAt, updatedAt),
				cursorParam, limitParam("200"),
			},
			Do: r.attributed,
		},
	}
}

func states() (all []string) {
	for _, s := range order.States() {
		all = append(all, string(s))
	}
	return all
}

func (r Rooms) me(c *api.Call) (any, error) {
	m, err := r.Report.Me(c.Context(), *c.Who.Integrator, r.Now())
	if err != nil {
		return nil, err
	}
	// What a key is shown is written once for each report, not for each request.
	key := c.Who.Key
	return m.Once(string(key.ID)+"/"+strconv.FormatInt(key.Requests, 10), func() (any, error) {
		var b bytes.Buffer
		if err := wire.Encode(&b, wire.MeOf(m, key, r.ShowOf)); err != nil {
			return nil, err
		}
		return &api.Raw{Type: jsonType, Body: b.Bytes()}, nil
	})
}

const jsonType = "application/json"

func (r Rooms) attributed(c *api.Call) (any, error) {
	f, err := filterOf(c)
	if err != nil {
		return nil, err
	}
	by := wire.ByCreation
	if f.Updated {
		by = wire.ByUpdate
	}
	from, err := place(c, by)
	if err != nil {
		return nil, err
	}
	n, err := pageSize(c, reportPage, maxReportPage)
	if err != nil {
		return nil, err
	}
	out := wire.AttributedOrders{Orders: []wire.AttributedOrder{}}
	page, err := r.Report.Orders(c.Context(), c.Who.Integrator.ID, f, from, n)
	if err != nil {
		return nil, err
	}
	goOn(c, page.Next, by)
	kind, given := c.Query("kind")
	for _, o := range page.Orders {
		if one := wire.AttributedOf(o, r.Atlas, r.ShowOf); !given || one.Kind == kind {
			out.Orders = append(out.Orders, one)
		}
	}
	return listed(c, out), nil
}

// listed is the list in the form that was asked for.
func listed(c *api.Call, out wire.AttributedOrders) any {
	if c.Form() == csvMedia {
		return &api.Raw{Type: csvMedia + "; charset=utf-8", Body: out.CSV()}
	}
	return out
}

func filterOf(c *api.Call) (f report.Filter, err error) {
	get := func(name string) string {
		text, _ := c.Query(name)
		return text
	}
	f.State, f.Fee = order.State(get("status")), order.FeeStatus(get("feeStatus"))
	f.Updated = get("sort") == updatedAt
	f.Key, f.Reference = integrator.KeyID(get("keyId")), get("clientReference")
	if f.From, err = moment(c, "fromTime"); err != nil {
		return f, err
	}
	f.To, err = moment(c, "toTime")
	return f, err
}

func moment(c *api.Call, name string) (time.Time, error) {
	text, given := c.Query(name)
	if !given {
		return time.Time{}, nil
	}
	var t wire.Time
	if err := t.ReadJSON('"', text); err != nil {
		return time.Time{}, wire.Invalid(wire.Problem{Pointer: "?" + name, Code: "invalid_field", Message: "must be a time in UTC such as 2026-01-31T12:00:00.000Z"})
	}
	return t.Time, nil
}
