package wire

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// QuoteRequest asks for a price.
type QuoteRequest struct {
	FromChainID   string   `json:"fromChainId" doc:"Chain of the asset you have; see GET /v2/chains." example:"bitcoin"`
	FromToken     string   `json:"fromToken" doc:"The asset you have: native, or the token's address." example:"native"`
	ToChainID     string   `json:"toChainId" doc:"Chain of the asset you want." example:"solana"`
	ToToken       string   `json:"toToken" doc:"The asset you want." example:"native"`
	Amount        Amount   `json:"amount" doc:"Smallest units of the asset that side names, above zero." example:"100000"`
	Side          string   `json:"side,omitzero" enum:"from,to" doc:"from: amount is what you give. to: amount is what must arrive." example:"from"`
	RateMode      string   `json:"rateMode,omitzero" enum:"float,fixed" doc:"fixed holds the price until expiresAt." example:"float"`
	Slippage      *Percent `json:"slippagePercent,omitzero" maximum:"10" code:"invalid_slippage" doc:"How far a float price may move before the order is refused; above 0. The chain's default if left out." example:"0.5"`
	ToAddress     string   `json:"toAddress,omitzero" doc:"Where the money will go, if you know it; checked, and the network fee is then exact." example:"7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"`
	RefundAddress string   `json:"refundAddress,omitzero" doc:"Where it would go back to; checked." example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
	FundingMode   string   `json:"fundingMode,omitzero" enum:"deposit_address,contract_call" doc:"How you will pay: to an address, or by a transaction that we make for you to sign. See fundingModes of GET /v2/chains and /v2/routes." example:"deposit_address"`
	FromAddress   string   `json:"fromAddress,omitzero" doc:"Who signs the transaction; needed for contract_call." example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
	FeePercent    *Percent `json:"integratorFeePercent,omitzero" maximum:"5" over:"integrator_fee_too_high" doc:"Your fee on this quote, instead of your default; needs a key." example:"0.5"`
}

