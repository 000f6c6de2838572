package wire

import (
	"encoding/hex"
	"time"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/secret"
)

// ContractCall is how an order is paid whose owner sends the transactions.
const ContractCall = "contract_call"

// Bridges are the native bridges that are served.
type Bridges struct {
	Bridges []Bridge `json:"bridges"`
}

// Bridge is one of them, in one direction.
type Bridge struct {
	BridgeID         string        `json:"bridgeId" example:"base_withdraw"`
	Kind             string        `json:"kind" enum:"canonical,burn_mint,wrapped" doc:"canonical: of a rollup. burn_mint: burned here and minted there. wrapped: by an issuer." example:"canonical"`
	Name             string        `json:"name" example:"Base native bridge, withdrawals"`
	Status           string        `json:"status" enum:"up,paused" example:"up"`
	Assets           []BridgeAsset `json:"assets"`
	Direction        string        `json:"direction" enum:"deposit,withdraw,transfer" example:"withdraw"`
	FundingMode      string        `json:"fundingMode" enum:"deposit_address,contract_call" doc:"contract_call: you send the transactions of its steps. deposit_address: you pay once, and the service performs it." example:"contract_call"`
	AmountMode       string        `json:"amountMode" enum:"exact,any" example:"exact"`
	Terms            BridgeTerms   `json:"terms"`
	Steps            []BridgeLeg   `json:"steps"`
	AutoClaim        AutoClaim     `json:"autoClaim"`
	EstimatedSeconds int           `json:"estimatedSeconds" example:"605700"`
}

// BridgeAsset is an asset and what it becomes.
type BridgeAsset struct {
	FromChainID string `json:"fromChainId" example:"base"`
	FromToken   string `json:"fromToken" example:"native"`
	ToChainID   string `json:"toChainId" example:"ethereum"`
	ToToken     string `json:"toToken" example:"native"`
}

// BridgeTerms are what a bridge is offered for.
type BridgeTerms struct {
	FeePercent   Percent `json:"feePercent" doc:"Of the service." example:"0"`
	FixedFeeUSD  USD     `json:"fixedFeeUsd" example:"0"`
	MinAmount    Amount  `json:"minAmount" example:"1"`
	MaxAmount    Amount  `json:"maxAmount" example:"1000000000000000000000"`
	EffectiveAt  Time    `json:"effectiveAt" example:"2026-01-01T00:00:00.000Z"`
	TermsVersion int     `json:"termsVersion" doc:"Send it with the order: it says which terms you read." example:"7"`
}

// BridgeLeg is a step that the bridge takes.
type BridgeLeg struct {
	StepID         string `json:"stepId" example:"prove"`
	Title          string `json:"title" example:"Prove the withdrawal"`
	Actor          string `json:"actor" enum:"user,service,network" example:"user"`
	ChainID        string `json:"chainId" example:"ethereum"`
	TypicalSeconds *int   `json:"typicalSeconds" doc:"Where the network acts; null otherwise." example:"null"`
}

// AutoClaim is whether the service does the steps that anybody may do, and for how much.
type AutoClaim struct {
	Available bool `json:"available" example:"true"`
	FeeUSD    *USD `json:"feeUsd" doc:"Paid in the coin of the source chain; null where it is not available." example:"3.1"`
}

