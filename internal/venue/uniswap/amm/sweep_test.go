package amm_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"ferry/internal/testseed"
	"ferry/internal/venue/uniswap/amm"
	"ferry/internal/venue/uniswap/ammtest"
)

// upTo is a number of at most so many bits, as often short as long.
func upTo(r *rand.Rand, most int) uint256.Int {
	var x uint256.Int
	for i := range x {
		x[i] = r.Uint64()
	}
	x.Rsh(&x, uint(256-1-r.IntN(most)))
	if x.IsZero() {
		x.SetOne()
	}
	return x
}

// randomPool is a pool with a few positions, some of them at the very ends.
func randomPool(t testing.TB, r *rand.Rand) *amm.Pool {
	t.Helper()
	f := ammtest.Fees[r.IntN(len(ammtest.Fees))]
	p := &amm.Pool{Fee: f.Fee, Spacing: f.Spacing}
	end := amm.MaxTick / f.Spacing
	center := r.Int32N(2*end-40) - end + 20
	if r.IntN(4) != 0 {
		center /= 10
	}
	width := []int32{3, 30, 300, 3000}[r.IntN(4)]
	near := func() int32 { return min(max(center+r.Int32N(2*width+1)-width, -end), end) }
	root, err := amm.RootAt(near() * f.Spacing)
	ok(t, err)
	if r.IntN(4) != 0 { // and else the price is that of a tick
		off := upTo(r, max(root.BitLen()-12, 1))
		root.Add(&root, &off)
	}
	if !root.Lt(&amm.MaxRoot) {
		root.SubUint64(&amm.MaxRoot, 1)
	}
	p.Root = root
	p.Tick, err = amm.TickAt(&root)
	ok(t, err)
	if r.IntN(8) == 0 && p.Root == rootOf(t, p.Tick) && p.Tick > amm.MinTick {
		p.Tick-- // as after a swap that fell on a tick
	}
	bits := 20 + r.IntN(90)
	for range 1 + r.IntN(12) {
		low, high := near(), near()
		if low > high {
			low, high = high, low
		}
		if r.IntN(10) == 0 || low == high {
			low, high = -end, end
		}
		amount := upTo(r, bits)
		ok(t, p.Add(low*f.Spacing, high*f.Spacing, &amount, false))
	}
	return p
}

func rootOf(t testing.TB, tick int32) uint256.Int {
	t.Helper()
	root, err := amm.RootAt(tick)
	ok(t, err)
	return root
}

// tally counts what was compared, so that a sweep that compared nothing fails.
type tally struct{ same, refused, short, crossed atomic.Int64 }

// amountFor is an amount that moves the price about as far as the positions of a pool
// reach. One in forty is any, and walks to the ends of the world where no limit stops it.
func amountFor(t testing.TB, r *rand.Rand, p *amm.Pool, down, exactIn bool) (_ uint256.Int, far bool) {
	t.Helper()
	way := p.Spacing * (1 + r.Int32N(600))
	if down {
		way = -way
	}
	limit := rootOf(t, min(max(p.Tick+way, amm.MinTick+1), amm.MaxTick-1))
	endless := new(uint256.Int).Lsh(uint256.NewInt(1), 254)
	trade, err := p.To(endless, down, exactIn, &limit)
	if err != nil || r.IntN(40) == 0 {
		return upTo(r, min(p.Liquidity.BitLen()+20, 256)), true
	}
	most := trade.Out
	if exactIn {
		most = trade.In
	}
	var amount uint256.Int
	part := uint256.NewInt(r.Uint64N(1100) + 1)
	if amount.MulDivOverflow(&most, part, uint256.NewInt(1000)); amount.IsZero() {
		amount.SetOne()
	}
	return amount, false
}

