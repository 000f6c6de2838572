package house

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/ledger"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// Base is a second chain of accounts that count their transactions, which a house with
// pools has.
const Base chain.ID = "sim:base"

// The assets of a house with pools: tokens that only pools exchange, and what the
// inventory carries between their chains.
var (
	Gas     = Base.Native()
	Token   = chain.Asset{Chain: EVM, Ref: "token"}
	BaseUSD = chain.Asset{Chain: Base, Ref: "usd"}
	Far     = chain.Asset{Chain: Base, Ref: "far"}
)

func poolAssets() []chain.Asset { return []chain.Asset{Token, Gas, BaseUSD, Far} }

// Pool is one of a house: a token against dollars.
type Pool struct {
	Token, USD chain.Asset
	At         chain.Address
}

// deploy makes the pools of a chain, filled so that they agree with the prices.
func (h *House) deploy(n *sim.Net, token, usd chain.Asset) error {
	at, err := n.Deploy("pool", token, usd)
	if err != nil {
		return err
	}
	deep := money.FromUint64(100_000_000_000_000) // a hundred million dollars
	tokens, err := h.Rates.Convert(context.Background(), deep, usd, token, money.Down)
	if err != nil {
		return err
	}
	h.Pools[n.ID()] = Pool{token, usd, at}
	return errors.Join(n.Faucet(at, usd, deep), n.Faucet(at, token, tokens))
}

// PoolVenue is the name of the venue of the pools.
const PoolVenue = "pools"

// swaps is the venue of all pools: it plans and judges, and looks at chains through the
// gate of its daemon.
type swaps struct {
	h    *House
	hook Hook
}

// Receipts are what the venue asks a chain about what it asked for.
type receipts interface {
	Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error)
}

// gatedReceipts are those of a chain behind a gate.
type gatedReceipts struct {
	in receipts
	h  Hook
}

func (g gatedReceipts) Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error) {
	return cross(g.h, "chain", "Receipt", func() (chain.Receipt, error) { return g.in.Receipt(ctx, tx) })
}

// maxSwaps is how often a step is tried.
const maxSwaps = 3

// Next implements settle.Venue.
func (v swaps) Next(ctx context.Context, s quote.Step, known quote.Progress) (quote.Move, error) {
	net, pool := v.h.Net(s.In.Chain), v.h.Pools[s.In.Chain]
	if n := len(known.Calls); n > 0 {
		if last := known.Calls[n-1]; last.Fate == chain.Final {
			return v.done(ctx, s, last.Tx)
		}
		if n >= maxSwaps {
			return quote.Fail{Why: "it was tried often enough"}, nil
		}
	}
	least, err := s.MinOut.MulDiv(known.In, s.Give, money.Up)
	if err != nil {
		return nil, err
	}
	out, err := sim.Product(net.Balance(pool.At, s.In), net.Balance(pool.At, s.Out), known.In)
	if err != nil {
		return nil, err
	}
	if out.Less(least) {
		return quote.Fail{Why: fmt.Sprintf("it would bring %s, and %s is the least", out, least)}, nil
	}
	return quote.Send{Call: chain.Call{
		Chain: s.In.Chain, From: order.HotWallet, To: pool.At, Asset: s.In, Amount: known.In,
		Data: sim.Swap{In: known.In, MinOut: least, Get: s.Out}.Data(),
	}}, nil
}

