package routes

import (
	"context"
	"net/http"
	"strings"
	"time"

	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/fault"
)

const tokenPage, maxTokenPage = 100, 500

func (r Rooms) discovery() []api.Operation {
	row := func(id, path, summary string, out any, do func(*api.Call) (any, error)) api.Operation {
		return api.Operation{
			ID: id, Method: http.MethodGet, Path: path, Tag: "discovery", Summary: summary, Key: api.OptionalKey, Spends: api.Requests,
			Out: out, Do: do,
		}
	}
	text := func(name, doc, example string) api.Param {
		return api.Param{Name: name, Kind: api.TextParam, Doc: doc, Example: example}
	}
	chains := row("listChains", "/v2/chains", "Chains that are served", wire.Chains{}, r.chains)
	one := row("getChain", "/v2/chains/{chainId}", "One chain", wire.Chain{}, r.chain)
	one.Codes = []string{"chain_not_found"}
	tokens := row("listTokens", "/v2/tokens", "Assets that are served", wire.Tokens{}, r.tokens)
	tokens.Query = []api.Param{text("chainId", "Only of this chain.", "bitcoin"), text("search", "Part of a symbol or an address.", "usd"), cursorParam, limitParam("500")}
	tokens.Codes = []string{"invalid_cursor"}
	token := row("getToken", "/v2/tokens/{chainId}/{token}", "One asset, with its price", wire.TokenDetail{}, r.token)
	token.Codes = []string{"chain_not_found", "token_not_found"}
	route := row("getRoute", "/v2/routes", "Whether one asset can become another", wire.Route{}, r.route)
	route.Query = []api.Param{
		text("fromChainId", "Chain of the asset you have.", "bitcoin"), text("fromToken", "The asset you have.", "native"),
		text("toChainId", "Chain of the asset you want.", "solana"), text("toToken", "The asset you want.", "native"),
	}
	route.Codes = []string{"missing_field", "unsupported_chain", "unsupported_token"}
	check := api.Operation{
		ID: "validateAddress", Method: http.MethodPost, Path: "/v2/addresses/validate", Tag: "discovery", Summary: "Is this an address?",
		Description: "By POST, so that addresses stay out of URLs and logs.", Key: api.OptionalKey, Spends: api.Requests,
		In: wire.AddressCheck{}, Out: wire.AddressVerdict{}, Codes: []string{"unsupported_chain"}, Do: r.validate,
	}
	return []api.Operation{
		chains, one, tokens, token, route, r.rateRow(), check,
		row("getStatus", "/v2/status", "How the service is", wire.Status{}, r.status),
	}
}

func (r Rooms) chains(c *api.Call) (any, error) {
	out := wire.Chains{Chains: []wire.Chain{}}
	for _, one := range r.Atlas.Chains() {
		out.Chains = append(out.Chains, wire.ChainOf(one, r.Atlas, r.enabled(c, one.ID)))
	}
	return out, nil
}

func (r Rooms) enabled(c *api.Call, id chain.ID) bool {
	h, err := r.Health(c.Context(), id)
	return err == nil && !h.Paused && !h.Synced.IsZero()
}

func (r Rooms) chain(c *api.Call) (any, error) {
	one, ok := r.Atlas.Chain(c.Path("chainId"))
	if !ok {
		return nil, notFound("chain_not_found", "There is no such chain here; see GET /v2/chains for those that are served.")
	}
	return wire.ChainOf(one, r.Atlas, r.enabled(c, one.ID)), nil
}

func (r Rooms) tokens(c *api.Call) (any, error) {
	n, err := pageSize(c, tokenPage, maxTokenPage)
	if err != nil {
		return nil, err
	}
	slug, only := c.Query("chainId")
	search, _ := c.Query("search")
	search = strings.ToLower(search)
	after, passed, err := tokenCursor(c)
	if err != nil {
		return nil, err
	}
	out := wire.Tokens{Tokens: []wire.Token{}}
	for _, t := range r.Atlas.Tokens() {
		w := wire.TokenOf(t, r.Atlas)
		found := strings.Contains(strings.ToLower(w.Symbol), search) || strings.Contains(strings.ToLower(w.Token), search)
		switch {
		case !passed:
			passed = tokenPlace(w) == after
		case only && w.ChainID != slug || !found:
		case len(out.Tokens) == n:
			c.Next(wire.Cursor{ID: tokenPlace(out.Tokens[n-1]), By: wire.ByName}.String())
			return out, nil
		default:
			out.Tokens = append(out.Tokens, w)
		}
	}
	if !passed {
		return nil, fault.New(fault.Invalid, "invalid_cursor", "The token that the last page ended with is not served any more. Begin again without the cursor.")
	}
	return out, nil
}

// tokenPlace is where a token stands in the list, which is by chain and name.
func tokenPlace(w wire.Token) string { return w.ChainID + "/" + w.Token }