// comparePool asks for one swap of a pool in both ways.
func comparePool(t testing.TB, g *ammtest.Ground, r *rand.Rand, n *tally) {
	p := randomPool(t, r)
	g.PutPool(p)
	down, exactIn := r.IntN(2) == 0, r.IntN(2) == 0
	amount, far := amountFor(t, r, p, down, exactIn)
	var limit *uint256.Int
	// An EVM takes a tenth of a second to the ends, where ticks are close together.
	if r.IntN(6) == 0 || far && r.Int32N(p.Spacing+100) < 100 {
		at := rootOf(t, min(max(p.Tick+r.Int32N(4000)-2000, amm.MinTick), amm.MaxTick))
		limit = &at
	}
	want, root, err := g.Quoter(p, ammtest.Question{Amount: amount, Down: down, ExactIn: exactIn, Limit: limit})
	got, mine := p.To(&amount, down, exactIn, limit)
	other := got.Out
	if !exactIn {
		other = got.In
		if mine == nil && got.Short && limit == nil {
			mine = amm.ErrDry // the quoter refuses what can not be had whole
		}
	}
	switch {
	case (err == nil) != (mine == nil):
		t.Fatalf("pool %+v, amount %s, down %v, exact in %v, limit %v: the contract says %v (%s), we say %v (%+v)", p, amount.Dec(), down, exactIn, limit, err, want.Dec(), mine, got)
	case err != nil:
		n.refused.Add(1)
	case other != want || got.Root != root:
		t.Fatalf("pool %+v, amount %s, down %v, exact in %v, limit %v: the contract says %s at %s, we say %s at %s", p, amount.Dec(), down, exactIn, limit, want.Dec(), root.Dec(), other.Dec(), got.Root.Dec())
	default:
		n.same.Add(1)
		n.crossed.Add(int64(got.Crossed))
		if got.Short {
			n.short.Add(1)
		}
	}
}

// comparePair asks for a swap of a pair in both ways.
func comparePair(t testing.TB, g *ammtest.Ground, r *rand.Rand, n *tally) {
	p := &amm.Pair{Zero: upTo(r, 112), One: upTo(r, 112), Keep: 997, Of: 1000}
	if r.IntN(50) == 0 {
		p.Zero.Clear()
	}
	g.PutPair(p)
	amount := upTo(r, 120)
	if r.IntN(20) == 0 {
		amount = upTo(r, 256)
	}
	down := r.IntN(2) == 0
	way := g.Tokens[:]
	if !down {
		way = []common.Address{g.Tokens[1], g.Tokens[0]}
	}
	for _, exactIn := range []bool{true, false} {
		method, quote := "getAmountsOut", p.Quote
		if !exactIn {
			method, quote = "getAmountsIn", p.QuoteIn
		}
		data, err := g.Kit["UniswapV2Router02"].ABI.Pack(method, amount.ToBig(), way)
		ok(t, err)
		out, err := g.Ask(g.U.RouterV2, data)
		got, mine := quote(&amount, down)
		if (err == nil) != (mine == nil) {
			t.Fatalf("pair %+v, %s of %s, down %v: the contract says %v, we say %v", p, method, amount.Dec(), down, err, mine)
		}
		if err != nil {
			n.refused.Add(1)
			continue
		}
		at := 96 // the second of the amounts
		if !exactIn {
			at = 64
		}
		if want := new(uint256.Int).SetBytes32(out[at : at+32]); *want != got {
			t.Fatalf("pair %+v, %s of %s, down %v: the contract says %s, we say %s", p, method, amount.Dec(), down, want.Dec(), got.Dec())
		}
		n.same.Add(1)
	}
}

// compare runs random cases on two EVMs at once.
func compare(t *testing.T, cases int, one func(testing.TB, *ammtest.Ground, *rand.Rand, *tally)) *tally {
	t.Helper()
	s, n := testseed.Of(t), &tally{}
	var both sync.WaitGroup
	for worker := range uint64(2) {
		g, err := ammtest.New(t.Context())
		ok(t, err)
		both.Go(func() {
			r := rand.New(rand.NewPCG(s, worker))
			for range cases / 2 {
				if t.Failed() {
					return
				}
				one(fatal{t}, g, r, n)
			}
		})
	}
	both.Wait()
	t.Logf("%d the same, of them %d partial, %d ticks crossed; %d refused by both", n.same.Load(), n.short.Load(), n.crossed.Load(), n.refused.Load())
	if n.same.Load() < int64(cases)/2 {
		t.Errorf("only %d of %d were compared with an answer", n.same.Load(), cases)
	}
	return n
}

// fatal lets a worker fail the test from where it is.
type fatal struct{ *testing.T }

func (f fatal) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

func (f fatal) Fatal(args ...any) { f.Error(args...) }

func TestRandomPoolsAnswerAsTheContract(t *testing.T) {
	t.Parallel()
	if n := compare(t, 1000, comparePool); n.crossed.Load() == 0 || n.short.Load() == 0 {
		t.Error("no tick was crossed, or no pool ran dry")
	}
}

func TestRandomPairsAnswerAsTheContract(t *testing.T) {
	t.Parallel()
	compare(t, 1000, comparePair)
}

func TestSweepPoolsAnswerAsTheContract(t *testing.T) {
	t.Parallel()
	compare(t, sweep, comparePool)
}

func TestSweepPairsAnswerAsTheContract(t *testing.T) {
	t.Parallel()
	compare(t, sweep, comparePair)
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
