package operator

import (
	"context"
	"net/http"
	"net/url"

	"ferry/internal/chain"
	"ferry/internal/treasury"
)

// newSweep is what is asked for: of one chain, or of all where none is named.
type newSweep struct {
	Chain string `json:"chainId,omitzero"`
}

// Lot is what lies on some deposit addresses, in smallest units.
type Lot struct {
	Addresses int    `json:"addresses"`
	Amount    string `json:"amount"`
}

// Unswept is what of an asset lies on deposit addresses.
type Unswept struct {
	Asset string `json:"asset"`
	// Sweep is what pays for its own way home, and Dust what would cost more than it brings.
	Sweep Lot `json:"sweep"`
	Dust  Lot `json:"dust"`
	// Held can not be brought home now, for the reason in Why.
	Held Lot    `json:"held"`
	Why  string `json:"why,omitzero"`
	// Failed is what a transfer did not bring home; it is tried again by RetryAt at the
	// latest, and when a sweep is asked for.
	Failed   Lot     `json:"failed"`
	RetryAt  *string `json:"retryAt"`
	Underway int     `json:"underway"` // transfers that are bringing it home
	More     bool    `json:"more"`     // there is more than was counted
}

// Home reports whether nothing is left to be done now.
func (u Unswept) Home() bool { return u.Sweep.Addresses == 0 && u.Underway == 0 }

// Sweeps are all assets of which something waits.
type Sweeps struct {
	Assets []Unswept `json:"assets"`
}

func lotView(l treasury.Lot) Lot { return Lot{Addresses: l.Addresses, Amount: l.Amount.String()} }

func unsweptView(w treasury.Waiting) Unswept {
	return Unswept{
		Asset: w.Asset.String(), Sweep: lotView(w.Home), Dust: lotView(w.Dust), Held: lotView(w.Held), Why: w.Why,
		Failed: lotView(w.Failed), RetryAt: stampOrNull(w.Until), Underway: w.Underway, More: w.More,
	}
}

func listUnswept(c *call) (any, error) {
	values, err := query(c.Request, "chainId")
	if err != nil {
		return nil, err
	}
	all, err := c.office.Unswept(c.Context(), chain.ID(values.Get("chainId")))
	return Sweeps{Assets: each(all, unsweptView)}, err
}

func sweep(c *call) (any, error) {
	var body newSweep
	if err := c.read(&body); err != nil {
		return nil, err
	}
	all, err := c.office.Sweep(c.Context(), chain.ID(body.Chain), c.by)
	return Sweeps{Assets: each(all, unsweptView)}, err
}

// Sweep has deposits brought home now, of one chain or of all where none is named, and
// says what was waiting.
func (c *Client) Sweep(ctx context.Context, id string) (Sweeps, error) {
	return ask[Sweeps](ctx, c, http.MethodPost, "/sweep", newSweep{Chain: id})
}

// Unswept is what is waiting.
func (c *Client) Unswept(ctx context.Context, id string) (Sweeps, error) {
	return ask[Sweeps](ctx, c, http.MethodGet, "/sweep?chainId="+url.QueryEscape(id), nil)
}
