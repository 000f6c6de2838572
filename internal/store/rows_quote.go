package store

import (
	"encoding/hex"
	"fmt"
	"time"

	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/quote"
)

type quoteRow struct {
	ID         string       `json:"id"`
	Give       assetRow     `json:"give"`
	Get        assetRow     `json:"get"`
	In         money.Amount `json:"in"`
	Out        money.Amount `json:"out"`
	MinIn      money.Amount `json:"min_in"`
	MaxIn      money.Amount `json:"max_in"`
	Mode       string       `json:"mode"`
	Under      int32        `json:"under"`
	Over       int32        `json:"over"`
	UnderDo    string       `json:"under_do"`
	OverDo     string       `json:"over_do"`
	WrongDo    string       `json:"wrong_do"`
	Steps      []stepRow    `json:"steps,omitempty"`
	Fee        *feeRow      `json:"fee,omitzero"`
	Integrator string       `json:"integrator,omitzero"`
	USD        int64        `json:"usd"`
	ExpiresAt  int64        `json:"expires_at"`
	Shown      *shownRow    `json:"shown,omitzero"`
	TollShare  int32        `json:"toll_share,omitzero"`
	TollFlat   money.Amount `json:"toll_flat,omitzero"`
}

type shownRow struct {
	ExactOut      bool         `json:"exact_out,omitzero"`
	Slippage      int32        `json:"slippage,omitzero"`
	MinOut        money.Amount `json:"min_out,omitzero"`
	MaxIn         money.Amount `json:"max_in,omitzero"`
	OutUSD        int64        `json:"out_usd,omitzero"`
	NetworkUSD    int64        `json:"network_usd,omitzero"`
	ServiceUSD    int64        `json:"service_usd,omitzero"`
	FeeUSD        int64        `json:"fee_usd,omitzero"`
	Confirmations uint64       `json:"confirmations,omitzero"`
	Takes         int64        `json:"takes,omitzero"`
}

func shownToRow(s quote.Shown) *shownRow {
	if s == (quote.Shown{}) {
		return nil
	}
	return &shownRow{
		ExactOut: s.ExactOut, Slippage: int32(s.Slippage), MinOut: s.MinOut, MaxIn: s.MaxIn, OutUSD: int64(s.OutUSD),
		NetworkUSD: int64(s.NetworkUSD), ServiceUSD: int64(s.ServiceUSD), FeeUSD: int64(s.FeeUSD),
		Confirmations: s.Confirmations, Takes: int64(s.Takes),
	}
}

func (r *shownRow) shown() quote.Shown {
	if r == nil {
		return quote.Shown{}
	}
	return quote.Shown{
		ExactOut: r.ExactOut, Slippage: money.Percent(r.Slippage), MinOut: r.MinOut, MaxIn: r.MaxIn, OutUSD: money.USD(r.OutUSD),
		NetworkUSD: money.USD(r.NetworkUSD), ServiceUSD: money.USD(r.ServiceUSD), FeeUSD: money.USD(r.FeeUSD),
		Confirmations: r.Confirmations, Takes: time.Duration(r.Takes),
	}
}

type stepRow struct {
	Venue  string       `json:"venue"`
	In     assetRow     `json:"in"`
	Out    assetRow     `json:"out"`
	Give   money.Amount `json:"give"`
	Bring  money.Amount `json:"bring"`
	MinOut money.Amount `json:"min_out"`
	Plan   string       `json:"plan,omitzero"`
}

type feeRow struct {
	Percent int32      `json:"percent"`
	PayTo   addressRow `json:"pay_to"`
	Skipped bool       `json:"skipped,omitzero"`
}

func quoteToRow(q quote.Quote) quoteRow {
	r := quoteRow{
		ID: string(q.ID), Give: assetToRow(q.Give), Get: assetToRow(q.Get), In: q.In, Out: q.Out, MinIn: q.MinIn, MaxIn: q.MaxIn,
		Mode: string(q.Mode), Under: int32(q.Tolerance.Under), Over: int32(q.Tolerance.Over),
		UnderDo: string(q.Tolerance.UnderAction), OverDo: string(q.Tolerance.OverAction), WrongDo: string(q.Tolerance.WrongAsset),
		Integrator: string(q.Integrator), USD: int64(q.USD), ExpiresAt: micro(q.ExpiresAt), Shown: shownToRow(q.Shown),
		TollShare: int32(q.Toll.Share), TollFlat: q.Toll.Flat,
	}
	for _, s := range q.Steps {
		r.Steps = append(r.Steps, stepRow{
			Venue: s.Venue, In: assetToRow(s.In), Out: assetToRow(s.Out), Give: s.Give, Bring: s.Bring, MinOut: s.MinOut, Plan: hex.EncodeToString(s.Plan),
		})
	}
	if q.Fee != nil {
		r.Fee = &feeRow{Percent: int32(q.Fee.Percent), PayTo: addressToRow(q.Fee.PayTo), Skipped: q.Fee.Skipped}
	}
	return r
}

func (r quoteRow) quote() (quote.Quote, error) {
	q := quote.Quote{
		ID: quote.ID(r.ID), Give: r.Give.asset(), Get: r.Get.asset(), In: r.In, Out: r.Out, MinIn: r.MinIn, MaxIn: r.MaxIn,
		Mode: quote.RateMode(r.Mode), Integrator: integrator.ID(r.Integrator), USD: money.USD(r.USD), ExpiresAt: unmicro(r.ExpiresAt), Shown: r.Shown.shown(),
		Toll: quote.Toll{Share: money.Percent(r.TollShare), Flat: r.TollFlat},
		Tolerance: quote.Tolerance{
			Under: money.Percent(r.Under), Over: money.Percent(r.Over),
			UnderAction: quote.Action(r.UnderDo), OverAction: quote.Action(r.OverDo), WrongAsset: quote.Action(r.WrongDo),
		},
	}
	for _, s := range r.Steps {
		step := quote.Step{Venue: s.Venue, In: s.In.asset(), Out: s.Out.asset(), Give: s.Give, Bring: s.Bring, MinOut: s.MinOut}
		if s.Plan != "" {
			plan, err := hex.DecodeString(s.Plan)
			if err != nil {
				return quote.Quote{}, fmt.Errorf("quote %s: plan of a step: %w", r.ID, err)
			}
			step.Plan = plan
		}
		q.Steps = append(q.Steps, step)
	}
	if r.Fee != nil {
		q.Fee = &quote.Fee{Percent: money.Percent(r.Fee.Percent), PayTo: r.Fee.PayTo.address(), Skipped: r.Fee.Skipped}
	}
	return q, nil
}
