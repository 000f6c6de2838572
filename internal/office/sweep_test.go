package office_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/treasury"
)

// sweeps is somebody who brings deposits home, and remembers who was in a hurry.
type sweeps struct {
	rig     *rig
	err     error
	hurried []chain.ID
	entries int // that were written when the first was in a hurry
}

func (s *sweeps) Waiting(_ context.Context, id chain.ID, now time.Time) ([]treasury.Waiting, error) {
	if !now.Equal(s.rig.now.Truncate(time.Microsecond)) {
		s.rig.Errorf("asked for %s", now)
	}
	if id == "sim:none" {
		return nil, treasury.ErrNoChain
	}
	lot := func(n int, v uint64) treasury.Lot { return treasury.Lot{Addresses: n, Amount: money.FromUint64(v)} }
	return []treasury.Waiting{
		{Asset: chain.ID("sim:a").Native(), Home: lot(2, 30), Failed: lot(1, 5), Dust: lot(9, 9)},
		{Asset: chain.ID("sim:b").Native(), Dust: lot(4, 4)},
	}, s.err
}

func (s *sweeps) Hurry(id chain.ID, _ time.Time) {
	s.hurried, s.entries = append(s.hurried, id), len(s.rig.entries())
}

func TestAHurryIsWrittenDownBeforeItBegins(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.Sweep(t.Context(), "", "alice")
	refused(t, err, "sweep_not_possible", "")
	_, err = r.Unswept(t.Context(), "")
	refused(t, err, "sweep_not_possible", "")
	s := &sweeps{rig: r}
	r.Office = r.With(s)
	if got, err := r.Unswept(t.Context(), ""); err != nil || len(got) != 2 || len(s.hurried) != 0 || len(r.entries()) != 0 {
		t.Fatalf("only to look: %+v, %v, hurried %v", got, err, s.hurried)
	}
	_, err = r.Sweep(t.Context(), "sim:none", "alice")
	refused(t, err, "chain_not_found", "")
	_, err = r.Sweep(t.Context(), "", "a\nb")
	refused(t, err, "invalid_field", "operator")
	if len(s.hurried) != 0 || len(r.entries()) != 0 {
		t.Fatalf("what was refused was done: %v", s.hurried)
	}
	for _, id := range []chain.ID{"", "sim:a"} {
		got, err := r.Sweep(t.Context(), id, "alice")
		if err != nil || len(got) != 2 || got[0].Home.Addresses != 2 {
			t.Fatalf("got %+v, %v", got, err)
		}
		want := office.Entry{By: "alice", Action: office.HurriedSweep, Target: string(id), Before: "{}", After: `{"sim:a/native":"35 on 3 addresses"}`}
		if id == "" {
			want.Target = "all chains"
		}
		if e := r.last(); e.By != want.By || e.Action != want.Action || e.Target != want.Target || e.After != want.After || int(e.Seq) != s.entries {
			t.Errorf("written down %+v, want %+v", e, want)
		}
	}
	if !slices.Equal(s.hurried, []chain.ID{"", "sim:a"}) {
		t.Errorf("hurried %v", s.hurried)
	}
	// Nothing is hurried that is not written down.
	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Sweep(t.Context(), "", "alice"); err == nil || len(s.hurried) != 2 {
		t.Errorf("with no log: %v, hurried %v", err, s.hurried)
	}
	s.err = errors.New("no answer")
	if _, err := r.Sweep(t.Context(), "", "alice"); !errors.Is(err, s.err) {
		t.Errorf("got %v", err)
	}
}
