package wire

import (
	"time"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/secret"
)

// OrderRequest makes an order: of a quoteId, or of the fields of a quote.
type OrderRequest struct {
	QuoteID       string            `json:"quoteId,omitzero" maxLength:"2048" doc:"A quote of yours that has not expired; the fields of a quote are then left out." example:"quo_AXZ1"`
	FromChainID   string            `json:"fromChainId,omitzero" example:"bitcoin"`
	FromToken     string            `json:"fromToken,omitzero" example:"native"`
	ToChainID     string            `json:"toChainId,omitzero" example:"solana"`
	ToToken       string            `json:"toToken,omitzero" example:"native"`
	Amount        *Amount           `json:"amount,omitzero" example:"100000"`
	Side          string            `json:"side,omitzero" enum:"from,to" example:"from"`
	RateMode      string            `json:"rateMode,omitzero" enum:"float,fixed" example:"float"`
	Slippage      *Percent          `json:"slippagePercent,omitzero" maximum:"10" code:"invalid_slippage" example:"0.5"`
	FundingMode   string            `json:"fundingMode,omitzero" enum:"deposit_address,contract_call" example:"deposit_address"`
	FromAddress   string            `json:"fromAddress,omitzero" example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
	FeePercent    *Percent          `json:"integratorFeePercent,omitzero" maximum:"5" over:"integrator_fee_too_high" doc:"Your fee on this order; needs a key." example:"0.5"`
	ToAddress     string            `json:"toAddress" doc:"Where the money goes." example:"7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"`
	RefundAddress string            `json:"refundAddress,omitzero" doc:"Where it goes back to if it can not go on; needed for a fixed rate and on chains that say so." example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
	SessionID     string            `json:"sessionId,omitzero" doc:"Groups orders of your integration under a session of yours; needs a key. It does not make the request repeatable: see Idempotency-Key." example:"7d444840-9dc0-41b3-8f5b-4b7a3c2d1e0f"`
	Reference     string            `json:"clientReference,omitzero" maxLength:"64" doc:"Your own name for the order." example:"invoice-1842"`
	Metadata      map[string]string `json:"metadata,omitzero" maxItems:"5" doc:"Up to five notes of yours." example:"{\"cart\":\"9\"}"`
	PointsAddress string            `json:"pointsAddress,omitzero" maxLength:"128" doc:"Who earns points, if anybody: an address of any family that is served. See GET /v2/points/program." example:"0x52908400098527886e0f7030069857d2e4169ee7"`
	Public        *bool             `json:"publicActivity,omitzero" doc:"false keeps the order out of public activity." example:"true"`
}

// Example is an order of a quote: the fields of one would be refused beside it.
func (OrderRequest) Example() any {
	return OrderRequest{
		QuoteID: "quo_AXZ1", ToAddress: "7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs",
		RefundAddress: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", Reference: "invoice-1842",
	}
}

// quoted reports which fields of a quote are there.
func (r OrderRequest) quoted() (fields []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"fromChainId", r.FromChainID != ""},
		{"fromToken", r.FromToken != ""},
		{"toChainId", r.ToChainID != ""},
		{"toToken", r.ToToken != ""},
		{"amount", r.Amount != nil},
		{"side", r.Side != ""},
		{"rateMode", r.RateMode != ""},
		{"slippagePercent", r.Slippage != nil},
		{"fundingMode", r.FundingMode != ""},
		{"fromAddress", r.FromAddress != ""},
		{"integratorFeePercent", r.FeePercent != nil},
	} {
		if f.given {
			fields = append(fields, f.name)
		}
	}
	return fields
}

