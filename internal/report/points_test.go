package report

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/testseed"
)

func TestAddressesAreMasked(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"0x52908400098527886e0f7030069857d2e4169ee7": "0x52…e7", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": "bc1q…t4", "short": "…", "": "…",
	} {
		if got := mask(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}

func TestPointsOfAnOrder(t *testing.T) {
	t.Parallel()
	full := DefaultProgram.Award(start)
	for name, c := range map[string]struct {
		fee     money.USD
		change  func(*order.Order)
		address int64
		company int64
	}{
		"three dollars":               {3 * money.Dollar, nil, 300, 75},
		"rounded down":                {money.Dollar/100*3 - 1, nil, 2, 0},
		"nothing":                     {0, nil, 0, 0},
		"below nothing":               {-money.Dollar, nil, 0, 0},
		"more than can be counted":    {math.MaxInt64, func(o *order.Order) { o.Origin.Award.PerUSD = math.MaxInt64 }, math.MaxInt64, math.MaxInt64 / 4},
		"one and a half times":        {money.Dollar, func(o *order.Order) { o.Origin.Award.Times = money.Whole * 3 / 2 }, 150, 37},
		"rounded before it is raised": {money.Dollar / 1000 * 15, func(o *order.Order) { o.Origin.Award.Times = 3 * money.Whole }, 3, 0},
		"no integrator":               {money.Dollar, func(o *order.Order) { o.Integrator = "" }, 100, 0},
		"nobody is named":             {money.Dollar, func(o *order.Order) { o.Origin.PointsTo = "" }, 0, 0},
		"no season":                   {money.Dollar, func(o *order.Order) { o.Origin.Award = order.Award{} }, 0, 0},
		"refunded":                    {money.Dollar, func(o *order.Order) { o.State = order.Refunded }, 0, 0},
		"not there yet":               {money.Dollar, func(o *order.Order) { o.State = order.Sending }, 0, 0},
		"its deposit is lost": {money.Dollar, func(o *order.Order) {
			o.Deposits = []order.Deposit{{State: order.DepositCounted, Lost: true}}
		}, 0, 0},
		"another deposit is lost": {money.Dollar, func(o *order.Order) {
			o.Deposits = []order.Deposit{{State: order.DepositCounted}, {State: order.Returned, Lost: true}}
		}, 100, 25},
	} {
		o := order.Order{
			State: order.Completed, Integrator: "int_a", Quote: quote.Quote{Shown: quote.Shown{ServiceUSD: c.fee}},
			Origin: order.Origin{PointsTo: "0xfan", Award: full},
		}
		if c.change != nil {
			c.change(&o)
		}
		if address, company := o.Points(); address != c.address || company != c.company {
			t.Errorf("%s: %d and %d, want %d and %d", name, address, company, c.address, c.company)
		}
	}
}

func TestASeasonGivesOnlyWhileItRuns(t *testing.T) {
	t.Parallel()
	p := DefaultProgram
	p.EndsAt = p.StartsAt.Add(time.Hour)
	for at, gives := range map[time.Duration]bool{-1: false, 0: true, time.Hour - 1: true, time.Hour: false} {
		if got := p.Award(p.StartsAt.Add(at)) != (order.Award{}); got != gives {
			t.Errorf("%s after its start: %v", at, got)
		}
	}
	if (Program{}).Award(start) != (order.Award{}) {
		t.Error("no season gives points")
	}
	p.EndsAt = time.Time{}
	if p.Award(p.StartsAt.Add(1e6*time.Hour)) == (order.Award{}) {
		t.Error("a season without an end ended")
	}
}

// However often a deposit is lost and found, the ledger adds up to what the order has.
func TestEntriesAddUp(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Of(t), 1))
	for range 200 {
		now := order.Order{
			ID: "ord_1", Version: 1, State: order.Sending, Integrator: []integrator.ID{"", "int_a"}[r.IntN(2)], FinishedAt: start,
			Quote: quote.Quote{Shown: quote.Shown{ServiceUSD: money.USD(r.Int64N(1e8))}}, Origin: order.Origin{PointsTo: "0xfan", Award: DefaultProgram.Award(start)},
		}
		sums := map[string]int64{}
		for step := range 1 + r.IntN(8) {
			was := now
			now.Version++
			if step > 0 {
				now.State = order.Completed
				now.Deposits = []order.Deposit{{State: order.DepositCounted, Lost: r.IntN(2) == 0}}
			}
			for _, e := range Entries(was, order.Change{Was: was.Version, Now: now, At: start.Add(time.Duration(step) * time.Hour)}) {
				sums[e.Account] += e.Points
				if (e.Kind == Earned) != (e.Points > 0) || e.Hour != Hour(start) || e.Version != now.Version {
					t.Fatalf("%+v", e)
				}
			}
			if address, company := now.Points(); sums["0xfan"] != address || sums["int_a"] != company {
				t.Fatalf("%v, and the order has %d and %d", sums, address, company)
			}
		}
	}
}