// BridgeOf is a bridge as callers see it.
func BridgeOf(b *desk.Bridge, a *desk.Atlas, up bool) Bridge {
	w := Bridge{
		BridgeID: b.ID, Kind: b.Kind, Name: b.Name, Status: "paused", Assets: []BridgeAsset{}, Direction: b.Direction,
		FundingMode: ContractCall, AmountMode: "exact", EstimatedSeconds: int(b.Takes / time.Second), Steps: []BridgeLeg{},
		Terms: BridgeTerms{
			FeePercent: Percent(b.Terms.FeePercent), FixedFeeUSD: USD(b.Terms.FixedUSD), MinAmount: Amount{b.Terms.Min}, MaxAmount: Amount{b.Terms.Max},
			EffectiveAt: Time{b.Terms.EffectiveAt}, TermsVersion: b.Terms.Version,
		},
	}
	if up {
		w.Status = "up"
	}
	if b.Managed {
		w.FundingMode, w.AmountMode = desk.DepositAddress, "any"
	}
	for _, l := range b.Assets {
		w.Assets = append(w.Assets, BridgeAsset{a.Of(l.Give.Chain).Slug, desk.TokenName(l.Give), a.Of(l.Get.Chain).Slug, desk.TokenName(l.Get)})
	}
	for _, l := range b.Legs {
		w.Steps = append(w.Steps, legOf(l, a))
	}
	if b.Terms.Claim != nil && !b.Managed {
		usd := USD(*b.Terms.Claim)
		w.AutoClaim = AutoClaim{Available: true, FeeUSD: &usd}
	}
	return w
}

func legOf(l quote.Leg, a *desk.Atlas) BridgeLeg {
	w := BridgeLeg{StepID: l.ID, Title: l.Title, Actor: string(l.Actor), ChainID: a.Of(l.Chain).Slug}
	if l.Takes > 0 {
		n := int(l.Takes / time.Second)
		w.TypicalSeconds = &n
	}
	return w
}

// BridgeQuoteRequest asks what a bridge would do.
type BridgeQuoteRequest struct {
	BridgeID    string   `json:"bridgeId" maxLength:"64" example:"base_withdraw"`
	FromChainID string   `json:"fromChainId" example:"base"`
	FromToken   string   `json:"fromToken" example:"native"`
	ToChainID   string   `json:"toChainId" example:"ethereum"`
	ToToken     string   `json:"toToken" example:"native"`
	Amount      *Amount  `json:"amount,omitzero" doc:"Smallest units; the bridge's minimum if left out." example:"100000000000000000"`
	ToAddress   string   `json:"toAddress,omitzero" example:"0x52908400098527886e0f7030069857d2e4169ee7"`
	FromAddress string   `json:"fromAddress,omitzero" doc:"Who will send the transactions; anybody if left out." example:"0x52908400098527886e0f7030069857d2e4169ee7"`
	AutoClaim   bool     `json:"autoClaim,omitzero" doc:"Have the service do the steps that anybody may do." example:"false"`
	FeePercent  *Percent `json:"integratorFeePercent,omitzero" maximum:"5" over:"integrator_fee_too_high" doc:"Charged only where money passes through the service; needs a key." example:"0.5"`
}

// Ask is the request in the desk's words.
func (r BridgeQuoteRequest) Ask() desk.BridgeAsk {
	a := desk.BridgeAsk{
		Bridge: r.BridgeID, FromChain: r.FromChainID, FromToken: r.FromToken, ToChain: r.ToChainID, ToToken: r.ToToken, ToAddress: r.ToAddress,
		FromAddress: r.FromAddress, Auto: r.AutoClaim, FeePercent: r.FeePercent.percent(),
	}
	if r.Amount != nil {
		a.Amount = &r.Amount.Amount
	}
	return a
}

