package evm_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/family/familytest"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/send"
)

// call is a payment of ours.
func (b *bench) call(to chain.Address, a chain.Asset, n money.Amount) chain.Call {
	return chain.Call{Chain: chainID, From: evm.Hot, To: to, Asset: a, Amount: n}
}

func (b *bench) draft(c chain.Call) chain.Attempt {
	b.t.Helper()
	a, err := b.chain.Draft(b.t.Context(), c, nil, budget)
	b.ok(err)
	return a
}

func (b *bench) fate(a chain.Attempt) chain.Status {
	b.t.Helper()
	s, err := b.chain.Fate(b.t.Context(), a)
	b.ok(err)
	return s
}

func (b *bench) mood(mode int64) {
	b.t.Helper()
	b.from("trickster", wish{to: b.liar, data: pack(liarFile(), "setMode", big.NewInt(mode))})
	b.Mine(1)
}

func TestATokenThatSaysYesAndDoesNothingHasNotPaid(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]int64{"it says yes": 10, "it says no": 6, "it is frozen": 11} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.do("fund", map[string]any{"address": b.own, "token": b.liar, "amount": 1000})
			b.Mine(finalDepth + 1)
			bob := b.Address("bob")
			c := b.call(bob, b.asset(b.liar), money.FromUint64(400))
			a := b.draft(c)
			b.mood(mode)
			b.ok(b.chain.Broadcast(t.Context(), a.Raw))
			b.Mine(1)
			if s := b.fate(a); s.Fate != chain.Included {
				t.Errorf("it is %v", s.Fate)
			}
			b.Mine(finalDepth)
			if s := b.fate(a); s.Fate != chain.Reverted || s.Fee.IsZero() {
				t.Errorf("it ended as %v", s)
			}
			if _, err := b.chain.Draft(t.Context(), c, nil, budget); mode == 11 && !errors.Is(err, send.ErrRefused) {
				t.Errorf("a frozen token gave %v", err)
			}
			b.mood(0)
			a = b.draft(c)
			b.ok(b.chain.Broadcast(t.Context(), a.Raw))
			b.Mine(1 + finalDepth)
			if s := b.fate(a); s.Fate != chain.Final {
				t.Errorf("it ended as %v", s)
			}
			if got := b.Balance(bob, b.asset(b.liar)); got != c.Amount {
				t.Errorf("bob has %s", got)
			}
		})
	}
}

func TestAReceiptThatLiesDoesNotDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob := b.Address("bob")
	a := b.draft(b.call(bob, chainID.Native(), amount))
	b.Reject(bob)
	b.ok(b.chain.Broadcast(t.Context(), a.Raw))
	b.Mine(1 + finalDepth)
	for _, p := range b.proxies { // every node says that it went well
		p.lie(func(q *question, result any) any {
			if o, ok := result.(object); ok && q.Method == "eth_getTransactionReceipt" {
				o["status"] = "0x1"
			}
			return result
		})
	}
	if s := b.fate(a); s.Fate != chain.Reverted {
		t.Errorf("it is %v", s.Fate)
	}
	for _, p := range b.proxies {
		p.lie(of("eth_getBlockReceipts", each(func(o object) { o["status"] = "0x1" })))
	}
	if s, err := b.chain.Fate(t.Context(), a); err == nil {
		t.Errorf("forged receipts made it %v", s.Fate)
	}
}

func TestRecipientsThatAreNobodyAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, to := range map[string]chain.Address{
		"a precompile":         chain.CanonicalAddress(chain.EVM, "0x"+strings.Repeat("0", 39)+"1"),
		"the token itself":     canonical(b.token),
		"the zero address":     chain.CanonicalAddress(chain.EVM, "0x"+strings.Repeat("0", 40)),
		"who takes no coins":   canonical(b.foreign),
		"upper case":           chain.CanonicalAddress(chain.EVM, "0x"+strings.Repeat("AB", 20)),
		"of another family":    chain.CanonicalAddress(chain.Bitcoin, b.Address("bob").Text()),
		"one that is too long": chain.CanonicalAddress(chain.EVM, b.Address("bob").Text()+"00"),
	} {
		if _, err := b.chain.Draft(t.Context(), b.call(to, chainID.Native(), amount), nil, budget); !errors.Is(err, send.ErrRefused) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAReplacementPaysAnEighthMoreInBothParts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.call(b.Address("bob"), chainID.Native(), amount)
	prev := b.draft(c)
	for range 5 {
		most := must(prev.Fee.MulDiv(money.FromUint64(9), money.FromUint64(8), money.Up))
		most = must(most.Add(money.FromUint64(1_000_000))) // what rounding takes, for each unit of gas
		next, err := b.chain.Redraft(t.Context(), c, prev, most)
		b.ok(err)
		was, is := new(types.Transaction), new(types.Transaction)
		b.ok(was.UnmarshalBinary(prev.Raw))
		b.ok(is.UnmarshalBinary(next.Raw))
		for _, p := range [][2]*big.Int{{was.GasTipCap(), is.GasTipCap()}, {was.GasFeeCap(), is.GasFeeCap()}} {
			if new(big.Int).Mul(p[1], big.NewInt(8)).Cmp(new(big.Int).Mul(p[0], big.NewInt(9))) < 0 {
				t.Errorf("%s is not an eighth more than %s", p[1], p[0])
			}
		}
		if is.Nonce() != was.Nonce() || most.Less(next.Fee) {
			t.Errorf("nonce %d after %d, fee %s of %s", is.Nonce(), was.Nonce(), next.Fee, most)
		}
		prev = next
	}
}

func TestAnAbsurdPriceIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *evm.Config) { c.MaxTip = money.FromUint64(2 * gwei) })
	c := b.call(b.Address("bob"), chainID.Native(), amount)
	for _, p := range b.proxies {
		p.lie(of("eth_feeHistory", func(r any) any {
			r.(object)["reward"] = []any{[]any{"0xffffffffffffffff"}}
			return r
		}))
	}
	tx := new(types.Transaction)
	b.ok(tx.UnmarshalBinary(b.draft(c).Raw))
	if tx.GasTipCap().Cmp(big.NewInt(2*gwei)) != 0 {
		t.Errorf("it tips %s", tx.GasTipCap())
	}
	for _, p := range b.proxies {
		p.lie(of("eth_feeHistory", func(r any) any { r.(object)["reward"] = nil; return r }))
	}
	b.ok(tx.UnmarshalBinary(b.draft(c).Raw))
	if tx.GasTipCap().Cmp(big.NewInt(gwei)) != 0 {
		t.Errorf("it tips %s", tx.GasTipCap())
	}
}

// sweepOf is the call that brings home the ordinary amount from some addresses.
func (b *bench) sweepOf(a chain.Asset, indices ...uint32) chain.Call {
	c := b.call(canonical(b.own), a, money.Amount{})
	for _, i := range indices {
		c.Sources = append(c.Sources, chain.Source{Address: b.Deposit(i), Index: i, Amount: amount})
		c.Amount = must(c.Amount.Add(amount))
	}
	return c
}

func (b *bench) fill(a chain.Asset, indices ...uint32) {
	b.t.Helper()
	for _, i := range indices {
		b.Pay(familytest.Payment{From: "stranger", Outs: []familytest.Out{{To: b.Deposit(i), Asset: a, Amount: amount}}})
		b.Mine(1)
	}
	b.Mine(finalDepth)
}

// swept brings home and is final.
func (b *bench) swept(c chain.Call) *types.Transaction {
	b.t.Helper()
	a := b.draft(c)
	b.ok(b.chain.Broadcast(b.t.Context(), a.Raw))
	b.Mine(1 + finalDepth)
	if s := b.fate(a); s.Fate != chain.Final {
		b.t.Fatalf("the sweep is %v", s.Fate)
	}
	tx := new(types.Transaction)
	b.ok(tx.UnmarshalBinary(a.Raw))
	return tx
}

