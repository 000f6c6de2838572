package treasury_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/testseed"
	"ferry/internal/treasury"
)

// marking is a table that knows what is on its way, as a store does.
type marking struct{ *table }

func (s marking) Unswept(_ context.Context, a chain.Asset, n int, now time.Time) (free []treasury.Lying, err error) {
	for _, l := range s.lying[a] {
		if !l.After.After(now) && len(free) < n {
			free = append(free, l)
		}
	}
	return free, s.err[a.Chain]
}

func (s marking) Sweep(_ context.Context, t send.Transfer, _ time.Time) error {
	all := s.lying[t.Call.Asset]
	for _, src := range t.Call.Sources {
		for _, id := range src.Deposits {
			i := slices.IndexFunc(all, func(l treasury.Lying) bool { return l.ID == id })
			if i < 0 {
				return fmt.Errorf("%s: %w", id, treasury.ErrStale)
			}
			all = slices.Delete(all, i, i+1)
		}
	}
	s.lying[t.Call.Asset] = all
	s.wished = append(s.wished, t)
	s.sweeping++
	return nil
}

// emptied are the addresses of each transfer that was wished.
func (s *table) emptied() (all [][]uint32) {
	for _, w := range s.wished {
		var of []uint32
		for _, src := range w.Call.Sources {
			of = append(of, src.Index)
		}
		all = append(all, of)
	}
	return all
}

// flat is what a call costs however many addresses it empties, and for each of them.
type flat struct {
	tariff
	base uint64
}

func (c flat) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	n, err := c.tariff.Cost(ctx, call)
	if err != nil {
		return n, err
	}
	return n.Add(money.FromUint64(c.base))
}

func lot(addresses int, amount uint64) treasury.Lot {
	return treasury.Lot{Addresses: addresses, Amount: money.FromUint64(amount)}
}

func failed(l treasury.Lying, at time.Time) treasury.Lying {
	l.After = at.Add(treasury.Pause)
	return l
}

