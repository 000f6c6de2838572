package quote_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/testseed"
)

var (
	coin  = chain.Asset{Chain: "sim:a"}
	token = chain.Asset{Chain: "sim:b", Ref: "usdc"}
	payTo = chain.CanonicalAddress(chain.EVM, "0xfee")
)

func n(v uint64) money.Amount { return money.FromUint64(v) }

func percent(t *testing.T, text string) money.Percent {
	t.Helper()
	p, err := money.ParsePercent(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sound is a quote that passes Check: 1000 becomes 500, within -1 % and +2 %.
func sound() quote.Quote {
	return quote.Quote{
		ID: "quo_1", Give: coin, Get: token, In: n(1000), Out: n(500), MinIn: n(10), MaxIn: n(5000), Mode: quote.Fixed,
		Tolerance: quote.Tolerance{Under: 10_000, Over: 20_000, UnderAction: quote.Hold, OverAction: quote.Refund, WrongAsset: quote.Hold},
	}
}

func TestCheckRefusesWhatNoOrderCouldBeMadeOf(t *testing.T) {
	t.Parallel()
	if err := sound().Check(); err != nil {
		t.Fatal(err)
	}
	fee := func(p money.Percent, to chain.Address, skipped bool) func(*quote.Quote) {
		return func(q *quote.Quote) {
			q.Fee, q.Integrator = &quote.Fee{Percent: p, PayTo: to, Skipped: skipped}, "int_1"
		}
	}
	for name, c := range map[string]struct {
		change func(*quote.Quote)
		want   error
	}{
		"no id":                   {func(q *quote.Quote) { q.ID = "" }, quote.ErrIncomplete},
		"no asset to give":        {func(q *quote.Quote) { q.Give = chain.Asset{} }, quote.ErrIncomplete},
		"no asset to get":         {func(q *quote.Quote) { q.Get.Chain = "" }, quote.ErrIncomplete},
		"an asset for itself":     {func(q *quote.Quote) { q.Get = q.Give }, quote.ErrIncomplete},
		"nothing in":              {func(q *quote.Quote) { q.In, q.MinIn = n(0), n(0) }, quote.ErrIncomplete},
		"nothing out":             {func(q *quote.Quote) { q.Out = n(0) }, quote.ErrIncomplete},
		"below its minimum":       {func(q *quote.Quote) { q.MinIn = n(1001) }, quote.ErrIncomplete},
		"above its maximum":       {func(q *quote.Quote) { q.MaxIn = n(999) }, quote.ErrIncomplete},
		"tolerance below zero":    {func(q *quote.Quote) { q.Tolerance.Under = -1 }, quote.ErrIncomplete},
		"tolerance of all":        {func(q *quote.Quote) { q.Tolerance.Under = money.Whole }, quote.ErrIncomplete},
		"over below zero":         {func(q *quote.Quote) { q.Tolerance.Over = -1 }, quote.ErrIncomplete},
		"under without action":    {func(q *quote.Quote) { q.Tolerance.UnderAction = "" }, quote.ErrIncomplete},
		"under taken as it is":    {func(q *quote.Quote) { q.Tolerance.UnderAction = quote.ProcessAll }, quote.ErrIncomplete},
		"over without action":     {func(q *quote.Quote) { q.Tolerance.OverAction = "keep" }, quote.ErrIncomplete},
		"wrong asset exchanged":   {func(q *quote.Quote) { q.Tolerance.WrongAsset = quote.ProcessAll }, quote.ErrIncomplete},
		"no rate mode":            {func(q *quote.Quote) { q.Mode = "" }, quote.ErrIncomplete},
		"fee above 5 %":           {fee(50_001, payTo, false), quote.ErrFeeTooHigh},
		"fee below zero":          {fee(-1, payTo, false), quote.ErrFeeTooHigh},
		"fee of nothing":          {fee(0, payTo, false), quote.ErrFeeTooHigh},
		"fee to nobody":           {fee(50_000, chain.Address{}, false), quote.ErrNoPayTo},
		"fee for nobody":          {func(q *quote.Quote) { fee(50_000, payTo, false)(q); q.Integrator = "" }, quote.ErrNoPayTo},
		"skipped fee above 5 %":   {fee(50_001, payTo, true), quote.ErrFeeTooHigh},
		"fee of 5 %":              {fee(50_000, payTo, false), nil},
		"skipped fee to nobody":   {fee(50_000, chain.Address{}, true), nil},
		"over may process all":    {func(q *quote.Quote) { q.Tolerance.OverAction = quote.ProcessAll }, nil},
		"no tolerance":            {func(q *quote.Quote) { q.Tolerance.Under, q.Tolerance.Over = 0, 0 }, nil},
		"exactly at its limits":   {func(q *quote.Quote) { q.MinIn, q.MaxIn = q.In, q.In }, nil},
		"the same coin elsewhere": {func(q *quote.Quote) { q.Get = chain.Asset{Chain: "sim:b"} }, nil},
	} {
		q := sound()
		c.change(&q)
		if err := q.Check(); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for in, want := range map[uint64]quote.Verdict{
		0: quote.Under, 1: quote.Under, 989: quote.Under, 990: quote.Within, 1000: quote.Within, 1020: quote.Within,
		1021: quote.Over, 5000: quote.Over, 5001: quote.AboveMax,
	} {
		if got, err := sound().Judge(n(in)); err != nil || got != want {
			t.Errorf("%d: got %d, %v, want %d", in, got, err, want)
		}
	}
	exact := sound()
	exact.Tolerance.Under, exact.Tolerance.Over = 0, 0
	for in, want := range map[uint64]quote.Verdict{999: quote.Under, 1000: quote.Within, 1001: quote.Over} {
		if got, err := exact.Judge(n(in)); err != nil || got != want {
			t.Errorf("without tolerance %d: got %d, %v", in, got, err)
		}
	}
	tight := sound()
	tight.MaxIn = n(1005)
	if got, err := tight.Judge(n(1006)); err != nil || got != quote.AboveMax {
		t.Errorf("the maximum goes before the tolerance: got %d, %v", got, err)
	}
}

func TestPayoutIsRoundedDown(t *testing.T) {
	t.Parallel()
	q := sound()
	q.In, q.Out = n(3), n(2)
	for in, want := range map[uint64]uint64{0: 0, 1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 6: 4} {
		if got, err := q.PayoutFor(n(in)); err != nil || got != n(want) {
			t.Errorf("%d: got %s, %v", in, got, err)
		}
	}
}

func TestReservationIsRoundedUp(t *testing.T) {
	t.Parallel()
	q := sound()
	for out, want := range map[uint64]uint64{1: 2, 49: 50, 50: 51, 51: 53, 500: 510, 501: 512} {
		q.Out = n(out)
		if _, got, err := q.Reserve(); err != nil || got != n(want) {
			t.Errorf("%d and 2 percent more: got %s, %v, want %d", out, got, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	q := sound()
	if onward, fee, err := q.Split(n(1000)); err != nil || onward != n(1000) || !fee.IsZero() {
		t.Errorf("without a fee: got %s and %s, %v", onward, fee, err)
	}
	q.Fee = &quote.Fee{Percent: 50_000, PayTo: payTo}
	for in, want := range map[uint64][2]uint64{0: {0, 0}, 19: {19, 0}, 20: {19, 1}, 39: {38, 1}, 1000: {950, 50}} {
		if onward, fee, err := q.Split(n(in)); err != nil || onward != n(want[0]) || fee != n(want[1]) {
			t.Errorf("%d: got %s and %s, %v", in, onward, fee, err)
		}
	}
	q.Fee.Skipped = true
	if onward, fee, err := q.Split(n(1000)); err != nil || onward != n(1000) || !fee.IsZero() {
		t.Errorf("a skipped fee: got %s and %s, %v", onward, fee, err)
	}
}

func TestFeeFor(t *testing.T) {
	t.Parallel()
	policy := integrator.FeePolicy{Default: percent(t, "1"), PayTo: map[chain.Family]chain.Address{chain.EVM: payTo, chain.Solana: {}}}
	override := func(text string) *money.Percent { p := percent(t, text); return &p }
	below := money.Percent(-1)
	cases := map[string]struct {
		ask  quote.FeeAsk
		want *quote.Fee
		err  error
	}{
		"the default":                        {quote.FeeAsk{Policy: policy, Source: chain.EVM, In: n(1000), Transfer: n(1)}, &quote.Fee{Percent: 10_000, PayTo: payTo}, nil},
		"the override":                       {quote.FeeAsk{Policy: policy, Override: override("5"), Source: chain.EVM, In: n(1000), Transfer: n(1)}, &quote.Fee{Percent: 50_000, PayTo: payTo}, nil},
		"an override of zero":                {quote.FeeAsk{Policy: policy, Override: override("0"), Source: chain.EVM, In: n(1000)}, nil, nil},
		"an override above 5 %":              {quote.FeeAsk{Policy: policy, Override: override("5.0001"), Source: chain.EVM, In: n(1000)}, nil, quote.ErrFeeTooHigh},
		"an override below zero":             {quote.FeeAsk{Policy: policy, Override: &below, Source: chain.EVM, In: n(1000)}, nil, quote.ErrFeeTooHigh},
		"a default above 5 %":                {quote.FeeAsk{Policy: integrator.FeePolicy{Default: 50_001, PayTo: policy.PayTo}, Source: chain.EVM, In: n(1000)}, nil, quote.ErrFeeTooHigh},
		"no policy":                          {quote.FeeAsk{Source: chain.EVM, In: n(1000)}, nil, nil},
		"no address for the family":          {quote.FeeAsk{Policy: policy, Source: chain.Bitcoin, In: n(1000)}, nil, nil},
		"no address, and asked for":          {quote.FeeAsk{Policy: policy, Override: override("1"), Source: chain.Bitcoin, In: n(1000)}, nil, quote.ErrNoPayTo},
		"an empty address":                   {quote.FeeAsk{Policy: policy, Source: chain.Solana, In: n(1000)}, nil, nil},
		"an empty address, and asked for":    {quote.FeeAsk{Policy: policy, Override: override("1"), Source: chain.Solana, In: n(1000)}, nil, quote.ErrNoPayTo},
		"exactly its transfer":               {quote.FeeAsk{Policy: policy, Source: chain.EVM, In: n(1000), Transfer: n(10)}, &quote.Fee{Percent: 10_000, PayTo: payTo, Skipped: true}, nil},
		"one more than its transfer":         {quote.FeeAsk{Policy: policy, Source: chain.EVM, In: n(1000), Transfer: n(9)}, &quote.Fee{Percent: 10_000, PayTo: payTo}, nil},
		"a fee that rounds down to nothing":  {quote.FeeAsk{Policy: policy, Source: chain.EVM, In: n(99)}, &quote.Fee{Percent: 10_000, PayTo: payTo, Skipped: true}, nil},
		"a fee out of nothing that came in":  {quote.FeeAsk{Policy: policy, Source: chain.EVM}, &quote.Fee{Percent: 10_000, PayTo: payTo, Skipped: true}, nil},
		"nobody asks, and nothing is earned": {quote.FeeAsk{Policy: integrator.FeePolicy{PayTo: policy.PayTo}, Source: chain.EVM, In: n(1000)}, nil, nil},
	}
	for name, c := range cases {
		got, err := quote.FeeFor(c.ask)
		if !errors.Is(err, c.err) || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v, %v, want %v, %v", name, got, err, c.want, c.err)
		}
	}
}

// unit is one whole of an asset with that many decimals.
func unit(decimals int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
}

// randomQuote is a quote between assets of any decimals, at any rate.
func randomQuote(r *rand.Rand) quote.Quote {
	decimals := []int{0, 6, 8, 9, 18, 24}
	sum := func() money.Amount {
		x := new(big.Int).Mul(unit(decimals[r.IntN(len(decimals))]), new(big.Int).SetUint64(1+r.Uint64N(1<<r.IntN(40))))
		x.Add(x, new(big.Int).SetUint64(r.Uint64N(1000))) // dust, so that rates do not come out even
		return money.MustParse(x.String())
	}
	q := sound()
	q.In, q.Out = sum(), sum()
	q.MinIn = n(1)
	most, err := q.In.MulDiv(n(1+r.Uint64N(3)), n(1), money.Down)
	if err != nil {
		panic(err)
	}
	q.MaxIn = most
	q.Tolerance.Under = money.Percent(r.Int32N(int32(money.Whole)))
	q.Tolerance.Over = money.Percent(r.Int32N(int32(2 * money.Whole)))
	if r.IntN(4) == 0 {
		q.Tolerance.Under, q.Tolerance.Over = 0, 0
	}
	if r.IntN(2) == 0 {
		q.Integrator = "int_1"
		q.Fee = &quote.Fee{Percent: 1 + money.Percent(r.Int32N(int32(integrator.MaxFee))), PayTo: payTo, Skipped: r.IntN(4) == 0}
	}
	return q
}

// near draws a deposit around the quoted amount, and often one at an edge of the tolerance.
func near(r *rand.Rand, q quote.Quote) money.Amount {
	x, ok := new(big.Int).SetString(q.In.String(), 10)
	if !ok {
		panic("not a number")
	}
	switch r.IntN(4) {
	case 0: // at the lower edge
		x.Mul(x, big.NewInt(int64(money.Whole-q.Tolerance.Under))).Div(x, big.NewInt(int64(money.Whole)))
	case 1: // at the upper edge
		x.Mul(x, big.NewInt(int64(money.Whole+q.Tolerance.Over))).Div(x, big.NewInt(int64(money.Whole)))
	case 2:
		x.Mul(x, new(big.Int).SetUint64(r.Uint64N(4000))).Div(x, big.NewInt(1000))
	}
	x.Add(x, big.NewInt(r.Int64N(5)-2))
	if x.Sign() < 0 {
		x.SetInt64(0)
	}
	return money.MustParse(x.String())
}

func toBig(a money.Amount) *big.Int {
	x, _ := new(big.Int).SetString(a.String(), 10)
	return x
}

func TestArithmeticFavoursTheHouse(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	seen := map[quote.Verdict]int{}
	for range 20_000 {
		q := randomQuote(r)
		if err := q.Check(); err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		in := near(r, q)
		pay, err := q.PayoutFor(in)
		if err != nil {
			t.Fatal(err)
		}
		// pay/in never above Out/In, and less than one unit below it.
		given, promised := new(big.Int).Mul(toBig(pay), toBig(q.In)), new(big.Int).Mul(toBig(in), toBig(q.Out))
		if given.Cmp(promised) > 0 {
			t.Fatalf("%s of %s for %s pays %s, above the rate", in, q.In, q.Out, pay)
		}
		if promised.Sub(promised, given).Cmp(toBig(q.In)) >= 0 {
			t.Fatalf("%s of %s for %s pays %s, a whole unit too little", in, q.In, q.Out, pay)
		}
		if in == q.In && pay != q.Out {
			t.Fatalf("the exact amount pays %s, promised was %s", pay, q.Out)
		}
		verdict, err := q.Judge(in)
		if err != nil {
			t.Fatal(err)
		}
		seen[verdict]++
		_, most, err := q.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		if verdict == quote.Within && most.Less(pay) {
			t.Fatalf("%s is within the tolerance of %+v and pays %s, reserved was %s", in, q, pay, most)
		}
		if most.Less(q.Out) {
			t.Fatalf("reserved %s for %s", most, q.Out)
		}
		mustSplit(t, q, in)
	}
	for _, v := range []quote.Verdict{quote.Within, quote.Under, quote.Over, quote.AboveMax} {
		if seen[v] < 200 {
			t.Errorf("verdict %d was reached only %d times", v, seen[v])
		}
	}
}

// mustSplit: nothing is made or lost, and the fee is at most its percent.
func mustSplit(t *testing.T, q quote.Quote, in money.Amount) {
	t.Helper()
	onward, fee, err := q.Split(in)
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := onward.Add(fee); err != nil || whole != in {
		t.Fatalf("%s was split into %s and %s", in, onward, fee)
	}
	if q.Fee == nil || q.Fee.Skipped {
		if !fee.IsZero() {
			t.Fatalf("a fee of %s that nobody asked for", fee)
		}
		return
	}
	most := new(big.Int).Mul(toBig(in), big.NewInt(int64(q.Fee.Percent)))
	if new(big.Int).Mul(toBig(fee), big.NewInt(int64(money.Whole))).Cmp(most) > 0 {
		t.Fatalf("a fee of %s on %s is above %s percent", fee, in, q.Fee.Percent)
	}
}

func TestJudgeIsMonotonous(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	rank := map[quote.Verdict]int{quote.Under: 0, quote.Within: 1, quote.Over: 2, quote.AboveMax: 3}
	for range 10_000 {
		q := randomQuote(r)
		a, b := near(r, q), near(r, q)
		if b.Less(a) {
			a, b = b, a
		}
		va, err1 := q.Judge(a)
		vb, err2 := q.Judge(b)
		if err1 != nil || err2 != nil || rank[va] > rank[vb] {
			t.Fatalf("%+v calls %s %d and %s %d (%v, %v)", q, a, va, b, vb, err1, err2)
		}
		if v, err := q.Judge(q.In); err != nil || v != quote.Within {
			t.Fatalf("%+v does not take its own amount: %d, %v", q, v, err)
		}
	}
}

func TestArithmeticAtTheTopIsAnErrorNotAWrap(t *testing.T) {
	t.Parallel()
	top := money.MustParse("115792089237316195423570985008687907853269984665640564039457584007913129639935")
	q := sound()
	q.In, q.Out, q.MinIn, q.MaxIn = n(1), top, n(1), top
	q.Tolerance.Over = money.Whole
	if _, err := q.PayoutFor(n(2)); !errors.Is(err, money.ErrOverflow) {
		t.Errorf("payout: got %v", err)
	}
	if _, _, err := q.Reserve(); !errors.Is(err, money.ErrOverflow) {
		t.Errorf("reservation: got %v", err)
	}
	q.In = top
	if _, err := q.Judge(top); !errors.Is(err, money.ErrOverflow) {
		t.Errorf("verdict: got %v", err)
	}
}
