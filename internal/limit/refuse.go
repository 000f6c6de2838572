package limit

import "ferry/internal/fault"

// Names of the details that a door reads with RetryAfter and ResourceOf.
const (
	detailSeconds   = "retryAfterSeconds"
	detailResource  = "resource"
	detailExhausted = "exhausted"
)

// errAway refuses where it is not known whether a limit is used up.
var errAway = fault.New(fault.Unavailable, "service_unavailable",
	"The service cannot count requests of your company now. Nothing was done; try again shortly.").RetryAfter(awayWait)

// Refuse is the refusal of a request whose limits are used up, naming the one with
// the longest wait and listing all; nil if it was allowed.
func Refuse(v *Verdict) *fault.Error {
	if v.Allowed() {
		return nil
	}
	if v.away {
		return errAway
	}
	all := v.Exhausted()
	worst := all[0]
	code, text := "rate_limited", "The limit %s of %d a minute is used up. Try again in %d seconds; for a higher limit ask the operator."
	switch worst.Resource {
	case IPAccessFailures:
		code = "too_many_access_failures"
		text = "The limit %s of %d wrong proofs of an order a minute is used up. Try again in %d seconds, with the sessionId that creation gave."
	case OrderRecheck:
		text = "The limit %s of %d look a minute is used up. Try again in %d seconds; the order is watched all the time anyway."
	}
	return waiting(fault.New(fault.Exhausted, code, text, worst.Resource, worst.Limit, worst.Seconds), all)
}

// waiting adds what is exhausted, the one to name first, to a refusal.
func waiting(f *fault.Error, exhausted []State) *fault.Error {
	list := make([]map[string]any, len(exhausted))
	for i, s := range exhausted {
		list[i] = map[string]any{
			detailResource: s.Resource.String(),
			"limit":        s.Limit,
			detailSeconds:  int(s.Seconds),
		}
	}
	f.Detail = map[string]any{
		detailResource:  exhausted[0].Resource.String(),
		detailSeconds:   int(exhausted[0].Seconds),
		detailExhausted: list,
	}
	return f
}

// RetryAfter is how many seconds a refusal of this room asks to wait, for the header
// of that name.
func RetryAfter(f *fault.Error) (int, bool) {
	seconds, ok := f.Detail[detailSeconds].(int)
	return seconds, ok
}

// ResourceOf is the limit that a refusal of this room names, for X-RateLimit-Resource.
// A full house names none: it is nobody's limit.
func ResourceOf(f *fault.Error) (string, bool) {
	if f.Kind != fault.Exhausted {
		return "", false
	}
	name, ok := f.Detail[detailResource].(string)
	return name, ok
}
