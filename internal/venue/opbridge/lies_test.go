package opbridge_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/opbridge"
)

// eyes are those of somebody who sees another rollup than there is.
type eyes struct {
	opbridge.Above
	receipt func(r *chain.Receipt)
	proof   func(p *chain.Proof)
}

func (e eyes) Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error) {
	r, err := e.Above.Receipt(ctx, tx)
	if e.receipt != nil {
		r.Logs = append([]chain.Log{}, r.Logs...)
		e.receipt(&r)
	}
	return r, err
}

func (e eyes) Proof(ctx context.Context, of chain.Address, slot chain.Word, height uint64) (chain.Proof, error) {
	p, err := e.Above.Proof(ctx, of, slot, height)
	if e.proof != nil {
		e.proof(&p)
	}
	return p, err
}

// logged changes the logs of one contract.
func logged(by string, change func(l *chain.Log)) func(r *chain.Receipt) {
	return func(r *chain.Receipt) {
		for i := range r.Logs {
			if r.Logs[i].Address.Text() == by {
				r.Logs[i].Topics = append([]chain.Word{}, r.Logs[i].Topics...)
				r.Logs[i].Data = append([]byte{}, r.Logs[i].Data...)
				change(&r.Logs[i])
			}
		}
	}
}

func TestAReceiptThatIsNotWholeIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	const messenger, bridge = "0x4200000000000000000000000000000000000007", "0x4200000000000000000000000000000000000010"
	up := r.act(ok[chain.Call](t)(r.bridge.Deposit(r.coins(common.Address{0xb0}, ether(1)))))
	down := r.act(ok[chain.Call](t)(r.bridge.Withdraw(r.coins(common.Address{0xb0}, ether(1)))))
	r.both(2 * deep)
	for name, lie := range map[string]func(r *chain.Receipt){
		"another contract said it":     logged(canon(passer).Text(), func(l *chain.Log) { l.Address = canon(common.Address{1}) }),
		"another value":                logged(canon(passer).Text(), func(l *chain.Log) { l.Data[31]++ }),
		"another hash":                 logged(canon(passer).Text(), func(l *chain.Log) { l.Data[3*32]++ }),
		"another nonce":                logged(canon(passer).Text(), func(l *chain.Log) { l.Topics[1][31]++ }),
		"another target":               logged(canon(passer).Text(), func(l *chain.Log) { l.Topics[3][31]++ }),
		"a topic less":                 logged(canon(passer).Text(), func(l *chain.Log) { l.Topics = l.Topics[:3] }),
		"half of the data":             logged(canon(passer).Text(), func(l *chain.Log) { l.Data = l.Data[:100] }),
		"nothing said":                 func(r *chain.Receipt) { r.Logs = nil },
		"a transaction that failed":    func(r *chain.Receipt) { r.Fate = chain.Reverted },
		"one that is not final":        func(r *chain.Receipt) { r.Fate = chain.Included },
		"one that nobody knows of":     func(r *chain.Receipt) { r.Fate = chain.Missing },
		"one that waits in a mempool ": func(r *chain.Receipt) { r.Fate = chain.Pending },
	} {
		b := r.over(r.l1.read, eyes{Above: r.l2.read, receipt: lie})
		if got, err := b.Withdrawals(t.Context(), down); !errors.Is(err, opbridge.ErrForeign) && !errors.Is(err, opbridge.ErrNotFinal) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	d := must1[opbridge.Deposit](t)(r.bridge.Deposits(t.Context(), up))
	for _, one := range []struct {
		name string
		lie  func(r *chain.Receipt)
		want opbridge.Arriving
		err  error
	}{
		{"the truth", nil, opbridge.Paid, nil},
		{"it failed", func(r *chain.Receipt) { r.Fate = chain.Reverted }, opbridge.Lost, nil},
		{"it is not final", func(r *chain.Receipt) { r.Fate = chain.Included }, opbridge.Underway, nil},
		{"the bridge said nothing", logged(bridge, func(l *chain.Log) { l.Address = canon(common.Address{1}) }), 0, opbridge.ErrForeign},
		{"the messenger said nothing", logged(messenger, func(l *chain.Log) { l.Address = canon(common.Address{1}) }), 0, opbridge.ErrForeign},
		{"another message", logged(messenger, func(l *chain.Log) { l.Topics[1][0]++ }), 0, opbridge.ErrForeign},
		{"somebody else was paid", logged(bridge, func(l *chain.Log) { l.Topics[2][31]++ }), 0, opbridge.ErrForeign},
	} {
		a, err := r.over(r.l1.read, eyes{Above: r.l2.read, receipt: one.lie}).Arrived(t.Context(), d)
		if a.Stage != one.want || !errors.Is(err, one.err) || (err != nil) != (one.err != nil) {
			t.Errorf("%s: %s, %v", one.name, a.Stage, err)
		}
	}
	// What was paid is what the bridge says, not what was asked for.
	less := logged(bridge, func(l *chain.Log) { l.Data[31]++ })
	a, err := r.over(r.l1.read, eyes{Above: r.l2.read, receipt: less}).Arrived(t.Context(), d)
	if want := ok[money.Amount](t)(d.Amount.Add(money.FromUint64(1))); err != nil || a.Amount != want {
		t.Errorf("%s were paid, %v", a.Amount, err)
	}
}

