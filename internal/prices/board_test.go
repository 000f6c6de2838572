package prices_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/prices"
	"ferry/internal/testseed"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// source says what a test wants; its times are told as ages.
type source struct {
	name string
	mu   sync.Mutex
	says map[string]string
	age  time.Duration
	err  error
}

func (s *source) Name() string { return s.name }

func (s *source) Kind() prices.Kind { return prices.Exchange }

func (s *source) Prices(_ context.Context, now time.Time) (map[string]prices.Quote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	quotes := map[string]prices.Quote{}
	for symbol, text := range s.says {
		quotes[symbol] = prices.Quote{Price: text, At: now.Add(-s.age)}
	}
	return quotes, nil
}

func (s *source) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says = map[string]string{"BTC": text}
	if text == "" {
		s.says = nil
	}
}

func config(quorum int) prices.Config {
	c := prices.Defaults()
	c.Symbols, c.Quorum = []string{"BTC"}, quorum
	return c
}

// newBoard has a source for each text.
func newBoard(t testing.TB, c prices.Config, says ...string) (*prices.Board, []*source) {
	t.Helper()
	var all []*source
	var ports []prices.Source
	for i, text := range says {
		s := &source{name: fmt.Sprint("s", i)}
		s.say(text)
		all, ports = append(all, s), append(ports, s)
	}
	b, err := prices.New(c, ports...)
	if err != nil {
		t.Fatal(err)
	}
	return b, all
}

func step(t testing.TB, b *prices.Board, now time.Time) {
	t.Helper()
	if err := b.Step(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

// must is the price as text; empty means that there must be none.
func must(t testing.TB, b *prices.Board, now time.Time, want string) {
	t.Helper()
	p, err := b.Price("BTC", now)
	if want != "" {
		if err != nil || p.String() != want {
			t.Fatalf("got %s, %v, want %s", p, err, want)
		}
		return
	}
	f := fault.Of(err)
	if err == nil || f.Code != "pair_unavailable" || f.Kind != fault.Unavailable || !strings.Contains(f.Text, "BTC") || !p.IsZero() {
		t.Fatalf("got %s, %v, want none", p, err)
	}
	want = "5" // until the sources are asked again
	if strings.Contains(f.Text, "jumped") {
		want = "60"
	}
	if got := fmt.Sprint(f.Detail["retryAfterSeconds"]); got != want {
		t.Errorf("%v asks to wait %s seconds, not %s", f, got, want)
	}
}

func TestAPriceIsTheMedianOfThoseWhoAgree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quorum int
		says   string // "-" says nothing
		want   string
		drops  int
	}{
		"all agree":                 {2, "100 101 102", "101", 0},
		"one is off":                {2, "100 101 104", "100.5", 1},
		"one is off by ten":         {2, "100 101 1000", "100.5", 1},
		"exactly two percent":       {3, "98 100 102", "100", 0},
		"a hair beyond":             {3, "97.99 100 102", "", 1},
		"two far apart":             {1, "100 110", "", 2},
		"two near":                  {2, "100 101", "100.5", 0},
		"one of one":                {1, "5", "5", 0},
		"NaN":                       {2, "100 NaN 100", "100", 1},
		"zero":                      {2, "100 0 100", "100", 1},
		"below zero":                {2, "100 -100 100", "100", 1},
		"malformed":                 {2, "100 1,000 100", "100", 1},
		"too many of those":         {2, "100 NaN 0", "", 2},
		"one says nothing":          {2, "100 - 100", "100", 1},
		"nobody says anything":      {1, "- -", "", 2},
		"quorum is not reached":     {3, "100 100 -", "", 1},
		"a majority that is wrong":  {2, "50 50 100", "50", 1},
		"four, of which two differ": {3, "100 100 90 110", "", 2},
	} {
		texts := strings.Fields(c.says)
		for i := range texts {
			if texts[i] == "-" {
				texts[i] = ""
			}
		}
		b, _ := newBoard(t, config(c.quorum), texts...)
		step(t, b, start)
		must(t, b, start, c.want)
		all := b.All()
		if len(all) != 1 || len(all[0].Dropped) != c.drops || all[0].Sources != len(texts)-c.drops || all[0].Symbol != "BTC" {
			t.Errorf("%s: stands as %+v", name, all)
		}
		for _, d := range all[0].Dropped {
			if d.Source == "" || d.Why == "" {
				t.Errorf("%s: dropped without a reason: %+v", name, d)
			}
		}
	}
}

