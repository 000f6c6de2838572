package front_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ferry/internal/api/wire"
	"ferry/internal/desk"
	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/order"
	"ferry/internal/report"
)

// get asks for a path, as anybody may.
func (s *stage) get(t *testing.T, path string, into any) []byte {
	t.Helper()
	a := s.do(t, shot{path: path})
	if a.status != 200 {
		t.Fatalf("%s: %d %s", path, a.status, a.body)
	}
	if into != nil {
		if err := json.Unmarshal(a.body, into); err != nil {
			t.Fatal(err)
		}
	}
	return a.body
}

func (s *stage) stored(t *testing.T, m made) order.Order {
	t.Helper()
	o, err := s.DB.Order(t.Context(), order.ID(m.id))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

type pointsAccount struct {
	Address, SeasonID        string
	Pending, Final, Lifetime int64
	Rank                     *int64
	UpdatedAt                *string
}

func (s *stage) points(t *testing.T, account string) (p pointsAccount) {
	t.Helper()
	s.get(t, "/v2/points/accounts/"+account, &p)
	return p
}

// Two orders are completed, one of them in private; what anybody sees is what they were
// worth, and nothing of whose they were.
func TestAnybodySeesWhatTheServiceDid(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		s := staged(t, newRig(t, engine))
		first := s.order(t, s.a.Server.Text, eth(`,"pointsAddress":"`+evmBack+`","refundAddress":"`+evmBack+`","clientReference":"reference-of-mine"`))
		second := s.order(t, "", eth(`,"pointsAddress":"`+solTo+`","publicActivity":false`))
		for _, m := range []made{first, second} {
			s.pay(t, m, "")
			s.until(t, m, "completed")
		}
		a, b := s.stored(t, first), s.stored(t, second)
		s.seeStats(t, a, b)
		s.seePoints(t, a, b)
		s.seeNobody(t, a, b, []made{first, second})
		if found, err := s.DB.Recount(t.Context()); err != nil || len(found.Drift) > 0 || found.Orders != 2 {
			t.Errorf("%v: %+v", err, found)
		}
	})
}

func (s *stage) seeStats(t *testing.T, a, b order.Order) {
	t.Helper()
	var stats struct {
		Orders                  struct{ Total, Last24h, Last7d int }
		VolumeUSD               struct{ Total, Last24h, Last7d string } `json:"volumeUsd"`
		UniquePairs             int
		MedianCompletionSeconds *int
		SuccessRatePercent      *float64
		ByChain                 []struct {
			ChainID, VolumeUSD string
			Orders             int
		}
		Bridges []any
	}
	worth := (a.Quote.USD + b.Quote.USD).String()
	reported(t, "two orders", func() bool { s.get(t, "/v2/stats", &stats); return stats.Orders.Total == 2 })
	if stats.Orders.Last24h != 2 || stats.VolumeUSD.Total != worth || stats.VolumeUSD.Last7d != worth || stats.UniquePairs != 1 ||
		stats.MedianCompletionSeconds == nil || stats.SuccessRatePercent == nil || *stats.SuccessRatePercent != 100 || stats.Bridges == nil {
		t.Errorf("%+v, and the orders were worth %s", stats, worth)
	}
	if len(stats.ByChain) != 1 || stats.ByChain[0].ChainID != "ethereum" || stats.ByChain[0].Orders != 2 || stats.ByChain[0].VolumeUSD != worth {
		t.Errorf("%+v", stats.ByChain)
	}
	for _, interval := range []string{"hour", "day", "week"} {
		for _, rest := range []string{"", "&chainId=ethereum"} {
			var series struct{ Buckets []struct{ Value *string } }
			sums := map[string]money.USD{}
			for _, metric := range []string{"volumeUsd", "orders"} {
				s.get(t, "/v2/stats/timeseries?metric="+metric+"&interval="+interval+rest, &series)
				for _, bucket := range series.Buckets {
					n, err := money.ParseUSD(*bucket.Value)
					if err != nil {
						t.Fatal(err)
					}
					sums[metric] += n
				}
			}
			if sums["volumeUsd"].String() != worth || sums["orders"] != 2*money.Dollar {
				t.Errorf("%s%s: %v", interval, rest, sums)
			}
		}
	}
	var other struct{ Buckets []struct{ Value *string } }
	s.get(t, "/v2/stats/timeseries?metric=successRatePercent&chainId=solana", &other)
	for _, bucket := range other.Buckets {
		if bucket.Value != nil {
			t.Errorf("a rate of nothing is %s", *bucket.Value)
		}
	}
}

