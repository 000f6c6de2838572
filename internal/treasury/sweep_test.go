package treasury_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/treasury"
)

// table is a store of deposits that lie somewhere.
type table struct {
	lying    map[chain.Asset][]treasury.Lying
	awaited  bool // by an order
	sweeping int
	halted   map[chain.ID]string
	err      map[chain.ID]error
	refuse   error
	wished   []send.Transfer
}

func (s *table) Awaited(context.Context, chain.Asset) (bool, error) { return s.awaited, nil }

func (s *table) Unswept(_ context.Context, a chain.Asset, n int, _ time.Time) ([]treasury.Lying, error) {
	all := s.lying[a]
	return all[:min(n, len(all))], s.err[a.Chain]
}

func (s *table) UnsweptAt(_ context.Context, a chain.Asset, on []chain.Address, _ time.Time) (found []treasury.Lying, err error) {
	for _, l := range s.lying[a] {
		if slices.Contains(on, l.Address) {
			found = append(found, l)
		}
	}
	return found, s.err[a.Chain]
}

func (s *table) Sweeping(context.Context, chain.Asset, chain.Account) (int, error) {
	return s.sweeping, nil
}

func (s *table) Halted(_ context.Context, id chain.ID) (string, error) {
	return s.halted[id], nil
}

func (s *table) Sweep(_ context.Context, t send.Transfer, _ time.Time) error {
	if s.refuse == nil {
		s.wished = append(s.wished, t)
	}
	return s.refuse
}

// tariff is what a call costs: so much for each address.
type tariff struct {
	each uint64
	err  error
}

func (c tariff) Cost(_ context.Context, call chain.Call) (money.Amount, error) {
	return money.FromUint64(c.each * uint64(len(call.Sources))), c.err
}

func (tariff) Own(from chain.Account) chain.Address {
	return chain.CanonicalAddress(chain.EVM, string(from))
}

// par is a dollar for a unit.
type par struct{}

func (par) USD(_ context.Context, _ chain.Asset, n money.Amount) (money.USD, error) {
	u, err := money.ParseUSD(n.String())
	return u, err
}

func lie(index uint32, n uint64, age time.Duration) treasury.Lying {
	return treasury.Lying{
		ID: chain.DepositID(fmt.Sprintf("d-%d-%d", index, n)), Index: index, Amount: money.FromUint64(n), Since: start.Add(-age),
		Address: chain.CanonicalAddress(chain.EVM, fmt.Sprint(index)),
	}
}

func sweeping() treasury.SweepConfig {
	return treasury.SweepConfig{
		Account: "hot", Least: 10 * money.Dollar, Enough: 100 * money.Dollar, Age: time.Hour, Sources: 3, AtOnce: 2,
		Share: money.Whole / 10, FeeFactor: 4, Hurry: time.Minute,
	}
}