// Ask is the request in the desk's words, or what is wrong with it as a whole.
func (r OrderRequest) Ask() (desk.CreateAsk, error) {
	a := desk.CreateAsk{
		QuoteID: r.QuoteID, ToAddress: r.ToAddress, RefundAddress: r.RefundAddress, Reference: r.Reference,
		Metadata: r.Metadata, PointsTo: r.PointsAddress, Private: r.Public != nil && !*r.Public,
	}
	if r.SessionID != "" {
		a.Session = secret.New(r.SessionID)
	}
	if r.QuoteID != "" {
		if both := r.quoted(); len(both) > 0 {
			return a, problems("conflicting_fields", both, "is part of the quote; leave it out beside quoteId")
		}
		return a, nil
	}
	var missing []string
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"fromChainId", r.FromChainID != ""},
		{"fromToken", r.FromToken != ""},
		{"toChainId", r.ToChainID != ""},
		{"toToken", r.ToToken != ""},
		{"amount", r.Amount != nil},
	} {
		if !f.given {
			missing = append(missing, f.name)
		}
	}
	if len(missing) > 0 {
		return a, problems("missing_field", missing, "is missing; send it, or a quoteId")
	}
	q := QuoteRequest{
		FromChainID: r.FromChainID, FromToken: r.FromToken, ToChainID: r.ToChainID, ToToken: r.ToToken, Amount: *r.Amount,
		Side: r.Side, RateMode: r.RateMode, Slippage: r.Slippage, FundingMode: r.FundingMode, FromAddress: r.FromAddress, FeePercent: r.FeePercent,
	}.Ask()
	a.Quote = &q
	return a, nil
}

// problems is one refusal for several fields.
func problems(code string, fields []string, why string) error {
	all := make([]Problem, len(fields))
	for i, f := range fields {
		all[i] = Problem{Pointer: "/" + f, Code: code, Message: why}
	}
	return Invalid(all...)
}

