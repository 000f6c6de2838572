package watch

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

func TestTiersThatBelieveTooEarlyAreRefused(t *testing.T) {
	d := money.Dollar
	for name, tiers := range map[string][]Tier{
		"none":               nil,
		"zero confirmations": {{Confirmations: 0}},
		"zero in the middle": {{UpTo: d, Confirmations: 1}, {Confirmations: 0}},
		"bounded last":       {{UpTo: d, Confirmations: 1}},
		"unbounded first":    {{Confirmations: 1}, {Confirmations: 2}},
		"descending value":   {{UpTo: 5 * d, Confirmations: 1}, {UpTo: 2 * d, Confirmations: 2}, {Confirmations: 3}},
		"descending depth":   {{UpTo: 5 * d, Confirmations: 3}, {Confirmations: 2}},
		"negative value":     {{UpTo: -1, Confirmations: 3}, {Confirmations: 3}},
	} {
		if err := CheckTiers(tiers); !errors.Is(err, ErrTiers) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := New(Config{Chain: "c", Tiers: tiers, Window: 10}, Ports{}); err == nil {
			t.Errorf("%s: a watcher was made", name)
		}
	}
	good := []Tier{{UpTo: d, Confirmations: 1}, {UpTo: 2 * d, Confirmations: 3}, {Confirmations: 6, Finalized: true}}
	if err := CheckTiers(good); err != nil {
		t.Error(err)
	}
	if _, err := New(Config{Chain: "c", Tiers: good, Window: 5}, Ports{}); err == nil {
		t.Error("a window that forgets before it believes was accepted")
	}
}

func TestDepthIsAskedByValue(t *testing.T) {
	tiers := []Tier{{UpTo: money.Dollar, Confirmations: 1}, {UpTo: 2 * money.Dollar, Confirmations: 3}, {Confirmations: 6, Finalized: true}}
	for _, c := range []struct {
		usd                  money.USD
		known                bool
		height, depth, final uint64
		ripe                 bool
	}{
		{money.Dollar, true, 10, 1, 0, true},
		{money.Dollar, true, 10, 0, 0, false},
		{money.Dollar + 1, true, 10, 2, 0, false},
		{money.Dollar + 1, true, 10, 3, 0, true},
		{money.Dollar, false, 10, 3, 12, false}, // a value nobody knows is the largest
		{9 * money.Dollar, true, 10, 6, 9, false},
		{9 * money.Dollar, true, 10, 6, 10, true},
		{9 * money.Dollar, true, 10, 5, 10, false},
		{9 * money.Dollar, true, 0, 99, 99, false}, // still in the mempool
	} {
		s := Sight{Depth: c.depth}
		if c.height > 0 {
			s.Deposit.Block = chain.Block{Height: c.height, Hash: "h"}
		}
		if got := tierFor(tiers, c.usd, c.known).ripe(s, c.final); got != c.ripe {
			t.Errorf("%+v: ripe %v", c, got)
		}
	}
}

func TestFactsSayThatEarlierSightingsAreGone(t *testing.T) {
	names := func(s Sight) []string {
		var out []string
		for _, f := range facts(s) {
			out = append(out, f.event.Key())
		}
		return out
	}
	p := func(n int, s Stage) Point { return Point{n, s} }
	for _, c := range []struct {
		told, now Point
		want      []string
	}{
		{Point{}, p(1, Seen), []string{"seen:d#1"}},
		{Point{}, p(1, Final), []string{"final:d#1"}},
		{Point{}, p(1, Gone), []string{"gone:d#1"}}, // the order may have heard more than was noted
		{Point{}, p(2, Seen), []string{"gone:d#1", "seen:d#2"}},
		{p(1, Seen), p(1, Seen), nil},
		{p(1, Seen), p(1, Final), []string{"final:d#1"}},
		{p(1, Seen), p(1, Gone), []string{"gone:d#1"}},
		{p(1, Seen), p(2, Seen), []string{"gone:d#1", "seen:d#2"}},
		{p(1, Gone), p(2, Seen), []string{"seen:d#2"}},
		{p(1, Gone), p(3, Final), []string{"gone:d#2", "final:d#3"}},
		{p(1, Final), p(1, Gone), []string{"gone:d#1"}},
		{p(1, Final), p(2, Seen), []string{"gone:d#1", "seen:d#2"}},
		{p(1, Final), p(2, Final), []string{"gone:d#1", "final:d#2"}},
	} {
		s := Sight{Deposit: chain.Deposit{ID: "d"}, Order: order.ID("o"), Told: c.told, Now: c.now}
		if diff := cmp.Diff(c.want, names(s)); diff != "" {
			t.Errorf("told %v, now %v: %s", c.told, c.now, diff)
		}
		if fs := facts(s); len(fs) > 0 && fs[len(fs)-1].after != c.now {
			t.Errorf("told %v, now %v: ends at %v", c.told, c.now, fs[len(fs)-1].after)
		}
	}
}