// BridgeOrderRequest makes an order over a bridge.
type BridgeOrderRequest struct {
	BridgeID      string            `json:"bridgeId" maxLength:"64" example:"base_withdraw"`
	TermsVersion  int               `json:"termsVersion" minimum:"1" doc:"Of the terms that you read." example:"7"`
	FromChainID   string            `json:"fromChainId" example:"base"`
	FromToken     string            `json:"fromToken" example:"native"`
	ToChainID     string            `json:"toChainId" example:"ethereum"`
	ToToken       string            `json:"toToken" example:"native"`
	Amount        Amount            `json:"amount" doc:"Smallest units." example:"100000000000000000"`
	MinToAmount   *Amount           `json:"minToAmount,omitzero" doc:"Refuse the order if less would arrive." example:"100000000000000000"`
	ToAddress     string            `json:"toAddress" example:"0x52908400098527886e0f7030069857d2e4169ee7"`
	FromAddress   string            `json:"fromAddress,omitzero" doc:"Who will send the transactions; anybody if left out." example:"0x52908400098527886e0f7030069857d2e4169ee7"`
	RefundAddress string            `json:"refundAddress,omitzero" doc:"Where money goes back to that was paid to the service." example:"0x52908400098527886e0f7030069857d2e4169ee7"`
	AutoClaim     bool              `json:"autoClaim,omitzero" example:"false"`
	FeePercent    *Percent          `json:"integratorFeePercent,omitzero" maximum:"5" over:"integrator_fee_too_high" example:"0.5"`
	SessionID     string            `json:"sessionId,omitzero" doc:"As for POST /v2/orders." example:"7d444840-9dc0-41b3-8f5b-4b7a3c2d1e0f"`
	Reference     string            `json:"clientReference,omitzero" maxLength:"64" example:"invoice-1842"`
	Metadata      map[string]string `json:"metadata,omitzero" maxItems:"5" example:"{\"cart\":\"9\"}"`
	Public        *bool             `json:"publicActivity,omitzero" example:"true"`
}

// Ask is the request in the desk's words.
func (r BridgeOrderRequest) Ask() desk.BridgeCreateAsk {
	a := desk.BridgeCreateAsk{
		BridgeAsk: desk.BridgeAsk{
			Bridge: r.BridgeID, FromChain: r.FromChainID, FromToken: r.FromToken, ToChain: r.ToChainID, ToToken: r.ToToken, Amount: &r.Amount.Amount,
			FromAddress: r.FromAddress, Auto: r.AutoClaim, FeePercent: r.FeePercent.percent(),
		},
		CreateAsk: desk.CreateAsk{
			ToAddress: r.ToAddress, RefundAddress: r.RefundAddress, Reference: r.Reference, Metadata: r.Metadata, Private: r.Public != nil && !*r.Public,
		},
		TermsVersion: r.TermsVersion,
	}
	if r.SessionID != "" {
		a.Session = secret.New(r.SessionID)
	}
	if r.MinToAmount != nil {
		a.MinTo = &r.MinToAmount.Amount
	}
	return a
}

// BridgeQuote is what a bridge would do: one for one, less fees. Nothing is reserved, and
// no id is needed to order it: the terms are what counts.
type BridgeQuote struct {
	Kind             string         `json:"kind" enum:"bridge" example:"bridge"`
	BridgeID         string         `json:"bridgeId" example:"base_withdraw"`
	FundingMode      string         `json:"fundingMode" enum:"deposit_address,contract_call" example:"contract_call"`
	From             Sum            `json:"from"`
	To               Sum            `json:"to"`
	MinToAmount      Amount         `json:"minToAmount" example:"100000000000000000"`
	Limits           RouteLimits    `json:"limits"`
	Fees             []Fee          `json:"fees"`
	IntegratorFee    *IntegratorFee `json:"integratorFee" doc:"null where no fee applies."`
	AutoClaim        bool           `json:"autoClaim" example:"false"`
	ClaimFee         *Sum           `json:"claimFee" doc:"What claiming costs now; null where it is free or was not asked for."`
	Steps            []BridgeLeg    `json:"steps"`
	TermsVersion     int            `json:"termsVersion" example:"7"`
	EstimatedSeconds int            `json:"estimatedSeconds" example:"605700"`
	CreatedAt        Time           `json:"createdAt" example:"2026-01-01T00:00:00.000Z"`
	ExpiresAt        Time           `json:"expiresAt" doc:"Until then it is about right." example:"2026-01-01T00:05:00.000Z"`
	Warnings         []Warning      `json:"warnings"`
}

