package treasury_test

import (
	"fmt"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/house"
	"ferry/internal/order"
	"ferry/internal/store/pgtest"
	"ferry/internal/testseed"
)

// TestWhateverHappensTheBooksAreTheChainsSweep lets users pay, chains go back and daemons
// die at random. After every step the house is audited, in its own way and in the
// treasury's: each difference between books and chains must be explained.
func TestWhateverHappensTheBooksAreTheChainsSweep(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	for i := range histories {
		seed := rng.Uint64()
		url := ""
		if i == 0 {
			url = pgtest.URL(t)
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			h := &history{t: t, rng: newRand(seed)}
			room := []string{"store", "chain"}[h.rng.IntN(2)]
			cut := house.Cut{Room: room, After: h.rng.IntN(2) == 0, N: 50 + h.rng.IntN(1500)}
			tl, err := house.Tell(t.Context(), house.Options{URL: url, Seed: seed, Sweep: true}, cut)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { tl.Close() })
			if err := tl.Run(h.live); err != nil {
				t.Fatal(err)
			}
			if h.swept == 0 {
				t.Error("nothing was brought home")
			}
		})
	}
}

// history is one that is being made.
type history struct {
	t     *testing.T
	rng   interface{ IntN(int) int }
	swept int
}

var pairs = []house.Terms{
	{Give: house.EVMUSD, Get: house.Sol, Back: true},
	{Give: house.ETH, Get: house.SOLUSD, Back: true},
	{Give: house.Coin, Get: house.EVMUSD, Back: true},
	{Give: house.SOLUSD, Get: house.Coin, Back: true},
	{Give: house.Sol, Get: house.ETH, Back: true},
}

// hundred is about a hundred dollars of each asset.
var hundred = map[chain.Asset]uint64{
	house.EVMUSD: 100_000_000, house.SOLUSD: 100_000_000, house.ETH: 33_000_000, house.Coin: 111_000, house.Sol: 666_000_000,
}

func (h *history) live(t *house.Tale) {
	var open []order.ID
	for range 25 {
		switch h.rng.IntN(8) {
		case 0, 1, 2:
			w := pairs[h.rng.IntN(len(pairs))]
			w.In = hundred[w.Give] * uint64(1+h.rng.IntN(20))
			id := t.Create(w)
			t.Pay(id, w.Give, w.In/uint64(1+h.rng.IntN(2)))
			open = append(open, id)
		case 3: // once more, or late
			if len(open) > 0 {
				id := open[h.rng.IntN(len(open))]
				t.Pay(id, t.Order(id).Quote.Give, hundred[t.Order(id).Quote.Give])
			}
		case 4:
			n := t.Nets[h.rng.IntN(len(t.Nets))]
			depth := 1 + h.rng.IntN(3)
			if n.Shape() != sim.Expiring && h.rng.IntN(4) == 0 {
				depth = n.Config().FinalDepth + 1 + h.rng.IntN(5)
			}
			if int(n.Height()) > depth+1 {
				t.Reorg(n.ID(), depth, sim.ReorgOptions{Empty: h.rng.IntN(2) == 0})
			}
			if err := t.DB.Resume(h.t.Context(), n.ID()); err != nil { // the operator has looked
				h.t.Fatal(err)
			}
		default:
			t.Wait(time.Duration(1+h.rng.IntN(10))*time.Minute, h.rng.IntN(9))
		}
	}
	for _, n := range t.Nets {
		if err := t.DB.Resume(h.t.Context(), n.ID()); err != nil {
			h.t.Fatal(err)
		}
	}
	for range 4 {
		t.Wait(10*time.Minute, 10)
	}
	t.Quiet()
	h.count(t)
}

// count counts what was brought home.
func (h *history) count(t *house.Tale) {
	all, err := t.DB.Transfers(h.t.Context(), "", 10_000)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range all {
		if len(r.Transfer.Call.Sources) > 0 && r.Result.Fate == chain.Final {
			h.swept++
		}
	}
	for _, a := range t.Assets {
		found, err := views(h.t, t.House).Audit(h.t.Context())
		if err != nil {
			h.t.Fatal(err)
		}
		for _, f := range found {
			for _, l := range f.Lines {
				if l.Asset == a && (l.Unexplained.Sign() != 0 || l.Books.Cmp(l.Chain) != 0) {
					h.t.Errorf("when all is quiet %s in %s has %s in the books and %s on the chain", l.Where, a, l.Books, l.Chain)
				}
			}
		}
	}
}
