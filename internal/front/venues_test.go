package front

import (
	"context"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/market"
	"ferry/internal/quote"
)

// far is an aggregator that says on which chain it was asked.
type far struct {
	name string
	on   chain.ID
}

func (f far) Name() string { return f.name }

func (far) Best(context.Context, market.PoolAsk) (market.PoolDeal, error) {
	return market.PoolDeal{}, market.ErrNoPool
}

func (f far) Next(context.Context, quote.Step, quote.Progress) (quote.Move, error) {
	return quote.Fail{Why: string(f.on)}, nil
}

// Steps of an aggregator are carried out where they are, under its own name.
func TestAnAggregatorIsAskedOnTheChainOfAStep(t *testing.T) {
	t.Parallel()
	v := Venues{Outside: map[chain.ID]Outside{"eip155:1": far{"kyber", "eip155:1"}, "eip155:10": far{"kyber", "eip155:10"}}}
	all := v.runners()
	if len(all) != 1 || all["kyber"] == nil {
		t.Fatalf("got %v", all)
	}
	for id := range v.Outside {
		m, err := all["kyber"].Next(t.Context(), quote.Step{Venue: "kyber", In: id.Native()}, quote.Progress{})
		if err != nil || m != (quote.Fail{Why: string(id)}) {
			t.Errorf("on %s: %v, %v", id, m, err)
		}
	}
	if m, err := all["kyber"].Next(t.Context(), quote.Step{Venue: "kyber", In: chain.ID("eip155:5").Native()}, quote.Progress{}); err == nil {
		t.Errorf("where it is not: %v", m)
	}
	v.Outside["eip155:5"] = far{"another", "eip155:5"}
	if _, err := v.through(nil, nil); err == nil || !strings.Contains(err.Error(), "one aggregator") {
		t.Errorf("two of them: %v", err)
	}
	if through, err := (Venues{}).through(nil, nil); err != nil || len(through) != 0 {
		t.Errorf("none of them: %v, %v", through, err)
	}
}