func TestNothingIsProvenByAStateThatOurNodesDoNotHave(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	w := r.began(r.coins(common.Address{0xb0}, ether(1)))
	r.ready(w)
	for name, one := range map[string]struct {
		lie  func(p *chain.Proof)
		want error
	}{
		"another state":  {func(p *chain.Proof) { p.State[0]++ }, opbridge.ErrOutput},
		"another store":  {func(p *chain.Proof) { p.Storage[0]++ }, opbridge.ErrOutput},
		"another block":  {func(p *chain.Proof) { p.Block.Hash = common.Hash{1}.Hex() }, opbridge.ErrOutput},
		"nothing stored": {func(p *chain.Proof) { p.Value = chain.Word{} }, opbridge.ErrForeign},
	} {
		b := r.over(r.l1.read, eyes{Above: r.l2.read, proof: one.lie})
		if c, err := b.Prove(t.Context(), w); !errors.Is(err, one.want) {
			t.Errorf("%s: %x, %v", name, c.Data, err)
		}
	}
}

func TestGamesThatLieAreLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, true)
	r.do(r.l2, "propose", map[string]bool{"on": false}, nil)
	r.both(deep + 1)
	w := r.began(r.coins(common.Address{0xb0}, ether(1)))
	for _, height := range []uint64{w.Block.Height, w.Block.Height + 1, 1 << 40} {
		number := new(big.Int).SetUint64(height).FillBytes(make([]byte, 32))
		tx := r.send(r.l1, r.at.Games, nil, pack(t, "create(uint32,bytes32,bytes)", uint32(0), [32]byte{1}, number))
		if got := ok[chain.Receipt](t)(r.l1.read.Receipt(t.Context(), tx)); len(got.Logs) == 0 {
			t.Fatal("no game is begun")
		}
	}
	r.both(deep + 1)
	r.stands(w, opbridge.WaitingToProve)
	if _, err := r.bridge.Prove(t.Context(), w); !errors.Is(err, opbridge.ErrOutput) {
		t.Fatalf("it is proven by a lie: %v", err)
	}
	// A true one, whoever began it.
	at := ok[chain.Head](t)(r.l2.read.Head(t.Context())).Final
	p := ok[chain.Proof](t)(r.l2.read.Proof(t.Context(), canon(passer), chain.Word{}, at.Height))
	root := crypto.Keccak256Hash(make([]byte, 32), p.State[:], p.Storage[:], common.HexToHash(at.Hash).Bytes())
	r.send(r.l1, r.at.Games, nil, pack(t, "create(uint32,bytes32,bytes)", uint32(0), [32]byte(root), new(big.Int).SetUint64(at.Height).FillBytes(make([]byte, 32))))
	r.mine(r.l1, deep)
	r.stands(w, opbridge.ReadyToProve)
	r.act(ok[chain.Call](t)(r.bridge.Prove(t.Context(), w)))
	r.mine(r.l1, deep)
	if s := r.stands(w, opbridge.WaitingToFinalize); s.Prover != canon(r.me) {
		t.Fatalf("it was proven by %s", s.Prover.Text())
	}
}

