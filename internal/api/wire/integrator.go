package wire

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/integrator"
	"ferry/internal/order"
	"ferry/internal/report"
)

// Me is what an integrator sees of itself.
type Me struct {
	Integrator Profile      `json:"integrator"`
	Stats      Stats        `json:"stats"`
	Access     AccessRecord `json:"access"`
}

// Profile is the integration, across all of its keys.
type Profile struct {
	IntegratorID      string          `json:"integratorId" example:"int_0123456789ABCDEFGHJKMNPQRS"`
	Name              string          `json:"name" example:"Acme Wallet"`
	Status            string          `json:"status" enum:"active,suspended" example:"active"`
	CreatedAt         Time            `json:"createdAt" example:"2026-01-01T00:00:00.000Z"`
	DefaultFeePercent Percent         `json:"defaultFeePercent" example:"0.5"`
	MaxFeePercent     Percent         `json:"maxFeePercent" example:"5"`
	PayoutAddresses   PayoutAddresses `json:"payoutAddresses"`
	Keys              []KeyInfo       `json:"keys"`
	CallingKeyID      string          `json:"callingKeyId" example:"key_0123456789ABCDEFGHJKMNPQRS"`
	ConfigVersion     int             `json:"configVersion" example:"42"`
	ConfigUpdatedAt   Time            `json:"configUpdatedAt" example:"2026-01-01T00:00:00.000Z"`
	ConfigEffectiveBy Time            `json:"configEffectiveBy" doc:"By when every process goes by it." example:"2026-01-01T00:01:00.000Z"`
}

// PayoutAddresses are where fees go, by the family the money came from.
type PayoutAddresses struct {
	EVM     *string `json:"evm" example:"0x52908400098527886e0f7030069857d2e4169ee7"`
	Solana  *string `json:"solana" example:"7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"`
	Bitcoin *string `json:"bitcoin" example:"null"`
}

// KeyInfo is what is known of a key.
type KeyInfo struct {
	KeyID     string `json:"keyId" example:"key_0123456789ABCDEFGHJKMNPQRS"`
	Kind      string `json:"kind" enum:"server,public" example:"server"`
	Label     string `json:"label" example:"prod"`
	Prefix    string `json:"prefix" doc:"How it begins and ends." example:"sk_live_9f…x2Qb"`
	Status    string `json:"status" enum:"active,revoked" example:"active"`
	CreatedAt Time   `json:"createdAt" example:"2026-01-01T00:00:00.000Z"`
	// LastUsedAt is some seconds old.
	LastUsedAt *Time `json:"lastUsedAt" doc:"A few seconds old; null before the first time." example:"2026-01-01T00:00:00.000Z"`
	RevokedAt  *Time `json:"revokedAt" example:"null"`
}

// Stats are what came of the orders.
type Stats struct {
	Currency                string      `json:"currency" enum:"usd" example:"usd"`
	AsOf                    Time        `json:"asOf" example:"2026-01-01T00:00:00.000Z"`
	Orders                  OrderCounts `json:"orders"`
	VolumeUSD               VolumeUSD   `json:"volumeUsd"`
	Fees                    FeeStats    `json:"fees"`
	ByFamily                Families    `json:"byFamily"`
	SuccessRatePercent      *Percent    `json:"successRatePercent" doc:"Completed among those that were paid for and ended; null before the first." example:"98.4"`
	MedianCompletionSeconds *int        `json:"medianCompletionSeconds" doc:"Within three percent; null before the first." example:"412"`
	LastOrderAt             *Time       `json:"lastOrderAt" example:"2026-01-01T00:00:00.000Z"`
}

// OrderCounts are orders by how they stand.
type OrderCounts struct {
	Total     int `json:"total" example:"1200"`
	Open      int `json:"open" example:"3"`
	Completed int `json:"completed" example:"1100"`
	Failed    int `json:"failed" example:"4"`
	Expired   int `json:"expired" example:"80"`
	Refunded  int `json:"refunded" example:"13"`
}

// VolumeUSD is what completed orders were worth. Days are of 24 whole hours and the
// running one.
type VolumeUSD struct {
	Total   USD `json:"total" example:"120000"`
	Last24h USD `json:"last24h" example:"900"`
	Last7d  USD `json:"last7d" example:"9000"`
	Last30d USD `json:"last30d" example:"30000"`
}

// FeeStats are fees by what became of them.
type FeeStats struct {
	ProjectedUSD  USD `json:"projectedUsd" example:"4.5"`
	PaidUSD       USD `json:"paidUsd" example:"540"`
	SkippedUSD    USD `json:"skippedUsd" example:"1.2"`
	PaidOrders    int `json:"paidOrders" example:"1050"`
	SkippedOrders int `json:"skippedOrders" example:"40"`
}

// Families are completed orders by where the money came from.
type Families struct {
	EVM     FamilyStats `json:"evm"`
	Solana  FamilyStats `json:"solana"`
	Bitcoin FamilyStats `json:"bitcoin"`
}

// FamilyStats are those of one family.
type FamilyStats struct {
	Orders    int `json:"orders" example:"300"`
	VolumeUSD USD `json:"volumeUsd" example:"40000"`
}