// BridgeQuoteOf is an offer as callers see it.
func BridgeQuoteOf(o desk.BridgeOffer, a *desk.Atlas, show func(chain.ID, chain.Address) string) BridgeQuote {
	q, b := o.Quote, o.Bridge
	w := BridgeQuote{
		Kind: "bridge", BridgeID: b.ID, FundingMode: ContractCall, From: sumOf(a, q.Give, q.In, q.USD), To: sumOf(a, q.Get, q.Out, q.Shown.OutUSD),
		MinToAmount: Amount{q.Shown.MinOut}, Limits: RouteLimits{Amount{q.MinIn}, Amount{q.MaxIn}},
		Fees:      []Fee{{"network", USD(q.Shown.NetworkUSD)}, {"service", USD(q.Shown.ServiceUSD)}},
		AutoClaim: o.Auto, Steps: []BridgeLeg{}, TermsVersion: b.Terms.Version, EstimatedSeconds: int(q.Shown.Takes / time.Second),
		CreatedAt: Time{o.At}, ExpiresAt: Time{q.ExpiresAt}, Warnings: []Warning{},
	}
	if !o.Claim.IsZero() {
		fee := sumOf(a, q.Give.Chain.Native(), o.Claim, o.ClaimUSD)
		w.ClaimFee = &fee
	}
	for _, l := range b.Legs {
		if o.Auto && l.Claim {
			l.Actor = quote.ByService
		}
		w.Steps = append(w.Steps, legOf(l, a))
	}
	if o.FeeUncharged {
		w.Warnings = append(w.Warnings, Warning{Code: "integrator_fee_not_charged", Message: "No integrator fee is charged: the money of this bridge never passes through the service."})
	}
	if f := o.Offer; f != nil {
		w.FundingMode = desk.DepositAddress
		if e := f.Earning; e != nil && !e.Skipped {
			w.IntegratorFee = &IntegratorFee{Percent: Percent(e.Percent), AmountUSD: USD(e.USD), PayoutAddress: show(q.Give.Chain, e.PayTo)}
			w.Fees = append(w.Fees, Fee{"integrator", USD(e.USD)})
		}
		for _, x := range f.Warnings() {
			w.Warnings = append(w.Warnings, warningOf(x))
		}
	}
	return w
}

// Step is a step of a bridge order.
type Step struct {
	StepID            string  `json:"stepId" example:"prove"`
	Title             string  `json:"title" example:"Prove the withdrawal"`
	Actor             string  `json:"actor" enum:"user,service,network" example:"user"`
	ChainID           string  `json:"chainId" example:"ethereum"`
	Status            string  `json:"status" enum:"pending,waiting,ready,submitted,confirmed,failed,skipped" example:"ready"`
	ReadyAt           *Time   `json:"readyAt" doc:"When it can be done; null where that is not known, or is over." example:"null"`
	ReadyAtIsEstimate bool    `json:"readyAtIsEstimate" example:"false"`
	Deadline          *Time   `json:"deadline" doc:"Until when it must be done; null is none." example:"null"`
	TxHash            *string `json:"txHash" example:"null"`
	Attempts          int     `json:"attempts" doc:"That failed." example:"0"`
	Error             *string `json:"error" doc:"Why the last attempt failed." example:"null"`
}

// stepsOf are the steps of a bridge that its owner runs.
func stepsOf(o order.Order, a *desk.Atlas) []Step {
	all := []Step{}
	if o.Bridge == nil {
		return all
	}
	for i, s := range o.Bridge.Steps {
		w := Step{
			StepID: s.ID, Title: s.Title, Actor: string(s.Actor), ChainID: a.Of(s.Chain).Slug, Status: string(s.Status), ReadyAtIsEstimate: s.Estimate,
			ReadyAt: moment(s.ReadyAt), Attempts: s.Attempts,
		}
		first := i == 0 || i == 1 && o.Bridge.Steps[0].ID == order.PayFee
		if s.Status == quote.LegReady && first && !o.State.Finished() {
			w.Deadline = moment(o.ExpiresAt)
		}
		if s.Tx != "" {
			w.TxHash = text(string(s.Tx))
		}
		if s.Error != "" {
			w.Error = text(s.Error)
		}
		all = append(all, w)
	}
	return all
}

