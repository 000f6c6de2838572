package prices_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/prices"
)

// oracle is a source of one feed, on a real chain.
func (l *local) oracle(feed common.Address, change ...func(c *prices.ChainlinkConfig)) *prices.Chainlink {
	l.t.Helper()
	cfg := prices.ChainlinkConfig{Name: "oracle", Feeds: map[string]prices.Feed{"ETH": {Address: named(feed), Heartbeat: time.Hour}}}
	for _, f := range change {
		f(&cfg)
	}
	c, err := prices.NewChainlink(cfg, l.on)
	l.ok(err)
	return c
}

func TestAnOracleIsReadFromItsContract(t *testing.T) {
	t.Parallel()
	l, f := newLocal(t), feedFile(t)
	feed := l.feed(f, 8, 3000_12345678)
	written := l.mine(1)
	o := l.oracle(feed)
	if o.Kind() != prices.Oracle || o.Name() != "oracle" {
		t.Errorf("it is %s of kind %s", o.Name(), o.Kind())
	}
	says := func(now time.Time) prices.Quote {
		t.Helper()
		got, err := o.Prices(t.Context(), now)
		l.ok(err)
		return got["ETH"]
	}
	if q := says(written); q != (prices.Quote{Price: "3000.12345678", At: written}) {
		t.Errorf("got %+v", q)
	}
	for _, c := range []struct {
		name   string
		answer int64
		age    time.Duration
		behind int64
		want   func(q prices.Quote, err error, now time.Time) bool
	}{
		{"it stands still within its heartbeat", 3100_00000000, 59 * time.Minute, 0, func(q prices.Quote, err error, now time.Time) bool {
			return err == nil && q == prices.Quote{Price: "3100", At: now}
		}},
		{"it is older than its heartbeat", 3100_00000000, 61 * time.Minute, 0, func(q prices.Quote, err error, now time.Time) bool {
			return err == nil && q.Price == "3100" && now.Sub(q.At) > time.Hour
		}},
		{"it is from the future", 3100_00000000, -time.Minute, 0, func(q prices.Quote, err error, now time.Time) bool {
			return err == nil && q.At.After(now)
		}},
		{"nothing", 0, 0, 0, func(q prices.Quote, err error, _ time.Time) bool { return err == nil && q.Price == "" && q.Why != "" }},
		{"less than nothing", -3100_00000000, 0, 0, func(q prices.Quote, err error, _ time.Time) bool { return err == nil && q.Price == "" && q.Why != "" }},
		{"an answer of an earlier round", 3100_00000000, 0, 1, func(_ prices.Quote, err error, _ time.Time) bool { return err != nil }},
	} {
		now := l.now()
		l.send(feed, f.pack(t, "setRound", big.NewInt(c.answer), unix(now.Add(-c.age)), unix(now.Add(-c.age)), big.NewInt(c.behind)))
		l.mine(1)
		got, err := o.Prices(t.Context(), now)
		if !c.want(got["ETH"], err, now) {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
	now := l.now()
	l.send(feed, f.pack(t, "setRound", big.NewInt(1), new(big.Int), new(big.Int), new(big.Int)))
	l.mine(1)
	if got, err := o.Prices(t.Context(), now); err == nil {
		t.Errorf("a round that is not over answers %+v", got)
	}
}

func TestAnOracleOfARollupWaitsForItsSequencer(t *testing.T) {
	t.Parallel()
	l, f := newLocal(t), feedFile(t)
	feed, sequencer := l.feed(f, 8, 3000_00000000), l.feed(f, 0, 0)
	l.mine(1)
	o := l.oracle(feed, func(c *prices.ChainlinkConfig) { c.Sequencer, c.Grace = named(sequencer), time.Hour })
	for _, c := range []struct {
		name  string
		down  int64
		lasts time.Duration
		ok    bool
	}{
		{"down", 1, 2 * time.Hour, false},
		{"up again just now", 0, 59 * time.Minute, false},
		{"up for long enough", 0, time.Hour, true},
	} {
		now := l.now()
		l.send(sequencer, f.pack(t, "setRound", big.NewInt(c.down), unix(now.Add(-c.lasts)), unix(now), new(big.Int)))
		l.mine(1)
		got, err := o.Prices(t.Context(), now)
		if (err == nil) != c.ok || (len(got) == 1) != c.ok {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
	l.send(sequencer, f.pack(t, "setRound", new(big.Int), new(big.Int), new(big.Int), new(big.Int)))
	l.mine(1)
	if got, err := o.Prices(t.Context(), l.now()); err == nil {
		t.Errorf("a sequencer of which nothing is known lets %+v through", got)
	}
}

func TestAnOracleOnAChainThatStandsStillSaysNothing(t *testing.T) {
	t.Parallel()
	l, f := newLocal(t), feedFile(t)
	feed := l.feed(f, 8, 3000_00000000)
	tip := l.mine(1)
	o := l.oracle(feed, func(c *prices.ChainlinkConfig) { c.MaxLag = 30 * time.Second })
	if _, err := o.Prices(t.Context(), tip.Add(30*time.Second)); err != nil {
		t.Error(err)
	}
	if got, err := o.Prices(t.Context(), tip.Add(31*time.Second)); err == nil {
		t.Errorf("a block of 31 s ago says %+v", got)
	}
}

func TestWhatIsNoOracleSaysNothing(t *testing.T) {
	t.Parallel()
	l, f := newLocal(t), feedFile(t)
	feed := l.feed(f, 8, 3000_00000000)
	l.mine(1)
	o := l.oracle(feed, func(c *prices.ChainlinkConfig) {
		c.Feeds["BTC"] = prices.Feed{Address: named(common.Address{0xbb}), Heartbeat: time.Hour} // nobody is there
	})
	got, err := o.Prices(t.Context(), l.now())
	if err == nil || !strings.Contains(err.Error(), "BTC") || len(got) != 1 || got["ETH"].Price != "3000" {
		t.Errorf("got %+v, %v", got, err)
	}
	bad := errors.New("no quorum")
	c, err := prices.NewChainlink(prices.ChainlinkConfig{Name: "o", Feeds: map[string]prices.Feed{"ETH": {Address: named(feed), Heartbeat: time.Hour}}}, deaf{bad})
	l.ok(err)
	if got, err := c.Prices(t.Context(), l.now()); !errors.Is(err, bad) || got != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, cfg := range map[string]prices.ChainlinkConfig{
		"no feeds":              {},
		"a feed of nobody":      {Feeds: map[string]prices.Feed{"ETH": {Heartbeat: time.Hour}}},
		"a feed without a beat": {Feeds: map[string]prices.Feed{"ETH": {Address: named(feed)}}},
		"no time of grace":      {Feeds: map[string]prices.Feed{"ETH": {Address: named(feed), Heartbeat: time.Hour}}, Sequencer: named(feed)},
	} {
		if _, err := prices.NewChainlink(cfg, l.on); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// deaf is a chain that does not answer.
type deaf struct{ err error }

func (d deaf) Head(context.Context) (chain.Head, error) { return chain.Head{}, d.err }

func (d deaf) ViewAt(context.Context, chain.Address, []byte, chain.Block) ([]byte, error) {
	return nil, d.err
}