// AccessRecord is limits and usage. Every number is an integer.
type AccessRecord struct {
	Limits                 AccessLimits `json:"limits"`
	Defaults               AccessLimits `json:"defaults"`
	QuoteLimitPerMin       int          `json:"quoteLimitPerMin" example:"300"`
	OpenOrderWindowMinutes int          `json:"openOrderWindowMinutes" example:"120"`
	OpenOrders             int          `json:"openOrders" example:"3"`
	KeyRequestLimitPerMin  int          `json:"keyRequestLimitPerMin" example:"300"`
	ClientIPForwarding     Forwarding   `json:"clientIpForwarding"`
	Attribution            Attribution  `json:"attribution"`
}

// AccessLimits are three limits; zero disables one.
type AccessLimits struct {
	RequestLimitPerMin int `json:"requestLimitPerMin" example:"600"`
	CreateLimitPerMin  int `json:"createLimitPerMin" example:"60"`
	MaxOpenOrders      int `json:"maxOpenOrders" example:"200"`
}

// Forwarding is whether end-user addresses are forwarded, and what each may use.
type Forwarding struct {
	Enabled bool         `json:"enabled" example:"true"`
	Header  string       `json:"header" example:"X-End-User-IP"`
	Limits  AccessLimits `json:"limits"`
}

// Attribution is where the orders came from, as numbers only.
type Attribution struct {
	WindowDays       int `json:"windowDays" example:"30"`
	TotalOrders      int `json:"totalOrders" example:"140"`
	AttributedOrders int `json:"attributedOrders" example:"130"`
	DistinctIPs      int `json:"distinctIps" example:"77"`
}

// configDelay is how long a change of the configuration takes at most.
const configDelay = time.Minute

// MeOf is the report as the integrator sees it with one of its keys.
func MeOf(m report.Me, key *integrator.Key, show func(chain.Family, chain.Address) string) Me {
	i := m.Integrator
	w := Me{
		Integrator: Profile{
			IntegratorID: string(i.ID), Name: i.Name, Status: string(i.Status), CreatedAt: Time{i.CreatedAt},
			DefaultFeePercent: Percent(i.Fees.Default), MaxFeePercent: Percent(integrator.MaxFee),
			Keys: []KeyInfo{}, CallingKeyID: string(key.ID), ConfigVersion: int(i.Version), ConfigUpdatedAt: Time{i.UpdatedAt},
			ConfigEffectiveBy: Time{i.UpdatedAt.Add(configDelay)},
		},
		Stats: statsOf(m), Access: accessOf(m, key),
	}
	payTo := func(f chain.Family) *string {
		to, ok := i.Fees.PayTo[f]
		if !ok || to.IsZero() {
			return nil
		}
		return text(show(f, to))
	}
	w.Integrator.PayoutAddresses = PayoutAddresses{EVM: payTo(chain.EVM), Solana: payTo(chain.Solana), Bitcoin: payTo(chain.Bitcoin)}
	for _, k := range m.Keys {
		w.Integrator.Keys = append(w.Integrator.Keys, keyOf(k))
	}
	return w
}

func keyOf(k integrator.Key) KeyInfo {
	w := KeyInfo{
		KeyID: string(k.ID), Kind: string(k.Kind), Label: k.Label, Prefix: k.Hint, Status: "active",
		CreatedAt: Time{k.CreatedAt}, LastUsedAt: moment(k.LastUsedAt), RevokedAt: moment(k.RevokedAt),
	}
	if k.Revoked() {
		w.Status = "revoked"
	}
	return w
}

func statsOf(m report.Me) Stats {
	s := m.Stats
	w := Stats{
		Currency: "usd", AsOf: Time{m.At},
		Orders: OrderCounts{
			Total: int(s.Made), Open: int(s.Open), Completed: int(s.Ended[order.Completed]), Failed: int(s.Ended[order.Failed]),
			Expired: int(s.Ended[order.Expired]), Refunded: int(s.Ended[order.Refunded]),
		},
		VolumeUSD: VolumeUSD{Total: USD(s.Volume.All), Last24h: USD(s.Volume.Day), Last7d: USD(s.Volume.Week), Last30d: USD(s.Volume.Month)},
		Fees: FeeStats{
			ProjectedUSD: USD(s.Fees.Projected), PaidUSD: USD(s.Fees.Paid), SkippedUSD: USD(s.Fees.Skipped),
			PaidOrders: int(s.Fees.PaidOrders), SkippedOrders: int(s.Fees.SkippedOrders),
		},
		LastOrderAt: moment(s.LastOrderAt),
	}
	family := func(f chain.Family) FamilyStats {
		return FamilyStats{Orders: int(s.Families[f].Orders), VolumeUSD: USD(s.Families[f].Volume)}
	}
	w.ByFamily = Families{EVM: family(chain.EVM), Solana: family(chain.Solana), Bitcoin: family(chain.Bitcoin)}
	if rate, any := s.SuccessRate(); any {
		p := Percent(rate)
		w.SuccessRatePercent = &p
	}
	if s.Ended[order.Completed] > 0 {
		n := int(s.MedianTook / time.Second)
		w.MedianCompletionSeconds = &n
	}
	return w
}

