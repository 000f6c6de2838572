package market_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// An offer of 97.5 dollars may fall by half a percent; of an exact output the input
// may rise by as much.
func TestAFloatOfferStandsInsideItsSlippage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		side  market.Side
		price string
		moved bool
	}{
		"stands still":          {market.From, "100000", false},
		"falls a little":        {market.From, "99600", false},
		"falls too far":         {market.From, "99400", true},
		"rises":                 {market.From, "110000", false},
		"exact, stands still":   {market.To, "100000", false},
		"exact, falls a little": {market.To, "99600", false},
		"exact, falls too far":  {market.To, "99400", true},
		"exact, rises":          {market.To, "110000", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			a := withFee(swap(usdc, 10_000_000), percent(t, "0.5"))
			if a.Side = c.side; c.side == market.To {
				a.Amount = n(5_000_000_000)
			}
			o, err := r.Quote(t.Context(), a, start)
			if err != nil {
				t.Fatal(err)
			}
			o.Quote.ID = "quo_x"
			r.prices["BTC"] = price(t, c.price)
			got, err := r.Accept(t.Context(), o, start.Add(30*time.Second))
			now, qerr := r.Quote(t.Context(), a, start.Add(30*time.Second))
			if qerr != nil {
				t.Fatal(qerr)
			}
			if c.moved {
				f := mustFault(t, err, fault.Conflict, "price_moved")
				fresh, ok := f.Detail["offer"].(market.Offer)
				if !ok || fresh.Quote.Out != now.Quote.Out || fresh.Quote.In != now.Quote.In || fresh.Quote.ID != "" {
					t.Errorf("the refusal carries %+v", f.Detail)
				}
				return
			}
			if err != nil || got.Quote.ID != "quo_x" || got.Quote.In != now.Quote.In || got.Quote.Out != now.Quote.Out || *got.Quote.Fee != *o.Quote.Fee {
				t.Errorf("got %+v, %v", got.Quote, err)
			}
			if got.Quote.Out.Less(o.MinOut) || o.MaxFrom.Less(got.Quote.In) {
				t.Errorf("%s for %s, promised were at least %s and at most %s", got.Quote.Out, got.Quote.In, o.MinOut, o.MaxFrom)
			}
		})
	}
}

func TestAnAcceptedOfferKeepsTheFeeThatWasAgreed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	half := percent(t, "0.5")
	for name, change := range map[string]func(*market.Ask){
		"by default":  func(*market.Ask) {},
		"by override": func(a *market.Ask) { a.Override = &half },
		"skipped":     func(a *market.Ask) { a.Amount = n(60_000) },
		"none":        func(a *market.Ask) { a.Fees, a.Integrator = integrator.FeePolicy{}, "" },
		"unpaid":      func(a *market.Ask) { a.Fees.PayTo = nil },
	} {
		a := withFee(swap(usdc, 10_000_000), percent(t, "1"))
		change(&a)
		o, err := r.Quote(t.Context(), a, start)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Accept(t.Context(), o, start)
		if err != nil || (got.Earning == nil) != (o.Earning == nil) || (o.Earning != nil && *got.Earning != *o.Earning) ||
			got.Unpaid != o.Unpaid || got.Quote.Integrator != o.Quote.Integrator || len(got.Warnings()) != len(o.Warnings()) {
			t.Errorf("%s: got %+v, want %+v, %v", name, got, o, err)
		}
	}
}

func TestAFixedOfferIsHonouredWhileItCanBePaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := swap(usdc, 10_000_000)
	a.Mode = quote.Fixed
	o, err := r.Quote(t.Context(), a, start)
	if err != nil {
		t.Fatal(err)
	}
	_, most, err := o.Quote.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	delete(r.prices, "BTC") // a promise does not ask for the price again
	r.free[usdc] = most
	if got, err := r.Accept(t.Context(), o, start.Add(119*time.Second)); err != nil || got.Quote.Out != o.Quote.Out {
		t.Errorf("got %+v, %v", got, err)
	}
	r.free[usdc] = most.Less0(n(1))
	_, err = r.Accept(t.Context(), o, start)
	mustFault(t, err, fault.Unprocessable, "insufficient_liquidity")
	delete(r.free, usdc)
	if _, err = r.Accept(t.Context(), o, start); err == nil || fault.Of(err).Code != "internal_error" {
		t.Errorf("books that cannot be read: got %v", err)
	}
	o.Quote.Steps = []quote.Step{{Venue: "other"}} // paid by others
	if _, err = r.Accept(t.Context(), o, start); err != nil {
		t.Error(err)
	}
}

