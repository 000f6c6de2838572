package evm_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/money"
)

// set is a few addresses.
type set []chain.Address

func (s set) Has(a chain.Address) bool { return slices.Contains(s, a) }

// noticed are the reasons for which something about an address was not credited.
func (b *bench) noticed(to chain.Address) []evm.Reason {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []evm.Reason
	for _, s := range b.suspects {
		if s.To == to || s.To.IsZero() {
			out = append(out, s.Reason)
		}
	}
	return out
}

// forget drops what was noticed so far.
func (b *bench) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.suspects = nil
}

// tipBlock is the newest block, as the chain under test sees it.
func (b *bench) tipBlock() chain.Block {
	b.t.Helper()
	h, err := b.chain.Head(b.t.Context())
	b.ok(err)
	return h.Tip
}

// inTip are the deposits to an address in the newest block.
func (b *bench) inTip(to chain.Address) []chain.Deposit {
	b.t.Helper()
	list, err := b.chain.Deposits(b.t.Context(), b.tipBlock(), set{to})
	b.ok(err)
	return list
}

// one is a recipient and an amount as the trick contract wants them.
func one(to chain.Address) ([]common.Address, []*big.Int) {
	return []common.Address{toCommon(to)}, []*big.Int{toBig(amount)}
}

func (b *bench) tricked(value money.Amount, method string, args ...any) {
	b.t.Helper()
	b.from("trickster", wish{to: b.trick, value: toBig(value), data: pack(trickFile(), method, args...)})
}

// lied has the listed token that lies make some of itself, in one of its moods.
func (b *bench) lied(mode int64, to chain.Address, n int64) {
	b.t.Helper()
	b.from("trickster", wish{to: b.liar, data: pack(liarFile(), "setMode", big.NewInt(mode))})
	b.Mine(1)
	b.from("trickster", wish{to: b.liar, data: pack(liarFile(), "mint", toCommon(to), big.NewInt(n))})
}

// spoofs are payments that look like some and are none.
var spoofs = []struct {
	name string
	do   func(b *bench, to chain.Address)
	why  evm.Reason
}{
	{"a contract that is no token tells a transfer", func(b *bench, to chain.Address) {
		b.tricked(money.Amount{}, "fake", toCommon(to), toBig(amount))
	}, evm.NotListed},
	{"another token has the same name, symbol and decimals", func(b *bench, to chain.Address) {
		b.from("trickster", wish{to: b.foreign, data: pack(tokenFile(), "mint", toCommon(to), toBig(amount))})
	}, evm.NotListed},
	{"a contract runs the token's code as its own", func(b *bench, to chain.Address) {
		b.tricked(money.Amount{}, "delegate", b.token, pack(tokenFile(), "mint", toCommon(to), toBig(amount)))
	}, evm.NotListed},
	{"a contract keeps the coins and says whom they are for", func(b *bench, to chain.Address) {
		b.tricked(amount, "keep", toCommon(to))
	}, evm.NotListed},
	{"a thing that is one of a kind", func(b *bench, to chain.Address) {
		b.tricked(money.Amount{}, "fakeNFT", toCommon(to), big.NewInt(7))
	}, evm.OnlyNamed},
	{"a listed token tells and moves nothing", func(b *bench, to chain.Address) { b.lied(1, to, 1000) }, evm.BalanceOff},
	{"a listed token keeps a fee", func(b *bench, to chain.Address) { b.lied(2, to, 1000) }, evm.BalanceOff},
	{"a listed token tells a transfer twice", func(b *bench, to chain.Address) { b.lied(3, to, 1000) }, evm.BalanceOff},
	{"a listed token moves and tells nothing", func(b *bench, to chain.Address) { b.lied(4, to, 1000) }, evm.OnlyNamed},
	{"a listed token moves more than it tells", func(b *bench, to chain.Address) { b.lied(5, to, 1000) }, evm.BalanceOff},
	{"a listed token answers no", func(b *bench, to chain.Address) { b.lied(6, to, 1000) }, evm.OnlyNamed},
	{"a listed token tells a thing that is one of a kind", func(b *bench, to chain.Address) { b.lied(7, to, 1000) }, evm.Malformed},
	{"a listed token tells half an amount", func(b *bench, to chain.Address) { b.lied(8, to, 1000) }, evm.Malformed},
	{"a listed token tells amounts that add up to more than a number holds", func(b *bench, to chain.Address) { b.lied(9, to, 1000) }, evm.BalanceOff},
	{"a listed token tells a transfer of nothing", func(b *bench, to chain.Address) {
		b.from("trickster", wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(to), new(big.Int))})
	}, evm.NothingMoved},
	{"a transfer of nothing from our address", func(b *bench, to chain.Address) {
		b.from("trickster", wish{to: b.token, data: pack(tokenFile(), "transferFrom", toCommon(to), common.Address{1, 2}, new(big.Int))})
	}, evm.OnlyNamed},
	{"an allowance and no payment", func(b *bench, to chain.Address) {
		b.from("trickster", wish{to: b.token, data: pack(tokenFile(), "approve", toCommon(to), toBig(amount))})
	}, evm.OnlyNamed},
	{"a plain transaction over nothing", func(b *bench, to chain.Address) {
		b.from("trickster", wish{to: toCommon(to)})
	}, evm.NothingMoved},
	{"a plain transaction that fails", func(b *bench, to chain.Address) {
		b.Reject(to)
		b.from("trickster", wish{to: toCommon(to), value: toBig(amount)})
	}, evm.Failed},
	{"a payment by a contract that fails after it", func(b *bench, to chain.Address) {
		all, amounts := one(to)
		b.tricked(amount, "payAndFail", all, amounts)
	}, evm.OnlyNamed},
	{"a payment in an inner frame that is undone", func(b *bench, to chain.Address) {
		all, amounts := one(to)
		b.tricked(amount, "payInnerUndone", all, amounts)
	}, evm.OnlyNamed},
	{"a token in an inner frame that is undone", func(b *bench, to chain.Address) {
		b.tricked(money.Amount{}, "mintUndone", b.token, toCommon(to), toBig(amount))
	}, evm.OnlyNamed},
	{"a token in a transaction that fails", func(b *bench, to chain.Address) {
		b.tricked(money.Amount{}, "mintAndFail", b.token, toCommon(to), toBig(amount))
	}, evm.OnlyNamed},
	{"an address that obeys code which is not ours", func(b *bench, to chain.Address) {
		b.obey(to, b.trick)
		b.Mine(1)
		b.from("trickster", wish{to: toCommon(to), value: toBig(amount)})
	}, evm.ForeignCode},
}