func accessOf(m report.Me, key *integrator.Key) AccessRecord {
	i := m.Integrator
	d, f := integrator.DefaultLimits, i.Forwarding.Limits
	return AccessRecord{
		Limits:                 AccessLimits{int(i.Limits.Requests), int(i.Limits.Creates), int(i.Limits.OpenOrders)},
		Defaults:               AccessLimits{int(d.Requests), int(d.Creates), int(d.OpenOrders)},
		QuoteLimitPerMin:       int(i.Limits.Quotes),
		OpenOrderWindowMinutes: int(i.Window / time.Minute),
		OpenOrders:             int(m.Usage.OpenOrders),
		KeyRequestLimitPerMin:  int(key.Requests),
		ClientIPForwarding: Forwarding{
			Enabled: i.Forwarding.Enabled, Header: "X-End-User-IP",
			Limits: AccessLimits{int(f.Requests), int(f.Creates), int(f.OpenOrders)},
		},
		Attribution: Attribution{
			WindowDays: i.AttributionDays, TotalOrders: int(m.Usage.Orders), AttributedOrders: int(m.Usage.Attributed), DistinctIPs: int(m.Usage.Clients),
		},
	}
}

// AttributedOrders are recent orders of the integration.
type AttributedOrders struct {
	Orders []AttributedOrder `json:"orders"`
}

// AttributedOrder is an order as its integrator sees it: without its session, its
// end user's addresses and networks.
type AttributedOrder struct {
	OrderID         string         `json:"orderId" example:"ord_0123456789ABCDEFGHJKMNPQRS"`
	Kind            string         `json:"kind" enum:"swap,bridge" example:"swap"`
	Status          string         `json:"status" enum:"awaiting_deposit,confirming,executing,sending,held,refunding,completed,failed,expired,refunded" example:"completed"`
	FeeStatus       string         `json:"feeStatus" enum:"none,projected,paid,skipped" example:"paid"`
	FeeStatusReason *string        `json:"feeStatusReason" example:"null"`
	IntegratorFee   *IntegratorFee `json:"integratorFee"`
	FeePayoutTxHash *string        `json:"feePayoutTxHash" example:"null"`
	KeyID           string         `json:"keyId" example:"key_0123456789ABCDEFGHJKMNPQRS"`
	KeyKind         string         `json:"keyKind" enum:"server,public" example:"server"`
	From            Side           `json:"from"`
	To              Side           `json:"to"`
	ClientReference *string        `json:"clientReference" example:"invoice-1842"`
	CreatedAt       Time           `json:"createdAt" example:"2026-01-01T00:00:00.000Z"`
	UpdatedAt       Time           `json:"updatedAt" example:"2026-01-01T00:00:00.000Z"`
	ExpiresAt       Time           `json:"expiresAt" example:"2026-01-01T00:30:00.000Z"`
	CompletedAt     *Time          `json:"completedAt" example:"null"`
}

// Side is one side of an order in a list.
type Side struct {
	ChainID   string `json:"chainId" example:"bitcoin"`
	Symbol    string `json:"symbol" example:"BTC"`
	Amount    Amount `json:"amount" example:"100000"`
	AmountUSD USD    `json:"amountUsd" example:"97.1"`
}

// AttributedOf is an order in an integrator's list.
func AttributedOf(o order.Order, a *desk.Atlas, show func(chain.Family, chain.Address) string) AttributedOrder {
	q := o.Quote
	give, get := a.Asset(q.Give), a.Asset(q.Get)
	w := AttributedOrder{
		OrderID: string(o.ID), Kind: kindOf(o), Status: string(o.State), FeeStatus: string(o.FeeStatus), KeyID: string(o.Origin.Key), KeyKind: string(o.Origin.Kind),
		From:      Side{ChainID: a.Of(q.Give.Chain).Slug, Symbol: give.Symbol, Amount: Amount{q.In}, AmountUSD: USD(q.USD)},
		To:        Side{ChainID: a.Of(q.Get.Chain).Slug, Symbol: get.Symbol, Amount: Amount{q.Out}, AmountUSD: USD(q.Shown.OutUSD)},
		CreatedAt: Time{o.CreatedAt}, UpdatedAt: Time{o.UpdatedAt}, ExpiresAt: Time{o.ExpiresAt}, CompletedAt: moment(o.FinishedAt),
	}
	if o.FeeReason != "" {
		w.FeeStatusReason = text(string(o.FeeReason))
	}
	if f := q.Fee; f != nil && !f.Skipped {
		w.IntegratorFee = &IntegratorFee{Percent: Percent(f.Percent), AmountUSD: USD(q.Shown.FeeUSD), PayoutAddress: show(f.PayTo.Family(), f.PayTo)}
	}
	if o.Fee.Tx != "" {
		w.FeePayoutTxHash = text(string(o.Fee.Tx))
	}
	if o.Origin.Reference != "" {
		w.ClientReference = text(o.Origin.Reference)
	}
	return w
}