func TestNoPriceIsUsedPastItsAge(t *testing.T) {
	t.Parallel()
	b, all := newBoard(t, config(1), "100")
	must(t, b, start, "")
	step(t, b, start)
	must(t, b, start.Add(30*time.Second), "100")
	must(t, b, start.Add(30*time.Second+1), "")
	all[0].err = errors.New("down")
	for after, want := range map[time.Duration]string{29 * time.Second: "100", 31 * time.Second: ""} {
		b, all := newBoard(t, config(1), "100")
		step(t, b, start)
		all[0].err = errors.New("down")
		now := start.Add(after)
		if err := b.Step(t.Context(), now); err == nil || !strings.Contains(err.Error(), "s0") {
			t.Errorf("the trouble is not told: %v", err)
		}
		must(t, b, now, want)
	}
	for age, want := range map[time.Duration]string{
		30 * time.Second: "100", 30*time.Second + 1: "", 24 * time.Hour: "", -5 * time.Second: "100", -5*time.Second - 1: "", -time.Hour: "",
	} {
		b, all := newBoard(t, config(1), "100")
		all[0].age = age
		step(t, b, start)
		must(t, b, start, want)
		if age == -5*time.Second { // a clock ahead of ours does not make it live longer
			all[0].err = errors.New("down")
			late := start.Add(30*time.Second + 1)
			if err := b.Step(t.Context(), late); err == nil {
				t.Error("the trouble is not told")
			}
			must(t, b, late, "")
		}
	}
	// A price is as old as the oldest word that it is made from.
	b, all = newBoard(t, config(2), "100", "100")
	all[1].age = 20 * time.Second
	step(t, b, start)
	must(t, b, start.Add(10*time.Second), "100")
	must(t, b, start.Add(11*time.Second), "")
}

func TestASourceThatTakesItsWordBackIsNotCounted(t *testing.T) {
	t.Parallel()
	b, all := newBoard(t, config(2), "100", "100")
	step(t, b, start)
	must(t, b, start, "100")
	all[1].say("")
	step(t, b, start.Add(time.Second))
	must(t, b, start.Add(time.Second), "")
	all[1].say("NaN")
	step(t, b, start.Add(2*time.Second))
	must(t, b, start.Add(2*time.Second), "")
}

func TestAJumpStopsTheSymbol(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to   string
		stop bool
	}{{"1000", false}, {"1000.0001", true}, {"10", false}, {"9.9999", true}, {"0.00001", true}, {"1e12", true}} {
		b, all := newBoard(t, config(1), "100")
		step(t, b, start)
		all[0].say(c.to)
		now := start.Add(time.Second)
		step(t, b, now)
		if _, err := b.Price("BTC", now); (err != nil) != c.stop {
			t.Errorf("from 100 to %s: got %v", c.to, err)
		}
		if s := b.All()[0]; s.Stopped != c.stop || s.Stopped && (s.Next.IsZero() || !s.Price.IsZero()) {
			t.Errorf("from 100 to %s: stands as %+v", c.to, s)
		}
	}
}

func TestAStoppedPriceIsBelievedOnceItHeld(t *testing.T) {
	t.Parallel()
	b, all := newBoard(t, config(1), "100")
	now := start
	at := func(after time.Duration, text, want string) {
		t.Helper()
		now = now.Add(after)
		all[0].say(text)
		step(t, b, now)
		must(t, b, now, want)
	}
	at(0, "100", "100")
	at(5*time.Second, "5000", "")
	at(5*time.Minute, "5050", "")             // within two percent of 5,000
	at(5*time.Minute-time.Second, "4999", "") // not long enough yet
	at(time.Second, "5010", "5010")           // ten minutes
	at(5*time.Second, "5005", "5005")         // and from here it goes on
	at(5*time.Second, "100", "")              // back again is a jump again
	at(9*time.Minute, "103", "")              // it strays: it begins again
	at(9*time.Minute, "103", "")              //
	at(30*time.Second, "", "")                // a gap: it begins again
	at(5*time.Second, "103", "")              //
	at(9*time.Minute, "103", "")              //
	at(time.Minute, "103", "103")             //
	at(time.Second, "1031", "")               // eleven minutes later it jumps
	at(time.Second, "103", "")                // and a glitch that is over must hold too
	at(10*time.Minute-time.Second, "103", "") //
	at(time.Second, "103", "103")             //
	at(365*24*time.Hour, "10", "")            // the last good one is remembered for as long as it takes
	if s := b.All()[0]; !s.Stopped || s.Next.String() != "10" {
		t.Errorf("got %+v", s)
	}
}

