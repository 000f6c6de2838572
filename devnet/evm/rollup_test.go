package evm

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"ferry/devnet/evm/rollup"
)

var nobody = common.Address{}

func TestADepositArrivesAboveOnceItIsFinalBelow(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	defer r.close()
	below, above := r.tokens()
	bob, bridge := common.Address{0xb0}, abiOf(t, "L1StandardBridge")
	r.must(r.send(r.l1, r.at.Bridge, ether(3), pack(t, bridge, "depositETHTo", bob, uint32(200_000), []byte{})))
	r.must(r.send(r.l1, r.at.Bridge, nil, pack(t, bridge, "depositERC20To", below, above, bob, big.NewInt(70), uint32(200_000), []byte{})))
	do(t, r.l2, "mine", `{"n":2}`)
	if got := r.has(r.l2, nobody, bob); got.Sign() != 0 {
		t.Fatalf("bob has %s already", got)
	}
	do(t, r.l1, "mine", fmt.Sprintf(`{"n":%d}`, deep))
	do(t, r.l2, "mine", `{"n":5}`)
	if coins, tokens := r.has(r.l2, nobody, bob), r.has(r.l2, above, bob); coins.Cmp(ether(3)) != 0 || tokens.Int64() != 70 {
		t.Fatalf("bob has %s coins and %s tokens", coins, tokens)
	}
}

func TestAWithdrawalIsProvenDisputedForAWhileAndPaid(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	defer r.close()
	below, above := r.tokens()
	bridge, bridge2 := abiOf(t, "L1StandardBridge"), abiOf(t, "L2StandardBridge")
	r.must(r.send(r.l1, r.at.Bridge, nil, pack(t, bridge, "depositERC20To", below, above, r.me, big.NewInt(500), uint32(200_000), []byte{})))
	r.mine(deep + 1)
	bob := common.Address{0xb0}
	for _, one := range []struct {
		name  string
		value *big.Int
		data  []byte
		token common.Address
		want  *big.Int
	}{
		{"coins", ether(2), pack(t, bridge2, "bridgeETHTo", bob, uint32(200_000), []byte{}), nobody, ether(2)},
		{"tokens", nil, pack(t, bridge2, "withdrawTo", above, bob, big.NewInt(400), uint32(200_000), []byte{}), below, big.NewInt(400)},
	} {
		w, hash := r.leaving(r.must(r.send(r.l2, rollup.Bridge, one.value, one.data)))
		r.mine(every + deep + 2)
		forged := w
		forged.Value = new(big.Int).Add(w.Value, big.NewInt(1))
		if got := r.send(r.l1, r.at.Portal, nil, r.prove(forged, hash)); got.Status != types.ReceiptStatusFailed {
			t.Fatalf("%s: what was forged is proven", one.name)
		}
		r.must(r.send(r.l1, r.at.Portal, nil, r.prove(w, hash)))
		if got := r.send(r.l1, r.at.Portal, nil, r.finalize(w)); got.Status != types.ReceiptStatusFailed {
			t.Fatalf("%s: it is paid at once", one.name)
		}
		r.wait()
		r.must(r.send(r.l1, r.at.Portal, nil, r.finalize(w)))
		if got := r.has(r.l1, one.token, bob); got.Cmp(one.want) != 0 {
			t.Fatalf("%s: bob has %s", one.name, got)
		}
		if got := r.send(r.l1, r.at.Portal, nil, r.finalize(w)); got.Status != types.ReceiptStatusFailed {
			t.Fatalf("%s: it is paid twice", one.name)
		}
	}
}

func TestARollupThatStartsAgainNeitherLosesNorDoublesADeposit(t *testing.T) {
	t.Parallel()
	r := newRig(t, t.TempDir())
	defer func() { r.close() }()
	bob, bridge := common.Address{0xb0}, abiOf(t, "L1StandardBridge")
	deposit := func() {
		r.must(r.send(r.l1, r.at.Bridge, ether(1), pack(t, bridge, "depositETHTo", bob, uint32(200_000), []byte{})))
	}
	at := r.at
	deposit() // one that is final below and not above
	do(t, r.l1, "mine", fmt.Sprintf(`{"n":%d}`, deep))
	deposit() // one that is not final
	r.restart()
	if r.at != at {
		t.Fatalf("its contracts were at %+v and are at %+v", at, r.at)
	}
	do(t, r.l2, "mine", `{}`)
	if got := r.has(r.l2, nobody, bob); got.Cmp(ether(1)) != 0 {
		t.Fatalf("bob has %s", got)
	}
	w, hash := r.leaving(r.must(r.send(r.l2, rollup.Bridge, ether(2), pack(t, abiOf(t, "L2StandardBridge"), "bridgeETHTo", bob, uint32(200_000), []byte{}))))
	r.restart()
	r.mine(every + deep + 2)
	if got := r.has(r.l2, nobody, bob); got.Cmp(ether(2)) != 0 {
		t.Fatalf("bob has %s", got)
	}
	r.must(r.send(r.l1, r.at.Portal, nil, r.prove(w, hash)))
	r.restart()
	r.wait()
	r.must(r.send(r.l1, r.at.Portal, nil, r.finalize(w)))
	r.restart()
	r.mine(2)
	if got := r.has(r.l1, nobody, bob); got.Cmp(ether(2)) != 0 {
		t.Fatalf("bob has %s below", got)
	}
	if got := r.has(r.l2, nobody, bob); got.Cmp(ether(2)) != 0 {
		t.Fatalf("bob has %s above", got)
	}
}

