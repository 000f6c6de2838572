package evm_test

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/money"
)

// taking is a try to pay an order by the intake.
type taking struct {
	name string
	do   func(b *bench, of chain.Reference)
	got  []uint64 // what is credited
	why  evm.Reason
}

func (b *bench) payIn(who string, n uint64, of chain.Reference) {
	b.from(who, wish{to: b.intake, value: new(big.Int).SetUint64(n), data: pack(intakeFile(), "pay", of)})
}

// payToken pays in a listed token that does as a mode says.
func (b *bench) payToken(mode int64, n int64, of chain.Reference) {
	payer := addressOf(b.person("payer"))
	b.from("trickster", wish{to: b.liar, data: pack(liarFile(), "setMode", new(big.Int))})
	b.from("trickster", wish{to: b.liar, data: pack(liarFile(), "mint", payer, big.NewInt(10*n))})
	b.from("trickster", wish{to: b.liar, data: pack(liarFile(), "setMode", big.NewInt(mode))})
	b.Mine(1)
	b.from("payer", wish{to: b.intake, data: pack(intakeFile(), "payToken", b.liar, big.NewInt(n), of)})
}

var takings = []taking{
	{"coins", func(b *bench, r chain.Reference) { b.payIn("payer", 1000, r) }, []uint64{1000}, ""},
	{"coins twice", func(b *bench, r chain.Reference) { b.payIn("payer", 1000, r); b.payIn("payer", 2000, r) }, []uint64{1000, 2000}, ""},
	{"coins of a contract that a user has", func(b *bench, r chain.Reference) {
		b.from("payer", wish{to: b.trick, value: big.NewInt(7), data: pack(trickFile(), "call", b.intake, pack(intakeFile(), "pay", r), false)})
	}, []uint64{7}, ""},
	{"coins for another order", func(b *bench, r chain.Reference) { r[0]++; b.payIn("payer", 1000, r) }, nil, ""},
	{"no coins", func(b *bench, r chain.Reference) { b.payIn("payer", 0, r) }, nil, ""},
	{"coins to the intake and no word", func(b *bench, _ chain.Reference) {
		b.from("payer", wish{to: b.intake, value: big.NewInt(1)})
	}, nil, ""},
	{"coins to our account and no word", func(b *bench, _ chain.Reference) {
		b.from("payer", wish{to: b.own, value: big.NewInt(1)})
	}, nil, ""},
	{"coins in a frame that is undone", func(b *bench, r chain.Reference) {
		b.from("payer", wish{to: b.trick, value: big.NewInt(7), data: pack(trickFile(), "callUndone", b.intake, pack(intakeFile(), "pay", r))})
	}, nil, ""},
	{"coins in a transaction that fails", func(b *bench, r chain.Reference) {
		b.from("payer", wish{to: b.trick, value: big.NewInt(7), data: pack(trickFile(), "call", b.intake, pack(intakeFile(), "pay", r), true)})
	}, nil, ""},
	{"another contract says the same", func(b *bench, r chain.Reference) {
		b.from("payer", wish{to: b.trick, data: pack(trickFile(), "fakePaid", r, common.Address{}, big.NewInt(9))})
	}, nil, evm.ForeignIntake},
	{"another contract says it of a listed token", func(b *bench, r chain.Reference) {
		b.from("payer", wish{to: b.trick, data: pack(trickFile(), "fakePaid", r, b.token, big.NewInt(9))})
	}, nil, evm.ForeignIntake},
	{"an intake of somebody else", func(b *bench, r chain.Reference) {
		theirs := b.deploy(evm.IntakeCode(addressOf(b.person("thief"))))
		b.Mine(1)
		b.from("payer", wish{to: theirs, value: big.NewInt(9), data: pack(intakeFile(), "pay", r)})
	}, nil, evm.ForeignIntake},
	{"a token", func(b *bench, r chain.Reference) { b.payToken(0, 1000, r) }, []uint64{1000}, ""},
	{"a token that is not listed", func(b *bench, r chain.Reference) {
		payer := addressOf(b.person("payer"))
		b.from("payer", wish{to: b.foreign, data: pack(tokenFile(), "mint", payer, big.NewInt(50))})
		b.from("payer", wish{to: b.foreign, data: pack(tokenFile(), "approve", b.intake, big.NewInt(50))})
		b.from("payer", wish{to: b.intake, data: pack(intakeFile(), "payToken", b.foreign, big.NewInt(50), r)})
	}, nil, evm.NotListed},
	{"a token that is no contract", func(b *bench, r chain.Reference) {
		b.from("payer", wish{to: b.intake, data: pack(intakeFile(), "payToken", common.Address{0xaa, 1}, big.NewInt(50), r)})
	}, nil, ""},
	{"the coin as a token", func(b *bench, r chain.Reference) {
		b.from("payer", wish{to: b.intake, data: pack(intakeFile(), "payToken", common.Address{}, big.NewInt(50), r)})
	}, nil, ""},
	{"a token without leave", func(b *bench, r chain.Reference) {
		b.from("payer", wish{to: b.token, data: pack(tokenFile(), "mint", addressOf(b.person("payer")), big.NewInt(50))})
		b.from("payer", wish{to: b.intake, data: pack(intakeFile(), "payToken", b.token, big.NewInt(50), r)})
	}, nil, ""},
	{"nothing of a token", func(b *bench, r chain.Reference) { b.payToken(0, 0, r) }, nil, ""},
	{"a token that takes a fee and says so", func(b *bench, r chain.Reference) { b.payToken(12, 1000, r) }, []uint64{990}, ""},
	{"a token that answers with nothing", func(b *bench, r chain.Reference) { b.payToken(19, 1000, r) }, []uint64{1000}, ""},
	{"a token that answers no", func(b *bench, r chain.Reference) { b.payToken(6, 1000, r) }, nil, ""},
	{"a token that says yes and does nothing", func(b *bench, r chain.Reference) { b.payToken(10, 1000, r) }, nil, ""},
	{"a token that moves more than it says", func(b *bench, r chain.Reference) { b.payToken(5, 1000, r) }, nil, evm.BalanceOff},
	{"a token that says more than it moves", func(b *bench, r chain.Reference) { b.payToken(13, 1000, r) }, nil, evm.BalanceOff},
	{"a token that says nothing", func(b *bench, r chain.Reference) { b.payToken(16, 1000, r) }, nil, evm.BalanceOff},
	{"a token that says it was another's", func(b *bench, r chain.Reference) { b.payToken(17, 1000, r) }, nil, evm.BalanceOff},
	{"a token that says it twice", func(b *bench, r chain.Reference) { b.payToken(18, 1000, r) }, nil, evm.BalanceOff},
	{"a token that comes in again", func(b *bench, r chain.Reference) { b.payToken(14, 1000, r) }, nil, ""},
	{"a token that tries to come in again", func(b *bench, r chain.Reference) { b.payToken(15, 1000, r) }, []uint64{1000}, ""},
}

