package front_test

import (
	"strconv"
	"testing"

	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/store/pgtest"
)

// TestTwoServicesShareTheLimitsOfACompany: on one PostgreSQL, a company has its limit
// once and not once in each process.
func TestTwoServicesShareTheLimitsOfACompany(t *testing.T) {
	t.Parallel()
	const most = 40
	url := pgtest.URL(t)
	rigs := []*rig{newRig(t, overPostgres, setup{database: url}), newRig(t, overPostgres, setup{database: url})}
	c := rigs[0].company(t, office.Patch{Limits: office.Limits{Requests: new(int64(most)), Quotes: new(int64), Creates: new(int64)}})
	key := rigs[0].issue(t, c.ID, office.NewKey{Kind: integrator.Server, Requests: new(int64)})
	for _, r := range rigs {
		r.known(t, key)
	}
	let := 0
	for n := range 3 * most {
		a := rigs[n%2].do(t, chainsRow(key.header()))
		if a.Status == 200 {
			let++
			continue
		}
		a.want(t, 429, "rate_limited")
		if wait, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 || a.Header.Get("X-RateLimit-Resource") != "company_requests" {
			t.Fatalf("refused with %v", a.Header)
		}
	}
	// Near the end one of them may hold a few that the other does not get.
	if let > most || let < most-8 {
		t.Errorf("%d of %d were let in by both", let, most)
	}
}