func TestWhatLooksLikeAPaymentIsNoneAndIsNoticed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, s := range spoofs {
		to := b.Address(s.name)
		b.forget()
		s.do(b, to)
		b.Mine(1)
		if list := b.inTip(to); len(list) != 0 {
			t.Errorf("%s: credited %v", s.name, list)
		}
		if got := b.noticed(to); !slices.Contains(got, s.why) {
			t.Errorf("%s: noticed %v, want %s", s.name, got, s.why)
		}
	}
	b.lied(0, b.Address("honest"), 1000) // the same token, while it tells the truth
	b.Mine(1)
	if list := b.inTip(b.Address("honest")); len(list) != 1 || list[0].Amount != money.FromUint64(1000) || list[0].Asset != b.asset(b.liar) {
		t.Errorf("found %v", list)
	}
}

func TestWhatTheProtocolPaysIsNoDepositAndBreaksNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := b.Address("validator")
	b.Pay(payment(to))
	b.do("mine", map[string]any{"n": 1, "withdrawals": []any{map[string]any{
		"index": "0x0", "validatorIndex": "0x0", "address": to.Text(), "amount": "0x3b9aca00",
	}}})
	if list := b.inTip(to); len(list) != 1 || list[0].Amount != amount {
		t.Errorf("found %v", list)
	}
	if got := b.noticed(to); !slices.Contains(got, evm.NoTransaction) {
		t.Errorf("noticed %v", got)
	}
	b.do("mine", map[string]any{"n": 1, "withdrawals": []any{map[string]any{
		"index": "0x1", "validatorIndex": "0x0", "address": to.Text(), "amount": "0x1",
	}}})
	if list := b.inTip(to); len(list) != 0 {
		t.Errorf("found %v", list)
	}
}

func TestATrueTransferBesideAFalseOneIsOneDeposit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := b.Address("deposit")
	b.tricked(money.Amount{}, "mintAndFake", b.token, toCommon(to), toBig(amount))
	b.Mine(1)
	if list := b.inTip(to); len(list) != 1 || list[0].Amount != amount || list[0].Asset != b.asset(b.token) {
		t.Errorf("found %v", list)
	}
	if got := b.noticed(to); !slices.Equal(got, []evm.Reason{evm.NotListed}) {
		t.Errorf("noticed %v", got)
	}
}

func TestWhatReallyArrivesIsADepositHoweverOddly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, do := range map[string]func(to chain.Address){
		"left by a contract that ended": func(to chain.Address) { b.tricked(amount, "bequeath", toCommon(to)) },
		"through a contract": func(to chain.Address) {
			all, amounts := one(to)
			b.tricked(amount, "pay", all, amounts)
		},
		"with data": func(to chain.Address) {
			b.from("stranger", wish{to: toCommon(to), value: toBig(amount), data: []byte("thank you for all")})
		},
	} {
		to := b.Address(name)
		do(to)
		b.Mine(1)
		if list := b.inTip(to); len(list) != 1 || list[0].Amount != amount || list[0].Asset != chainID.Native() {
			t.Errorf("%s: found %v", name, list)
		}
	}
}

func TestWithoutTracesOnlyPlainTransactionsCount(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *evm.Config) { c.NoTrace = true })
	to := b.Address("deposit")
	all, amounts := one(to)
	b.tricked(amount, "pay", all, amounts)
	tx := b.Pay(payment(to))
	b.Mine(1)
	if list := b.inTip(to); len(list) != 1 || list[0].Amount != amount || list[0].Tx != tx {
		t.Errorf("found %v", list)
	}
	if got := b.noticed(to); !slices.Contains(got, evm.NotSeenInside) {
		t.Errorf("noticed %v", got)
	}
}