func TestDepositsAreBroughtHomeWhenItIsWorthIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lying []treasury.Lying
		each  uint64
		open  int
		want  []uint32 // the addresses that are emptied
	}{
		{"nothing lies there", nil, 1, 0, nil},
		{"enough has come together", []treasury.Lying{lie(1, 60, 0), lie(2, 40, 0)}, 1, 0, []uint32{1, 2}},
		{"not enough yet", []treasury.Lying{lie(1, 60, 0), lie(2, 39, 0)}, 1, 0, nil},
		{"not enough, but old", []treasury.Lying{lie(1, 60, 0), lie(2, 11, time.Hour)}, 1, 0, []uint32{1, 2}},
		{"almost old", []treasury.Lying{lie(1, 60, time.Hour-1)}, 1, 0, nil},
		{"old dust is left", []treasury.Lying{lie(1, 9, 100*time.Hour)}, 1, 0, nil},
		{"dust beside enough is left", []treasury.Lying{lie(1, 100, 0), lie(2, 9, 0)}, 1, 0, []uint32{1}},
		{"dust on one address comes together", []treasury.Lying{lie(1, 95, 0), lie(2, 6, 0), lie(2, 5, 0)}, 1, 0, []uint32{1, 2}},
		{"the largest of many", []treasury.Lying{lie(4, 30, 0), lie(3, 20, 0), lie(2, 19, 0), lie(1, 18, 0)}, 1, 0, []uint32{4, 3, 2}},
		{"as many as can be, and no more", []treasury.Lying{lie(4, 30, 0), lie(3, 20, 0), lie(2, 19, 0)}, 1, 0, nil},
		{"at the most that it may cost", []treasury.Lying{lie(1, 100, 0)}, 10, 0, []uint32{1}},
		{"it costs too much", []treasury.Lying{lie(1, 100, 0)}, 11, 0, nil},
		{"others are on their way", []treasury.Lying{lie(1, 100, 0)}, 1, 1, []uint32{1}},
		{"too many are on their way", []treasury.Lying{lie(1, 100, 0)}, 1, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := &table{lying: map[chain.Asset][]treasury.Lying{on.Native(): c.lying}, sweeping: c.open}
			s := sweeper(t, st, tariff{each: c.each}, on.Native())
			if err := s.Step(t.Context(), start); err != nil {
				t.Fatal(err)
			}
			var got []uint32
			for _, w := range st.wished {
				checkSweep(t, w, c.lying)
				for _, src := range w.Call.Sources {
					got = append(got, src.Index)
				}
			}
			if !slices.Equal(got, c.want) || len(st.wished) > 1 {
				t.Errorf("emptied %v in %d transfers, want %v", got, len(st.wished), c.want)
			}
		})
	}
}

// checkSweep holds a wish to what lies there.
func checkSweep(t *testing.T, w send.Transfer, lying []treasury.Lying) {
	t.Helper()
	var all money.Amount
	for _, s := range w.Call.Sources {
		var sum money.Amount
		var ids []chain.DepositID
		for _, l := range lying {
			if l.Index == s.Index {
				sum, _ = sum.Add(l.Amount)
				ids = append(ids, l.ID)
			}
		}
		slices.Sort(ids)
		if sum != s.Amount || !slices.Equal(ids, s.Deposits) {
			t.Errorf("address %d: %s by %v, want %s by %v", s.Index, s.Amount, s.Deposits, sum, ids)
		}
		all, _ = all.Add(sum)
	}
	cost := money.FromUint64(4 * uint64(len(w.Call.Sources)))
	if w.Call.Amount != all || w.Call.To != (tariff{}).Own("hot") || w.Call.From != "hot" || w.Order != "" || !w.GiveUp.IsZero() ||
		w.MaxFee.Less(cost) || !w.Deadline.Equal(start.Add(time.Minute)) || !strings.HasPrefix(string(w.ID), "sweep/sim:x/native/") {
		t.Errorf("%+v", w)
	}
}

