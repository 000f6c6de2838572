package wire

import "maps"

// retired are names that bodies once had or that callers of other services expect,
// and the field that says the same here. A retired name is refused as such only
// where its successor is a field; elsewhere it is as unknown as any other.
var retired = map[string]string{
	"chain_id":               "chainId",
	"client_reference":       "clientReference",
	"from_address":           "fromAddress",
	"from_amount":            "amount",
	"from_chain":             "fromChainId",
	"from_chain_id":          "fromChainId",
	"from_token":             "fromToken",
	"fromAmount":             "amount",
	"fromChain":              "fromChainId",
	"funding_mode":           "fundingMode",
	"integrator_fee_bps":     "integratorFeePercent",
	"integrator_fee_percent": "integratorFeePercent",
	"integratorFee":          "integratorFeePercent",
	"integratorFeeBps":       "integratorFeePercent",
	"points_address":         "pointsAddress",
	"quote_id":               "quoteId",
	"rate_mode":              "rateMode",
	"refund_address":         "refundAddress",
	"refund_memo":            "refundMemo",
	"session_id":             "sessionId",
	"slippage":               "slippagePercent",
	"slippage_percent":       "slippagePercent",
	"slippageBps":            "slippagePercent",
	"to_address":             "toAddress",
	"to_amount":              "amount",
	"to_chain":               "toChainId",
	"to_chain_id":            "toChainId",
	"to_memo":                "toMemo",
	"to_token":               "toToken",
	"toAmount":               "amount",
	"toChain":                "toChainId",
	"tx_hash":                "txHash",
}

// Retired are the retired names, each with the field to use instead.
func Retired() map[string]string { return maps.Clone(retired) }