// Ask is the request in the desk's words.
func (r QuoteRequest) Ask() desk.QuoteAsk {
	return desk.QuoteAsk{
		FromChain: r.FromChainID, FromToken: r.FromToken, ToChain: r.ToChainID, ToToken: r.ToToken,
		Amount: r.Amount.Amount, Side: market.Side(or(r.Side, string(market.From))), Mode: quote.RateMode(or(r.RateMode, string(quote.Float))),
		Slippage: r.Slippage.percent(), ToAddress: r.ToAddress, RefundAddress: r.RefundAddress, Funding: r.FundingMode, FromAddress: r.FromAddress,
		FeePercent: r.FeePercent.percent(),
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (p *Percent) percent() *money.Percent {
	if p == nil {
		return nil
	}
	v := money.Percent(*p)
	return &v
}

// Sum is an amount of an asset as people read it.
type Sum struct {
	ChainID       string `json:"chainId" example:"bitcoin"`
	Token         string `json:"token" doc:"native, or the token's address." example:"native"`
	Symbol        string `json:"symbol" example:"BTC"`
	Decimals      int    `json:"decimals" example:"8"`
	Amount        Amount `json:"amount" doc:"Smallest units." example:"100000"`
	AmountDecimal string `json:"amountDecimal" doc:"Whole units." example:"0.001"`
	AmountUSD     USD    `json:"amountUsd" doc:"Worth when quoted." example:"97.1"`
}

func sumOf(a *desk.Atlas, x chain.Asset, n money.Amount, usd money.USD) Sum {
	known := a.Asset(x)
	return Sum{
		ChainID: a.Of(x.Chain).Slug, Token: desk.TokenName(x), Symbol: known.Symbol, Decimals: known.Decimals,
		Amount: Amount{n}, AmountDecimal: n.Decimal(known.Decimals), AmountUSD: USD(usd),
	}
}

// Fee is a part of the price.
type Fee struct {
	Kind      string `json:"kind" enum:"network,service,integrator" example:"network"`
	AmountUSD USD    `json:"amountUsd" example:"0.42"`
}

// IntegratorFee is what an integrator earns.
type IntegratorFee struct {
	Percent       Percent `json:"percent" example:"0.5"`
	AmountUSD     USD     `json:"amountUsd" example:"0.49"`
	PayoutAddress string  `json:"payoutAddress" example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
}

// RouteLimits are how large a swap may be.
type RouteLimits struct {
	MinFromAmount Amount `json:"minFromAmount" example:"20000"`
	MaxFromAmount Amount `json:"maxFromAmount" example:"500000000"`
}

// DepositTolerance is what happens to a deposit that is not what was quoted.
type DepositTolerance struct {
	UnderPercent Percent `json:"underPercent" example:"0.5"`
	OverPercent  Percent `json:"overPercent" example:"0.5"`
	UnderAction  string  `json:"underAction" enum:"requote,refund" example:"requote"`
	OverAction   string  `json:"overAction" enum:"requote,refund,process_all" example:"process_all"`
}

func toleranceOf(t quote.Tolerance) DepositTolerance {
	return DepositTolerance{
		UnderPercent: Percent(t.Under), OverPercent: Percent(t.Over),
		UnderAction: string(t.UnderAction), OverAction: string(t.OverAction),
	}
}

// Warning is something to know of a quote.
type Warning struct {
	Code            string   `json:"code" example:"integrator_fee_skipped"`
	Message         string   `json:"message" example:"The integrator fee would cost more to send than it is."`
	Percent         *Percent `json:"percent,omitzero" example:"0.5"`
	AmountUSD       *USD     `json:"amountUsd,omitzero" example:"0.01"`
	TransferCostUSD *USD     `json:"transferCostUsd,omitzero" example:"0.42"`
}

// Quote is a price that stands until expiresAt.
type Quote struct {
	QuoteID               string           `json:"quoteId" maxLength:"2048" doc:"Present it to POST /v2/orders before expiresAt." example:"quo_AXZ1"`
	Kind                  string           `json:"kind" enum:"swap,bridge" example:"swap"`
	Side                  string           `json:"side" enum:"from,to" example:"from"`
	RateMode              string           `json:"rateMode" enum:"float,fixed" example:"float"`
	FundingMode           string           `json:"fundingMode" enum:"deposit_address,contract_call" example:"deposit_address"`
	From                  Sum              `json:"from"`
	To                    Sum              `json:"to"`
	MinToAmount           Amount           `json:"minToAmount" doc:"The least that arrives before the price no longer stands." example:"95639400"`
	MaxFromAmount         Amount           `json:"maxFromAmount" doc:"The most that is asked for." example:"100000"`
	SlippagePercent       *Percent         `json:"slippagePercent" doc:"null for a fixed rate." example:"0.5"`
	PriceImpactPercent    Percent          `json:"priceImpactPercent" example:"0"`
	Rate                  string           `json:"rate" doc:"Whole units that arrive for one that you give, all fees included." example:"96120"`
	Limits                RouteLimits      `json:"limits"`
	Fees                  []Fee            `json:"fees"`
	IntegratorFee         *IntegratorFee   `json:"integratorFee" doc:"null when no fee applies."`
	EstimatedSeconds      int              `json:"estimatedSeconds" example:"1500"`
	RequiredConfirmations int              `json:"requiredConfirmations" example:"1"`
	DepositTolerance      DepositTolerance `json:"depositTolerance"`
	CreatedAt             Time             `json:"createdAt" example:"2026-01-01T00:00:00.000Z"`
	ExpiresAt             Time             `json:"expiresAt" example:"2026-01-01T00:01:00.000Z"`
	ValidForSeconds       int              `json:"validForSeconds" example:"60"`
	Warnings              []Warning        `json:"warnings"`
	Signature             string           `json:"signature" maxLength:"512" doc:"ed25519 over the terms, by quoteKey of GET /v2/version, which says how to verify it: ed25519:SIGNATURE, or ed25519:SIGNATURE:TURNS:PATH where quotes made at the same time share one signature." example:"ed25519:bm90IGEgcmVhbCBvbmU"`
	AsOf                  Time             `json:"asOf" example:"2026-01-01T00:00:00.000Z"`
}

// QuoteOf is an offer as callers see it. Addresses are written as people know them,
// which is also how they are signed.
func QuoteOf(o *market.Offer, a *desk.Atlas, show func(chain.ID, chain.Address) string, signature string) *Quote {
	q := &Quote{
		QuoteID: string(o.Quote.ID), Kind: "swap", Side: string(o.Side), RateMode: string(o.Quote.Mode), FundingMode: fundingMode(o),
		From: sumOf(a, o.Quote.Give, o.Quote.In, o.GiveUSD), To: sumOf(a, o.Quote.Get, o.Quote.Out, o.GetUSD),
		MinToAmount: Amount{o.MinOut}, MaxFromAmount: Amount{o.MaxFrom}, PriceImpactPercent: Percent(o.Impact), Rate: o.Rate(),
		Limits:           RouteLimits{MinFromAmount: Amount{o.Quote.MinIn}, MaxFromAmount: Amount{o.Quote.MaxIn}},
		EstimatedSeconds: int(o.Takes / time.Second), RequiredConfirmations: int(o.Confirmations), DepositTolerance: toleranceOf(o.Quote.Tolerance),
		CreatedAt: Time{o.CreatedAt}, ExpiresAt: Time{o.Quote.ExpiresAt}, ValidForSeconds: int(o.Quote.ExpiresAt.Sub(o.CreatedAt) / time.Second),
		Warnings: []Warning{}, Signature: signature, AsOf: Time{o.CreatedAt},
	}
	if o.Quote.Mode == quote.Float {
		s := Percent(o.Slippage)
		q.SlippagePercent = &s
	}
	charges := o.Charges()
	q.Fees = make([]Fee, len(charges))
	for i, c := range charges {
		q.Fees[i] = Fee{Kind: c.Kind, AmountUSD: USD(c.USD)}
	}
	if e := o.Earning; e != nil && !e.Skipped {
		q.IntegratorFee = &IntegratorFee{Percent: Percent(e.Percent), AmountUSD: USD(e.USD), PayoutAddress: show(o.Quote.Give.Chain, e.PayTo)}
	}
	for _, w := range o.Warnings() {
		q.Warnings = append(q.Warnings, warningOf(w))
	}
	return q
}

func fundingMode(o *market.Offer) string {
	if o.PayFrom.IsZero() {
		return desk.DepositAddress
	}
	return desk.ContractCall
}

func warningOf(w market.Warning) Warning {
	out := Warning{Code: w.Code, Message: w.Text}
	if w.Percent != 0 {
		p := Percent(w.Percent)
		out.Percent = &p
	}
	if w.TransferUSD != 0 {
		a, t := USD(w.AmountUSD), USD(w.TransferUSD)
		out.AmountUSD, out.TransferCostUSD = &a, &t
	}
	return out
}
