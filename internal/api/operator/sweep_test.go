package operator_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/api/operator"
	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/treasury"
)

// heap is somebody who brings home what lies on one chain.
type heap struct{}

func (heap) Waiting(_ context.Context, id chain.ID, now time.Time) ([]treasury.Waiting, error) {
	switch id {
	case "sim:none":
		return nil, treasury.ErrNoChain
	case "sim:empty":
		return nil, nil
	}
	lot := func(n int, v uint64) treasury.Lot { return treasury.Lot{Addresses: n, Amount: money.FromUint64(v)} }
	return []treasury.Waiting{{
		Asset: chain.ID("sim:a").Native(), Home: lot(2, 30), Dust: lot(9, 8), Held: lot(1, 7), Why: "the chain is halted: x",
		Failed: lot(1, 5), Until: now.Add(time.Minute), Underway: 3, More: true,
	}}, nil
}

func (heap) Hurry(chain.ID, time.Time) {}

func TestAHurryIsAskedForAndTold(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		want := `{"assets":[{"asset":"sim:a/native","sweep":{"addresses":2,"amount":"30"},"dust":{"addresses":9,"amount":"8"},` +
			`"held":{"addresses":1,"amount":"7"},"why":"the chain is halted: x","failed":{"addresses":1,"amount":"5"},` +
			`"retryAt":"2026-03-04T05:07:07.008Z","underway":3,"more":true}]}` + "\n"
		for _, got := range []answer{
			r.do("GET", "/sweep", ""), r.do("GET", "/sweep?chainId=sim:a", ""), r.do("POST", "/sweep", `{}`), r.do("POST", "/sweep", `{"chainId":"sim:a"}`),
		} {
			if d := cmp.Diff(want, got.text); got.status != 200 || d != "" {
				r.Error(got.status, d)
			}
		}
		if got := r.do("GET", "/sweep?chainId=sim:empty", "").text; got != `{"assets":[]}`+"\n" {
			r.Error(got)
		}
		r.refused(404, "chain_not_found", "POST", "/sweep", `{"chainId":"sim:none"}`)
		r.refused(404, "chain_not_found", "GET", "/sweep?chainId=sim:none", "")
		r.refused(400, "unknown_field", "POST", "/sweep", `{"chain":"sim:a"}`)
		r.refused(400, "unknown_parameter", "GET", "/sweep?chain=sim:a", "")
		r.refused(405, "method_not_allowed", "DELETE", "/sweep", "")
		c, err := operator.NewClient(r.server.URL, r.token)
		if err != nil {
			r.Fatal(err)
		}
		asked, errA := c.Sweep(r.Context(), "")
		waits, errB := c.Unswept(r.Context(), "sim:a")
		if errA != nil || errB != nil || cmp.Diff(asked, waits) != "" || len(asked.Assets) != 1 || asked.Assets[0].Home() {
			r.Errorf("%v %v %s", errA, errB, cmp.Diff(asked, waits))
		}
		log, err := c.Audit(r.Context(), 0)
		if err != nil || len(log.Entries) != 3 || log.Entries[2].Action != "sweep.hurried" || log.Entries[1].Target != "sim:a" || log.Entries[0].By != "alice" {
			r.Errorf("the log has %+v, %v", log, err)
		}
	})
}
