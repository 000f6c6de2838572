package kyber_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"ferry/internal/chain"
	"ferry/internal/quote"
	"ferry/internal/testseed"
	"ferry/internal/venue/kyber"
)

// lie is a way in which the answer with the call may be bent.
type lie struct {
	name string
	bend func(e *kyber.Execution, o object)
	told bool // a person should look at it
}

var bad = common.HexToAddress(mallory)

// lies are all that a server could think of.
var lies = []lie{
	{"another router", func(_ *kyber.Execution, o object) { o["routerAddress"] = mallory }, true},
	{"no router", func(_ *kyber.Execution, o object) { delete(o, "routerAddress") }, true},
	{"coins along", func(_ *kyber.Execution, o object) { o["transactionValue"] = "1" }, true},
	{"another executor", func(e *kyber.Execution, _ object) { e.CallTarget = bad }, true},
	{"somebody may take", func(e *kyber.Execution, _ object) { e.ApproveTarget = bad }, true},
	{"no way in it", func(e *kyber.Execution, _ object) { e.TargetData = []byte{} }, true},
	{"another recipient", func(e *kyber.Execution, _ object) { e.Desc.DstReceiver = bad }, true},
	{"no recipient", func(e *kyber.Execution, _ object) { e.Desc.DstReceiver = common.Address{} }, true},
	{"another token in", func(e *kyber.Execution, _ object) { e.Desc.SrcToken = bad }, true},
	{"coins in", func(e *kyber.Execution, _ object) { e.Desc.SrcToken = kyber.Coin }, true},
	{"another token out", func(e *kyber.Execution, _ object) { e.Desc.DstToken = bad }, true},
	{"more in", func(e *kyber.Execution, _ object) { e.Desc.Amount = add(e.Desc.Amount, 1) }, true},
	{"less in", func(e *kyber.Execution, _ object) { e.Desc.Amount = add(e.Desc.Amount, -1) }, true},
	{"all in", func(e *kyber.Execution, _ object) { e.Desc.Amount = most() }, true},
	{"less out than the least", func(e *kyber.Execution, _ object) { e.Desc.MinReturnAmount = big.NewInt(2449999) }, false},
	{"nothing out", func(e *kyber.Execution, _ object) { e.Desc.MinReturnAmount = new(big.Int) }, false},
	{"a fee", func(e *kyber.Execution, _ object) {
		e.Desc.FeeReceivers, e.Desc.FeeAmounts = []common.Address{bad}, []*big.Int{big.NewInt(25)}
	}, true},
	{"a fee for nobody", func(e *kyber.Execution, _ object) { e.Desc.FeeAmounts = []*big.Int{big.NewInt(25)} }, true},
	{"a fee of nothing", func(e *kyber.Execution, _ object) { e.Desc.FeeReceivers = []common.Address{bad} }, true},
	{"a permit", func(e *kyber.Execution, _ object) { e.Desc.Permit = []byte{1} }, true},
	{"part of it will do", func(e *kyber.Execution, _ object) { e.Desc.Flags = big.NewInt(0x201) }, true},
	{"the simple mode", func(e *kyber.Execution, _ object) { e.Desc.Flags = big.NewInt(0x220) }, true},
	{"a fee of what comes", func(e *kyber.Execution, _ object) { e.Desc.Flags = big.NewInt(0x240) }, true},
	{"a flag far above", func(e *kyber.Execution, _ object) { e.Desc.Flags = new(big.Int).Lsh(big.NewInt(1), 255) }, true},
	{"handed to two, and more", func(e *kyber.Execution, _ object) {
		e.Desc.SrcReceivers, e.Desc.SrcAmounts = append(e.Desc.SrcReceivers, bad), append(e.Desc.SrcAmounts, big.NewInt(1))
	}, true},
	{"handed to nobody", func(e *kyber.Execution, _ object) { e.Desc.SrcReceivers = []common.Address{{}} }, true},
	{"not handed on", func(e *kyber.Execution, _ object) { e.Desc.SrcReceivers, e.Desc.SrcAmounts = nil, nil }, true},
	{"one too few", func(e *kyber.Execution, _ object) { e.Desc.SrcAmounts = nil }, true},
	{"one too many", func(e *kyber.Execution, _ object) { e.Desc.SrcAmounts = append(e.Desc.SrcAmounts, new(big.Int)) }, true},
	{"a sum that goes around", func(e *kyber.Execution, _ object) {
		e.Desc.SrcReceivers = append(e.Desc.SrcReceivers, bad, bad)
		e.Desc.SrcAmounts = append(e.Desc.SrcAmounts, most(), big.NewInt(1))
	}, true},
	{"another method", func(e *kyber.Execution, o object) {
		o["data"] = hexutil.Encode(append([]byte{0x59, 0xe5, 0x0f, 0xed}, kyber.PackSwap(*e)[4:]...)) // swapGeneric
	}, true},
	{"an approval instead", func(_ *kyber.Execution, o object) { o["data"] = hexutil.Encode(kyber.PackApprove(bad, most())) }, true},
	{"a name without arguments", func(e *kyber.Execution, o object) { o["data"] = hexutil.Encode(kyber.PackSwap(*e)[:4]) }, true},
	{"less than a name", func(_ *kyber.Execution, o object) { o["data"] = "0xe21f" }, true},
	{"no call", func(_ *kyber.Execution, o object) { o["data"] = "0x" }, true},
	{"no bytes", func(_ *kyber.Execution, o object) { o["data"] = "swap" }, false},
	{"something behind it", func(e *kyber.Execution, o object) {
		o["data"] = hexutil.Encode(append(kyber.PackSwap(*e), make([]byte, 32)...))
	}, true},
	{"its end is missing", func(e *kyber.Execution, o object) {
		b := kyber.PackSwap(*e)
		o["data"] = hexutil.Encode(b[:len(b)-32])
	}, true},
	{"read in two ways", func(e *kyber.Execution, o object) { // dirt above an address
		b := kyber.PackSwap(*e)
		b[4+32] = 1
		o["data"] = hexutil.Encode(b)
	}, true},
}

