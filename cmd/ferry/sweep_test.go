package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"ferry/internal/api/operator"
	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/treasury"
)

// heap is somebody who brings home what lies on one chain.
type heap struct{}

func (heap) Waiting(_ context.Context, id chain.ID, _ time.Time) ([]treasury.Waiting, error) {
	if id != "" && id != "eip155:1" {
		return nil, treasury.ErrNoChain
	}
	return []treasury.Waiting{{
		Asset: chain.ID("eip155:1").Native(),
		Home:  treasury.Lot{Addresses: 2, Amount: money.FromUint64(900)}, Dust: treasury.Lot{Addresses: 1, Amount: money.FromUint64(3)},
	}}, nil
}

func (heap) Hurry(chain.ID, time.Time) {}

func lot(n int, amount string) operator.Lot { return operator.Lot{Addresses: n, Amount: amount} }

func TestBringingHomeSaysWhatBecomesOfEachAsset(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	f := officeFlags{}
	all := operator.Sweeps{Assets: []operator.Unswept{
		{Asset: "eip155:1/native", Sweep: lot(3, "900"), Dust: lot(2, "5"), Failed: lot(1, "77")},
		{Asset: "eip155:10/native", Held: lot(4, "8"), Why: "no sweeper is configured"},
		{Asset: "solana:x/native", Sweep: lot(10_000, "1"), Underway: 2, More: true},
	}}
	for _, c := range []struct {
		all  operator.Sweeps
		want []string
	}{
		{operator.Sweeps{}, []string{"nothing lies on deposit addresses"}},
		{all, []string{
			"eip155:1/native   3              900     is brought home now\n", "2              5       is dust", "1              77      was not brought home before",
			"eip155:10/native  4              8       stays: no sweeper is configured", "10000 or more", "is on its way already, in transfers: 2",
		}},
	} {
		text.Reset()
		if err := f.print(&output{Out: &text}, c.all, func(w io.Writer) { showUnswept(w, c.all) }); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q is not in\n%s", want, text.String())
			}
		}
	}
}

func TestWaitingEndsWhenEverythingIsHome(t *testing.T) {
	t.Parallel()
	before, after := "2026-01-01T00:00:00.000Z", "2026-01-01T00:15:00.000Z"
	asks := operator.Sweeps{Assets: []operator.Unswept{
		{Asset: "a", Sweep: lot(1, "5")}, {Asset: "b", Underway: 1}, {Asset: "c", Dust: lot(1, "1")}, {Asset: "d", Failed: lot(1, "9"), RetryAt: &before},
	}}
	for _, c := range []struct {
		name  string
		looks []operator.Sweeps // the last one stays
		told  string
		err   error
	}{
		{"all at once", []operator.Sweeps{{}}, "a: home, 5 from 1 addresses\nb: home\nd: home, 9 from 1 addresses\n", nil},
		{"one after another", []operator.Sweeps{
			asks, // nobody has looked yet
			{Assets: []operator.Unswept{{Asset: "a", Underway: 1}, {Asset: "d", Underway: 1}}},
			{Assets: []operator.Unswept{{Asset: "a", Dust: lot(1, "1")}, {Asset: "d", Underway: 1}}},
			{},
		}, "b: home\na: home, 5 from 1 addresses\nd: home, 9 from 1 addresses\n", nil},
		{"one fails again", []operator.Sweeps{
			{Assets: []operator.Unswept{{Asset: "d", Failed: lot(1, "9"), RetryAt: &before}}},
			{Assets: []operator.Unswept{{Asset: "d", Failed: lot(1, "9"), RetryAt: &after}}},
		}, "a: home, 5 from 1 addresses\nb: home\nd: 9 on 1 addresses was not brought home\n", errUnswept},
		{
			"one is held",
			[]operator.Sweeps{{Assets: []operator.Unswept{{Asset: "b", Held: lot(2, "7"), Why: "the chain is halted"}}}},
			"a: home, 5 from 1 addresses\nb: 7 on 2 addresses stays: the chain is halted\nd: home, 9 from 1 addresses\n", errTooLong,
		},
		{"one never goes", []operator.Sweeps{{Assets: []operator.Unswept{{Asset: "a", Sweep: lot(1, "5")}}}}, "b: home\nd: home, 9 from 1 addresses\n", errTooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var told strings.Builder
			n := 0
			l := lookout{func(context.Context) (operator.Sweeps, error) {
				n++
				return c.looks[min(n, len(c.looks))-1], nil
			}, &told, time.Millisecond, 50 * time.Millisecond}
			if _, err := l.wait(t.Context(), asks); !errors.Is(err, c.err) || told.String() != c.told {
				t.Errorf("told %q and %v, want %q and %v", told.String(), err, c.told, c.err)
			}
		})
	}
	broken := errors.New("no answer")
	l := lookout{func(context.Context) (operator.Sweeps, error) { return operator.Sweeps{}, broken }, &strings.Builder{}, time.Millisecond, time.Hour}
	if _, err := l.wait(t.Context(), asks); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.wait(ctx, asks); err == nil {
		t.Error("who went away is waited for")
	}
}