func (s *stage) seePoints(t *testing.T, a, b order.Order) {
	t.Helper()
	want := int64(a.Quote.Shown.ServiceUSD) * 100 / int64(money.Dollar)
	if want == 0 {
		t.Fatal("the service earned too little to show anything")
	}
	for _, text := range []string{evmBack, strings.ToLower(evmBack)} {
		p := s.points(t, text)
		if p.Pending != want || p.Lifetime != want || p.Final != 0 || p.Rank == nil || *p.Rank > 2 || p.UpdatedAt == nil || p.SeasonID != "season-1" {
			t.Errorf("%+v, want %d", p, want)
		}
	}
	if p := s.points(t, solTo); p.Pending != int64(b.Quote.Shown.ServiceUSD)*100/int64(money.Dollar) {
		t.Errorf("%+v", p)
	}
	if p := s.points(t, string(s.a.ID)); p.Pending != want/4 || p.Rank != nil {
		t.Errorf("the integration has %+v", p)
	}
	for _, text := range []string{evmTo, btcTo, string(s.b.ID)} {
		if p := s.points(t, text); p.Pending+p.Final+p.Lifetime != 0 || p.Rank != nil || p.UpdatedAt != nil || p.SeasonID != "season-1" {
			t.Errorf("somebody who has nothing: %+v", p)
		}
	}
	var board struct {
		Entries []struct {
			Rank, Points  int64
			AddressMasked string
		}
	}
	s.get(t, "/v2/points/leaderboard", &board)
	if len(board.Entries) != 2 || board.Entries[0].Points < board.Entries[1].Points {
		t.Errorf("%+v", board)
	}
	var program struct {
		SeasonID        string
		PointsPerUSDFee int `json:"pointsPerUsdFee"`
		FinalityHours   int
	}
	s.get(t, "/v2/points/program", &program)
	if program.SeasonID != "season-1" || program.PointsPerUSDFee != 100 || program.FinalityHours != 24 {
		t.Errorf("%+v", program)
	}
}

// seeNobody is A84: no public answer, now or later, has anything in it that leads to an
// order, an owner or a transaction.
func (s *stage) seeNobody(t *testing.T, a, b order.Order, ms []made) {
	t.Helper()
	bodies := map[string][]byte{}
	for _, path := range []string{
		"/v2/stats", "/v2/stats/pairs?period=all", "/v2/stats/timeseries?metric=volumeUsd&interval=hour", "/v2/activity", "/v2/points/program", "/v2/points/leaderboard",
	} {
		bodies[path] = s.get(t, path, nil)
	}
	if string(bodies["/v2/activity"]) != `{"items":[]}` {
		t.Errorf("A84 a completion is public at once: %s", bodies["/v2/activity"])
	}
	// What will be published is read as it will be: nobody can wait ten minutes for it.
	later := time.Now().Add(48 * time.Hour)
	var chains []desk.Chain
	atlas, err := desk.NewAtlas(append(chains, s.Front.Desk.Chains()...), nil)
	if err != nil {
		t.Fatal(err)
	}
	reporter := report.New(s.DB, report.DefaultProgram)
	items, err := reporter.Activity(t.Context(), report.ActivityPlace{}, later, 10)
	if err != nil || len(items) != 1 {
		t.Fatalf("A84 %d items are published, %v", len(items), err)
	}
	pairs, err := reporter.Pairs(t.Context(), 0, later)
	if err != nil || len(pairs.Pairs) != 0 || pairs.Other.Orders != 2 {
		t.Fatalf("A84 pairs of two orders: %+v, %v", pairs, err)
	}
	if bodies["activity later"], err = wire.Bytes(wire.ActivityItemOf(items[0], atlas)); err != nil {
		t.Fatal(err)
	}
	if bodies["pairs later"], err = wire.Bytes(wire.PairStatsOf(pairs, "all", atlas, 10)); err != nil {
		t.Fatal(err)
	}
	needles := map[string]string{"integration": string(s.a.ID), "key": s.a.Server.Text, "reference": "reference-of-mine", "name": s.a.Name}
	for i, o := range []order.Order{a, b} {
		n := string(rune('1' + i))
		needles["order "+n], needles["session "+n], needles["quote "+n] = ms[i].id, ms[i].session, string(o.Quote.ID)
		needles["deposit address "+n], needles["recipient "+n], needles["points address "+n] = o.DepositTo.Text(), o.PayTo.Text(), o.Origin.PointsTo
		needles["deposit "+n], needles["payout "+n] = string(o.Deposits[0].Tx), string(o.Payout.Tx)
		needles["amount in "+n], needles["amount out "+n] = o.Quote.In.String(), o.Payout.Amount.String()
	}
	for where, body := range bodies {
		for what, needle := range needles {
			if needle == "" {
				t.Fatalf("A84 there is no %s to look for", what)
			}
			if strings.Contains(strings.ToLower(string(body)), strings.ToLower(needle)) {
				t.Errorf("A84 %s tells the %s: %s", where, what, body)
			}
		}
	}
}

