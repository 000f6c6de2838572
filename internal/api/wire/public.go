package wire

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/report"
)

// PublicStats are what the whole service has done.
type PublicStats struct {
	AsOf                    Time         `json:"asOf" example:"2026-01-31T12:34:56.000Z"`
	FinalizedThrough        Time         `json:"finalizedThrough" doc:"What is counted before it does not change any more." example:"2026-01-31T12:00:00.000Z"`
	Orders                  CountPeriods `json:"orders"`
	VolumeUSD               USDPeriods   `json:"volumeUsd"`
	UniquePairs             int          `json:"uniquePairs" doc:"How many pairs were ever exchanged." example:"12"`
	MedianCompletionSeconds *int         `json:"medianCompletionSeconds" doc:"From making the order to its completion, within three percent; null before the first." example:"412"`
	SuccessRatePercent      *Percent     `json:"successRatePercent" doc:"Completed among those that were paid for and ended; null before the first." example:"98.4"`
	ByChain                 []ChainStats `json:"byChain" doc:"By the chain that the money came from, the most worth first; they add up to the whole."`
	Bridges                 []BridgeStat `json:"bridges"`
}

// CountPeriods are completed orders. Days are of 24 whole hours and the running one.
type CountPeriods struct {
	Total   int `json:"total" example:"120000"`
	Last24h int `json:"last24h" example:"900"`
	Last7d  int `json:"last7d" example:"6400"`
}

// USDPeriods are what they were worth, at the price of their quotes.
type USDPeriods struct {
	Total   USD `json:"total" example:"12000000"`
	Last24h USD `json:"last24h" example:"90000"`
	Last7d  USD `json:"last7d" example:"640000.5"`
}

// ChainStats are those of one chain.
type ChainStats struct {
	ChainID   string `json:"chainId" example:"bitcoin"`
	Orders    int    `json:"orders" example:"52000"`
	VolumeUSD USD    `json:"volumeUsd" example:"7000000"`
}

// BridgeStat are those of one native bridge.
type BridgeStat struct {
	BridgeID  string `json:"bridgeId" example:"arbitrum_canonical"`
	Orders    int    `json:"orders" example:"120"`
	VolumeUSD USD    `json:"volumeUsd" example:"70000"`
}

// PublicStatsOf shows totals.
func PublicStatsOf(t report.Totals, a *desk.Atlas) PublicStats {
	w := PublicStats{
		AsOf: Time{t.At}, FinalizedThrough: Time{t.Final}, UniquePairs: t.Pairs, ByChain: []ChainStats{}, Bridges: []BridgeStat{},
		Orders:    CountPeriods{int(t.Orders.All), int(t.Orders.Day), int(t.Orders.Week)},
		VolumeUSD: USDPeriods{USD(t.Volume.All), USD(t.Volume.Day), USD(t.Volume.Week)},
	}
	if t.Orders.All > 0 {
		seconds := int(t.Median / time.Second)
		w.MedianCompletionSeconds = &seconds
	}
	if t.HasRate {
		rate := Percent(t.Rate)
		w.SuccessRatePercent = &rate
	}
	for _, c := range t.Chains {
		w.ByChain = append(w.ByChain, ChainStats{slugOf(c.Chain, a), int(c.Orders), USD(c.Volume)})
	}
	for _, b := range t.Bridges {
		w.Bridges = append(w.Bridges, BridgeStat{b.Bridge, int(b.Orders), USD(b.Volume)})
	}
	return w
}

// slugOf is how callers name a chain; one that is not served any more has the name that
// all the world knows it by.
func slugOf(id chain.ID, a *desk.Atlas) string {
	if slug := a.Of(id).Slug; slug != "" {
		return slug
	}
	return string(id)
}

// AssetName is an asset as people name it.
type AssetName struct {
	ChainID string `json:"chainId" example:"bitcoin"`
	Symbol  string `json:"symbol" doc:"Or its address, where the asset is not served any more." example:"BTC"`
}

func assetName(x chain.Asset, a *desk.Atlas) AssetName {
	n := AssetName{ChainID: slugOf(x.Chain, a), Symbol: a.Asset(x).Symbol}
	if n.Symbol == "" {
		n.Symbol = desk.TokenName(x)
	}
	return n
}

