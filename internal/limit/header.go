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
		dst = append(next(dst, start), named[c.Resource].policy...)
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
		dst = append(next(dst, start), named[s.Resource].state...)
		dst = strconv.AppendInt(dst, s.Left, 10)
		dst = append(dst, ";t="...)
		dst = strconv.AppendInt(dst, int64(s.Seconds), 10)
	}
	return dst
}

// named is how a member of each list begins, for every resource.
var named = func() (all [1 << 8]struct{ policy, state string }) {
	for r := range all {
		name := `"` + Resource(r).String() + `"`
		all[r].policy, all[r].state = name+";q=", name+";r="
	}
	return all
}()

// next parts a member from the one before it in a list that began at start.
func next(dst []byte, start int) []byte {
	if len(dst) > start {
		dst = append(dst, ", "...)
	}
	return dst
}
