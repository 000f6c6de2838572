package front_test

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/prices"
)

// moody is a source of prices that can be made to lie, or to be silent.
type moody struct {
	name string
	mu   sync.Mutex
	says map[string]string
	err  error
}

func newMoody(name string) *moody {
	return &moody{name: name, says: map[string]string{"BTC": "90000", "ETH": "3000", "SOL": "150", "USDC": "1"}}
}

func (m *moody) Name() string      { return m.name }
func (m *moody) Kind() prices.Kind { return prices.Made }

func (m *moody) Prices(_ context.Context, now time.Time) (map[string]prices.Quote, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	quotes := map[string]prices.Quote{}
	for symbol, text := range m.says {
		quotes[symbol] = prices.Quote{Price: text, At: now}
	}
	return quotes, nil
}

// say has it say another price of Solana; silence is an error.
func (m *moody) say(sol string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err, m.says = nil, maps.Clone(m.says)
	if m.says["SOL"] = sol; sol == "" {
		m.err = errors.New("down")
	}
}

// looks are how often sources are asked in these tests, and how old a word may be.
const (
	lookEvery = 20 * time.Millisecond
	lookAge   = time.Second
)

// threeSources is a service with three sources of which two must agree.
func threeSources(t *testing.T, engine string) (*rig, []*moody) {
	t.Helper()
	all := []*moody{newMoody("a"), newMoody("b"), newMoody("c")}
	r := newRig(t, engine, setup{
		sources: []prices.Source{all[0], all[1], all[2]},
		change:  func(c *front.Config) { c.Prices.Quorum, c.Prices.Every, c.Prices.MaxAge = 2, lookEvery, lookAge },
	})
	return r, all
}

// solana is how the board stands with Solana, as operators see it.
func (r *rig) solana(t *testing.T) office.Price {
	t.Helper()
	all, err := r.Front.Office.Prices()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Symbol == "SOL" {
			return p
		}
	}
	return office.Price{}
}

// dropped reports whether a source's word does not count, and why.
func dropped(p office.Price, source, why string) bool {
	for _, w := range p.Words {
		if w.Source == source {
			return w.Why != "" && strings.Contains(w.Why, why)
		}
	}
	return false
}

func TestPricesThatFailStopOnlyWhatCanNotBePriced(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r, s := threeSources(t, engine)
		const good = "150"
		sold := func(what string) {
			t.Helper()
			if p := r.solana(t); p.Price != good {
				t.Errorf("%s: Solana is worth %q", what, p.Price)
			}
			r.do(t, price(nil)).want(t, 200, "")
			r.do(t, create(nil)).want(t, 201, "")
		}
		refused := func(what string) {
			t.Helper()
			for _, req := range []request{price(nil), create(nil)} {
				a := r.do(t, req)
				a.want(t, 503, "pair_unavailable")
				if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || n < 1 {
					t.Errorf("%s: Retry-After is %q", what, a.Header.Get("Retry-After"))
				}
			}
		}
		wait(t, "prices", func() bool { return r.solana(t).Price == good })
		sold("all is well")

		s[2].say("1500")
		wait(t, "the liar is dropped", func() bool { return dropped(r.solana(t), "c", "too far") })
		sold("one lies by ten times")

		s[2].say("")
		wait(t, "the silent one is dropped", func() bool { return dropped(r.solana(t), "c", "too old") })
		sold("one is down")

		s[1].say("")
		wait(t, "the other silent one is dropped", func() bool { return dropped(r.solana(t), "b", "too old") })
		refused("two of three are down")

		for _, bad := range []string{"NaN", "0", "-150", "Infinity"} {
			s[1].say(bad)
			wait(t, "what is no price is dropped", func() bool { return dropped(r.solana(t), "b", "not a price") })
			refused("one is down and one says " + bad)
		}
		s[1].say("165")
		wait(t, "two that differ are both dropped", func() bool { return dropped(r.solana(t), "a", "too far") && dropped(r.solana(t), "b", "too far") })
		refused("two differ by ten percent")

		s[1].say(good)
		s[2].say(good)
		wait(t, "prices again", func() bool { return r.solana(t).Price == good })
		sold("all are back")
	})
}

