package bitcoin

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/send"
	"ferry/internal/testseed"
)

var (
	ownScript = slices.Concat([]byte{opFalse, opData20}, bytes.Repeat([]byte{1}, 20))
	payees    = map[string][]byte{
		P2WPKH: slices.Concat([]byte{opFalse, opData20}, bytes.Repeat([]byte{2}, 20)),
		P2WSH:  slices.Concat([]byte{opFalse, opData32}, bytes.Repeat([]byte{3}, 32)),
		P2TR:   slices.Concat([]byte{op1, opData32}, bytes.Repeat([]byte{4}, 32)),
		P2PKH:  slices.Concat([]byte{opDup, opHash160, opData20}, bytes.Repeat([]byte{5}, 20), []byte{opEqualVerify, opCheckSig}),
		P2SH:   slices.Concat([]byte{opHash160, opData20}, bytes.Repeat([]byte{6}, 20), []byte{opEqual}),
	}
	kindsOf = []string{P2WPKH, P2WSH, P2TR, P2PKH, P2SH}
)

// draw makes coins and a bill of every size, from dust to riches.
func draw(r *rand.Rand) ([]coin, bill) {
	size := func() int64 { return 1 + r.Int64N(1<<(3+r.IntN(34))) }
	coins := make([]coin, r.IntN(1<<r.IntN(8)))
	for i := range coins {
		coins[i] = coin{at: wire.OutPoint{Index: uint32(i)}, value: size(), script: ownScript}
	}
	slices.SortFunc(coins, byValue)
	kind := kindsOf[r.IntN(len(kindsOf))]
	b := bill{to: payees[kind], change: ownScript, rate: 1000 + r.Int64N(1<<(1+r.IntN(20))), most: size()}
	if r.IntN(5) > 0 {
		b.amount = dust(kind) + size()
	}
	return coins, b
}

// sound says what is wrong with a plan.
func sound(p plan, b bill) string {
	var total int64
	seen := map[wire.OutPoint]bool{}
	for _, c := range p.coins {
		if seen[c.at] {
			return "a coin is spent twice"
		}
		seen[c.at], total = true, total+c.value
	}
	switch {
	case total != b.amount+p.change+p.fee:
		return "money came from nowhere or went there"
	case p.change != 0 && p.change < dust(P2WPKH):
		return "the change is dust"
	case p.fee <= 0:
		return "it costs nothing"
	case len(p.coins) > maxInputs:
		return "it spends too many coins"
	}
	return ""
}

func TestPickNeverOverspendsAndLeavesNoDust(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Of(t), 1))
	paid, short := 0, 0
	for range 6_000 {
		coins, b := draw(r)
		p, err := pick(coins, b)
		if err != nil {
			if !errors.Is(err, send.ErrNoFunds) {
				t.Fatal(err)
			}
			short++
			affords(t, coins, b)
			continue
		}
		paid++
		if why := sound(p, b); why != "" {
			t.Fatalf("%s: %+v for %+v", why, p, b)
		}
		size := sizeOf(len(p.coins), b.outs(p.change > 0)...)
		if p.fee < feeAt(b.rate, size) {
			t.Fatalf("it pays %d, and the price of %d is %d", p.fee, size, feeAt(b.rate, size))
		}
		// Without change it leaves no more than change would have cost.
		if p.change == 0 && p.fee >= feeAt(b.rate, sizeOf(len(p.coins), b.outs(true)...))+dust(P2WPKH) {
			t.Fatalf("%d were given away as a fee", p.fee)
		}
		for _, c := range coins[:len(p.coins)] {
			if !slices.ContainsFunc(p.coins, func(k coin) bool { return k.at == c.at }) {
				t.Fatal("a larger coin was left")
			}
		}
	}
	if paid < 500 || short < 500 {
		t.Fatalf("%d were paid and %d had no funds: that shows little", paid, short)
	}
}

// affords fails if some number of the largest coins pays the bill after all.
func affords(t *testing.T, coins []coin, b bill) {
	t.Helper()
	var total int64
	for i, c := range coins[:min(len(coins), maxInputs)] {
		total += c.value
		bare := feeAt(b.rate, sizeOf(i+1, b.outs(b.amount == 0)...))
		if b.amount == 0 {
			bare += dust(P2WPKH)
		}
		if total >= b.amount+bare {
			t.Fatalf("%d coins of %d pay %d and %d", i+1, total, b.amount, bare)
		}
	}
}

func TestPickTakesEnoughForTheWholeBudgetIfItCan(t *testing.T) {
	t.Parallel()
	b := bill{amount: 50_000, to: payees[P2TR], change: ownScript, rate: 1000, most: 60_000}
	three := []coin{{value: 60_000}, {value: 60_000, at: wire.OutPoint{Index: 1}}, {value: 60_000, at: wire.OutPoint{Index: 2}}}
	if p, err := pick(three, b); err != nil || len(p.coins) != 2 {
		t.Fatalf("it took %d coins, %v", len(p.coins), err)
	}
	if p, err := pick(three[:1], b); err != nil || len(p.coins) != 1 { // and goes without if it must
		t.Fatalf("it took %d coins, %v", len(p.coins), err)
	}
	b.most = 0 // nobody says what it may cost
	if p, err := pick(three, b); err != nil || len(p.coins) != 1 {
		t.Fatalf("it took %d coins, %v", len(p.coins), err)
	}
}