// PairStats are what was exchanged for what.
type PairStats struct {
	AsOf             Time        `json:"asOf" example:"2026-01-31T12:34:56.000Z"`
	FinalizedThrough Time        `json:"finalizedThrough" doc:"The running UTC day is not counted yet." example:"2026-01-31T00:00:00.000Z"`
	Period           string      `json:"period" enum:"7d,30d,all" example:"30d"`
	Pairs            []PairStat  `json:"pairs" doc:"The most worth first."`
	Other            *OtherPairs `json:"other" doc:"All pairs with fewer than five orders in the period, and those beyond limit; null if there are none."`
}

// PairStat is one pair.
type PairStat struct {
	From      AssetName `json:"from"`
	To        AssetName `json:"to"`
	Orders    int       `json:"orders" example:"340"`
	VolumeUSD USD       `json:"volumeUsd" example:"51000"`
}

// OtherPairs are those that are not shown apart.
type OtherPairs struct {
	Pairs     int `json:"pairs" example:"7"`
	Orders    int `json:"orders" example:"16"`
	VolumeUSD USD `json:"volumeUsd" example:"2900"`
}

// PairStatsOf shows the first pairs.
func PairStatsOf(p report.Pairs, period string, a *desk.Atlas, limit int) PairStats {
	w := PairStats{AsOf: Time{p.At}, FinalizedThrough: Time{p.Through}, Period: period, Pairs: []PairStat{}}
	other := OtherPairs{p.Merged, int(p.Other.Orders), USD(p.Other.Volume)}
	for i, one := range p.Pairs {
		if i >= limit {
			other.Pairs++
			other.Orders += int(one.Orders)
			other.VolumeUSD += USD(one.Volume)
			continue
		}
		w.Pairs = append(w.Pairs, PairStat{assetName(one.Give, a), assetName(one.Get, a), int(one.Orders), USD(one.Volume)})
	}
	if other.Pairs > 0 {
		w.Other = &other
	}
	return w
}

// TimeSeries is one number of the service over time.
type TimeSeries struct {
	Metric           string         `json:"metric" enum:"volumeUsd,orders,medianCompletionSeconds,successRatePercent" example:"volumeUsd"`
	Interval         string         `json:"interval" enum:"hour,day,week" example:"day"`
	ChainID          *string        `json:"chainId" doc:"Only orders whose money came from this chain; null is all." example:"bitcoin"`
	AsOf             Time           `json:"asOf" example:"2026-01-31T12:34:56.000Z"`
	FinalizedThrough Time           `json:"finalizedThrough" doc:"Buckets that end by then do not change any more." example:"2026-01-31T12:00:00.000Z"`
	Buckets          []SeriesBucket `json:"buckets" doc:"Oldest first, none left out."`
}

// SeriesBucket is one of its numbers.
type SeriesBucket struct {
	StartsAt Time    `json:"startsAt" example:"2026-01-31T00:00:00.000Z"`
	Value    *string `json:"value" doc:"A decimal number; null where there was no order to take a median or a rate of." example:"90000"`
}

// TimeSeriesOf shows a series.
func TimeSeriesOf(s report.Series, ask report.SeriesAsk, slug *string) TimeSeries {
	w := TimeSeries{
		Metric: string(ask.Metric), Interval: string(ask.Interval), ChainID: slug, AsOf: Time{s.At}, FinalizedThrough: Time{s.Final}, Buckets: []SeriesBucket{},
	}
	for _, b := range s.Buckets {
		one := SeriesBucket{StartsAt: Time{b.Start}}
		if !b.None {
			text := b.Text(ask.Metric)
			one.Value = &text
		}
		w.Buckets = append(w.Buckets, one)
	}
	return w
}

// ActivityList are completed orders as anybody may see them.
type ActivityList struct {
	Items []ActivityItem `json:"items"`
}

// ActivityItem is one of them.
type ActivityItem struct {
	ActivityID      string    `json:"activityId" doc:"Chance; it has nothing to do with the order's id." example:"act_0123456789ABCDEFGHJKMNPQRS"`
	Kind            string    `json:"kind" enum:"swap,bridge" example:"swap"`
	From            AssetName `json:"from"`
	To              AssetName `json:"to"`
	AmountUSDBucket string    `json:"amountUsdBucket" doc:"From and up to; the largest has a plus." example:"100-250"`
	DurationSeconds int       `json:"durationSeconds" doc:"About how long it took." example:"412"`
	CompletedAt     Time      `json:"completedAt" doc:"The minute." example:"2026-01-31T12:34:00.000Z"`
}