// Funding is how an order is paid.
type Funding struct {
	Mode                  string  `json:"mode" enum:"deposit_address,contract_call" example:"deposit_address"`
	DepositAddress        *string `json:"depositAddress" doc:"Send exactly once, exactly amount, before expiresAt. null for contract_call. Of a bridge that you run it takes the fee for autoClaim, and is null where there is none." example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
	DepositMemo           *string `json:"depositMemo" doc:"null: none is needed." example:"null"`
	Amount                Amount  `json:"amount" example:"100000"`
	AmountDecimal         string  `json:"amountDecimal" example:"0.001"`
	URI                   string  `json:"uri" doc:"For wallets and QR codes; empty where the chain has no form for it." minLength:"0" example:"bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4?amount=0.001"`
	RequiredConfirmations int     `json:"requiredConfirmations" example:"1"`
	// Transaction is what whoever pays by contract_call signs and sends.
	Transaction *Transaction  `json:"transaction" doc:"For contract_call: sign and send it, once, before expiresAt. Shown to the session alone, where one order is made or read, while it waits for its deposit; read the order again for a fresh one. null otherwise."`
	Approvals   []Transaction `json:"approvals" doc:"Sign and send these first, in this order: they allow the contract to take what transaction pays." example:"[]"`
}

// Expected is what was promised.
type Expected struct {
	ToAmount    Amount `json:"toAmount" example:"96120000"`
	MinToAmount Amount `json:"minToAmount" example:"95639400"`
}

// Actual is what happened so far.
type Actual struct {
	DepositedAmount *Amount `json:"depositedAmount" example:"100000"`
	ToAmount        *Amount `json:"toAmount" example:"96120000"`
}

// OrderDeposit is a payment to an order's address.
type OrderDeposit struct {
	TxHash                string  `json:"txHash" example:"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"`
	Token                 string  `json:"token" doc:"native, or the token's address." example:"native"`
	Amount                Amount  `json:"amount" example:"100000"`
	Confirmations         *int    `json:"confirmations" doc:"How many blocks stand on and with its own, while it may still vanish. null once it is final or gone, and in live events and snapshots: there order.confirmations tells it." example:"0"`
	RequiredConfirmations int     `json:"requiredConfirmations" example:"1"`
	SeenAt                Time    `json:"seenAt" example:"2026-01-01T00:05:00.000Z"`
	State                 string  `json:"state" enum:"pending,dropped,counted,detected,awaiting_refund_address,refunding,refunded,dust,manual" doc:"pending may still vanish; counted is part of the order; the rest is in recovery." example:"pending"`
	Issue                 *string `json:"issue" doc:"Why it is in recovery." example:"null"`
}

// OrderPayout is money that was sent for an order.
type OrderPayout struct {
	Kind      string  `json:"kind" enum:"delivery,refund,recovery" example:"delivery"`
	TxHash    *string `json:"txHash" doc:"null until it is final." example:"5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb"`
	Amount    Amount  `json:"amount" example:"96120000"`
	Token     string  `json:"token" example:"native"`
	ToAddress string  `json:"toAddress,omitzero" doc:"Left out for verify where it is the refund address." example:"7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"`
	State     string  `json:"state" enum:"pending,confirmed,failed" example:"confirmed"`
}

// NextAction is what the order waits for.
type NextAction struct {
	Kind     string   `json:"kind" enum:"deposit,wait,provide_refund_address,accept_requote,submit_step,none" example:"deposit"`
	StepID   *string  `json:"stepId" doc:"Of submit_step; null otherwise." example:"null"`
	By       string   `json:"by" enum:"user,service,operator" example:"user"`
	Deadline *Time    `json:"deadline" example:"2026-01-01T00:30:00.000Z"`
	Options  []string `json:"options" doc:"Actions that are allowed now." example:"[\"cancel\"]"`
}

// Holding is where the money is.
type Holding struct {
	Party   string `json:"party" enum:"user,in_transit,service,recipient,refund_address" example:"user"`
	ChainID string `json:"chainId" example:"bitcoin"`
	Token   string `json:"token" example:"native"`
	Amount  Amount `json:"amount" example:"100000"`
}

// Failure is why an order failed or is held.
type Failure struct {
	Code    string `json:"code" example:"deposit_below_minimum"`
	Message string `json:"message" example:"Less arrived than was quoted."`
}

// Recovery is money that came late, twice or in another asset.
type Recovery struct {
	Status   string         `json:"status" enum:"detected,awaiting_refund_address,refunding,refunded,dust,manual" example:"detected"`
	Deposits []OrderDeposit `json:"deposits"`
}

// Order is an order as its owner, or whoever may read it, sees it.
type Order struct {
	OrderID          string            `json:"orderId" example:"ord_0123456789ABCDEFGHJKMNPQRS"`
	Kind             string            `json:"kind" enum:"swap,bridge" example:"swap"`
	BridgeID         *string           `json:"bridgeId" doc:"The native bridge that was asked for; null for a swap." example:"null"`
	Status           string            `json:"status" enum:"awaiting_deposit,confirming,executing,sending,held,refunding,completed,failed,expired,refunded" example:"awaiting_deposit"`
	Phase            string            `json:"phase" enum:"funding,executing,delivering,recovering,done" example:"funding"`
	Terminal         bool              `json:"terminal" doc:"The status never changes again." example:"false"`
	Version          int               `json:"version" doc:"Rises by one with every visible change." example:"1"`
	Delayed          bool              `json:"delayed" doc:"It takes longer than it should; an operator looks at it." example:"false"`
	SessionID        string            `json:"sessionId,omitzero" doc:"The secret that owns the order: shown here once, never again. Send it as X-Session-ID." example:"ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"`
	Access           string            `json:"access" enum:"session,verify" doc:"By which proof it is shown." example:"session"`
	From             Sum               `json:"from"`
	To               Sum               `json:"to"`
	ToAddress        string            `json:"toAddress" example:"7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"`
	ToMemo           *string           `json:"toMemo" example:"null"`
	RefundAddress    *string           `json:"refundAddress,omitzero" example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
	Funding          Funding           `json:"funding"`
	Expected         Expected          `json:"expected"`
	Actual           Actual            `json:"actual"`
	RateMode         string            `json:"rateMode" enum:"float,fixed" example:"float"`
	SlippagePercent  *Percent          `json:"slippagePercent" example:"0.5"`
	Fees             []Fee             `json:"fees"`
	IntegratorFee    *IntegratorFee    `json:"integratorFee,omitzero" doc:"Left out when no fee applies, and for verify."`
	FeeStatus        string            `json:"feeStatus,omitzero" enum:"none,projected,paid,skipped" doc:"Left out for verify." example:"projected"`
	Deposits         []OrderDeposit    `json:"deposits"`
	Payouts          []OrderPayout     `json:"payouts"`
	NextAction       NextAction        `json:"nextAction"`
	Holding          Holding           `json:"holding"`
	Failure          *Failure          `json:"failure" doc:"Why it failed or is held; null otherwise."`
	Recovery         *Recovery         `json:"recovery" doc:"Money that came late, twice or in another asset; null if none did."`
	Steps            []Step            `json:"steps" doc:"Of a bridge that you run yourself; empty otherwise."`
	CreatedAt        Time              `json:"createdAt" example:"2026-01-01T00:00:00.000Z"`
	UpdatedAt        Time              `json:"updatedAt" example:"2026-01-01T00:00:00.000Z"`
	ExpiresAt        Time              `json:"expiresAt" doc:"Funding deadline." example:"2026-01-01T00:30:00.000Z"`
	StateDeadline    *Time             `json:"stateDeadline" doc:"When the present status has lasted too long." example:"2026-01-01T02:00:00.000Z"`
	CompletedAt      *Time             `json:"completedAt" doc:"When it ended." example:"null"`
	AsOf             Time              `json:"asOf" example:"2026-01-01T00:00:00.000Z"`
	EstimatedSeconds int               `json:"estimatedSeconds" example:"1500"`
	ClientReference  *string           `json:"clientReference,omitzero" example:"invoice-1842"`
	Metadata         map[string]string `json:"metadata,omitzero" example:"{\"cart\":\"9\"}"`
}