func TestAFloatOfferIsNotAcceptedWithoutAPrice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o, err := r.Quote(t.Context(), swap(usdc, 10_000_000), start)
	if err != nil {
		t.Fatal(err)
	}
	delete(r.prices, "BTC")
	_, err = r.Accept(t.Context(), o, start)
	mustFault(t, err, fault.Unavailable, "pair_unavailable")
}

// node counts how often it is asked.
type node struct {
	mu    sync.Mutex
	asked int
	cost  money.Amount
	err   error
}

func (c *node) Cost(context.Context, chain.Call) (money.Amount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return c.cost, c.err
}

func TestATariffAsksOnceInAWhile(t *testing.T) {
	t.Parallel()
	now := start
	chainNode := &node{cost: n(7)}
	tariff, err := market.NewTariff(map[chain.ID]market.Costs{btc.Chain: chainNode}, 10*time.Second, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	call := chain.Call{Chain: btc.Chain, From: "hot", To: payTo, Asset: btc, Amount: n(5_000)}
	for _, step := range []struct {
		after  time.Duration
		change func()
		asked  int
		want   money.Amount
	}{
		{0, nil, 1, n(7)},
		{9 * time.Second, func() { call.Amount = n(9_999) }, 1, n(7)},
		{0, func() { chainNode.cost = n(8) }, 1, n(7)},
		{time.Second, nil, 2, n(8)},
		{0, func() { call.Amount = n(10_000) }, 3, n(8)},                    // more of it may cost more
		{0, func() { call.To = chain.CanonicalAddress("x", "y") }, 4, n(8)}, // and so may somebody else
		{-time.Hour, nil, 5, n(8)},                                          // a clock that went back
	} {
		if now = now.Add(step.after); step.change != nil {
			step.change()
		}
		if got, err := tariff.Cost(t.Context(), call); err != nil || got != step.want || chainNode.asked != step.asked {
			t.Fatalf("%+v: got %s, %v, asked %d times", step, got, err, chainNode.asked)
		}
	}
	trouble := errors.New("down")
	chainNode.err = trouble
	if _, err := tariff.Cost(t.Context(), call); err != nil {
		t.Errorf("what is known is asked for: %v", err)
	}
	now = now.Add(10 * time.Second)
	if _, err := tariff.Cost(t.Context(), call); !errors.Is(err, trouble) {
		t.Errorf("an old cost is used: %v", err)
	}
	call.Chain = "x:y"
	call.Asset = call.Chain.Native()
	if _, err := tariff.Cost(t.Context(), call); err == nil {
		t.Error("a chain that is not served has a cost")
	}
	if _, err := market.NewTariff(nil, time.Second, time.Now); err == nil {
		t.Error("a tariff of nothing was made")
	}
}

func TestATariffDoesNotGrowForEver(t *testing.T) {
	t.Parallel()
	chainNode := &node{cost: n(7)}
	tariff, err := market.NewTariff(map[chain.ID]market.Costs{btc.Chain: chainNode}, time.Hour, func() time.Time { return start })
	if err != nil {
		t.Fatal(err)
	}
	call := chain.Call{Chain: btc.Chain, Asset: btc, Amount: n(1)}
	for i := range 10_001 {
		call.To = chain.CanonicalAddress(chain.Bitcoin, string(rune(i+1)))
		if _, err := tariff.Cost(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	call.To = chain.CanonicalAddress(chain.Bitcoin, string(rune(1)))
	if _, err := tariff.Cost(t.Context(), call); err != nil || chainNode.asked != 10_002 {
		t.Errorf("the first of 10,001 is still known: asked %d times, %v", chainNode.asked, err)
	}
}
