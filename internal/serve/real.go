package serve

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/front"
	"ferry/internal/market"
	"ferry/internal/nodes"
)

// openingTime bounds how long nodes may take to say what they are.
const openingTime = time.Minute

// real makes the chains of real nodes ready, all at once: some nodes are slow. Every
// trouble is told, not only the first.
func (s *Service) real(ctx context.Context, c config.Config, tokens map[chain.Asset]market.Asset, o Options) (map[chain.ID]front.Chain, error) {
	if len(KeyNets(c)) == 0 {
		return nil, nil
	}
	keys, done, err := OpenKeys(ctx, c, s.db, o.Ask)
	if err != nil {
		return nil, err
	}
	s.letGo = done
	ctx, cancel := context.WithTimeout(ctx, openingTime)
	defer cancel()
	made, errs := make([]front.Chain, len(c.Chains)), make([]error, len(c.Chains))
	var g errgroup.Group
	for i, one := range c.Chains {
		if one.Kind != config.RPC {
			continue
		}
		g.Go(func() error {
			var cfg nodes.Config
			if cfg, errs[i] = ofNodes(one, tokens, o.Log); errs[i] == nil {
				made[i], errs[i] = nodes.Open(ctx, cfg, keys)
			}
			return nil
		})
	}
	_ = g.Wait() // troubles are in errs
	all := map[chain.ID]front.Chain{}
	for i, one := range c.Chains {
		all[one.ID] = made[i]
	}
	return all, errors.Join(errs...)
}

// ofNodes is a chain as its adapter wants it.
func ofNodes(c config.Chain, tokens map[chain.Asset]market.Asset, log *slog.Logger) (nodes.Config, error) {
	n := c.Nodes
	cfg := nodes.Config{
		Told: told(c), Tiers: c.Tiers, FinalDepth: c.FinalDepth, URLs: n.URLs, Quorum: n.Quorum, Verify: n.Verify, Trace: n.Trace,
		Sweeper: n.Sweeper, Intake: n.Intake, GasOracle: n.GasOracle, Network: n.Network, Genesis: n.Genesis, Log: log,
	}
	var err error
	cfg.Assets, err = listed(c, tokens)
	return cfg, err
}