func TestTheIntakeIsBelievedAndNobodyElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	inner := chain.Reference{}
	copy(inner[:], "inner")
	for _, c := range takings {
		ref := chain.ReferenceTo(c.name)
		to := ref.In(chain.EVM)
		b.forget()
		c.do(b, ref)
		b.Mine(1)
		list, err := b.chain.Deposits(t.Context(), b.tipBlock(), set{to, inner.In(chain.EVM)})
		b.ok(err)
		var got []uint64
		for _, d := range list {
			n, _ := d.Amount.Uint64()
			got = append(got, n)
			if d.To != to {
				t.Errorf("%s: credited to %s", c.name, d.To.Text())
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.got) {
			t.Errorf("%s: credited %v", c.name, got)
		}
		if why := b.noticed(to); c.why != "" && !slices.Contains(why, c.why) {
			t.Errorf("%s: noticed %v, and not %s", c.name, why, c.why)
		}
		if left := number(b.direct.call("eth_getBalance", b.intake, "latest")); left != 0 {
			t.Errorf("%s: %d coins stay in the intake", c.name, left)
		}
	}
}

// TestNothingIsEverSentToAReference: the text of one is no address, so that a transfer to
// whatever bytes can not be taken for a payment of the order.
func TestNothingIsEverSentToAReference(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ref := chain.ReferenceTo("ord_1")
	for _, bytes := range [][]byte{ref[:20], ref[12:]} {
		b.from("payer", wish{to: common.BytesToAddress(bytes), value: big.NewInt(1000)})
		b.from("payer", wish{to: b.token, data: pack(tokenFile(), "mint", common.BytesToAddress(bytes), big.NewInt(5))})
	}
	b.Mine(1)
	if list := b.inTip(ref.In(chain.EVM)); len(list) != 0 {
		t.Errorf("credited %v", list)
	}
	if _, err := (evm.Codec{}).Parse(ref.In(chain.EVM).Text()); err == nil {
		t.Error("a reference is read as an address")
	}
}

func TestAPaymentByTheIntakeGoesWithItsBlockAndComesBackUnderItsName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ref := chain.ReferenceTo("ord_1")
	b.payIn("payer", 1000, ref)
	b.Mine(1)
	first := b.inTip(ref.In(chain.EVM))
	b.Reorg(1, true)
	if len(first) != 1 || len(b.inTip(ref.In(chain.EVM))) != 0 {
		t.Fatalf("%v, and after its block is gone %v", first, b.inTip(ref.In(chain.EVM)))
	}
	b.payIn("payer", 1000, ref) // the same nonce and the same words: the same transaction
	b.Mine(1)
	again := b.inTip(ref.In(chain.EVM))
	if len(again) != 1 || again[0].ID != first[0].ID || again[0].Block == first[0].Block {
		t.Errorf("%v came back as %v", first, again)
	}
}

