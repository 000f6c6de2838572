package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"ferry/internal/chain"
	"ferry/internal/dev"
	"ferry/internal/front"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/venue/uniswap/ammtest"
)

// The goal of P13: of the requests that a bare handler answers, a service answers so many
// that are quotes over pools. It is the one that quotes from the treasury are measured by,
// which reads and writes the same JSON: they may take 1.6 times its time, and pools 2.5
// times. The processor's time decides, and how many are answered in a second stands beside
// it.
const (
	poolQuoteGoal = 0.4
	// poolQuotes are more than are answered in a block, so that no amount is asked for
	// twice in the same state of the pools.
	poolQuotes = 40_000
	listedTail = 24 // tokens beside the hubs that are listed
)

const poolQuoteBody = `{"fromChainId":"ethereum","fromToken":"%s","toChainId":"ethereum","toToken":"%s","amount":"%s","side":"from","rateMode":"float","toAddress":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"}`

// addPools gives a network the pools and lists some of their tokens.
func addPools(ctx context.Context, o *dev.Options) error {
	c, err := newPoolChain()
	if err != nil {
		return err
	}
	v, err := c.venue(ctx)
	if err != nil {
		return err
	}
	var only []chain.Asset
	for i := range routeHubs + listedTail {
		t := dev.Token{Asset: market.Asset{
			Asset:  chain.Asset{Chain: dev.Ethereum, Ref: tokenAt(i).Text()},
			Symbol: fmt.Sprintf("T%03d", i), Decimals: 18, Dust: money.FromUint64(1),
		}, Price: strconv.FormatFloat(c.world.Worth[i]*1e18/quotedUnit, 'f', 8, 64)}
		o.Tokens, only = append(o.Tokens, t), append(only, t.Asset.Asset)
	}
	change := o.Change
	o.Change = func(cfg *front.Config) {
		change(cfg)
		cfg.Venues = front.Venues{Pools: map[chain.ID]front.Pools{dev.Ethereum: v}, Pooled: only, MaxOff: money.Whole / 10}
	}
	return nil
}

// poolLoad is what is asked for.
type poolLoad struct {
	name      string
	hub       bool
	low, high float64 // dollars
	goal      float64
}

// tail is what is asked for between tokens that are no hubs.
var tail = poolLoad{"between others, $20 to $2,000", false, 20, 2000, poolQuoteGoal}

// runPoolQuotes measures P13: quotes over pools beside their JSON alone.
func runPoolQuotes(ctx context.Context, o options) (err error) {
	world, err := newPoolChain()
	if err != nil {
		return err
	}
	progress("pool-quotes: %d pools between %d tokens", len(world.pools), quotedTokens)
	door, err := ourServer(ctx, pooledKind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.stop()) }()
	floor, err := ourServer(ctx, codecKind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.stop()) }()
	for _, l := range []poolLoad{
		tail,
		{"between hubs, $20 to $2,000", true, 20, 2000, poolQuoteGoal},
		{"between hubs, $20,000 to $40,000", true, 20_000, 40_000, 0},
	} {
		d, rates, err := o.contest("pool-quotes: "+l.name, door, floor, poolRequests(world.world, door.key, l))
		if err != nil {
			return err
		}
		r := result{Bench: "pool-quotes", Name: l.name + ", beside its JSON alone", Unit: "µs CPU"}
		if l.goal > 0 {
			r.AtMost = 1 / l.goal
		}
		o.report.add(r.judged(d))
		o.report.add(result{
			Bench: "pool-quotes", Name: l.name, Unit: "requests/s",
			Ours: rates[0], Floor: rates[1], Ratio: rates[0] / rates[1], Low: rates[0] / rates[1], High: rates[0] / rates[1],
		})
	}
	return o.besideBytes(ctx, door, poolRequests(world.world, door.key, tail))
}

// besideBytes shows quotes over pools beside a handler that looks at nothing and always
// answers the same.
func (o options) besideBytes(ctx context.Context, door *server, requests [][]byte) (err error) {
	same, err := ourServer(ctx, bytesKind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, same.stop()) }()
	return o.beside("pool-quotes", tail.name+", beside the bytes of a quote", 0, door, same, requests)
}

// poolRequests are quotes that can be had, each for another amount.
func poolRequests(w *ammtest.World, key string, l poolLoad) (all [][]byte) {
	r := rand.New(rand.NewPCG(1, 13))
	for len(all) < poolQuotes {
		in, out := r.IntN(routeHubs), r.IntN(routeHubs)
		if !l.hub {
			in, out = routeHubs+r.IntN(listedTail), routeHubs+r.IntN(listedTail)
		}
		dollars := l.low * math.Exp(r.Float64()*math.Log(l.high/l.low))
		if in == out {
			continue
		}
		a := w.Ask(in, out, true, dollars*quotedUnit)
		f, err := w.Graph.Find(a)
		if got, _ := strconv.ParseFloat(f.Out.Dec(), 64); err != nil || got*w.Worth[out] < 0.97*dollars*quotedUnit {
			continue
		}
		body := fmt.Sprintf(poolQuoteBody, tokenAt(in).Text(), tokenAt(out).Text(), a.Amount.Dec())
		n := len(all) % endUsers
		all = append(all, fmt.Appendf(nil, "POST /v2/quotes HTTP/1.1\r\nHost: ferry.test\r\nUser-Agent: bench\r\nAccept: application/json\r\nX-Integrator-Key: %s\r\nX-End-User-IP: 198.51.%d.%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			key, n/250, n%250+1, len(body), body))
	}
	return all
}
