package config

import (
	"regexp"
	"time"

	"ferry/internal/money"
	"ferry/internal/report"
)

// seasonID is what a season may be called where machines read it.
var seasonID = regexp.MustCompile(`^[a-z0-9][-._a-z0-9]{0,31}$`)

// Bounds of a program of points.
const (
	maxPerUSD   = 1_000_000
	maxTimes    = 100 * money.Whole
	maxFinality = 31 * 24
)

// readPoints reads what points are given for; what is left out is a season that is
// always on.
func readPoints(r *reader, t table) report.Program {
	usual := report.DefaultProgram
	if _, said := t.values["enabled"]; said && !r.flag(t, "enabled") {
		return report.Program{}
	}
	p := report.Program{
		Season: r.or(t, "season", usual.Season), Name: r.or(t, "name", usual.Name),
		StartsAt: r.moment(t, "startsAt", usual.StartsAt), EndsAt: r.moment(t, "endsAt", usual.EndsAt),
		PerUSD:   r.bounded(t, "pointsPerUsdFee", usual.PerUSD, 1, maxPerUSD),
		Times:    r.ratio(t, "multiplierPercent", usual.Times, 1, maxTimes),
		Share:    r.ratio(t, "integratorSharePercent", usual.Share, 0, money.Whole),
		Finality: time.Duration(r.bounded(t, "finalityHours", int64(usual.Finality/time.Hour), 0, maxFinality)) * time.Hour,
	}
	if !seasonID.MatchString(p.Season) {
		r.refuse(t.key("season"), "%q is not the id of a season; write small letters, digits, dots and dashes, such as \"season-1\"", clip(p.Season))
	}
	if p.Name == "" {
		r.refuse(t.key("name"), "is empty; write what people call the season, such as \"Season 1\"")
	}
	if !p.EndsAt.IsZero() && !p.StartsAt.Before(p.EndsAt) {
		r.refuse(t.key("endsAt"), "is not after startsAt, so that nothing could ever be earned; leave it out for a season without an end")
	}
	return p
}

// moment reads a time that may be left out.
func (r *reader) moment(t table, name string, usual time.Time) time.Time {
	text, ok := r.text(t, name)
	if !ok {
		return usual
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		r.refuse(t.key(name), "%q is not a time; write such as \"2026-01-01T00:00:00Z\"", clip(text))
	}
	return at.UTC()
}

// ratio reads percent points between two bounds, which may be left out.
func (r *reader) ratio(t table, name string, usual, least, most money.Percent) money.Percent {
	text, ok := r.text(t, name)
	if !ok {
		return usual
	}
	p, err := money.ParsePercent(text)
	if err != nil || p < least || p > most {
		r.refuse(t.key(name), "%q is not a percentage from %s to %s; write such as %q", clip(text), least, most, usual)
	}
	return p
}

// showPoints writes what points are given for.
func (c Config) showPoints(line func(string, ...any)) {
	p := c.Points
	if p.Season == "" {
		line("\n[points]\nenabled = false")
		return
	}
	line("\n[points]\nenabled = true\nseason = %q\nname = %s\nstartsAt = %q\npointsPerUsdFee = %d\nmultiplierPercent = %q\nintegratorSharePercent = %q\nfinalityHours = %d",
		p.Season, quote(p.Name), p.StartsAt.Format(time.RFC3339), p.PerUSD, p.Times, p.Share, p.Finality/time.Hour)
	if !p.EndsAt.IsZero() {
		line("endsAt = %q", p.EndsAt.Format(time.RFC3339))
	}
}