// TestWhatSomebodyIsAskedToSignPays sends exactly what Fund says, approvals first.
func TestWhatSomebodyIsAskedToSignPays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	payer := canonical(addressOf(b.person("payer")))
	b.from("payer", wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(payer), toBig(amount))})
	b.Mine(1)
	for _, c := range []struct {
		name    string
		asset   chain.Asset
		allowed int64
		before  int
	}{
		{"coins", chainID.Native(), 0, 0},
		{"a token of which nothing is allowed", b.asset(b.token), 0, 1},
		{"a token of which too little is allowed", b.asset(b.token), 5, 2},
		{"a token of which enough is allowed", b.asset(b.token), 1000, 0},
	} {
		b.from("payer", wish{to: b.token, data: pack(tokenFile(), "approve", b.intake, big.NewInt(c.allowed))})
		b.Mine(1)
		due := chain.Due{From: payer, Asset: c.asset, Amount: money.FromUint64(1000), For: chain.ReferenceTo(c.name)}
		f, err := b.chain.Fund(t.Context(), due)
		b.ok(err)
		if len(f.Before) != c.before {
			t.Errorf("%s: %d approvals", c.name, len(f.Before))
		}
		for _, r := range append(f.Before, f.Pay) {
			b.from("payer", wish{to: toCommon(r.To), value: toBig(r.Value), data: r.Data, gas: r.Gas})
			b.Mine(1)
		}
		if list := b.inTip(due.For.In(chain.EVM)); len(list) != 1 || list[0].Amount != due.Amount || list[0].Asset != c.asset {
			t.Errorf("%s: credited %v", c.name, list)
		}
	}
}

func TestNobodyIsAskedToPayWhatCouldNotBeCredited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good := chain.Due{From: canonical(common.Address{1}), Asset: chainID.Native(), Amount: amount, For: chain.ReferenceTo("ord_1")}
	if _, err := b.chain.Fund(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*chain.Due){
		"a token that is not listed": func(d *chain.Due) { d.Asset = b.asset(b.foreign) },
		"another chain":              func(d *chain.Due) { d.Asset.Chain = "eip155:1" },
		"nobody":                     func(d *chain.Due) { d.From = chain.Address{} },
		"another family":             func(d *chain.Due) { d.From = chain.CanonicalAddress(chain.Solana, d.From.Text()) },
		"nothing":                    func(d *chain.Due) { d.Amount = money.Amount{} },
	} {
		due := good
		change(&due)
		if f, err := b.chain.Fund(t.Context(), due); err == nil {
			t.Errorf("%s: %v", name, f)
		}
	}
	if _, err := b.open(func(c *evm.Config) { c.Intake = chain.Address{} }).Fund(t.Context(), good); err == nil {
		t.Error("without an intake somebody is asked to pay by one")
	}
}

func TestAnIntakeThatIsNotOursStopsTheStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ok(b.chain.Check(t.Context()))
	other := b.deploy(evm.IntakeCode(common.Address{1})) // made for somebody else
	b.Mine(1)
	for name, at := range map[string]common.Address{"for another": other, "another contract": b.trick, "nothing": {0xab, 1}} {
		c := b.open(func(c *evm.Config) { c.Intake = canonical(at) })
		if err := c.Check(t.Context()); !errors.Is(err, evm.ErrIntake) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestAPaymentInsideATransactionOfOursIsNone: whoever runs code in a swap of ours could pay
// an order there, and what comes to us would be counted for the swap and for the order.
func TestAPaymentInsideATransactionOfOursIsNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.from("trickster", wish{to: b.liar, data: pack(liarFile(), "setMode", new(big.Int))})
	b.from("trickster", wish{to: b.liar, data: pack(liarFile(), "mint", b.trick, big.NewInt(1000))})
	b.Mine(1)
	for name, pay := range map[string]func(of chain.Reference) (value uint64, data []byte){
		"coins": func(of chain.Reference) (uint64, []byte) { return 7, pack(intakeFile(), "pay", of) },
		"a token": func(of chain.Reference) (uint64, []byte) {
			return 0, pack(intakeFile(), "payToken", b.liar, big.NewInt(1000), of)
		},
	} {
		of := chain.ReferenceTo(name)
		to := of.In(chain.EVM)
		value, data := pay(of)
		b.forget()
		a := b.draft(chain.Call{
			Chain: chainID, From: evm.Hot, To: canonical(b.trick), Asset: chainID.Native(), Amount: money.FromUint64(value),
			Data: pack(trickFile(), "call", b.intake, data, false),
		})
		b.offer(a.Raw)
		b.Mine(1)
		if r := b.receiptOf(a.Tx); len(r.Logs) == 0 {
			t.Fatalf("%s: the intake was not paid: %+v", name, r)
		}
		if list := b.inTip(to); len(list) != 0 {
			t.Errorf("%s: credited %v", name, list)
		}
		if why := b.noticed(to); !slices.Contains(why, evm.PaidByUs) {
			t.Errorf("%s: noticed %v", name, why)
		}
	}
}