func add(n *big.Int, d int64) *big.Int { return new(big.Int).Add(n, big.NewInt(d)) }

func most() *big.Int { return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)) }

func TestNoLieIsSent(t *testing.T) {
	t.Parallel()
	for _, l := range lies {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.allow(usdc, 1e12)
			r.service.bendBuild = l.bend
			m := r.next(step(usdc, wbtc), "2500000000")
			if w, ok := m.(quote.Wait); !ok || w.Why == "" {
				t.Fatalf("got %T %+v", m, m)
			}
			if (len(r.told) > 0) != l.told {
				t.Errorf("told %v", r.told)
			}
			r.service.set(func() { r.service.bendBuild = nil })
			sent(t, r.next(step(usdc, wbtc), "2500000000"))
		})
	}
}

// What the aggregator really does is not taken for a lie: the first pools of a way get
// what is ours straight away, and the executors' own flag may be missing.
func TestWhatTheAggregatorReallyDoesIsTaken(t *testing.T) {
	t.Parallel()
	for name, bend := range map[string]func(e *kyber.Execution, o object){
		"to the pools": func(e *kyber.Execution, _ object) {
			e.Desc.SrcReceivers = []common.Address{common.HexToAddress(pool), bad}
			e.Desc.SrcAmounts = []*big.Int{add(e.Desc.Amount, -1000), big.NewInt(1000)}
		},
		"without a flag":       func(e *kyber.Execution, _ object) { e.Desc.Flags = new(big.Int) },
		"more than asked":      func(e *kyber.Execution, _ object) { e.Desc.MinReturnAmount = add(e.Desc.MinReturnAmount, 5) },
		"no word about us":     func(e *kyber.Execution, _ object) { e.ClientData = nil },
		"no value in it":       func(_ *kyber.Execution, o object) { delete(o, "transactionValue") },
		"a router in capitals": func(_ *kyber.Execution, o object) { o["routerAddress"] = "0x6131B5fae19EA4f9D964eAc0408E4408b66337b5" },
	} {
		r := newRig(t)
		r.allow(usdc, 1e12)
		r.service.bendBuild = bend
		if m, ok := r.next(step(usdc, wbtc), "2500000000").(quote.Send); !ok || len(r.told) > 0 {
			t.Errorf("%s: %+v, told %v", name, m, r.told)
		}
	}
}