// ActivityItemOf shows an item.
func ActivityItemOf(x report.Activity, a *desk.Atlas) ActivityItem {
	return ActivityItem{
		ActivityID: x.ID, Kind: "swap", From: assetName(x.Give, a), To: assetName(x.Get, a), AmountUSDBucket: x.Worth,
		DurationSeconds: int(x.Took / time.Second), CompletedAt: Time{x.CompletedAt},
	}
}

// PointsProgram are the rules of the season.
type PointsProgram struct {
	SeasonID               *string            `json:"seasonId" doc:"null where no points are given." example:"season-1"`
	Name                   string             `json:"name" example:"Season 1"`
	StartsAt               *Time              `json:"startsAt" example:"2026-01-01T00:00:00.000Z"`
	EndsAt                 *Time              `json:"endsAt" doc:"null: no end is set." example:"null"`
	PointsPerUSDFee        int                `json:"pointsPerUsdFee" doc:"For each dollar of the service's fee, rounded down." example:"100"`
	Multipliers            []PointsMultiplier `json:"multipliers"`
	IntegratorSharePercent Percent            `json:"integratorSharePercent" doc:"Of its users' points an integration gets so many beside them." example:"25"`
	FinalityHours          int                `json:"finalityHours" doc:"How long points may still be taken back." example:"24"`
}

// PointsMultiplier is what points are multiplied by.
type PointsMultiplier struct {
	AppliesTo string  `json:"appliesTo" enum:"all" example:"all"`
	Percent   Percent `json:"percent" doc:"100 is once, 200 is twice." example:"100"`
}

// PointsProgramOf shows a program.
func PointsProgramOf(p report.Program) PointsProgram {
	w := PointsProgram{Multipliers: []PointsMultiplier{}}
	if p.Season == "" {
		return w
	}
	w = PointsProgram{
		SeasonID: &p.Season, Name: p.Name, StartsAt: &Time{p.StartsAt}, PointsPerUSDFee: int(p.PerUSD),
		Multipliers: []PointsMultiplier{{"all", Percent(p.Times)}}, IntegratorSharePercent: Percent(p.Share), FinalityHours: int(p.Finality / time.Hour),
	}
	if !p.EndsAt.IsZero() {
		w.EndsAt = &Time{p.EndsAt}
	}
	return w
}

// PointsAccount is what an address has.
type PointsAccount struct {
	Address   string  `json:"address" doc:"As it is best written." example:"0x52908400098527886e0f7030069857d2e4169ee7"`
	SeasonID  *string `json:"seasonId" example:"season-1"`
	Pending   int     `json:"pending" doc:"Of this season; may still be taken back." example:"29"`
	Final     int     `json:"final" doc:"Of this season." example:"1200"`
	Lifetime  int     `json:"lifetime" doc:"Of all seasons." example:"4300"`
	Rank      *int    `json:"rank" doc:"In this season; null beyond the first thousand and for whoever has none." example:"17"`
	UpdatedAt *Time   `json:"updatedAt" example:"2026-01-31T12:34:56.000Z"`
}

// PointsAccountOf shows a standing.
func PointsAccountOf(s report.Standing, address string) PointsAccount {
	w := PointsAccount{Address: address, Pending: int(s.Pending), Final: int(s.Final), Lifetime: int(s.Lifetime)}
	if s.Season != "" {
		w.SeasonID = &s.Season
	}
	if s.Rank > 0 {
		rank := int(s.Rank)
		w.Rank = &rank
	}
	if !s.UpdatedAt.IsZero() {
		w.UpdatedAt = &Time{s.UpdatedAt}
	}
	return w
}

// Leaderboard are the first of the season.
type Leaderboard struct {
	Entries []LeaderboardEntry `json:"entries"`
}

// LeaderboardEntry is a place on it.
type LeaderboardEntry struct {
	Rank          int    `json:"rank" doc:"Who has as many points has the same rank." example:"1"`
	AddressMasked string `json:"addressMasked" example:"0x52…e7"`
	Points        int    `json:"points" doc:"Pending and final." example:"91200"`
}

// LeaderboardOf shows the board.
func LeaderboardOf(ranks []report.Rank) Leaderboard {
	w := Leaderboard{Entries: []LeaderboardEntry{}}
	for _, r := range ranks {
		w.Entries = append(w.Entries, LeaderboardEntry{int(r.Rank), r.Masked, int(r.Points)})
	}
	return w
}