// ledger is a store of accounts alone.
type ledger struct {
	shelfStore
	accounts []Account
}

func (s *ledger) Points(_ context.Context, account string) (all []Account, _ error) {
	for _, a := range s.accounts {
		if a.Name == account {
			all = append(all, a)
		}
	}
	return all, nil
}

func (s *ledger) Ahead(_ context.Context, season string, points int64, most int) (n int64, _ error) {
	for _, a := range s.accounts {
		if a.Ranked && a.Season == season && a.Points > points && n < int64(most) {
			n++
		}
	}
	return n, nil
}

func TestAStandingIsOfTheSeasonThatRuns(t *testing.T) {
	t.Parallel()
	s := &ledger{accounts: []Account{
		{Name: "a", Season: "season-0", Points: 7, Ranked: true, UpdatedAt: start},
		{Name: "a", Season: "season-1", Points: 5, Ranked: true},
		{Name: "old", Season: "season-0", Points: 9, Ranked: true, UpdatedAt: start},
		{Name: "back", Season: "season-1", Ranked: true, UpdatedAt: start},
	}}
	for i := range maxRank {
		s.accounts = append(s.accounts, Account{Name: fmt.Sprint("first-", i), Season: "season-1", Points: int64(10 + i), Ranked: true})
	}
	s.add([]Tally{{Subject: pointsOf("a"), Name: "season-1", Bucket: Hour(start), N: 2}, {Subject: pointsOf("a"), Name: "season-0", Bucket: Hour(start), N: 4}})
	for _, c := range []struct {
		program Program
		account string
		want    Standing
	}{
		{DefaultProgram, "a", Standing{Account: "a", Season: "season-1", Pending: 2, Final: 3, Lifetime: 12, UpdatedAt: start}}, // one behind the last who is told
		{DefaultProgram, "old", Standing{Account: "old", Season: "season-1", Lifetime: 9, UpdatedAt: start}},
		{DefaultProgram, "back", Standing{Account: "back", Season: "season-1", UpdatedAt: start}},
		{DefaultProgram, "nobody", Standing{Account: "nobody", Season: "season-1"}},
		{DefaultProgram, "first-0", Standing{Account: "first-0", Season: "season-1", Final: 10, Lifetime: 10, Rank: maxRank}},
		{DefaultProgram, fmt.Sprint("first-", maxRank-1), Standing{Account: fmt.Sprint("first-", maxRank-1), Season: "season-1", Final: maxRank + 9, Lifetime: maxRank + 9, Rank: 1}},
		{Program{}, "a", Standing{Account: "a", Lifetime: 12, UpdatedAt: start}},
	} {
		got, err := New(s, c.program).PointsOf(t.Context(), c.account, start)
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v\nwant %+v", c.account, got, err, c.want)
		}
	}
}