// done reads from the receipt what really moved.
func (v swaps) done(ctx context.Context, s quote.Step, tx chain.TxID) (quote.Move, error) {
	c := v.h.Net(s.In.Chain).Chain()
	r, err := gatedReceipts{c, v.hook}.Receipt(ctx, tx)
	if err != nil {
		return nil, err
	}
	if r.Fate != chain.Final { // the chain went back behind it, and offers it again
		return quote.Wait{For: time.Minute, Why: "it is not final any more"}, nil
	}
	var d quote.Done
	for _, l := range r.Logs {
		m, err := c.ReadLog(l)
		if err != nil {
			return nil, err
		}
		switch {
		case m.From == c.Own(order.HotWallet) && m.Asset == s.In:
			d.In, err = d.In.Add(m.Amount)
		case m.To == c.Own(order.HotWallet) && m.Asset == s.Out:
			d.Out, err = d.Out.Add(m.Amount)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// pond is the pools of one chain as the market sees them.
type pond struct {
	net  *sim.Net
	pool Pool
}

// Name implements market.Pools.
func (p pond) Name() string { return PoolVenue }

// Best implements market.Pools.
func (p pond) Best(_ context.Context, a market.PoolAsk) (market.PoolDeal, error) {
	if a.Side != market.From || !p.has(a.Give) || !p.has(a.Get) {
		return market.PoolDeal{}, market.ErrNoPool
	}
	out, err := sim.Product(p.net.Balance(p.pool.At, a.Give), p.net.Balance(p.pool.At, a.Get), a.Amount)
	return market.PoolDeal{In: a.Amount, Out: out, Gas: 150_000}, err
}

func (p pond) has(a chain.Asset) bool { return a == p.pool.Token || a == p.pool.USD }

// vault says what is free in the books.
type vault struct{ h *House }

// Free implements market.Treasury.
func (v vault) Free(ctx context.Context, a chain.Asset) (money.Amount, error) {
	all, err := v.h.DB.Balances(ctx)
	return all[ledger.Key{Account: ledger.Hot(a.Chain), Asset: a}].Free(), err
}

// quotes are the prices of the house as a market wants them; an asset is its own symbol.
type quotes struct{ h *House }

// Price implements market.Prices. An asset of the house is listed with twelve decimals:
// a price of trillionths is then one of dollars.
func (q quotes) Price(symbol string, _ time.Time) (market.Price, error) {
	a, err := chain.ParseAsset(symbol)
	if err != nil {
		return market.Price{}, err
	}
	return market.ParsePrice(q.h.Rates[a].String())
}

// costs are what calls cost on all chains.
type costs struct{ h *House }

// Cost implements market.Costs.
func (c costs) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	return c.h.Net(call.Chain).Chain().Cost(ctx, call)
}

// plan makes the market of a house with pools.
func (h *House) plan() (err error) {
	var listed []market.Asset
	cfg := market.InventoryConfig{
		Account: order.HotWallet, Own: map[chain.ID]chain.Address{}, Never: map[chain.Asset]bool{Token: true, Far: true},
		Default: market.Terms{Spread: money.Whole / 100, Min: money.Dollar, Max: 10_000_000 * money.Dollar},
	}
	for _, a := range h.Assets {
		listed = append(listed, market.Asset{Asset: a, Symbol: a.String(), Decimals: 12, Dust: money.FromUint64(1)})
		cfg.Own[a.Chain] = h.Net(a.Chain).Own(order.HotWallet)
	}
	listing, err := market.NewListing(quotes{h}, listed)
	if err != nil {
		return err
	}
	inv, err := market.NewInventory(cfg, listing, vault{h}, costs{h})
	if err != nil {
		return err
	}
	through, ponds := market.ThroughConfig{
		Name: PoolVenue, Hubs: map[chain.ID][]chain.Asset{}, Takes: map[chain.ID]time.Duration{}, MaxOff: money.Whole / 10,
	}, map[chain.ID]market.Pools{}
	for id, p := range h.Pools {
		through.Hubs[id], through.Takes[id] = []chain.Asset{p.USD}, time.Minute
		ponds[id] = pond{h.Net(id), p}
	}
	h.through, err = market.NewThrough(through, ponds, inv)
	return err
}

// ErrNoRoute: no pools lead from the one asset to the other.
var ErrNoRoute = errors.New("house: no route through pools")

// Through makes the terms of a quote those of the best route through pools, with three
// percent of slippage. The integrator's share must stand in it already.
func (h *House) Through(ctx context.Context, q *quote.Quote, at time.Time) error {
	if h.through == nil {
		return ErrNoRoute
	}
	onward, _, err := q.Split(q.In)
	if err != nil {
		return err
	}
	routes, err := h.through.Routes(ctx, market.Intent{
		Give: q.Give, Get: q.Get, Side: market.From, Amount: onward, Mode: quote.Float,
		Over: q.Tolerance.Over, Slippage: 3 * money.Whole / 100, At: at,
	})
	if err != nil {
		return err
	}
	if len(routes) == 0 {
		return fmt.Errorf("%w: %s to %s", ErrNoRoute, q.Give, q.Get)
	}
	r := routes[0]
	q.Steps, q.Toll, q.Out = r.Steps, r.Toll, r.Out
	return nil
}