func sweeper(t *testing.T, st treasury.Sweeps, c treasury.Coster, assets ...chain.Asset) *treasury.Sweeper {
	t.Helper()
	p := treasury.SweepPorts{Store: st, Valuer: par{}, Assets: assets, Chains: map[chain.ID]treasury.Coster{}}
	for _, a := range assets {
		p.Chains[a.Chain] = c
	}
	s, err := treasury.NewSweeper(sweeping(), p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAHaltedChainKeepsItsDepositsAndOthersGoOn(t *testing.T) {
	t.Parallel()
	other, third := chain.ID("sim:y").Native(), chain.ID("sim:z").Native()
	broken := errors.New("no answer")
	st := &table{
		lying:  map[chain.Asset][]treasury.Lying{on.Native(): {lie(1, 100, 0)}, other: {lie(2, 100, 0)}, third: {lie(3, 100, 0)}},
		halted: map[chain.ID]string{on: "an operator looks"}, err: map[chain.ID]error{"sim:y": broken},
	}
	err := sweeper(t, st, tariff{each: 1}, on.Native(), other, third).Step(t.Context(), start)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if len(st.wished) != 1 || st.wished[0].Call.Chain != "sim:z" {
		t.Errorf("wished %+v", st.wished)
	}
}

func TestAWorkerThatWasOvertakenIsNoTrouble(t *testing.T) {
	t.Parallel()
	st := &table{lying: map[chain.Asset][]treasury.Lying{on.Native(): {lie(1, 100, 0)}}, refuse: fmt.Errorf("d-1: %w", treasury.ErrStale)}
	if err := sweeper(t, st, tariff{each: 1}, on.Native()).Step(t.Context(), start); err != nil {
		t.Error(err)
	}
	st.refuse = send.ErrDiffers
	if err := sweeper(t, st, tariff{each: 1}, on.Native()).Step(t.Context(), start); !errors.Is(err, send.ErrDiffers) {
		t.Errorf("got %v", err)
	}
	dear := errors.New("no price")
	if err := sweeper(t, st, tariff{err: dear}, on.Native()).Step(t.Context(), start); !errors.Is(err, dear) {
		t.Errorf("got %v", err)
	}
}

func TestBringingHomeWithoutLimitsIsRefused(t *testing.T) {
	t.Parallel()
	ports := treasury.SweepPorts{Store: &table{}, Valuer: par{}, Assets: []chain.Asset{on.Native()}, Chains: map[chain.ID]treasury.Coster{on: tariff{}}}
	for name, spoil := range map[string]func(*treasury.SweepConfig, *treasury.SweepPorts){
		"no account":      func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.Account = "" },
		"no least":        func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.Least = 0 },
		"enough is less":  func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.Enough = c.Least - 1 },
		"no age":          func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.Age = 0 },
		"no sources":      func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.Sources = 0 },
		"endless sources": func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.Sources = 10_000 },
		"none at once":    func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.AtOnce = 0 },
		"at any price":    func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.Share = 0 },
		"no budget":       func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.FeeFactor = 0 },
		"no hurry":        func(c *treasury.SweepConfig, _ *treasury.SweepPorts) { c.Hurry = 0 },
		"no limit signed": func(c *treasury.SweepConfig, _ *treasury.SweepPorts) {
			c.Signed = map[chain.ID]treasury.FeeLimit{on: {}}
		},
		"no assets":      func(_ *treasury.SweepConfig, p *treasury.SweepPorts) { p.Assets = nil },
		"unserved chain": func(_ *treasury.SweepConfig, p *treasury.SweepPorts) { p.Chains = nil },
	} {
		c, p := sweeping(), ports
		spoil(&c, &p)
		if _, err := treasury.NewSweeper(c, p); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := treasury.NewSweeper(sweeping(), ports); err != nil {
		t.Error(err)
	}
}

// What an order waits for comes home at once, though it is little, also what was deposited
// for others; what would not pay for its way does not.
func TestWhatIsAwaitedIsBroughtHomeAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		lying   []treasury.Lying
		awaited bool
		costs   uint64
		busy    int // of two at once
		want    string
	}{
		{"little", []treasury.Lying{lie(3, 2, 0)}, true, 1, 1, "[[3]]"},
		{"nobody waits", []treasury.Lying{lie(3, 2, 0)}, false, 1, 1, "[]"},
		{"two at once", []treasury.Lying{lie(4, 5, 0), lie(3, 2, 0)}, true, 1, 1, "[[4 3]]"},
		{"less than it costs", []treasury.Lying{lie(3, 2, 0)}, true, 3, 1, "[]"},
		{"as many on their way as may be", []treasury.Lying{lie(3, 2, 0)}, true, 1, 2, "[]"},
		{"nothing", nil, true, 1, 1, "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := chain.Asset{Chain: "sim:a", Ref: "usd"}
			s := &table{lying: map[chain.Asset][]treasury.Lying{a: c.lying}, sweeping: c.busy, awaited: c.awaited}
			w, err := treasury.NewSweeper(sweeping(), treasury.SweepPorts{
				Store: s, Valuer: par{}, Chains: map[chain.ID]treasury.Coster{a.Chain: tariff{each: c.costs}}, Assets: []chain.Asset{a},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Step(t.Context(), start); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(s.emptied()); got != c.want {
				t.Errorf("addresses %s were emptied, not %s", got, c.want)
			}
		})
	}
}
