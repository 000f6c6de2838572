package quorum_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"ferry/internal/family/quorum"
)

var errDown = errors.New("down")

func rule(t *testing.T, nodes, need int) quorum.Rule {
	t.Helper()
	r, err := quorum.New(nodes, need)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// said makes answers; -1 is an error.
func said(vs ...int) []quorum.Answer[int] {
	out := make([]quorum.Answer[int], len(vs))
	for i, v := range vs {
		out[i].Value = v
		if v < 0 {
			out[i] = quorum.Answer[int]{Err: errDown}
		}
	}
	return out
}

func TestARuleWithoutSenseIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]int{{3, 0}, {3, 4}, {0, 0}, {0, 1}, {3, -1}} {
		if _, err := quorum.New(c[0], c[1]); err == nil {
			t.Errorf("%d of %d was taken", c[1], c[0])
		}
	}
	if r := rule(t, 3, 2); r.Nodes() != 3 || r.Need() != 2 {
		t.Errorf("%+v", r)
	}
}

func TestOnlyWhatEnoughNodesSayIsBelieved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		need    int
		answers []quorum.Answer[int]
		want    int // -1 is unknown
	}{
		{"all agree", 2, said(5, 5, 5), 5},
		{"one lies", 2, said(5, 9, 5), 5},
		{"the first lies", 2, said(9, 5, 5), 5},
		{"one is down", 2, said(-1, 5, 5), 5},
		{"two are down", 2, said(-1, 5, -1), -1},
		{"all are down", 2, said(-1, -1, -1), -1},
		{"one is down and one lies", 2, said(-1, 5, 6), -1},
		{"all differ", 2, said(1, 2, 3), -1},
		{"an error is not the zero answer", 2, said(-1, -1, 0), -1},
		{"zero is an answer", 2, said(0, 0, -1), 0},
		{"all must agree", 3, said(5, 5, 6), -1},
		{"two quorums at once", 2, said(5, 5, 6, 6), -1},
		{"one is enough only where the rule says so", 1, said(-1, -1, 4), 4},
		{"one is enough and they differ", 1, said(4, 5, -1), -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := quorum.Same(rule(t, len(c.answers), c.need), c.answers)
			if c.want < 0 {
				if !errors.Is(err, quorum.ErrUnknown) || got != 0 {
					t.Fatalf("got %d, %v", got, err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("got %d, %v", got, err)
			}
		})
	}
}

func TestTheErrorKeepsWhatTheNodesSaid(t *testing.T) {
	t.Parallel()
	_, err := quorum.Same(rule(t, 3, 2), said(-1, 5, -1))
	if !errors.Is(err, errDown) || !errors.Is(err, quorum.ErrUnknown) {
		t.Fatal(err)
	}
}

func TestReachedIsWhatEnoughNodesHave(t *testing.T) {
	t.Parallel()
	up := func(vs ...int) (uint64, error) {
		var out []quorum.Answer[uint64]
		for _, a := range said(vs...) {
			out = append(out, quorum.Answer[uint64]{Value: uint64(max(0, a.Value)), Err: a.Err})
		}
		return quorum.Reached(rule(t, len(vs), 2), out)
	}
	for _, c := range []struct {
		answers []int
		want    uint64
	}{{[]int{10, 10, 10}, 10}, {[]int{999, 10, 9}, 10}, {[]int{10, 0, 10}, 10}, {[]int{-1, 10, 8}, 8}, {[]int{3, 999, 998}, 998}} {
		if got, err := up(c.answers...); err != nil || got != c.want {
			t.Errorf("%v: got %d, %v, want %d", c.answers, got, err, c.want)
		}
	}
	if _, err := up(-1, -1, 7); !errors.Is(err, quorum.ErrUnknown) {
		t.Error(err)
	}
}

func TestMiddleIsNotMovedByOne(t *testing.T) {
	t.Parallel()
	r := rule(t, 3, 2)
	for _, c := range []struct {
		answers []quorum.Answer[int]
		want    int
	}{{said(5, 5, 9000), 5}, {said(0, 5, 6), 5}, {said(-1, 5, 6), 6}} {
		if got, err := quorum.Middle(r, c.answers, cmp.Compare[int]); err != nil || got != c.want {
			t.Errorf("got %d, %v, want %d", got, err, c.want)
		}
	}
	if _, err := quorum.Middle(r, said(-1, -1, 6), cmp.Compare[int]); !errors.Is(err, quorum.ErrUnknown) {
		t.Error(err)
	}
}

func TestShownIsWhatEnoughNodesShow(t *testing.T) {
	t.Parallel()
	r := rule(t, 3, 2)
	lists := []quorum.Answer[[]int]{{Value: []int{1, 2, 2, 9, 9}}, {Value: []int{2, 1}}, {Err: errDown}}
	got, err := quorum.Shown(r, lists)
	if err != nil || !slices.Equal(got, []int{1, 2}) {
		t.Fatalf("got %v, %v", got, err)
	}
	lists[1].Err = errDown
	if _, err := quorum.Shown(r, lists); !errors.Is(err, quorum.ErrUnknown) {
		t.Fatal(err)
	}
}

func TestHeardNeedsTheQuorum(t *testing.T) {
	t.Parallel()
	r := rule(t, 3, 2)
	if err := quorum.Heard(r, said(0, -1, 0)); err != nil {
		t.Error(err)
	}
	if err := quorum.Heard(r, said(0, -1, -1)); !errors.Is(err, quorum.ErrUnknown) {
		t.Error(err)
	}
}

func TestAnEndedContextAsksNobody(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	answers := quorum.Ask(ctx, rule(t, 3, 2), func(node int) (int, error) {
		asked++
		cancel()
		return node, nil
	})
	if asked != 1 || answers[0].Err != nil || !errors.Is(answers[2].Err, context.Canceled) {
		t.Fatalf("%d were asked: %v", asked, answers)
	}
}