func TestWhatEarnsNoPoints(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		with := `,"pointsAddress":"` + evmBack + `"`
		award := func(key, body string) order.Award { return s.stored(t, s.order(t, key, body)).Origin.Award }
		if award(s.b.Server.Text, eth(with)) == (order.Award{}) || award("", eth(with)) == (order.Award{}) {
			t.Error("an order that names an address earns nothing")
		}
		if award(s.b.Server.Text, eth("")) != (order.Award{}) {
			t.Error("an order that names nobody earns something")
		}
		var tokens struct {
			Tokens []struct{ Token, Symbol string }
		}
		s.get(t, "/v2/tokens?chainId=solana&search=usdc", &tokens)
		loop := `{"fromChainId":"ethereum","fromToken":"` + usdc + `","toChainId":"solana","toToken":"` + tokens.Tokens[0].Token +
			`","amount":"100000000","toAddress":"` + solTo + `"` + with + `}`
		if award(s.b.Server.Text, loop) != (order.Award{}) {
			t.Error("the same asset on two chains earns something")
		}
		off := true
		s.change(t, s.b.ID, office.Patch{NoPoints: &off})
		o := s.stored(t, s.order(t, s.b.Server.Text, eth(with)))
		if o.Origin.Award != (order.Award{}) || o.Origin.PointsTo != strings.ToLower(evmBack) {
			t.Errorf("an integration that is flagged: %+v", o.Origin)
		}
		for _, text := range []string{"nobody", "0x529084", "vitalik.eth", evmBack + "0", " " + evmBack} {
			a := s.do(t, shot{path: "/v2/orders", body: eth(`,"pointsAddress":"` + text + `"`)})
			if a.status != 400 || a.code() != "invalid_address" {
				t.Errorf("%q: %d %s", text, a.status, a.body)
			}
		}
	})
}

func TestPublicRowsRefuseWhatTheyCanNotTell(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		const series = "/v2/stats/timeseries"
		rows := []tried{
			{name: "no metric", q: shot{path: series}, status: 400, code: "missing_field", about: []string{"?metric missing_field"}},
			{name: "another metric", q: shot{path: series + "?metric=users"}, status: 400, code: "invalid_field", about: []string{"?metric invalid_field"}},
			{name: "another interval", q: shot{path: series + "?metric=orders&interval=month"}, status: 400, code: "invalid_field", about: []string{"?interval invalid_field"}},
			{name: "no time", q: shot{path: series + "?metric=orders&from=yesterday"}, status: 400, code: "invalid_field", about: []string{"?from invalid_field"}},
			{
				name: "backwards", q: shot{path: series + "?metric=orders&from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z"},
				status: 400, code: "invalid_field", about: []string{"?from invalid_field"},
			},
			{
				name: "too many hours", q: shot{path: series + "?metric=orders&interval=hour&from=2026-01-01T00:00:00Z&to=2026-02-11T16:00:00.001Z"},
				status: 400, code: "invalid_field", about: []string{"?from invalid_field"},
			},
			{name: "as many hours as may be", q: shot{path: series + "?metric=orders&interval=hour&from=2026-01-01T00:00:00Z&to=2026-02-11T16:00:00Z"}, status: 200},
			{name: "the beginning of time", q: shot{path: series + "?metric=orders&from=0001-01-01T00:00:00Z"}, status: 400, code: "invalid_field", about: []string{"?from invalid_field"}},
			{name: "a chain of nobody", q: shot{path: series + "?metric=orders&chainId=atlantis"}, status: 400, code: "unsupported_chain", about: []string{"?chainId unsupported_chain"}},
			{name: "another period", q: shot{path: "/v2/stats/pairs?period=1d"}, status: 400, code: "invalid_field", about: []string{"?period invalid_field"}},
			{name: "no pairs", q: shot{path: "/v2/stats/pairs?limit=0"}, status: 400, code: "invalid_field", about: []string{"?limit invalid_field"}},
			{name: "too much activity", q: shot{path: "/v2/activity?limit=101"}, status: 400, code: "invalid_field", about: []string{"?limit invalid_field"}},
			{name: "a cursor of nobody", q: shot{path: "/v2/activity?cursor=AAAA"}, status: 400, code: "invalid_cursor"},
			{name: "too long a board", q: shot{path: "/v2/points/leaderboard?limit=1000"}, status: 400, code: "invalid_field", about: []string{"?limit invalid_field"}},
			{name: "no address", q: shot{path: "/v2/points/accounts/nobody"}, status: 400, code: "invalid_address"},
			{name: "an integration of nobody", q: shot{path: "/v2/points/accounts/int_0000000000000000000000000Z"}, status: 200},
			{name: "another parameter", q: shot{path: "/v2/stats?since=1"}, status: 400, code: "unknown_parameter", about: []string{"?since unknown_parameter"}},
		}
		s.try(t, rows)
	})
}