func TestReorganisationsKeepWhatCameFromBelow(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	defer r.close()
	bob, bridge := common.Address{0xb0}, abiOf(t, "L1StandardBridge")
	data := pack(t, bridge, "depositETHTo", bob, uint32(200_000), []byte{})
	has := func(when string, want *big.Int) {
		t.Helper()
		if got := r.has(r.l2, nobody, bob); got.Cmp(want) != 0 {
			t.Fatalf("%s: bob has %s and not %s", when, got, want)
		}
	}
	r.must(r.send(r.l1, r.at.Bridge, ether(1), data))
	do(t, r.l1, "reorg", `{"depth":1,"lose":true}`)
	r.mine(deep + 3)
	has("a deposit that was orphaned before it was final", new(big.Int))
	r.must(r.send(r.l1, r.at.Bridge, ether(1), data))
	r.mine(deep + 2)
	has("a deposit", ether(1))
	do(t, r.l2, "reorg", `{"depth":4,"lose":true}`)
	r.mine(1)
	has("the rollup was reorganised", ether(1))
	// More than what makes a block final: the rollup leaves its own blocks.
	do(t, r.l1, "reorg", `{"depth":9,"lose":true}`)
	was := do(t, r.l2, "head", `{}`).(Place)
	r.mine(deep + 2)
	has("the chain below broke its word", new(big.Int))
	if h := r.l2.eth.BlockChain().GetHeaderByNumber(was.Height); h.Hash() == was.Hash {
		t.Fatal("the rollup stays on what was orphaned below")
	}
}

func TestAnOutputThatIsNotTrueAnyMoreIsTakenBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	defer r.close()
	r.mine(3*every + deep)
	count := func() uint64 {
		answer, err := r.l1.call(t.Context(), r.at.Oracle, rollup.AskOutputs())
		if err != nil {
			t.Fatal(err)
		}
		return new(big.Int).SetBytes(answer).Uint64()
	}
	if count() < 2 {
		t.Fatalf("%d outputs were told", count())
	}
	do(t, r.l2, "reorg", fmt.Sprintf(`{"depth":%d,"lose":true}`, deep+2))
	r.mine(4)
	for i := range count() {
		answer, err := r.l1.call(t.Context(), r.at.Oracle, rollup.AskOutput(i))
		if err != nil {
			t.Fatal(err)
		}
		o, err := rollup.ReadOutput(answer)
		if err != nil {
			t.Fatal(err)
		}
		if want := rollup.Output(r.l2.eth.BlockChain().GetHeaderByNumber(o.L2BlockNumber.Uint64())); want != o.OutputRoot {
			t.Fatalf("output %d of block %d is not true", i, o.L2BlockNumber)
		}
	}
	do(t, r.l2, "propose", `{"on":false}`)
	r.mine(1)
	was := count()
	r.mine(3 * every)
	if got := count(); got != was {
		t.Fatalf("%d outputs were told at rest", got-was)
	}
}

func TestAccountsOfARollupTakeCodeOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	defer r.close()
	user, err := keyOf("", "a user")
	if err != nil {
		t.Fatal(err)
	}
	code := common.Address{0xc0, 0xde}
	auth, err := types.SignSetCode(user, types.SetCodeAuthorization{ChainID: *uint256.NewInt(902), Address: code})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := types.SignNewTx(r.who, types.LatestSignerForChainID(big.NewInt(902)), &types.SetCodeTx{
		ChainID: uint256.NewInt(902), Gas: 100_000, GasTipCap: uint256.NewInt(gwei), GasFeeCap: uint256.NewInt(9 * gwei),
		To: r.me, AuthList: []types.SetCodeAuthorization{auth},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.l2.eth.TxPool().Add([]*types.Transaction{tx}, true) {
		if err != nil {
			t.Fatal(err)
		}
	}
	do(t, r.l2, "mine", `{}`)
	s, err := r.l2.eth.BlockChain().State()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := types.ParseDelegation(s.GetCode(crypto.PubkeyToAddress(user.PublicKey))); !ok || got != code {
		t.Fatal("the account obeys nobody")
	}
}

func TestABlockTakesAllThatFits(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	defer r.close()
	// Each says that it may use eight million, of thirty-six: together they use little.
	for i := range 20 {
		do(t, r.l2, "send", fmt.Sprintf(`{"to":"0x%040x","data":"0x01"}`, 0xabc000+i))
	}
	do(t, r.l2, "mine", `{}`)
	b := r.l2.eth.BlockChain().GetBlockByNumber(r.l2.head().Height)
	if got := len(b.Transactions()); got != 21 {
		t.Fatalf("%d transactions, of 20 and the word about the chain below", got)
	}
}

func TestARollupIsRefusedWithoutAChainBelow(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{
		`{"chainId":7,"rollup":{"of":"nobody","every":1,"challengeSeconds":1}}`,
		`{"chainId":7,"rollup":{"of":"below","every":1}}`,
	} {
		if _, err := Open(t.Context(), "", json.RawMessage(spec), func(string) *Node { return nil }); err == nil {
			t.Errorf("%s is taken", spec)
		}
	}
	n := open(t, "")
	defer func() { _ = n.Close() }()
	for _, op := range []string{"rollup", "propose", "pair"} {
		if _, err := n.Do(t.Context(), op, json.RawMessage(`{}`)); err == nil {
			t.Errorf("%s is taken by a chain that is no rollup", op)
		}
	}
}
