package access

import (
	"fmt"
	"time"
)

// Config is what the room is told. Zero values are the defaults beside them; none
// of them means without limit.
type Config struct {
	Every          time.Duration // between two questions to the register; 2 s
	Stale          time.Duration // how old its last answer may be; 55 s, at most 60 s
	FailuresPerMin int           // failed keys of one address before they are answered 429; 60

	// Notice hears of keys that are where they should not be, at most once per key
	// and hour. It is called while a request waits and must not block.
	Notice func(Notice)
	// Trouble hears of questions that the register did not answer; they are asked
	// again. Without it the first of them ends Directory.Run.
	Trouble func(error)
	// Now is the clock of the directory; time.Now. The now that is given to the gate
	// must be of the same clock, or the age of an answer would be a guess.
	Now func() time.Time
}

const (
	defaultEvery    = 2 * time.Second
	defaultStale    = 55 * time.Second
	maxStale        = 60 * time.Second // the promise is that a change is in force within a minute
	defaultFailures = 60
	maxFailures     = 1000 // each address remembers as many times
)

// filled gives the defaults and refuses what would break a promise.
func (c Config) filled() (Config, error) {
	if c.Every == 0 {
		c.Every = defaultEvery
	}
	if c.Stale == 0 {
		c.Stale = defaultStale
	}
	if c.FailuresPerMin == 0 {
		c.FailuresPerMin = defaultFailures
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	switch {
	case c.Stale < 0 || c.Stale > maxStale:
		return c, fmt.Errorf("access: Stale is %s: write at most %s, within which a revoked key must be refused", c.Stale, maxStale)
	case c.Every < 0 || c.Every >= c.Stale:
		return c, fmt.Errorf("access: Every is %s: write less than Stale, which is %s", c.Every, c.Stale)
	case c.FailuresPerMin < 0 || c.FailuresPerMin > maxFailures:
		return c, fmt.Errorf("access: FailuresPerMin is %d: write from 1 to %d", c.FailuresPerMin, maxFailures)
	}
	return c, nil
}