func TestAHurryBringsHomeWhateverPaysForItsWay(t *testing.T) {
	t.Parallel()
	ago := start.Add(-time.Minute)
	for _, c := range []struct {
		name  string
		lying []treasury.Lying
		costs flat
		open  int
		want  [][]uint32
		told  treasury.Waiting
	}{
		{"nothing lies there", nil, flat{tariff{each: 1}, 0}, 0, nil, treasury.Waiting{}},
		{"neither old nor enough", []treasury.Lying{lie(1, 6, 0)}, flat{tariff{each: 5}, 0}, 0, [][]uint32{{1}}, treasury.Waiting{Home: lot(1, 6)}},
		{"exactly what it costs", []treasury.Lying{lie(1, 6, 0)}, flat{tariff{each: 6}, 0}, 0, [][]uint32{{1}}, treasury.Waiting{Home: lot(1, 6)}},
		{"it costs more than it brings", []treasury.Lying{lie(1, 6, 0)}, flat{tariff{each: 7}, 0}, 0, nil, treasury.Waiting{Dust: lot(1, 6)}},
		{
			"dust beside what pays",
			[]treasury.Lying{lie(1, 90, 0), lie(2, 6, 0)},
			flat{tariff{each: 7}, 0},
			0,
			[][]uint32{{1}},
			treasury.Waiting{Home: lot(1, 90), Dust: lot(1, 6)},
		},
		{
			"two bear together what one alone can not",
			[]treasury.Lying{lie(1, 6, 0), lie(2, 6, 0)},
			flat{tariff{each: 1}, 9},
			0,
			[][]uint32{{1, 2}},
			treasury.Waiting{Home: lot(2, 12)},
		},
		{
			"one leaves, and the other can not bear it alone",
			[]treasury.Lying{lie(1, 6, 0), lie(2, 4, 0)},
			flat{tariff{each: 1}, 9},
			0,
			nil,
			treasury.Waiting{Dust: lot(2, 10)},
		},
		{
			"more than one transfer empties",
			[]treasury.Lying{lie(5, 9, 0), lie(4, 8, 0), lie(3, 7, 0), lie(2, 6, 0), lie(1, 1, 0)},
			flat{tariff{each: 2}, 0},
			0,
			[][]uint32{{5, 4, 3}, {2}},
			treasury.Waiting{Home: lot(4, 30), Dust: lot(1, 1)},
		},
		{
			"some are on their way",
			[]treasury.Lying{lie(4, 8, 0), lie(3, 7, 0), lie(2, 6, 0), lie(1, 5, 0)},
			flat{tariff{each: 1}, 0},
			1,
			[][]uint32{{4, 3, 2}},
			treasury.Waiting{Home: lot(4, 26), Underway: 1},
		},
		{
			"what failed before is tried again",
			[]treasury.Lying{failed(lie(1, 8, 0), ago), lie(2, 7, 0)},
			flat{tariff{each: 1}, 0},
			0,
			[][]uint32{{1, 2}},
			treasury.Waiting{Home: lot(1, 7), Failed: lot(1, 8), Until: ago.Add(treasury.Pause)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := &table{lying: map[chain.Asset][]treasury.Lying{on.Native(): slices.Clone(c.lying)}, sweeping: c.open}
			s := sweeper(t, marking{st}, c.costs, on.Native())
			told, err := s.Waiting(t.Context(), "", start)
			if err != nil {
				t.Fatal(err)
			}
			c.told.Asset = on.Native()
			if c.told.IsZero() != (len(told) == 0) || (len(told) > 0 && told[0] != c.told) {
				t.Errorf("told %+v, want %+v", told, c.told)
			}
			s.Hurry("", start)
			s.Hurry(on, start) // twice is once
			for range 3 {
				if err := s.Step(t.Context(), start.Add(time.Second)); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.EqualFunc(st.emptied(), c.want, slices.Equal) {
				t.Errorf("emptied %v, want %v", st.emptied(), c.want)
			}
			for _, w := range st.wished {
				if cost, _ := c.costs.Cost(t.Context(), w.Call); w.Call.Amount.Less(cost) {
					t.Errorf("%s is brought home for %s", w.Call.Amount, cost)
				}
			}
		})
	}
}

func TestAHurryBringsNothingHomeThatWouldNotBeSigned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lying []treasury.Lying
		each  uint64
		want  [][]uint32
	}{
		{"a small fee", []treasury.Lying{lie(1, 8, 0)}, 7, [][]uint32{{1}}},
		{"exactly as much as is signed", []treasury.Lying{lie(1, 80, 0)}, 8, [][]uint32{{1}}},
		{"too much of it", []treasury.Lying{lie(1, 79, 0)}, 8, nil},
		{"too much of one", []treasury.Lying{lie(1, 80, 0), lie(2, 79, 0)}, 8, [][]uint32{{1}}},
	} {
		st := &table{lying: map[chain.Asset][]treasury.Lying{on.Native(): c.lying}}
		cfg := sweeping()
		cfg.Signed = map[chain.ID]treasury.FeeLimit{on: {Share: money.Whole / 10, Small: money.FromUint64(7)}}
		s, err := treasury.NewSweeper(cfg, treasury.SweepPorts{
			Store: marking{st}, Valuer: par{}, Assets: []chain.Asset{on.Native()}, Chains: map[chain.ID]treasury.Coster{on: tariff{each: c.each}},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Hurry("", start)
		if err := s.Step(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(st.emptied(), c.want, slices.Equal) {
			t.Errorf("%s: emptied %v, want %v", c.name, st.emptied(), c.want)
		}
	}
}

func TestAHurryIsOverWhenNothingPaysForItsWay(t *testing.T) {
	t.Parallel()
	st := &table{lying: map[chain.Asset][]treasury.Lying{on.Native(): {lie(1, 6, 0)}}}
	s := sweeper(t, marking{st}, tariff{each: 1}, on.Native())
	step := func(after time.Duration, n int) {
		t.Helper()
		if err := s.Step(t.Context(), start.Add(after)); err != nil {
			t.Fatal(err)
		}
		if len(st.wished) != n {
			t.Fatalf("%d transfers after %s, want %d", len(st.wished), after, n)
		}
	}
	step(0, 0)
	s.Hurry("", start)
	step(1, 1)
	st.sweeping = 0
	st.lying[on.Native()] = []treasury.Lying{lie(2, 6, 0)}
	step(time.Minute, 1) // who pays later waits as always
	s.Hurry("", start)
	step(11*time.Minute, 1) // whoever was in a hurry has gone home
	s.Hurry("sim:other", start.Add(12*time.Minute))
	step(12*time.Minute, 1)
	s.Hurry(on, start.Add(13*time.Minute))
	step(14*time.Minute, 2)
	// What fails in a hurry is not tried again in it.
	s.Hurry(on, start)
	st.sweeping, st.lying[on.Native()] = 0, []treasury.Lying{failed(lie(3, 6, 0), start.Add(time.Second))}
	step(2*time.Second, 2)
}

func TestWhatKeepsDepositsFromHomeIsSaid(t *testing.T) {
	t.Parallel()
	lying := []treasury.Lying{lie(1, 90, 0), lie(2, 9, 0)}
	broken := errors.New("no answer of https://secret@node")
	for _, c := range []struct {
		name string
		st   *table
		cost treasury.Coster
		why  string
	}{
		{"a halt", &table{halted: map[chain.ID]string{on: "an operator looks"}}, tariff{each: 1}, "the chain is halted: an operator looks"},
		{"a refusal", &table{}, tariff{err: fmt.Errorf("%w: no sweeper", send.ErrRefused)}, "no sweeper"},
		{"a node", &table{}, tariff{err: broken}, "what it costs is not known now"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.st.lying = map[chain.Asset][]treasury.Lying{on.Native(): lying}
			got, err := sweeper(t, c.st, c.cost, on.Native()).Waiting(t.Context(), on, start)
			if err != nil || len(got) != 1 || got[0].Held != lot(2, 99) || !strings.Contains(got[0].Why, c.why) || strings.Contains(got[0].Why, "secret") {
				t.Errorf("told %+v, %v", got, err)
			}
		})
	}
	s := sweeper(t, &table{}, tariff{}, on.Native())
	if _, err := s.Waiting(t.Context(), "sim:other", start); !errors.Is(err, treasury.ErrNoChain) {
		t.Errorf("got %v", err)
	}
	if _, err := sweeper(t, &table{err: map[chain.ID]error{on: broken}}, tariff{}, on.Native()).Waiting(t.Context(), "", start); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// A hurry must never bring anything home at a loss, whatever lies there, and leave
// nothing that would have paid for a transfer of its own.
func TestRandomHurriesNeverLose(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	for range 300 {
		costs := flat{tariff{each: rng.Uint64N(8)}, rng.Uint64N(20)}
		most := 1 + rng.IntN(4)
		st := &table{lying: map[chain.Asset][]treasury.Lying{on.Native(): randomly(rng)}}
		asked := 0
		s := sweeper(t, marking{st}, narrowFlat{narrow{most: most, asked: &asked}, costs}, on.Native())
		s.Hurry("", start)
		for i := range 40 {
			st.sweeping = 0
			if err := s.Step(t.Context(), start.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range st.wished {
			if cost, _ := costs.Cost(t.Context(), w.Call); w.Call.Amount.Less(cost) {
				t.Fatalf("%s is brought home for %s", w.Call.Amount, cost)
			}
		}
		alone := money.FromUint64(costs.base + costs.each)
		left := map[uint32]money.Amount{}
		for _, l := range st.lying[on.Native()] {
			left[l.Index], _ = left[l.Index].Add(l.Amount)
		}
		for i, n := range left {
			if alone.Less(n) {
				t.Fatalf("%s on address %d would have paid %s for its way", n, i, alone)
			}
		}
	}
}

// narrowFlat is a chain that takes only so many addresses at once, with a price.
type narrowFlat struct {
	narrow
	costs flat
}

func (c narrowFlat) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	if _, err := c.narrow.Cost(ctx, call); err != nil {
		return money.Amount{}, err
	}
	return c.costs.Cost(ctx, call)
}

func randomly(rng *rand.Rand) (all []treasury.Lying) {
	for i := range rng.IntN(20) {
		l := lie(rng.Uint32N(12), 1+rng.Uint64N(30), 0)
		l.ID = chain.DepositID(fmt.Sprintf("d-%d", i))
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b treasury.Lying) int { return b.Amount.Cmp(a.Amount) })
	return all
}
