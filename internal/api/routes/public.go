package routes

import (
	"fmt"
	"net/http"
	"regexp"
	"time"

	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/report"
)

const (
	pairsPage, activityPage, maxPublicPage = 20, 50, 100
	usualPeriod                            = "30d"
)

// periods are the days that pairs are counted over; none is all time.
var periods = map[string]int{"7d": 7, usualPeriod: 30, "all": 0}

// spans are how much of a series is shown to whoever does not say.
var spans = map[report.Interval]time.Duration{report.Hourly: 24 * time.Hour, report.Daily: 30 * 24 * time.Hour, report.Weekly: 26 * 7 * 24 * time.Hour}

func (r Rooms) public() []api.Operation {
	row := func(id, path, tag, summary, description string, out any, do func(*api.Call) (any, error)) api.Operation {
		return api.Operation{
			ID: id, Method: http.MethodGet, Path: path, Tag: tag, Summary: summary, Description: description, Key: api.OptionalKey, Spends: api.Requests,
			Out: out, Do: do,
		}
	}
	text := func(name, doc, example string, enum ...string) api.Param {
		return api.Param{Name: name, Kind: api.TextParam, Doc: doc, Example: example, Enum: enum}
	}
	stats := row("getStats", "/v2/stats", "stats", "What the service has done",
		"Only completed orders count, at the dollars of the quote they were completed by; what was counted is never priced anew.", wire.PublicStats{}, r.stats)
	series := row("getStatsTimeseries", "/v2/stats/timeseries", "stats", "One number over time",
		"Buckets are of UTC; a week begins on Monday. At most 1000 of them are told at once.", wire.TimeSeries{}, r.series)
	series.Query = []api.Param{
		text("metric", "What to show.", "volumeUsd", string(report.VolumeUSD), string(report.OrdersDone), string(report.MedianSeconds), string(report.SuccessRate)),
		text("interval", "How long each bucket is; day unless given.", "day", string(report.Hourly), string(report.Daily), string(report.Weekly)),
		text("from", "In the first bucket; a day, 30 days or 26 weeks before to unless given.", "2026-01-01T00:00:00.000Z"),
		text("to", "The last bucket begins before it; now unless given.", "2026-02-01T00:00:00.000Z"),
		text("chainId", "Only orders whose money came from this chain.", "bitcoin"),
	}
	series.Codes = []string{"missing_field", "unsupported_chain"}
	pairs := row("listStatsPairs", "/v2/stats/pairs", "stats", "What was exchanged for what",
		"Of whole UTC days. A pair with fewer than five orders in the period is not told apart: it is in other.", wire.PairStats{}, r.pairs)
	pairs.Query = []api.Param{text("period", "Over how long; 30d unless given.", usualPeriod, "7d", usualPeriod, "all"), limitParam("100")}
	activity := row("listActivity", "/v2/activity", "stats", "Orders that were completed",
		"Published in batches, ten minutes after the completion at the earliest, those of a batch in no order. "+
			"No order, address or transaction can be told from it. Orders made with publicActivity false are not in it.", wire.ActivityList{}, r.activity)
	activity.Query, activity.Codes = []api.Param{cursorParam, limitParam("100")}, []string{"invalid_cursor"}
	program := row("getPointsProgram", "/v2/points/program", "points", "What points are given for",
		"An order that names a pointsAddress earns when it is completed, by the rules that held when it was made: "+
			"so many points for each dollar of the service's fee. Nothing is earned where both sides are the same asset on different chains.", wire.PointsProgram{}, r.program)
	account := row("getPointsAccount", "/v2/points/accounts/{address}", "points", "Points of an address",
		"An address that nobody ever named has nothing, and looks like any other with nothing. "+
			"An integration reads what it has earned under its own id.", wire.PointsAccount{}, r.account)
	account.Codes = []string{"invalid_address"}
	board := row("getPointsLeaderboard", "/v2/points/leaderboard", "points", "The first of the season", "Addresses are masked.", wire.Leaderboard{}, r.leaderboard)
	board.Query = []api.Param{limitParam("100")}
	return []api.Operation{stats, series, pairs, activity, program, account, board}
}

func (r Rooms) stats(c *api.Call) (any, error) {
	t, err := r.Report.Stats(c.Context(), r.Now())
	if err != nil {
		return nil, err
	}
	return wire.PublicStatsOf(t, r.Atlas), nil
}

