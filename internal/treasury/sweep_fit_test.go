package treasury_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/treasury"
)

// narrow is a chain that takes only so many addresses at once, and some of them never.
type narrow struct {
	tariff
	most  int
	never []uint32
	asked *int
}

func (c narrow) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	*c.asked++
	bad := func(s chain.Source) bool { return slices.Contains(c.never, s.Index) }
	if len(call.Sources) > c.most || slices.ContainsFunc(call.Sources, bad) {
		return money.Amount{}, fmt.Errorf("%w: %d addresses", send.ErrRefused, len(call.Sources))
	}
	return c.tariff.Cost(ctx, call)
}

// whole is a chain that empties an address whole or not at all.
type whole struct {
	tariff
	lying []treasury.Lying
}

func (whole) Whole(a chain.Asset) bool { return a.IsNative() }

func (c whole) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	for _, src := range call.Sources {
		n := 0
		for _, l := range c.lying {
			if l.Index == src.Index {
				n++
			}
		}
		if n != len(src.Deposits) {
			return money.Amount{}, fmt.Errorf("%w: something would be left", send.ErrRefused)
		}
	}
	return c.tariff.Cost(ctx, call)
}

func TestAnAddressFullOfDustIsEmptiedWhole(t *testing.T) {
	t.Parallel()
	lying := []treasury.Lying{lie(1, 150, 0)}
	for i := range 100 { // more than is looked at
		l := lie(1, 1, 0)
		l.ID = chain.DepositID(fmt.Sprintf("dust-%d", i))
		lying = append(lying, l)
	}
	for _, hurry := range []bool{false, true} {
		st := &table{lying: map[chain.Asset][]treasury.Lying{on.Native(): slices.Clone(lying)}}
		s := sweeper(t, marking{st}, whole{tariff{each: 1}, lying}, on.Native())
		if hurry {
			s.Hurry("", start)
		}
		if err := s.Step(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		if len(st.wished) != 1 || st.wished[0].Call.Amount != money.FromUint64(250) || len(st.lying[on.Native()]) != 0 {
			t.Errorf("wished %+v, and left %d", st.wished, len(st.lying[on.Native()]))
		}
	}
}

// coins is a chain on which each deposit is an input, of which so many fit.
type coins struct{ tariff }

func (c coins) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	n := 0
	for _, src := range call.Sources {
		n += len(src.Deposits)
	}
	if n > 30 {
		return money.Amount{}, fmt.Errorf("%w: %d coins", send.ErrRefused, n)
	}
	return c.tariff.Cost(ctx, call)
}

func TestAnAddressWithMoreDepositsThanFitIsEmptiedInParts(t *testing.T) {
	t.Parallel()
	var lying []treasury.Lying
	for i := range 40 {
		l := lie(1, 10, 0)
		l.ID = chain.DepositID(fmt.Sprintf("d-%02d", i))
		lying = append(lying, l)
	}
	st := &table{lying: map[chain.Asset][]treasury.Lying{on.Native(): lying}}
	cfg := sweeping()
	cfg.Sources, cfg.AtOnce = 10, 9
	s, err := treasury.NewSweeper(cfg, treasury.SweepPorts{
		Store: marking{st}, Valuer: par{}, Assets: []chain.Asset{on.Native()}, Chains: map[chain.ID]treasury.Coster{on: coins{tariff{each: 1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	told, err := s.Waiting(t.Context(), "", start)
	if err != nil || len(told) != 1 || told[0].Home != lot(1, 400) {
		t.Errorf("told %+v, %v", told, err)
	}
	for i := range 2 {
		if err := s.Step(t.Context(), start.Add(time.Duration(i))); err != nil {
			t.Fatal(err)
		}
	}
	if len(st.wished) != 2 || len(st.lying[on.Native()]) != 0 {
		t.Errorf("%d transfers leave %d deposits", len(st.wished), len(st.lying[on.Native()]))
	}
}

func TestWhatAChainDoesNotTakeAtOnceIsBroughtHomeInParts(t *testing.T) {
	t.Parallel()
	lying := []treasury.Lying{lie(5, 60, 0), lie(4, 50, 0), lie(3, 40, 0)}
	for _, c := range []struct {
		name    string
		most    int
		never   []uint32
		want    []uint32
		refused bool
	}{
		{"all fit", 3, nil, []uint32{5, 4, 3}, false},
		{"two fit", 2, nil, []uint32{5, 4}, false},
		{"one fits", 1, nil, []uint32{5}, false},
		{"the largest is refused", 3, []uint32{5}, []uint32{4, 3}, false},
		{"the largest is refused, and one fits", 1, []uint32{5}, []uint32{4}, false},
		{"one in the middle is refused", 3, []uint32{4}, []uint32{5}, false},
		{"only the last is taken", 3, []uint32{5, 4}, []uint32{3}, false},
		{"none is taken", 0, nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st, asked := &table{lying: map[chain.Asset][]treasury.Lying{on.Native(): lying}}, 0
			s := sweeper(t, st, narrow{tariff{each: 1}, c.most, c.never, &asked}, on.Native())
			if err := s.Step(t.Context(), start); errors.Is(err, send.ErrRefused) != c.refused || err != nil && !c.refused {
				t.Fatalf("the step says %v", err)
			}
			var got []uint32
			for _, w := range st.wished {
				checkSweep(t, w, lying)
				for _, src := range w.Call.Sources {
					got = append(got, src.Index)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v are emptied, not %v", got, c.want)
			}
			if most := 8; asked > most {
				t.Errorf("the chain was asked %d times", asked)
			}
		})
	}
}