func TestAPriceThatJumpsIsStoppedUntilSomebodyHasLooked(t *testing.T) {
	t.Parallel()
	r, s := threeSources(t, overSQLite)
	wait(t, "prices", func() bool { return r.solana(t).Price == "150" })
	for _, one := range s { // one after another: only when two agree is it a price
		one.say("2000")
	}
	wait(t, "it is stopped", func() bool { return r.solana(t).Stopped && r.solana(t).Next == "2000" })
	a := r.do(t, price(nil))
	a.want(t, 503, "pair_unavailable")
	if a.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
	}
	if err := r.Front.Office.ConfirmPrice(t.Context(), "SOL", "2001", "alice"); err == nil {
		t.Error("a price was confirmed that nobody saw")
	}
	if err := r.Front.Office.ConfirmPrice(t.Context(), "ETH", "3000", "alice"); err == nil {
		t.Error("a price was confirmed that is not stopped")
	}
	if err := r.Front.Office.ConfirmPrice(t.Context(), "SOL", "2000", "alice"); err != nil {
		t.Fatal(err)
	}
	r.do(t, price(nil)).want(t, 200, "")
	log, err := r.Front.Office.Audit(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if e := log[len(log)-1]; e.Action != office.ConfirmedPrice || e.By != "alice" || e.Target != "SOL" || e.After != `{"price":"2000"}` {
		t.Errorf("the log has %+v", e)
	}
}

// All sources are wrong together: Solana is worth 150 dollars, and all of them say nine
// times as much, which is no jump yet. What is lost is less than what may be sold of a
// pair within a minute, whoever asks and however many do.
func TestPricesThatAreAllWrongCostNoMoreThanTheCapOfAPair(t *testing.T) {
	t.Parallel()
	const most = 3000 * money.Dollar
	engines(t, func(t *testing.T, engine string) {
		sources := []*moody{newMoody("a"), newMoody("b"), newMoody("c")}
		r := newRig(t, engine, setup{
			sources: []prices.Source{sources[0], sources[1], sources[2]},
			change: func(c *front.Config) {
				c.Prices.Quorum, c.Prices.Every, c.PerPairMinute = 2, lookEvery, most
			},
		})
		wait(t, "prices", func() bool { return r.solana(t).Price == "150" })
		for _, one := range sources {
			one.say("1350")
		}
		wait(t, "prices that are wrong", func() bool { return r.solana(t).Price == "1350" })
		var wg sync.WaitGroup
		var mu sync.Mutex
		var made, refused int
		for range 12 {
			wg.Go(func() {
				a := r.do(t, create(nil))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case a.Status == 201:
					made++
				case a.Status == 503 && a.Code == "pair_unavailable":
					refused++
					if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || n < 1 || n > 60 {
						t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
					}
				default:
					t.Errorf("answered %d %s", a.Status, a.Body)
				}
			})
		}
		wg.Wait()
		if made != 2 || refused != 10 { // two of 1350 dollars are within 3000, and three are not
			t.Errorf("%d orders were made and %d refused", made, refused)
		}
		if lost := money.USD(made) * (1350 - 150) * money.Dollar; lost > most {
			t.Errorf("%s are lost, more than %s", lost, most)
		}
		// A quote promises nothing, and another pair goes on.
		r.do(t, price(nil)).want(t, 200, "")
		other := strings.Replace(soldOrder, `"toToken":"native"`, `"toToken":"`+r.Card.Tokens["ethereum"]["USDC"]+`"`, 1)
		r.do(t, request{Method: "POST", Path: "/v2/orders", Body: other}).want(t, 201, "")
	})
}