func (r Rooms) series(c *api.Call) (any, error) {
	metric, given := c.Query("metric")
	if !given {
		return nil, wire.Invalid(wire.Problem{Pointer: "?metric", Code: "missing_field", Message: "is required"})
	}
	ask := report.SeriesAsk{Metric: report.Metric(metric), Interval: report.Daily}
	if interval, given := c.Query("interval"); given {
		ask.Interval = report.Interval(interval)
	}
	var err error
	if ask.To, err = moment(c, "to"); err != nil {
		return nil, err
	}
	if _, given := c.Query("to"); !given {
		ask.To = r.Now()
	}
	if ask.From, err = moment(c, "from"); err != nil {
		return nil, err
	}
	if _, given := c.Query("from"); !given {
		ask.From = ask.To.Add(-spans[ask.Interval])
	}
	if !ask.From.Before(ask.To) {
		return nil, wire.Invalid(wire.Problem{Pointer: "?from", Code: "invalid_field", Message: "must be before to"})
	}
	if n := ask.Buckets(); n > report.MaxBuckets {
		return nil, wire.Invalid(wire.Problem{Pointer: "?from", Code: "invalid_field", Message: fmt.Sprintf(
			"is %d buckets before to; at most %d are told at once: ask for a later from, or a longer interval", n, report.MaxBuckets)})
	}
	var slug *string
	if name, given := c.Query("chainId"); given {
		one, ok := r.Atlas.Chain(name)
		if !ok {
			return nil, unsupportedChain("?chainId")
		}
		ask.Chain, slug = one.ID, &one.Slug
	}
	s, err := r.Report.Series(c.Context(), ask, r.Now())
	if err != nil {
		return nil, err
	}
	return wire.TimeSeriesOf(s, ask, slug), nil
}

func (r Rooms) pairs(c *api.Call) (any, error) {
	n, err := pageSize(c, pairsPage, maxPublicPage)
	if err != nil {
		return nil, err
	}
	period, given := c.Query("period")
	if !given {
		period = usualPeriod
	}
	p, err := r.Report.Pairs(c.Context(), periods[period], r.Now())
	if err != nil {
		return nil, err
	}
	return wire.PairStatsOf(p, period, r.Atlas, n), nil
}

func (r Rooms) activity(c *api.Call) (any, error) {
	n, err := pageSize(c, activityPage, maxPublicPage)
	if err != nil {
		return nil, err
	}
	var from report.ActivityPlace
	if text, given := c.Query("cursor"); given {
		cur, err := wire.ParseCursor(text, wire.ByPublication)
		if err != nil {
			return nil, err
		}
		from = report.ActivityPlace{At: cur.At, ID: cur.ID}
	}
	items, err := r.Report.Activity(c.Context(), from, r.Now(), n+1)
	if err != nil {
		return nil, err
	}
	if len(items) > n {
		items = items[:n]
		last := items[n-1].Place()
		c.Next(wire.Cursor{At: last.At, ID: last.ID, By: wire.ByPublication}.String())
	}
	out := wire.ActivityList{Items: []wire.ActivityItem{}}
	for _, x := range items {
		out.Items = append(out.Items, wire.ActivityItemOf(x, r.Atlas))
	}
	return out, nil
}

func (r Rooms) program(*api.Call) (any, error) { return wire.PointsProgramOf(r.Report.Program()), nil }

// integrationID is an account that is no address: what an integration has earned. Who
// does not know the id can not guess it.
var integrationID = regexp.MustCompile(`^int_[0-9A-Z]{26}$`)

func (r Rooms) account(c *api.Call) (any, error) {
	account := c.Path("address")
	shown := account
	if !integrationID.MatchString(account) {
		a, err := r.Anyone(account)
		if err != nil {
			return nil, err
		}
		account, shown = a.Text(), r.ShowOf(a.Family(), a)
	}
	s, err := r.Report.PointsOf(c.Context(), account, r.Now())
	if err != nil {
		return nil, err
	}
	return wire.PointsAccountOf(s, shown), nil
}

func (r Rooms) leaderboard(c *api.Call) (any, error) {
	n, err := pageSize(c, report.MaxBoard, report.MaxBoard)
	if err != nil {
		return nil, err
	}
	ranks, err := r.Report.Board(c.Context(), n, r.Now())
	if err != nil {
		return nil, err
	}
	return wire.LeaderboardOf(ranks), nil
}