func TestOutbidKeepsTheRecipientsAmountAndBeatsTheOldFee(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Of(t), 2))
	beaten, refused := 0, 0
	for range 6_000 {
		coins, b := draw(r)
		first, err := pick(coins, b)
		if err != nil {
			continue
		}
		old := rival{fee: first.fee, size: sizeOf(len(first.coins), b.outs(first.change > 0)...)}
		b.most = first.fee + r.Int64N(3*first.fee)
		p, ok := outbid(first.coins, b, old)
		if !ok {
			refused++
			continue
		}
		beaten++
		if why := sound(p, b); why != "" {
			t.Fatalf("%s: %+v for %+v", why, p, b)
		}
		size := sizeOf(len(p.coins), b.outs(p.change > 0)...)
		switch {
		case p.fee > b.most:
			t.Fatalf("it costs %d of %d", p.fee, b.most)
		case p.fee < old.fee+feeAt(relayStep, size):
			t.Fatalf("it pays %d and must pay %d more than %d", p.fee, feeAt(relayStep, size), old.fee)
		case p.fee*old.size <= old.fee*size:
			t.Fatal("its price is no higher")
		case !slices.EqualFunc(p.coins, first.coins, func(a, b coin) bool { return a.at == b.at }):
			t.Fatal("it spends other coins")
		}
	}
	if beaten < 500 || refused < 500 {
		t.Fatalf("%d were beaten and %d refused: that shows little", beaten, refused)
	}
}

// TestSizesAreThoseOfRealTransactions compares with what others publish for
// transactions with one signature of 72 bytes.
func TestSizesAreThoseOfRealTransactions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inputs int
		outs   []string
		want   int64
	}{
		{1, []string{P2WPKH}, 110},
		{1, []string{P2WPKH, P2WPKH}, 141},
		{2, []string{P2WPKH, P2WPKH}, 209},
		{1, []string{P2TR, P2WPKH}, 153},
		{1, []string{P2PKH, P2WPKH}, 144},
		{1, []string{P2SH, P2WPKH}, 142},
		{1, []string{P2WSH, P2WPKH}, 153},
	} {
		var scripts [][]byte
		for _, k := range c.outs {
			scripts = append(scripts, payees[k])
		}
		if got := sizeOf(c.inputs, scripts...); got != c.want {
			t.Errorf("%d inputs to %v: %d, want %d", c.inputs, c.outs, got, c.want)
		}
		// And with the bytes themselves.
		tx := wire.NewMsgTx(2)
		for range c.inputs {
			tx.AddTxIn(&wire.TxIn{Witness: wire.TxWitness{make([]byte, 72), make([]byte, 33)}})
		}
		for _, s := range scripts {
			tx.AddTxOut(wire.NewTxOut(1, s))
		}
		if got := virtual(tx); got != c.want {
			t.Errorf("%d inputs to %v: the bytes are %d, want %d", c.inputs, c.outs, got, c.want)
		}
	}
	many := wire.NewMsgTx(2)
	for range 300 {
		many.AddTxIn(&wire.TxIn{Witness: wire.TxWitness{make([]byte, 72), make([]byte, 33)}})
	}
	many.AddTxOut(wire.NewTxOut(1, ownScript))
	if got, want := sizeOf(300, ownScript), virtual(many); got != want {
		t.Errorf("300 inputs: %d, want %d", got, want)
	}
}

func TestDustIsWhatCoreCallsDust(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]int64{P2WPKH: 294, P2WSH: 330, P2TR: 330, P2PKH: 546, P2SH: 540} {
		// Three satoshis for each byte of the output and of what spends it.
		spend := int64(67)
		if kind == P2PKH || kind == P2SH {
			spend = 148
		}
		if got := dust(kind); got != want || got != 3*(int64(9+len(payees[kind]))+spend) {
			t.Errorf("%s: %d, want %d", kind, got, want)
		}
	}
}

func TestEveryKindOfScriptHasItsAddress(t *testing.T) {
	t.Parallel()
	for _, net := range []Network{Mainnet, Testnet, Signet, Regtest} {
		c, err := NewCodec(net)
		if err != nil {
			t.Fatal(err)
		}
		for kind, script := range payees {
			a := c.AddressOf(script)
			if c.Kind(a) != kind {
				t.Errorf("%s on %s is %q, a %q", kind, net, a.Text(), c.Kind(a))
			}
			if back, err := c.Script(a); err != nil || !bytes.Equal(back, script) {
				t.Errorf("%s on %s: %x came back as %x, %v", kind, net, script, back, err)
			}
			for i := range script {
				if a := c.AddressOf(script[:i]); !a.IsZero() {
					t.Errorf("%d bytes of %s are the address %s", i, kind, a.Text())
				}
			}
			if a := c.AddressOf(append(slices.Clone(script), 0)); !a.IsZero() {
				t.Errorf("%s and more is the address %s", kind, a.Text())
			}
		}
	}
}

// TestSegwitAddressesAreWrittenAsTheLibraryWritesThem: ours is quicker, not another.
func TestSegwitAddressesAreWrittenAsTheLibraryWritesThem(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Of(t), 3))
	for range 3_000 {
		m := networks[r.IntN(len(networks))]
		body := make([]byte, []int{20, 32}[r.IntN(2)])
		for i := range body {
			body[i] = byte(r.Uint32())
		}
		version := byte(r.IntN(2))
		words, err := bech32.ConvertBits(body, 8, 5, true)
		if err != nil {
			t.Fatal(err)
		}
		encode := bech32.Encode
		if version > 0 {
			encode = bech32.EncodeM
		}
		want, err := encode(m.human, append([]byte{version}, words...))
		if err != nil {
			t.Fatal(err)
		}
		if got := (Codec{marks: m}).segwit(version, body); got != want {
			t.Fatalf("version %d of %x is %s, want %s", version, body, got, want)
		}
	}
}
