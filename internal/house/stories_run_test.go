package house

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"ferry/internal/ledger"
	"ferry/internal/order"
	"ferry/internal/store/pgtest"
	"ferry/internal/testseed"
)

// ending is what a story comes to: how the orders ended, and the books.
type ending struct {
	states map[order.ID]order.State
	books  map[ledger.Key]string
}

// run tells a story and says how it ended.
func run(ctx context.Context, s story, o Options, cut Cut) (ending, *Tale, error) {
	o.Chains, o.Sweep, o.Pools = s.chains, s.sweep, s.pools
	t, err := Tell(ctx, o, cut)
	if err != nil {
		return ending{}, nil, err
	}
	defer func() { _ = t.Close() }()
	if err := t.Run(s.tell); err != nil {
		return ending{}, t, err
	}
	return t.ending()
}

func (t *Tale) ending() (ending, *Tale, error) {
	e := ending{map[order.ID]order.State{}, map[ledger.Key]string{}}
	orders, err := t.DB.Orders(t.ctx, "", 1000)
	if err != nil {
		return e, t, err
	}
	for _, o := range orders {
		e.states[o.ID] = o.State
	}
	books, err := t.DB.Books(t.ctx)
	if err != nil {
		return e, t, err
	}
	for k, b := range books.Balances {
		if !b.IsZero() {
			e.books[k] = b.String()
		}
	}
	return e, t, nil
}

// feeBlind is the ending without what the networks took.
func (e ending) feeBlind() ending {
	books := maps.Clone(e.books)
	for k := range e.books {
		if k.Account == ledger.NetworkFee || (k.Account.Kind() == "hot" && k.Asset.IsNative()) {
			delete(books, k)
		}
	}
	return ending{e.states, books}
}

func (e ending) differs(s story, f ending) error {
	if raised[s.name] || s.sweep {
		e, f = e.feeBlind(), f.feeBlind()
	}
	if !maps.Equal(e.states, f.states) {
		return fmt.Errorf("orders ended as %v, not as %v", f.states, e.states)
	}
	if !maps.Equal(e.books, f.books) {
		return fmt.Errorf("the books are %v, not %v", f.books, e.books)
	}
	return nil
}

func TestStoriesOnSQLite(t *testing.T) {
	for _, s := range slices.Concat(stories, sweepStories, poolStories) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := run(t.Context(), s, Options{}, Cut{}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestStoriesOnPostgres(t *testing.T) {
	for _, s := range slices.Concat(stories, sweepStories, poolStories) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			want, _, err := run(t.Context(), s, Options{}, Cut{})
			if err != nil {
				t.Fatal(err)
			}
			got, tale, err := run(t.Context(), s, Options{URL: pgtest.URL(t)}, Cut{})
			if err != nil {
				t.Fatal(err)
			}
			if err := want.differs(s, got); err != nil {
				t.Fatalf("Postgres and SQLite differ: %v", err)
			}
			cutPostgres(t, s, want, tale)
		})
	}
}

// cutPostgres cuts a story at a few places spread over its length; SQLite is cut
// at every one.
func cutPostgres(t *testing.T, s story, want ending, tale *Tale) {
	for i, cut := range []Cut{{Room: "store"}, {Room: "store", After: true}, {Room: "chain"}, {Room: "chain", After: true}} {
		cut.N = tale.Crossings[cut.Room] * (i + 1) / 5
		got, _, err := run(t.Context(), s, Options{URL: pgtest.URL(t)}, cut)
		if err == nil {
			err = want.differs(s, got)
		}
		if err != nil {
			t.Fatalf("cut at %+v: %v", cut, err)
		}
	}
}

// ofASweep are the calls that bring deposits home. Stories about that are cut only
// there: all other calls are those of the other stories.
var ofASweep = map[string]bool{
	"Sweep": true, "Keep": true, "End": true, "Rest": true, "Bury": true, "Rewind": true, "Told": true, "Broadcast": true,
}

// TestCrashSweep cuts every story before and after every effect outside the daemon.
// A daemon that dies where it only reads leaves the same world behind as one that died
// after its last effect, so of those a few are cut besides.
func TestCrashSweep(t *testing.T) {
	seed := testseed.Of(t)
	for _, s := range slices.Concat(stories, sweepStories, poolStories) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			want, tale, err := run(t.Context(), s, Options{}, Cut{})
			if err != nil {
				t.Fatal(err)
			}
			cuts := everyCut(s, tale)
			stride := storyStride
			if s.pools {
				stride = poolStride
			}
			first := int(seed % uint64(stride))
			t.Logf("from cut %d of each %d", first, stride)
			for i := first; i < len(cuts); i += stride {
				got, told, err := run(t.Context(), s, Options{}, cuts[i])
				if err == nil {
					err = want.differs(s, got)
				}
				if err != nil {
					t.Fatalf("cut at %+v: %v", cuts[i], err)
				}
				if !told.WasCut {
					t.Fatalf("cut at %+v never came", cuts[i])
				}
			}
			t.Logf("%d of %d cuts", (len(cuts)-first+stride-1)/stride, len(cuts))
		})
	}
}

// everyCut are the cuts of a tale: all its effects, and some of where it reads.
func everyCut(s story, t *Tale) (cuts []Cut) {
	const readStride = 23
	for _, room := range []string{"store", "chain"} {
		for i, name := range t.Names[room] {
			acts := Crossing{Room: room, Name: name}.Acts() && (!s.sweep || ofASweep[name])
			if acts || !s.sweep && i%readStride == 0 {
				cuts = append(cuts, Cut{Room: room, N: i + 1}, Cut{Room: room, N: i + 1, After: true})
			}
		}
	}
	return cuts
}
