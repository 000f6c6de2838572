package front_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/dev"
	"ferry/internal/front"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/prices"
	"ferry/internal/quote"
)

// slow are pools that are read when they were looked at a few times.
type slow struct{ looks atomic.Int32 }

// slowFor is how often they are looked at in vain.
const slowFor = 5

func (s *slow) Fresh(time.Time) bool { return s.looks.Add(1) > slowFor }

func (*slow) Name() string { return "slow" }

func (*slow) Best(context.Context, market.PoolAsk) (market.PoolDeal, error) {
	return market.PoolDeal{}, market.ErrNoPool
}

func (*slow) Next(context.Context, quote.Step, quote.Progress) (quote.Move, error) {
	return nil, errors.New("nobody comes here")
}

func (*slow) Run(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// A service says that it is ready when its pools were read: routes over them are refused
// before that.
func TestReadyWaitsForPools(t *testing.T) {
	t.Parallel()
	pools := &slow{}
	newRig(t, overSQLite, setup{change: func(c *front.Config) {
		c.Venues = front.Venues{Pools: map[chain.ID]front.Pools{dev.Ethereum: pools}, MaxOff: money.Whole / 20}
	}})
	if n := pools.looks.Load(); n <= slowFor {
		t.Errorf("it was ready when the pools had been looked at %d times", n)
	}
}

// A service starts while enough of its sources of prices answer, and not with fewer.
func TestReadyWithoutASourceOfPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		down   int
		starts bool
	}{{0, true}, {1, true}, {2, false}} {
		all := []*moody{newMoody("a"), newMoody("b"), newMoody("c")}
		for _, m := range all[:c.down] {
			m.say("")
		}
		r, err := start(overSQLite, filepath.Join(t.TempDir(), "network"), setup{
			sources: []prices.Source{all[0], all[1], all[2]}, change: func(c *front.Config) { c.Prices.Quorum = 2 },
		})
		if err == nil {
			err = r.stop()
		}
		switch {
		case c.starts && err != nil:
			t.Errorf("without %d of three sources: %v", c.down, err)
		case !c.starts && (err == nil || !strings.Contains(err.Error(), "prices: ")):
			t.Errorf("without %d of three sources it started, or ended by something else: %v", c.down, err)
		}
	}
}