func TestAnAddressGivesItsWordOnceAndGoesOnTakingDeposits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(chainID.Native(), 1, 2)
	if tx := b.swept(b.sweepOf(chainID.Native(), 1, 2)); len(tx.SetCodeAuthorizations()) != 2 || tx.Value().Sign() != 0 {
		t.Errorf("it carries %d authorizations and %s", len(tx.SetCodeAuthorizations()), tx.Value())
	}
	b.forget()
	b.Pay(payment(b.Deposit(1)))
	b.Mine(1)
	if list := b.inTip(b.Deposit(1)); len(list) != 1 || list[0].Amount != amount {
		t.Errorf("after the sweep found %v", list)
	}
	b.fill(b.asset(b.token), 1, 3)
	if tx := b.swept(b.sweepOf(b.asset(b.token), 1, 3)); len(tx.SetCodeAuthorizations()) != 1 {
		t.Errorf("it carries %d authorizations", len(tx.SetCodeAuthorizations()))
	}
	if tx := b.swept(b.sweepOf(chainID.Native(), 1)); tx.Type() != types.DynamicFeeTxType {
		t.Errorf("it is of type %d", tx.Type())
	}
	if got := b.noticed(b.Deposit(1)); len(got) != 0 {
		t.Errorf("noticed %v", got)
	}
}

func TestOnlyOurAccountSweeps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(chainID.Native(), 1)
	b.swept(b.sweepOf(chainID.Native(), 1))
	b.fill(chainID.Native(), 1)
	sweeper := compiledFrom("contract/Sweeper.json")()
	from, amounts := []common.Address{toCommon(b.Deposit(1))}, []*big.Int{toBig(amount)}
	for name, w := range map[string]wish{
		"sweep":                 {to: b.sweeper, data: pack(sweeper, "sweep", common.Address{}, from, amounts)},
		"give":                  {to: from[0], data: pack(sweeper, "give", common.Address{}, amounts[0])},
		"sweep of the address":  {to: from[0], data: pack(sweeper, "sweep", common.Address{}, from, amounts)},
		"give of the sweeper":   {to: b.sweeper, data: pack(sweeper, "give", common.Address{}, big.NewInt(0))},
		"a method nobody knows": {to: from[0], data: []byte{1, 2, 3, 4}},
	} {
		tx := b.from("thief", w)
		b.Mine(1)
		if r := b.receipt(tx); r["status"] != "0x0" {
			t.Errorf("%s: its status is %v", name, r["status"])
		}
	}
	if got := b.Balance(b.Deposit(1), chainID.Native()); got != amount {
		t.Errorf("%s is left", got)
	}
}

func TestASweepIsRefusedWithoutASweeperAndFromForeignCode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(chainID.Native(), 1)
	c := b.sweepOf(chainID.Native(), 1)
	none := b.open(func(c *evm.Config) { c.Sweeper = chain.Address{} })
	if _, err := none.Draft(t.Context(), c, nil, budget); !errors.Is(err, send.ErrRefused) {
		t.Errorf("without a sweeper: %v", err)
	}
	b.swept(c)
	b.fill(chainID.Native(), 1)
	other := b.open(func(c *evm.Config) { c.Sweeper = canonical(b.trick) })
	if _, err := other.Draft(t.Context(), c, nil, budget); !errors.Is(err, send.ErrRefused) {
		t.Errorf("with another sweeper: %v", err)
	}
}

// Whoever sends exactly the gas of a plain transfer cannot pay an address that has been
// swept: its code takes a little more. The payment fails and stays with its sender.
func TestAPaymentWithoutGasForCodeStaysWithItsSender(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(chainID.Native(), 1)
	b.swept(b.sweepOf(chainID.Native(), 1))
	b.forget()
	tx := b.from("stranger", wish{to: toCommon(b.Deposit(1)), value: toBig(amount), gas: params.TxGas})
	b.Mine(1)
	if r := b.receipt(tx); r["status"] != "0x0" {
		t.Errorf("its status is %v", r["status"])
	}
	if list := b.inTip(b.Deposit(1)); len(list) != 0 {
		t.Errorf("found %v", list)
	}
	if got := b.noticed(b.Deposit(1)); !slices.Contains(got, evm.Failed) {
		t.Errorf("noticed %v", got)
	}
}

func TestASweepAndADepositInOneBlockAreBothSeen(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *evm.Config){
		"with traces": func(*evm.Config) {}, "without": func(c *evm.Config) { c.NoTrace = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, change)
			b.fill(chainID.Native(), 1, 2)
			a := b.draft(b.sweepOf(chainID.Native(), 1, 2))
			b.ok(b.chain.Broadcast(t.Context(), a.Raw))
			tx := b.Pay(payment(b.Deposit(1)))
			b.Mine(1)
			if !b.Landed(a.Tx) || !b.Landed(tx) {
				t.Fatal("they are not in one block")
			}
			list, err := b.chain.Deposits(t.Context(), b.tipBlock(), set{b.Deposit(1), b.Deposit(2)})
			b.ok(err)
			if len(list) != 1 || list[0].Tx != tx || list[0].Amount != amount {
				t.Errorf("found %v", list)
			}
		})
	}
}

