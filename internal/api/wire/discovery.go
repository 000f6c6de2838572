package wire

import (
	"ferry/internal/desk"
	"ferry/internal/market"
)

// Chains are the chains that are served.
type Chains struct {
	Chains []Chain `json:"chains"`
}

// Chain is one of them.
type Chain struct {
	ChainID               string `json:"chainId" doc:"How every other field names it." example:"bitcoin"`
	Name                  string `json:"name" example:"Bitcoin"`
	CAIP2                 string `json:"caip2" example:"bip122:000000000019d6689c085ae165831e93"`
	EVMChainID            *int   `json:"evmChainId" example:"null"`
	Family                string `json:"family" enum:"evm,solana,bitcoin,other" example:"bitcoin"`
	NativeToken           Token  `json:"nativeToken"`
	RequiredConfirmations int    `json:"requiredConfirmations" doc:"Of a usual deposit; a large one may wait for more." example:"1"`
	MemoRequired          bool   `json:"memoRequired" example:"false"`
	RefundAddressRequired bool   `json:"refundAddressRequired" doc:"Orders paid here need a refund address." example:"true"`
	Enabled               bool   `json:"enabled" example:"true"`
	// FundingModes are how orders are paid there, the usual one first.
	FundingModes []string `json:"fundingModes" doc:"How orders are paid here, the usual way first." example:"[\"deposit_address\"]"`
	// Explorer is where people look at the chain; null where there is none.
	Explorer *Explorer `json:"explorer"`
}

// Explorer is where people look at transactions and addresses of a chain.
type Explorer struct {
	TxURL      string `json:"txUrl" doc:"Put a transaction's hash in the place of {tx}." example:"https://mempool.space/tx/{tx}"`
	AddressURL string `json:"addressUrl" doc:"Put an address in the place of {address}." example:"https://mempool.space/address/{address}"`
}

// Tokens are the assets that are served.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

// Token is one of them.
type Token struct {
	ChainID  string `json:"chainId" example:"bitcoin"`
	Token    string `json:"token" doc:"native, or the token's address." example:"native"`
	Symbol   string `json:"symbol" example:"BTC"`
	Decimals int    `json:"decimals" example:"8"`
}

// TokenDetail is a token with its price.
type TokenDetail struct {
	ChainID        string `json:"chainId" example:"bitcoin"`
	Token          string `json:"token" example:"native"`
	Symbol         string `json:"symbol" example:"BTC"`
	Decimals       int    `json:"decimals" example:"8"`
	PriceUSD       *USD   `json:"priceUsd" doc:"Of a whole unit; null while there is no good price." example:"97100"`
	PriceUpdatedAt *Time  `json:"priceUpdatedAt" example:"2026-01-01T00:00:00.000Z"`
}

// Route is whether and how one asset becomes another.
type Route struct {
	Available        bool         `json:"available" example:"true"`
	Limits           *RouteLimits `json:"limits"`
	RateModes        []string     `json:"rateModes" example:"[\"float\",\"fixed\"]"`
	FundingModes     []string     `json:"fundingModes" example:"[\"deposit_address\"]"`
	EstimatedSeconds *int         `json:"estimatedSeconds" example:"1500"`
	Reason           *Failure     `json:"reason" doc:"Why it is not available."`
}

// AddressCheck asks whether a text is an address.
type AddressCheck struct {
	ChainID string `json:"chainId" example:"bitcoin"`
	Address string `json:"address" example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
	Memo    string `json:"memo,omitzero" example:"12"`
}

// AddressVerdict says so.
type AddressVerdict struct {
	Valid      bool     `json:"valid" example:"true"`
	Normalized *string  `json:"normalized" doc:"As it is best written; null if it is none." example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
	Kind       *string  `json:"kind" example:"p2wpkh"`
	Reason     *string  `json:"reason" doc:"Why it is none." example:"null"`
	Warnings   []string `json:"warnings" example:"[]"`
}

// Status is how the service is.
type Status struct {
	Status  string         `json:"status" enum:"ok,degraded" example:"ok"`
	AsOf    Time           `json:"asOf" example:"2026-01-01T00:00:00.000Z"`
	Chains  []ChainStatus  `json:"chains"`
	Bridges []BridgeHealth `json:"bridges"`
}

// BridgeHealth is how a native bridge is.
type BridgeHealth struct {
	BridgeID string `json:"bridgeId" example:"base_withdraw"`
	Status   string `json:"status" enum:"up,paused" example:"up"`
}

// ChainStatus is how a chain is.
type ChainStatus struct {
	ChainID string  `json:"chainId" example:"bitcoin"`
	Status  string  `json:"status" enum:"up,paused,syncing" example:"up"`
	Notice  *string `json:"notice" doc:"What to know of it." example:"null"`
}

// RefundAddressRequest sets where an order's money goes back to.
type RefundAddressRequest struct {
	RefundAddress string `json:"refundAddress" example:"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"`
}

// AcceptRequest accepts a new price.
type AcceptRequest struct {
	QuoteID string `json:"quoteId" maxLength:"2048" doc:"Of POST /v2/orders/{orderId}/requote." example:"quo_AXZ1"`
}

// DepositHint names a transaction that pays an order.
type DepositHint struct {
	TxHash string `json:"txHash" maxLength:"128" pattern:"^[0-9A-Za-z]+$" example:"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"`
}

// Nothing is the body of a request that says nothing more.
type Nothing struct{}

// Orders are orders of a session.
type Orders struct {
	Orders []Order `json:"orders"`
}

// Events are what happened to an order.
type Events struct {
	Events []Event `json:"events"`
}

// Event is one change.
type Event struct {
	Seq        int       `json:"seq" doc:"The order's own number; ask for what came after it." example:"2"`
	EventID    string    `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event      string    `json:"event" example:"order.deposit_seen"`
	OccurredAt Time      `json:"occurredAt" example:"2026-01-01T00:05:00.000Z"`
	Data       EventData `json:"data"`
}

// EventData is what changed.
type EventData struct {
	OrderID string `json:"orderId" example:"ord_0123456789ABCDEFGHJKMNPQRS"`
	From    string `json:"from" example:"awaiting_deposit"`
	To      string `json:"to" example:"confirming"`
	Version int    `json:"version" example:"2"`
}

// ChainOf is a chain as callers see it.
func ChainOf(c desk.Chain, a *desk.Atlas, enabled bool) Chain {
	w := Chain{
		ChainID: c.Slug, Name: c.Name, CAIP2: string(c.ID), Family: string(c.Family), NativeToken: TokenOf(a.Asset(c.ID.Native()), a),
		RequiredConfirmations: int(c.Confirmations), RefundAddressRequired: c.NeedsRefund, Enabled: enabled, FundingModes: c.Fundings(),
	}
	if c.EVMChainID != 0 {
		n := int(c.EVMChainID)
		w.EVMChainID = &n
	}
	if c.ExplorerTx != "" && c.ExplorerAddress != "" {
		w.Explorer = &Explorer{TxURL: c.ExplorerTx, AddressURL: c.ExplorerAddress}
	}
	return w
}

// TokenOf is an asset as callers see it.
func TokenOf(t market.Asset, a *desk.Atlas) Token {
	return Token{ChainID: a.Of(t.Asset.Chain).Slug, Token: desk.TokenName(t.Asset), Symbol: t.Symbol, Decimals: t.Decimals}
}
