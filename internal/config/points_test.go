package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/config"
	"ferry/internal/money"
	"ferry/internal/report"
)

func TestASeasonIsReadAndShown(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(sound+`
[points]
season = "spring.2027"
name = "Spring"
startsAt = "2027-03-01T00:00:00+01:00"
endsAt = "2027-06-01T00:00:00Z"
pointsPerUsdFee = 50
multiplierPercent = "150"
integratorSharePercent = "0"
finalityHours = 48
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := report.Program{
		Season: "spring.2027", Name: "Spring", StartsAt: time.Date(2027, 2, 28, 23, 0, 0, 0, time.UTC), EndsAt: time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC),
		PerUSD: 50, Times: money.Whole * 3 / 2, Finality: 48 * time.Hour,
	}
	if d := cmp.Diff(want, c.Points); d != "" {
		t.Error(d)
	}
	again, err := config.Parse([]byte(strings.ReplaceAll(c.String(), "https://redacted.invalid", "https://node.example")), nil)
	if err != nil {
		t.Fatalf("what is shown is not read again: %v\n%s", err, c)
	}
	if d := cmp.Diff(want, again.Points); d != "" {
		t.Error(d)
	}
}

func TestPointsMayBeOff(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(sound+"\n[points]\nenabled = false\n"), nil)
	if err != nil || c.Points != (report.Program{}) || !strings.Contains(c.String(), "[points]\nenabled = false") {
		t.Errorf("%v: %+v", err, c.Points)
	}
}

func TestASeasonThatCouldNotBeIsRefused(t *testing.T) {
	t.Parallel()
	for key, line := range map[string]string{
		"points.season":                 `season = "Season One"`,
		"points.name":                   `name = ""`,
		"points.startsAt":               `startsAt = "yesterday"`,
		"points.endsAt":                 `endsAt = "2025-01-01T00:00:00Z"`,
		"points.pointsPerUsdFee":        `pointsPerUsdFee = 0`,
		"points.multiplierPercent":      `multiplierPercent = "0"`,
		"points.integratorSharePercent": `integratorSharePercent = "101"`,
		"points.finalityHours":          `finalityHours = -1`,
		"points.enabled":                `enabled = "yes"`,
	} {
		_, err := config.Parse([]byte(sound+"\n[points]\n"+line+"\n"), nil)
		if err == nil || !strings.Contains(err.Error(), key+": ") {
			t.Errorf("%s: got %v", line, err)
		}
	}
}
