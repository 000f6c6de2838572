package limit

import (
	"strconv"
	"time"
)

// AppendPolicy appends the value of RateLimit-Policy: what every claim allows, such
// as "company_requests";q=600;w=60.
func AppendPolicy(dst []byte, claims []Claim) []byte {
	start := len(dst)
	for i := range claims {
		c := &claims[i]
		if c.Limit <= 0 {
			continue
		}
		dst = appendName(dst, start, c.Resource)
		dst = append(dst, ";q="...)
		dst = strconv.AppendInt(dst, c.Limit, 10)
		dst = append(dst, ";w="...)
		dst = strconv.AppendInt(dst, int64(Window/time.Second), 10)
	}
	return dst
}

// AppendState appends the value of RateLimit: what is left of every claim and after
// how many seconds there is more, such as "company_requests";r=598;t=12.
func AppendState(dst []byte, v *Verdict) []byte {
	start := len(dst)
	for i := range v.n {
		s := &v.states[i]
		dst = appendName(dst, start, s.Resource)
		dst = append(dst, ";r="...)
		dst = strconv.AppendInt(dst, s.Left, 10)
		dst = append(dst, ";t="...)
		dst = strconv.AppendInt(dst, int64(s.Seconds), 10)
	}
	return dst
}

// appendName begins a member of the list, which began at start.
func appendName(dst []byte, start int, r Resource) []byte {
	if len(dst) > start {
		dst = append(dst, ", "...)
	}
	dst = append(dst, '"')
	dst = append(dst, r.String()...)
	return append(dst, '"')
}
