package api

import (
	"net/http"
	"slices"
	"sort"
	"strings"
	"time"

	"ferry/internal/api/contract"
	"ferry/internal/api/wire"
)

// ownRows are the operations that need no other room.
func (d *Door) ownRows() []Operation {
	const docsAge, slowAge = time.Minute, 5 * time.Minute
	rows := []Operation{
		{
			ID: "getHealth", Method: http.MethodGet, Path: "/v2/health", Tag: "service",
			Summary: "Whether the process answers", Description: "No limit applies.",
			Key: NoKey, Out: wire.Health{},
			Do: func(*Call) (any, error) { return wire.Health{Status: "ok"}, nil },
		},
		{
			ID: "getVersion", Method: http.MethodGet, Path: "/v2/version", Tag: "service",
			Summary: "What runs and which contracts it speaks",
			Key:     OptionalKey, Spends: Requests, Out: wire.Version{}, Cache: docsAge,
			Do: func(*Call) (any, error) { return d.version(), nil },
		},
		{
			ID: "listErrors", Method: http.MethodGet, Path: "/v2/errors", Tag: "service",
			Summary: "Every code that a failure may carry",
			Key:     OptionalKey, Spends: Requests, Out: wire.Catalogue{}, Cache: slowAge,
			Do: func(*Call) (any, error) {
				return wire.Catalogue{Errors: wire.Codes(), FailureCodes: wire.FailureCodes, SocketCodes: wire.SocketCodes}, nil
			},
		},
		{
			ID: "getDocs", Method: http.MethodGet, Path: "/v2/docs", Tag: "service",
			Summary: "This contract, OpenAPI 3.1", Description: "For people it is at /docs.",
			Key: OptionalKey, Spends: Requests, Cache: docsAge,
			Do: func(*Call) (any, error) { return document(d.public), nil },
		},
		{
			ID: "getAsyncAPI", Method: http.MethodGet, Path: "/v2/asyncapi", Tag: "live",
			Summary: "The contract of the live socket, AsyncAPI 3.0", Description: "For people it is at /docs/live.",
			Key: OptionalKey, Spends: Requests, Cache: docsAge,
			Do: func(*Call) (any, error) { return document(d.live), nil },
		},
		{
			ID: "getIntegratorDocs", Method: http.MethodGet, Path: "/v2/integrator/docs", Tag: "integrator",
			Summary: "The contract of the operations for server keys, OpenAPI 3.1",
			Key:     ServerKey, Spends: Requests, Hidden: true,
			Do: func(*Call) (any, error) { return document(d.hidden), nil },
		},
	}
	return slices.Concat(rows, pageRows(), d.liveRows())
}

func document(doc *contract.Document) *Raw {
	return &Raw{Type: jsonMedia, Body: doc.JSON, ETag: `"` + doc.Hash + `"`}
}

func (d *Door) version() wire.Version {
	v := wire.Version{
		Version: d.cfg.Version, Revision: d.cfg.Revision, QuoteKey: d.cfg.QuoteKey,
		Contracts: wire.Contracts{OpenAPI: d.public.Hash, AsyncAPI: d.live.Hash},
	}
	for name, instead := range wire.Retired() {
		v.RetiredFields = append(v.RetiredFields, wire.RetiredField{Name: name, UseInstead: instead})
	}
	sort.Slice(v.RetiredFields, func(i, j int) bool { return v.RetiredFields[i].Name < v.RetiredFields[j].Name })
	return v
}

// contractVersion rises with the contract: the first number with the path prefix.
const contractVersion = "2.0.0"

const about = `Token swaps and native bridges. Quotes and orders work without a key; an integrator key adds attribution, fees and a backend's quotas.

Amounts are strings of digits in the asset's smallest unit. Times are RFC 3339 in UTC. Bodies use only the documented camelCase fields; unknown fields, retired names and unknown query parameters are refused, and every problem of a request is listed at once. Answers may get new members and new values of enumerations at any time: ignore what you do not know.

Every failure is a problem document (RFC 9457) with a stable code; all codes are listed by GET /v2/errors.`

// tags are the groups of operations, in the order in which people read them.
var tags = []contract.Tag{
	{Name: "discovery", Description: "Chains, tokens, routes and rates."},
	{Name: "quotes", Description: "What a swap or a bridge would give."},
	{Name: "orders", Description: "Creating, reading and acting on orders."},
	{Name: "bridges", Description: "Native bridges and their terms."},
	{Name: "points", Description: "Points of the current season."},
	{Name: "stats", Description: "Totals and public activity."},
	{Name: "live", Description: "Live updates."},
	{Name: "service", Description: "The service itself: health, versions, contracts and codes."},
	{Name: "integrator", Description: "Reports for server keys."},
}

// describe builds the contracts from the tables.
func (d *Door) describe() error {
	var public, hidden []contract.Operation
	for i := range d.rows {
		o := &d.rows[i]
		switch {
		case !strings.HasPrefix(o.Path, versioned):
		case o.Hidden:
			hidden = append(hidden, o.describe())
		default:
			public = append(public, o.describe())
		}
	}
	info := contract.Info{
		Title: "Ferry", Summary: "Swaps and native bridges", Description: about,
		Version: contractVersion, Server: d.cfg.Server, Tags: tags,
	}
	var err error
	if d.public, err = contract.Build(info, public); err != nil {
		return err
	}
	info.Title, info.Summary = "Ferry for integrators", "Operations for server keys"
	if d.hidden, err = contract.Build(info, hidden); err != nil {
		return err
	}
	info.Title, info.Description = "Ferry live", "What is said on the live socket of a service for token swaps and native bridges. What is asked over HTTP is described by GET /v2/docs."
	if d.live, err = contract.BuildLive(info, &d.cfg.Live); err != nil {
		return err
	}
	d.livePage, err = drawLive(info, &d.cfg.Live)
	return err
}