func TestAPersonMayConfirm(t *testing.T) {
	t.Parallel()
	b, all := newBoard(t, config(1), "100")
	if _, err := b.Confirm("BTC", price(t, "5000")); err == nil {
		t.Error("a symbol without a price was confirmed")
	}
	step(t, b, start)
	if _, err := b.Confirm("BTC", price(t, "5000")); err == nil {
		t.Error("a symbol that is not stopped was confirmed")
	}
	if _, err := b.Confirm("ETH", price(t, "5000")); err == nil {
		t.Error("a symbol that nobody knows was confirmed")
	}
	all[0].say("5000")
	step(t, b, start.Add(time.Second))
	must(t, b, start.Add(time.Second), "")
	if p, err := b.Confirm("BTC", price(t, "5000")); err != nil || p.String() != "5000" {
		t.Fatalf("got %s, %v", p, err)
	}
	must(t, b, start.Add(time.Second), "5000")
	must(t, b, start.Add(32*time.Second), "") // and it ages as any
	step(t, b, start.Add(40*time.Second))
	must(t, b, start.Add(40*time.Second), "5000")
	all[0].say("1")
	step(t, b, start.Add(41*time.Second))
	all[0].say("")
	step(t, b, start.Add(42*time.Second))
	if p, err := b.Confirm("BTC", price(t, "5000")); err == nil {
		t.Errorf("%s was confirmed, which nobody says any more", p)
	}
}

// However sources lie, a price that is shown is within the deviation of a quorum of
// words that are fresh, and never a jump away from the one before.
func TestAShownPriceIsAlwaysVouchedFor(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	shown, none, stopped := 0, 0, 0
	for range 300 {
		quorum := 1 + r.IntN(3)
		b, all := newBoard(t, config(quorum), make([]string, quorum+r.IntN(3))...)
		level, now := 1000.0, start
		var last *big.Rat
		for range 40 {
			now = now.Add(time.Duration(1+r.IntN(20)) * time.Second)
			level *= 0.98 + 0.04*r.Float64()
			if r.IntN(30) == 0 {
				level *= []float64{0.05, 20}[r.IntN(2)]
			}
			for _, s := range all {
				s.age, s.err = time.Duration(r.IntN(40))*time.Second, nil
				switch r.IntN(12) {
				case 0:
					s.say([]string{"NaN", "0", "-1", "", "x"}[r.IntN(5)])
				case 1:
					s.err = errors.New("down")
				case 2:
					s.say(fmt.Sprintf("%.6f", level*(0.5+r.Float64())))
				default:
					s.say(fmt.Sprintf("%.6f", level*(0.995+0.01*r.Float64())))
				}
			}
			failed := b.Step(t.Context(), now) != nil
			st := b.All()[0]
			p, err := b.Price("BTC", now)
			if err != nil {
				none++
				if st.Stopped {
					stopped++
				}
				continue
			}
			shown++
			value, _ := new(big.Rat).SetString(p.String())
			near := 0
			for _, s := range all {
				v, ok := new(big.Rat).SetString(s.says["BTC"])
				if ok && s.err == nil && s.age <= 30*time.Second && within(v, value, 5) {
					near++
				}
			}
			if !failed && near < quorum || st.Sources < quorum || now.Sub(st.At) > 30*time.Second {
				t.Fatalf("%s is vouched for by %d of %d: %+v", p, near, quorum, st)
			}
			if last != nil && !st.Stopped && (value.Cmp(new(big.Rat).Mul(last, big.NewRat(10, 1))) > 0 || last.Cmp(new(big.Rat).Mul(value, big.NewRat(10, 1))) > 0) {
				t.Fatalf("%s after %s was believed at once", p, last.FloatString(6))
			}
			last = value
		}
	}
	if shown < 1000 || none < 500 || stopped < 100 {
		t.Errorf("only %d were shown, %d not, of which %d were stopped", shown, none, stopped)
	}
}

