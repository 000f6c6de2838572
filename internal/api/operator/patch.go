package operator

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/office"
)

// Patch is the body of a change: what is left out stays as it is. Version, where it
// is given, is the version that the change was made for.
type Patch struct {
	Version                int64              `json:"version,omitzero"`
	Name                   *string            `json:"name,omitzero"`
	Status                 *string            `json:"status,omitzero"`
	Limits                 *LimitsPatch       `json:"limits,omitzero"`
	OpenOrderWindowMinutes *int64             `json:"openOrderWindowMinutes,omitzero"`
	Attribution            *AttributionPatch  `json:"attribution,omitzero"`
	Points                 *bool              `json:"points,omitzero"` // whether its orders earn any
	Forwarding             *ForwardingPatch   `json:"clientIpForwarding,omitzero"`
	DefaultFeePercent      jsontext.Value     `json:"defaultFeePercent,omitzero"`
	PayoutAddresses        map[string]*string `json:"payoutAddresses,omitempty"` // null takes an address away
}

// LimitsPatch are the limits of a company that are to be set.
type LimitsPatch struct {
	Requests   *int64 `json:"requestLimitPerMin,omitzero"`
	Quotes     *int64 `json:"quoteLimitPerMin,omitzero"`
	Creates    *int64 `json:"createLimitPerMin,omitzero"`
	OpenOrders *int64 `json:"maxOpenOrders,omitzero"`
}

// AttributionPatch is over how many days attribution is to be reported.
type AttributionPatch struct {
	Days *int `json:"windowDays,omitzero"`
}

// ForwardingPatch is what to change about who may forward: all servers anew, or
// some to approve and some to remove.
type ForwardingPatch struct {
	Enabled *bool              `json:"enabled,omitzero"`
	Egress  *[]string          `json:"egress,omitzero"`
	Approve []string           `json:"approve,omitempty"`
	Remove  []string           `json:"remove,omitempty"`
	Limits  *ClientLimitsPatch `json:"limits,omitzero"`
}

// ClientLimitsPatch are the limits of one end user that are to be set.
type ClientLimitsPatch struct {
	Requests   *int64 `json:"requestLimitPerMin,omitzero"`
	Creates    *int64 `json:"createLimitPerMin,omitzero"`
	OpenOrders *int64 `json:"maxOpenOrders,omitzero"`
}

// longWindow is more minutes than any window may have, and few enough to count in.
const longWindow = 1 << 24

// patch is the change as the office takes it.
func (p Patch) patch() (office.Patch, error) {
	out := office.Patch{Version: p.Version, Name: p.Name}
	if p.Status != nil {
		status := integrator.Status(*p.Status)
		out.Status = &status
	}
	if l := p.Limits; l != nil {
		out.Limits = office.Limits{Requests: l.Requests, Quotes: l.Quotes, Creates: l.Creates, OpenOrders: l.OpenOrders}
	}
	if m := p.OpenOrderWindowMinutes; m != nil {
		window := time.Duration(min(max(*m, -1), longWindow)) * time.Minute
		out.Window = &window
	}
	if p.Points != nil {
		off := !*p.Points
		out.NoPoints = &off
	}
	if p.Attribution != nil {
		out.AttributionDays = p.Attribution.Days
	}
	if f := p.Forwarding; f != nil {
		out.Forwarding = office.Forwarding{Enabled: f.Enabled, Replace: f.Egress, Approve: f.Approve, Remove: f.Remove}
		if l := f.Limits; l != nil {
			out.Forwarding.Limits = office.ClientLimits{Requests: l.Requests, Creates: l.Creates, OpenOrders: l.OpenOrders}
		}
	}
	if p.DefaultFeePercent != nil {
		percent, err := money.ParsePercent(string(p.DefaultFeePercent))
		if err != nil {
			return out, fault.New(fault.Invalid, "invalid_field",
				"defaultFeePercent: must be a number from 0 to 5 with at most four decimals.").With("field", "defaultFeePercent").Because(err)
		}
		out.Fees.Default = &percent
	}
	return out, p.payTo(&out.Fees)
}

func (p Patch) payTo(fees *office.Fees) error {
	for family, to := range p.PayoutAddresses {
		if fees.PayTo == nil {
			fees.PayTo = map[chain.Family]string{}
		}
		switch {
		case to == nil:
			fees.PayTo[chain.Family(family)] = ""
		case *to == "":
			field := "payoutAddresses." + family
			return fault.New(fault.Invalid, "invalid_field", "%s: is empty; give an address, or null to take it away.", field).With("field", field)
		default:
			fees.PayTo[chain.Family(family)] = *to
		}
	}
	return nil
}

// newKey is the body that asks for a key.
type newKey struct {
	Kind     string `json:"kind"`
	Label    string `json:"label"`
	Requests *int64 `json:"keyRequestLimitPerMin,omitzero"`
}

// newIntegrator is the body that asks for an integrator.
type newIntegrator struct {
	Name string `json:"name"`
}