// StepTransaction is a transaction for the owner to sign, with those that must be sent
// before it.
type StepTransaction struct {
	StepID      string        `json:"stepId" example:"prove"`
	Transaction Transaction   `json:"transaction"`
	Approvals   []Transaction `json:"approvals" doc:"To be sent and mined before it, in this order."`
}

// StepTransactionOf shows a transaction.
func StepTransactionOf(t desk.StepTx, a *desk.Atlas, show func(chain.ID, chain.Address) string) StepTransaction {
	one := func(c chain.Call) Transaction {
		w := Transaction{
			Family: string(a.Of(c.Chain).Family), ChainID: a.Of(c.Chain).Slug, EVMChainID: int(a.Of(c.Chain).EVMChainID), To: show(c.Chain, c.To),
			Data: "0x" + hex.EncodeToString(c.Data), Value: "0",
		}
		if c.Asset.IsNative() {
			w.Value = c.Amount.String()
		}
		if !t.From.IsZero() {
			w.From = show(c.Chain, t.From)
		}
		return w
	}
	w := StepTransaction{StepID: t.Step, Transaction: one(t.Call), Approvals: []Transaction{}}
	for _, c := range t.Before {
		w.Approvals = append(w.Approvals, one(c))
	}
	return w
}

// StepSubmission names the transaction of a step.
type StepSubmission struct {
	TxHash string `json:"txHash" pattern:"^0x[0-9a-f]{64}$" example:"0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b"`
}

// bridgeFunding is how an order is paid whose owner runs the bridge.
func bridgeFunding(o order.Order, v View) Funding {
	f := Funding{Mode: ContractCall, Amount: Amount{o.Quote.In}, AmountDecimal: o.Quote.In.Decimal(v.Atlas.Asset(o.Quote.Give).Decimals), RequiredConfirmations: int(o.Quote.Shown.Confirmations)}
	if fee := o.Bridge.Fee; !fee.Amount.IsZero() {
		f.DepositAddress, f.URI = text(v.Show(fee.Asset.Chain, o.DepositTo)), v.URI(fee.Asset, o.DepositTo, fee.Amount)
		f.Amount, f.AmountDecimal = Amount{fee.Amount}, fee.Amount.Decimal(v.Atlas.Asset(fee.Asset).Decimals)
	}
	return f
}

// bridgeNext says which step is to be done, and by whom.
func bridgeNext(o order.Order) NextAction {
	n := NextAction{Kind: "wait", By: "service", Deadline: moment(o.Deadline), Options: []string{}}
	s, ok := o.Bridge.Next()
	switch {
	case o.State.Finished():
		n.Kind = "none"
	case ok && s.Actor == quote.ByUser:
		n.Kind, n.By, n.StepID = "submit_step", "user", text(s.ID)
		n.Options = append(n.Options, "steps/"+s.ID+"/transaction", "steps/"+s.ID+"/submissions")
	case o.State == order.Held:
		n.By = "operator"
	}
	if o.State == order.Awaiting {
		n.Deadline, n.Options = moment(o.ExpiresAt), append(n.Options, "cancel")
	}
	return n
}

// bridgeHolding is where the money of a bridge is that its owner runs.
func bridgeHolding(o order.Order, a *desk.Atlas) Holding {
	at := func(party string, x chain.Asset, n money.Amount) Holding {
		return Holding{Party: party, ChainID: a.Of(x.Chain).Slug, Token: desk.TokenName(x), Amount: Amount{n}}
	}
	switch o.State {
	case order.Awaiting, order.Expired:
		return at("user", o.Quote.Give, o.Quote.In)
	case order.Completed:
		return at("recipient", o.Quote.Get, o.Bridge.Brought)
	}
	return at("in_transit", o.Quote.Give, o.Quote.In)
}

// kindOf is what an order is.
func kindOf(o order.Order) string {
	if o.Origin.Bridge != "" {
		return "bridge"
	}
	return "swap"
}

// text1 is a text, or null where there is none.
func text1(s string) *string {
	if s == "" {
		return nil
	}
	return text(s)
}