// within reports whether a is within so many percent of b.
func within(a, b *big.Rat, percent int64) bool {
	gap := new(big.Rat).Sub(a, b)
	return gap.Abs(gap).Cmp(new(big.Rat).Mul(b, big.NewRat(percent, 100))) <= 0
}

func TestSettingsThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	s := &source{name: "a"}
	for name, change := range map[string]func(*prices.Config){
		"no symbols":          func(c *prices.Config) { c.Symbols = nil },
		"an empty symbol":     func(c *prices.Config) { c.Symbols = []string{""} },
		"no quorum":           func(c *prices.Config) { c.Quorum = 0 },
		"too many":            func(c *prices.Config) { c.Quorum = 2 },
		"no age":              func(c *prices.Config) { c.MaxAge = 0 },
		"no deviation":        func(c *prices.Config) { c.MaxDeviation = 0 },
		"all deviation":       func(c *prices.Config) { c.MaxDeviation = money.Whole },
		"no jump":             func(c *prices.Config) { c.MaxJump = 0 },
		"no time to settle":   func(c *prices.Config) { c.Settle = 0 },
		"no pace":             func(c *prices.Config) { c.Every = 0 },
		"slower than the age": func(c *prices.Config) { c.Every = c.MaxAge },
		"no timeout":          func(c *prices.Config) { c.Timeout = 0 },
	} {
		c := config(1)
		change(&c)
		if _, err := prices.New(c, s); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	if _, err := prices.New(config(1), s, s); err == nil {
		t.Error("one source twice was taken")
	}
	if _, err := prices.New(config(1), s); err != nil {
		t.Error(err)
	}
}

// slow answers after a while, or never.
type slow struct {
	*source
	wait chan struct{}
}

func (s slow) Prices(ctx context.Context, now time.Time) (map[string]prices.Quote, error) {
	<-s.wait
	return s.source.Prices(ctx, now)
}

func TestASourceThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wait := make(chan struct{})
		good, hung := &source{name: "good"}, slow{&source{name: "hung"}, wait}
		good.say("100")
		hung.say("500")
		b, err := prices.New(config(1), good, hung)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Step(t.Context(), start)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "hung") || strings.Contains(err.Error(), "good") {
			t.Errorf("got %v", err)
		}
		must(t, b, start, "100")
		close(wait)
	})
}

func TestRunLooksEverySoOftenAndTellsTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, all := newBoard(t, config(1), "100")
		ctx, cancel := context.WithCancel(t.Context())
		var told []error
		done := make(chan struct{})
		go func() {
			b.Run(ctx, time.Now, func(err error) { told = append(told, err) })
			close(done)
		}()
		synctest.Wait()
		must(t, b, time.Now(), "100")
		all[0].say("101")
		time.Sleep(6 * time.Second)
		synctest.Wait()
		must(t, b, time.Now(), "101")
		all[0].mu.Lock()
		all[0].err = errors.New("down")
		all[0].mu.Unlock()
		time.Sleep(36 * time.Second)
		synctest.Wait()
		must(t, b, time.Now(), "")
		cancel()
		<-done
		if len(told) < 6 || !slices.ContainsFunc(told, func(err error) bool { return strings.Contains(err.Error(), "down") }) {
			t.Errorf("told %v", told)
		}
	})
}

func TestABoardIsReadWhileItIsWritten(t *testing.T) {
	t.Parallel()
	b, _ := newBoard(t, config(1), "100")
	step(t, b, start)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				if p, err := b.Price("BTC", start); err != nil || p.String() != "100" || len(b.All()) != 1 {
					t.Errorf("got %s, %v", p, err)
				}
			}
		})
	}
	for range 100 {
		step(t, b, start)
	}
	wg.Wait()
}

func price(t testing.TB, text string) market.Price {
	t.Helper()
	p, err := market.ParsePrice(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