var passer = common.HexToAddress("0x4200000000000000000000000000000000000016")

func TestABridgeIsRefusedThatIsNotWhole(t *testing.T) {
	t.Parallel()
	whole := func() opbridge.Config {
		a := canon(common.Address{1})
		return opbridge.Config{Below: belowID, Above: aboveID, Portal: a, Messenger: a, Bridge: a, Oracle: a}
	}
	for name, spoil := range map[string]func(c *opbridge.Config){
		"":                     func(*opbridge.Config) {},
		"one chain":            func(c *opbridge.Config) { c.Above = c.Below },
		"no chain below":       func(c *opbridge.Config) { c.Below = "" },
		"no portal":            func(c *opbridge.Config) { c.Portal = chain.Address{} },
		"the zero address":     func(c *opbridge.Config) { c.Messenger = canon(common.Address{}) },
		"an address elsewhere": func(c *opbridge.Config) { c.Bridge = chain.CanonicalAddress(chain.Solana, "So1") },
		"no oracle":            func(c *opbridge.Config) { c.Oracle = chain.Address{} },
		"an oracle and games":  func(c *opbridge.Config) { c.Games = c.Oracle },
	} {
		c := whole()
		spoil(&c)
		if _, err := opbridge.New(c, nil, nil); (err == nil) != (name == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := ok[*opbridge.Bridge](t)(opbridge.New(whole(), nil, nil))
	bob, token := canon(common.Address{0xb0}), canon(common.Address{0x70})
	for name, tr := range map[string]opbridge.Transfer{
		"no amount":      {To: bob},
		"nobody":         {Amount: money.FromUint64(1)},
		"a token alone":  {To: bob, Amount: money.FromUint64(1), Token: token},
		"a twin alone":   {To: bob, Amount: money.FromUint64(1), Twin: token},
		"no EVM address": {To: chain.CanonicalAddress(chain.Bitcoin, "bc1"), Amount: money.FromUint64(1)},
	} {
		for _, make := range []func(opbridge.Transfer) (chain.Call, error){b.Deposit, b.Withdraw, b.Approval} {
			if c, err := make(tr); err == nil {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
	if _, err := b.Approval(opbridge.Transfer{To: bob, Amount: money.FromUint64(1)}); err == nil {
		t.Error("the coin is approved")
	}
}

func TestACallSaysWhatLeavesTheWallet(t *testing.T) {
	t.Parallel()
	a := canon(common.Address{1})
	b := ok[*opbridge.Bridge](t)(opbridge.New(opbridge.Config{Below: belowID, Above: aboveID, Portal: a, Messenger: a, Bridge: a, Oracle: a}, nil, nil))
	coin := opbridge.Transfer{To: canon(common.Address{0xb0}), Amount: money.FromUint64(7)}
	token := coin
	token.Token, token.Twin = canon(common.Address{0x70}), canon(common.Address{0x71})
	above := "0x4200000000000000000000000000000000000010"
	for _, one := range []struct {
		make      func(opbridge.Transfer) (chain.Call, error)
		of        opbridge.Transfer
		on        chain.ID
		to, asset string
		begins    string
	}{
		{b.Deposit, coin, belowID, a.Text(), "", "depositETHTo(address,uint32,bytes)"},
		{b.Deposit, token, belowID, a.Text(), token.Token.Text(), "depositERC20To(address,address,address,uint256,uint32,bytes)"},
		{b.Withdraw, coin, aboveID, above, "", "bridgeETHTo(address,uint32,bytes)"},
		{b.Withdraw, token, aboveID, above, token.Twin.Text(), "withdrawTo(address,address,uint256,uint32,bytes)"},
		{b.Approval, token, belowID, token.Token.Text(), token.Token.Text(), "approve(address,uint256)"},
	} {
		c, err := one.make(one.of)
		if err != nil {
			t.Fatal(err)
		}
		want := selector(one.begins)
		if c.Chain != one.on || c.To.Text() != one.to || c.Asset != (chain.Asset{Chain: one.on, Ref: one.asset}) || c.Amount != one.of.Amount || !strings.HasPrefix(string(c.Data), want) || c.From != "" {
			t.Errorf("%s: %+v", one.begins, c)
		}
	}
}
