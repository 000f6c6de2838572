package wire

import "slices"

// Who can do something about a refusal.
const (
	ByCaller   = "caller"
	ByEndUser  = "end_user"
	ByOperator = "operator"
	ByNobody   = "nobody"
)

// Code is one entry of the catalogue: a stable code and what it means.
type Code struct {
	Code        string `json:"code" doc:"The stable code." example:"quote_expired"`
	Status      int    `json:"status" doc:"The HTTP status it comes with." example:"409"`
	Title       string `json:"title" doc:"The code in words." example:"Quote expired"`
	Description string `json:"description" doc:"When it is answered and what to do." example:"The quote is past its expiresAt. Ask for a new one."`
	Retryable   bool   `json:"retryable" doc:"Whether the same request may succeed later." example:"false"`
	Actor       string `json:"actor" enum:"caller,end_user,operator,nobody" doc:"Who can do something about it." example:"caller"`
}

// byCode finds an entry.
var byCode = func() map[string]Code {
	m := map[string]Code{}
	for _, c := range slices.Concat(invalidCodes, refusedCodes, stateCodes, troubleCodes) {
		if _, twice := m[c.Code]; twice {
			panic("wire: the catalogue has " + c.Code + " twice")
		}
		m[c.Code] = c
	}
	return m
}()

// CodeOf finds a code in the catalogue.
func CodeOf(code string) (Code, bool) {
	c, ok := byCode[code]
	return c, ok
}

// Codes is the whole catalogue, by status and then by name.
func Codes() []Code {
	all := slices.Concat(invalidCodes, refusedCodes, stateCodes, troubleCodes)
	slices.SortStableFunc(all, func(a, b Code) int {
		if a.Status != b.Status {
			return a.Status - b.Status
		}
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return all
}

// FailureCodes are what failure.code of an order may say. They are no answers of
// the door.
var FailureCodes = []string{
	"bridge_failed", "deadline_exceeded", "deposit_above_maximum", "deposit_below_minimum", "deposit_reorged",
	"duplicate_deposit", "no_liquidity", "operator_cancelled", "payout_rejected", "provider_failed",
	"recipient_invalid", "refund_address_missing", "refund_below_cost", "screening_hold", "slippage_exceeded",
	"step_failed", "unknown", "wrong_chain", "wrong_token",
}

// SocketCodes are what an error message of the live socket may say beyond the
// catalogue.
var SocketCodes = []string{"already_subscribed", "not_subscribed", "resume_out_of_range", "unknown_channel", "unknown_message"}