// View is what an order is shown with.
type View struct {
	Atlas *desk.Atlas
	Right access.Right
	Now   time.Time
	// Show writes an address as people know it, URI a link for wallets.
	Show func(id chain.ID, a chain.Address) string
	// Depths are how deep payments are that may still vanish; nil is not known.
	Depths map[chain.DepositID]uint64
	URI    func(x chain.Asset, to chain.Address, n money.Amount) string
	// Funding are the transactions that pay it; nil where none are shown.
	Funding *chain.Funding
}

// OrderOf is an order as it may be seen.
func OrderOf(o order.Order, v View) Order {
	q := o.Quote
	w := Order{
		OrderID: string(o.ID), Kind: kindOf(o), BridgeID: text1(o.Origin.Bridge), Status: string(o.State), Phase: phaseOf(o.State), Terminal: o.State.Finished(),
		Version: int(o.Version), Delayed: o.Delayed, Access: "verify",
		From: sumOf(v.Atlas, q.Give, q.In, q.USD), To: sumOf(v.Atlas, q.Get, q.Out, q.Shown.OutUSD),
		ToAddress: v.Show(q.Get.Chain, o.PayTo), Funding: fundingOf(o, v),
		Expected: Expected{ToAmount: Amount{q.Out}, MinToAmount: Amount{q.Shown.MinOut}}, Actual: actualOf(o), RateMode: string(q.Mode),
		Fees:     []Fee{{"network", USD(q.Shown.NetworkUSD)}, {"service", USD(q.Shown.ServiceUSD)}},
		Deposits: []OrderDeposit{}, Payouts: payoutsOf(o, v), NextAction: nextOf(o), Holding: holdingOf(o, v.Atlas), Failure: failureOf(o),
		Recovery: recoveryOf(o), Steps: stepsOf(o, v.Atlas), CreatedAt: Time{o.CreatedAt}, UpdatedAt: Time{o.UpdatedAt}, ExpiresAt: Time{o.ExpiresAt},
		StateDeadline: moment(o.Deadline), CompletedAt: moment(o.FinishedAt), AsOf: Time{v.Now}, EstimatedSeconds: int(q.Shown.Takes / time.Second),
	}
	if q.Mode == quote.Float {
		s := Percent(q.Shown.Slippage)
		w.SlippagePercent = &s
	}
	for _, d := range o.Deposits {
		w.Deposits = append(w.Deposits, depositOf(d, o, v.Depths))
	}
	charged := q.Fee != nil && !q.Fee.Skipped
	if charged {
		w.Fees = append(w.Fees, Fee{"integrator", USD(q.Shown.FeeUSD)})
	}
	if v.Right != access.Act {
		return w
	}
	w.Access, w.FeeStatus = "session", string(o.FeeStatus)
	if !o.RefundTo.IsZero() {
		w.RefundAddress = text(v.Show(q.Give.Chain, o.RefundTo))
	}
	if charged {
		w.IntegratorFee = &IntegratorFee{Percent: Percent(q.Fee.Percent), AmountUSD: USD(q.Shown.FeeUSD), PayoutAddress: v.Show(q.Give.Chain, q.Fee.PayTo)}
	}
	if o.Origin.Reference != "" {
		w.ClientReference = text(o.Origin.Reference)
	}
	w.Metadata = o.Origin.Metadata
	return w
}

func text(s string) *string { return &s }

func moment(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return &Time{t}
}