// mutate bends an answer at random: lies on lies, numbers near their edges, and bytes.
func mutate(rnd *rand.Rand) func(e *kyber.Execution, o object) {
	near := func(n *big.Int) *big.Int {
		switch rnd.IntN(4) {
		case 0:
			return add(n, 1)
		case 1:
			return new(big.Int).Abs(add(n, -1))
		case 2:
			return new(big.Int).Rsh(most(), uint(rnd.IntN(256))) //nolint:gosec // below 256
		}
		return new(big.Int).Rsh(n, uint(rnd.IntN(8))) //nolint:gosec // below 8
	}
	return func(e *kyber.Execution, o object) {
		for range rnd.IntN(3) {
			switch rnd.IntN(6) {
			case 0:
				e.Desc.MinReturnAmount = near(e.Desc.MinReturnAmount)
			case 1:
				e.Desc.Amount = near(e.Desc.Amount)
			case 2:
				e.Desc.Flags = near(e.Desc.Flags)
			case 3:
				for i := range e.Desc.SrcAmounts {
					e.Desc.SrcAmounts[i] = near(e.Desc.SrcAmounts[i])
				}
			default:
				lies[rnd.IntN(len(lies))].bend(e, o)
			}
		}
		if s, said := o["data"].(string); !said || s == "" {
			o["data"] = hexutil.Encode(kyber.PackSwap(*e))
		}
		if b, err := hexutil.Decode(o["data"].(string)); err == nil && rnd.IntN(3) == 0 && len(b) > 0 {
			for range 1 + rnd.IntN(3) {
				b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
			}
			o["data"] = hexutil.Encode(b)
		}
	}
}

// Whatever the aggregator answers, a call is only ever sent if, read anew, it gives at
// least the least to our own address for exactly what the step has.
func TestWhateverIsAnsweredOnlyOurSwapIsSentSweep(t *testing.T) {
	t.Parallel()
	rnd := testseed.Rand(t)
	r := newRig(t)
	r.allow(usdc, 1e15)
	sends, others := 0, 0
	for range sweep {
		in := 1 + rnd.Int64N(5_000_000_000)
		s := step([]chain.Asset{usdc, coins}[rnd.IntN(2)], wbtc)
		r.service.set(func() {
			r.service.num, r.service.den = big.NewInt(970+rnd.Int64N(60)), big.NewInt(1_000_000)
			r.service.bendBuild, r.service.bendRoute = mutate(rnd), nil
			if rnd.IntN(4) == 0 {
				r.service.bendRoute = func(o object) {
					o["routeSummary"].(object)["amountOut"] = []string{"1", "2450000", strings.Repeat("9", 20), "x"}[rnd.IntN(4)]
				}
			}
		})
		m, err := r.venue.Next(t.Context(), s, quote.Progress{In: amount(big.NewInt(in).String()), At: start})
		if err != nil {
			t.Fatal(err)
		}
		call, ok := m.(quote.Send)
		if !ok {
			others++
			continue
		}
		sends++
		checkSwap(t, s, in, call.Call)
	}
	if sends < sweep/100 || others < sweep/100 {
		t.Errorf("%d were sent and %d not: the test shows nothing", sends, others)
	}
}

// checkSwap reads a call as the router would, and holds it to what may be sent.
func checkSwap(t *testing.T, s quote.Step, in int64, c chain.Call) {
	t.Helper()
	e, err := kyber.ReadSwap(c.Data)
	if err != nil {
		t.Fatal(err)
	}
	d := e.Desc
	// MinOut for Give is 0.98 thousandths: of what there is, rounded up.
	least := new(big.Int).Div(add(new(big.Int).Mul(big.NewInt(in), big.NewInt(2450000)), 2_499_999_999), big.NewInt(2_500_000_000))
	src, handed := common.HexToAddress(s.In.Ref), new(big.Int)
	if s.In.IsNative() {
		src = kyber.Coin
	}
	for _, n := range d.SrcAmounts {
		handed.Add(handed, n)
	}
	switch {
	case c.To != addr(router) || c.From != "hot" || c.Chain != ether || c.Asset != s.In || c.Amount.String() != big.NewInt(in).String():
		t.Fatalf("another call: %+v", c)
	case d.MinReturnAmount.Cmp(least) < 0 || d.MinReturnAmount.Sign() == 0:
		t.Fatalf("it may bring %s of %s", d.MinReturnAmount, least)
	case d.DstReceiver != common.HexToAddress(own) || d.SrcToken != src || d.DstToken != common.HexToAddress(wbtc.Ref):
		t.Fatalf("another swap: %+v", d)
	case d.Amount.Cmp(big.NewInt(in)) != 0 || handed.Cmp(d.Amount) > 0 || s.In.IsNative() && handed.Sign() != 0:
		t.Fatalf("it takes %s and hands on %s", d.Amount, handed)
	case len(d.FeeReceivers)+len(d.FeeAmounts)+len(d.Permit) != 0 || e.ApproveTarget != common.Address{} || e.CallTarget != common.HexToAddress(executor):
		t.Fatalf("somebody else has a part in it: %+v", e)
	case !slices.Contains([]string{"0", "512"}, d.Flags.String()):
		t.Fatalf("its flags are %s", d.Flags)
	}
}