// A payment that landed long ago must not look dead to nodes that threw its receipt
// away: it would be made again.
func TestAReceiptThatWasThrownAwayIsNotADeadAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft(b.call(b.Address("bob"), chainID.Native(), amount))
	b.ok(b.chain.Broadcast(t.Context(), a.Raw))
	b.Mine(1 + finalDepth)
	for _, p := range b.proxies {
		p.lie(of("eth_getTransactionReceipt", func(any) any { return nil }))
	}
	if s, err := b.chain.Fate(t.Context(), a); err == nil {
		t.Errorf("it is %v", s.Fate)
	}
}

// A signer that signs something else than it was asked is not believed.
type otherSigner struct{ evm.Signer }

func (o otherSigner) Sign(ctx context.Context, p chain.Paper) ([]byte, error) {
	tx := new(types.Transaction)
	must0(tx.UnmarshalBinary(p.Unsigned))
	value := new(big.Int).Add(tx.Value(), big.NewInt(1))
	p.Unsigned = must(types.NewTx(&types.DynamicFeeTx{
		ChainID: tx.ChainId(), Nonce: tx.Nonce(), GasTipCap: tx.GasTipCap(), GasFeeCap: tx.GasFeeCap(), Gas: tx.Gas(), To: tx.To(), Value: value,
	}).MarshalBinary())
	return o.Signer.Sign(ctx, p)
}

func TestOnlyWhatWasMeantIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, err := evm.New(t.Context(), evm.Config{ID: chainID, Nodes: rpc.Config{URLs: b.urls, Need: need}, Tag: "finalized"}, otherSigner{ring()})
	b.ok(err)
	if _, err := c.Draft(t.Context(), b.call(b.Address("bob"), chainID.Native(), amount), nil, budget); !errors.Is(err, evm.ErrBytes) {
		t.Errorf("got %v", err)
	}
}

func TestASweeperThatIsNotOursStopsTheStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ok(b.chain.Check(t.Context()))
	other := b.deploy(evm.SweeperCode(common.Address{1})) // made for somebody else
	b.Mine(1)
	for name, at := range map[string]common.Address{"for another": other, "another contract": b.trick, "nothing": {0xab, 1}} {
		c := b.open(func(c *evm.Config) { c.Sweeper = canonical(at) })
		if err := c.Check(t.Context()); !errors.Is(err, evm.ErrSweeper) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestBytesOfAStrangerAreNotOffered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tx := must(types.SignNewTx(b.person("stranger"), rules, &types.DynamicFeeTx{
		ChainID: big.NewInt(chainNumber), To: &common.Address{1, 2, 3}, Value: big.NewInt(1), Gas: 30_000, GasTipCap: big.NewInt(3 * gwei), GasFeeCap: big.NewInt(30 * gwei),
	}))
	if err := b.chain.Broadcast(t.Context(), must(tx.MarshalBinary())); !errors.Is(err, evm.ErrBytes) {
		t.Errorf("got %v", err)
	}
	b.Mine(1)
	if b.Landed(chain.TxID(tx.Hash().Hex())) {
		t.Error("it landed")
	}
}

// Nodes that are on another branch below what is final do not know what became of a
// payment: what they miss is not missing, and the nonce is used by the payment itself.
func TestNodesOfAnotherBranchHaveNoVote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft(b.call(b.Address("bob"), chainID.Native(), amount))
	b.ok(b.chain.Broadcast(t.Context(), a.Raw))
	b.Mine(1 + finalDepth)
	for _, p := range b.proxies[:2] {
		p.lie(func(q *question, result any) any {
			switch {
			case q.Method == "eth_getBlockByNumber" && strings.HasPrefix(string(q.Params[0]), `"0x`):
				result.(object)["extraData"] = "0xbad0"
				return rehash(result.(object))
			case q.Method == "eth_getTransactionReceipt", q.Method == "eth_getTransactionByHash":
				return nil
			}
			return result
		})
	}
	if s, err := b.chain.Fate(t.Context(), a); err == nil {
		t.Errorf("it is %v", s.Fate)
	}
}