// tokenCursor is the token that the last page ended with; without one all come.
func tokenCursor(c *api.Call) (after string, all bool, err error) {
	text, given := c.Query("cursor")
	if !given {
		return "", true, nil
	}
	cur, err := wire.ParseCursor(text, wire.ByName)
	return cur.ID, false, err
}

func (r Rooms) token(c *api.Call) (any, error) {
	t, err := r.Atlas.Token(c.Path("chainId"), c.Path("token"))
	if f := fault.Of(err); err != nil && f.Code == "unsupported_chain" {
		return nil, notFound("chain_not_found", "There is no such chain here; see GET /v2/chains for those that are served.")
	} else if err != nil {
		return nil, notFound("token_not_found", "There is no such token on that chain; see GET /v2/tokens for those that are served.")
	}
	w := wire.TokenOf(t, r.Atlas)
	out := wire.TokenDetail{ChainID: w.ChainID, Token: w.Token, Symbol: w.Symbol, Decimals: w.Decimals}
	if price, at, err := r.Price(t.Asset, r.Now()); err == nil {
		usd := wire.USD(price)
		out.PriceUSD, out.PriceUpdatedAt = &usd, &wire.Time{Time: at}
	}
	return out, nil
}

// route says whether a pair can be exchanged, by asking for a price of a usual amount.
func (r Rooms) route(c *api.Call) (any, error) {
	var missing []wire.Problem
	get := func(name string) string {
		text, given := c.Query(name)
		if !given {
			missing = append(missing, wire.Problem{Pointer: "?" + name, Code: "missing_field", Message: "is required"})
		}
		return text
	}
	ask := desk.RouteAsk{FromChain: get("fromChainId"), FromToken: get("fromToken"), ToChain: get("toChainId"), ToToken: get("toToken")}
	if len(missing) > 0 {
		return nil, wire.Invalid(missing...)
	}
	out := wire.Route{RateModes: []string{}, FundingModes: []string{}}
	found, err := r.Desk.Route(c.Context(), ask, r.Now())
	if f := fault.Of(err); err != nil {
		if f.Kind == fault.Invalid || f.Kind == fault.Internal {
			return nil, err
		}
		out.Reason = &wire.Failure{Code: f.Code, Message: f.Text}
		return out, nil
	}
	offer := found.Least
	seconds := int(offer.Takes / time.Second)
	out.Available, out.EstimatedSeconds = true, &seconds
	out.Limits = &wire.RouteLimits{MinFromAmount: wire.Amount{Amount: offer.Quote.MinIn}, MaxFromAmount: wire.Amount{Amount: offer.Quote.MaxIn}}
	out.RateModes, out.FundingModes = []string{"float"}, r.Atlas.Of(offer.Quote.Give.Chain).Fundings()
	if found.Fixed {
		out.RateModes = append(out.RateModes, "fixed")
	}
	return out, nil
}

func (r Rooms) validate(c *api.Call) (any, error) {
	body := api.Body[wire.AddressCheck](c)
	one, ok := r.Atlas.Chain(body.ChainID)
	if !ok {
		return nil, unsupportedChain("/chainId")
	}
	out := wire.AddressVerdict{Warnings: []string{}}
	a, kind, err := r.Check(one.ID, body.Address)
	if err != nil {
		reason := fault.Of(err).Text
		out.Reason = &reason
		return out, nil
	}
	shown := r.Show(one.ID, a)
	out.Valid, out.Normalized, out.Kind = true, &shown, &kind
	return out, nil
}

func unsupportedChain(pointer string) error {
	return fault.New(fault.Invalid, "unsupported_chain", "That chain is not served here; see GET /v2/chains for those that are.").With("pointer", pointer)
}

// behind is how long ago a chain may have been read before it is said to be behind.
const behind = 5 * time.Minute

func (r Rooms) status(c *api.Call) (any, error) { return r.Status(c.Context()) }

// Status is how the service and its chains are.
func (r Rooms) Status(ctx context.Context) (wire.Status, error) {
	out := wire.Status{Status: "ok", AsOf: wire.Time{Time: r.Now()}, Chains: []wire.ChainStatus{}, Bridges: []wire.BridgeHealth{}}
	for _, one := range r.Atlas.Chains() {
		h, err := r.Health(ctx, one.ID)
		if err != nil {
			return wire.Status{}, err
		}
		w := wire.ChainStatus{ChainID: one.Slug, Status: "up"}
		notice := ""
		switch {
		case h.Paused:
			w.Status, notice = "paused", "Orders on this chain wait until an operator lets it go on."
		case h.Synced.IsZero() || r.Now().Sub(h.Synced) > behind:
			w.Status, notice = "syncing", "Deposits on this chain are seen later than usual."
		}
		if notice != "" {
			w.Notice, out.Status = &notice, "degraded"
		}
		out.Chains = append(out.Chains, w)
	}
	for _, b := range r.Desk.Bridges() {
		w := wire.BridgeHealth{BridgeID: b.ID, Status: "up"}
		if !b.Up(ctx) {
			w.Status, out.Status = "paused", "degraded"
		}
		out.Bridges = append(out.Bridges, w)
	}
	return out, nil
}
