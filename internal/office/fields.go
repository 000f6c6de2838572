package office

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"ferry/internal/chain"
	"ferry/internal/integrator"
)

// fields are what the log says of an integrator, by the names that callers know.
func fields(i integrator.Integrator) map[string]string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	egress := make([]string, len(i.Forwarding.Egress))
	for n, p := range i.Forwarding.Egress {
		egress[n] = p.String()
	}
	return map[string]string{
		"name":                             i.Name,
		"status":                           string(i.Status),
		"limits.requestLimitPerMin":        number(i.Limits.Requests),
		"limits.quoteLimitPerMin":          number(i.Limits.Quotes),
		"limits.createLimitPerMin":         number(i.Limits.Creates),
		"limits.maxOpenOrders":             number(i.Limits.OpenOrders),
		"openOrderWindowMinutes":           number(int64(i.Window / time.Minute)),
		"points":                           points(i),
		"attribution.windowDays":           number(int64(i.AttributionDays)),
		"clientIpForwarding.enabled":       strconv.FormatBool(i.Forwarding.Enabled),
		"clientIpForwarding.egress":        strings.Join(egress, " "),
		"defaultFeePercent":                i.Fees.Default.String(),
		"payoutAddresses.evm":              i.Fees.PayTo[chain.EVM].Text(),
		"payoutAddresses.solana":           i.Fees.PayTo[chain.Solana].Text(),
		"payoutAddresses.bitcoin":          i.Fees.PayTo[chain.Bitcoin].Text(),
		clientLimit + "maxOpenOrders":      number(i.Forwarding.Limits.OpenOrders),
		clientLimit + "createLimitPerMin":  number(i.Forwarding.Limits.Creates),
		clientLimit + "requestLimitPerMin": number(i.Forwarding.Limits.Requests),
	}
}

// points says whether orders of an integrator earn points.
func points(i integrator.Integrator) string {
	if i.NoPoints {
		return "off"
	}
	return "on"
}

const clientLimit = "clientIpForwarding.limits."

// keyFields are what the log says of a key: never the key, nor its digest.
func keyFields(k integrator.Key) map[string]string {
	return map[string]string{
		"integratorId": string(k.Integrator), "kind": string(k.Kind), "label": k.Label, "hint": k.Hint,
		"keyRequestLimitPerMin": strconv.FormatInt(k.Requests, 10),
	}
}

// differing leaves of both only what is not the same.
func differing(before, after map[string]string) (b, a map[string]string) {
	b, a = map[string]string{}, map[string]string{}
	for name, now := range after {
		if was, there := before[name]; !there || was != now {
			a[name] = now
			if there {
				b[name] = was
			}
		}
	}
	return b, a
}

// object writes fields down in the order of their names.
func object(fields map[string]string) (string, error) {
	text, err := json.Marshal(fields, json.Deterministic(true))
	return string(text), err
}
