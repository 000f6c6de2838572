package uniswap_test

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	contracts "ferry/internal/devnet/uniswap"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/venue/uniswap"
)

// step asks for the best way, and makes a step of it that must bring almost all.
func (r *rig) step(v *uniswap.Venue, give, get chain.Asset, amount *big.Int) quote.Step {
	r.Helper()
	d := must(v.Best(r.Context(), market.PoolAsk{Give: give, Get: get, Side: market.From, Amount: money.MustParse(amount.String()), At: time.Now()}))(r.T)
	slack := must(d.Out.Share(1000, money.Up))(r.T)
	return quote.Step{Venue: v.Name(), In: give, Out: get, Give: d.In, Bring: d.Out, MinOut: d.Out.Less0(slack), Plan: d.Plan}
}

// carry does what a step asks for until it is done or fails.
func (r *rig) carry(v *uniswap.Venue, s quote.Step, in money.Amount) (quote.Move, quote.Progress) {
	r.Helper()
	p := quote.Progress{In: in, At: time.Now()}
	for range 20 {
		move := must(v.Next(r.Context(), s, p))(r.T)
		send, is := move.(quote.Send)
		if !is {
			return move, p
		}
		p.Calls = append(p.Calls, r.send(send.Call))
	}
	r.Fatal("a step has no end")
	return nil, p
}

// send signs and sends a call as it is, and waits until it is settled.
func (r *rig) send(c chain.Call) quote.Sent {
	r.Helper()
	to, value := plain(c.To), new(big.Int)
	if c.Asset.IsNative() {
		value, _ = value.SetString(c.Amount.String(), 10)
	}
	must(r.wallet.Send(r.Context(), contracts.Tx{To: &to, Value: value, Data: c.Data}))(r.T)
	receipts, _ := r.wallet.Wait(r.Context()) // one that failed is a fate
	if len(receipts) != 1 {
		r.Fatalf("%d receipts for one call", len(receipts))
	}
	r.mine(finalDepth)
	s := quote.Sent{Call: c, Tx: chain.TxID(receipts[0].TxHash.Hex()), Fate: chain.Final}
	if receipts[0].Status == 0 {
		s.Fate = chain.Reverted
	}
	return s
}

func (r *rig) balance(a chain.Asset, who common.Address) *big.Int {
	r.Helper()
	if a.IsNative() {
		return must(r.port.BalanceAt(r.Context(), who, nil))(r.T)
	}
	data := must(r.kit["WETH9"].ABI.Pack("balanceOf", who))(r.T)
	return new(big.Int).SetBytes(must(r.port.View(r.Context(), chain.CanonicalAddress(chain.EVM, a.Ref), data))(r.T))
}

func TestAStepBringsWhatWasQuotedToTheLastUnit(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	v := must(uniswap.New(r.config(), r.port))(t)
	coin := chainID.Native()
	for _, c := range []struct {
		name      string
		give, get chain.Asset
		amount    *big.Int
	}{
		{"a token for a token, little", r.asset(1), r.asset(2), big.NewInt(1e15)},
		{"a token for a token, over several ways", r.asset(1), r.asset(2), whole(400)},
		{"coins for a token", coin, r.asset(2), whole(150)},
		{"a token for coins", r.asset(2), coin, whole(90)},
		{"the wrapped coin for a token", r.asset(0), r.asset(1), whole(30)},
	} {
		r.ok(v.Sync(ctx, time.Now()))
		s := r.step(v, c.give, c.get, c.amount)
		own := r.wallet.Address()
		had, owned := r.balance(c.give, own), r.balance(c.get, own)
		move, p := r.carry(v, s, s.Give)
		done, is := move.(quote.Done)
		if !is || done.In != s.Give || done.Out != s.Bring {
			t.Fatalf("%s: %#v, want all of %s to become %s", c.name, move, s.Give, s.Bring)
		}
		again, err := v.Next(ctx, s, p) // after a crash
		if err != nil || again != move {
			t.Errorf("%s: asked again: %#v, %v", c.name, again, err)
		}
		if !c.give.IsNative() {
			if paid := new(big.Int).Sub(had, r.balance(c.give, own)); paid.String() != done.In.String() {
				t.Errorf("%s: %s left us, and not %s", c.name, paid, done.In)
			}
		}
		if !c.get.IsNative() {
			if came := new(big.Int).Sub(r.balance(c.get, own), owned); came.String() != done.Out.String() {
				t.Errorf("%s: %s came, and not %s", c.name, came, done.Out)
			}
		}
		for _, a := range []chain.Asset{c.give, c.get, coin} {
			if left := r.balance(a, r.u.Router); left.Sign() != 0 {
				t.Errorf("%s: %s of %s stayed with the router", c.name, left, a)
			}
		}
	}
}

func TestAStepWithAnotherAmountTakesAllOfIt(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	v := must(uniswap.New(r.config(), r.port))(t)
	for _, part := range []int64{999_999_999, 1_003_000_001, 7} { // billionths of what was planned
		r.ok(v.Sync(ctx, time.Now()))
		s := r.step(v, r.asset(1), r.asset(2), whole(300))
		in := must(s.Give.MulDiv(money.FromUint64(uint64(part)), money.FromUint64(1e9), money.Down))(t)
		move, _ := r.carry(v, s, in)
		done, is := move.(quote.Done)
		if !is || done.In != in {
			t.Errorf("%d billionths: %#v, want all of %s gone", part, move, in)
		}
		if least := must(s.MinOut.MulDiv(in, s.Give, money.Up))(t); done.Out.Less(least) {
			t.Errorf("%d billionths brought %s, less than %s", part, done.Out, least)
		}
	}
}

func TestASwapThatWouldBringTooLittleFailsAndTakesNothing(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	v := must(uniswap.New(r.config(), r.port))(t)
	r.ok(v.Sync(ctx, time.Now()))
	s := r.step(v, r.asset(1), r.asset(2), whole(50))
	// Somebody was faster, in every pool on the way.
	for _, fee := range []uint32{0, 3000} {
		in := contracts.Stake{Token: r.tokens[1], Amount: whole(400)}
		if fee == 0 {
			r.ok(r.u.SwapV2(ctx, in.Amount, r.tokens[1], r.tokens[2]))
		} else {
			r.ok(r.u.Swap(ctx, in, r.tokens[2], fee))
		}
	}
	must(r.wallet.Wait(ctx))(t)
	had := r.balance(r.asset(1), r.wallet.Address())
	move, p := r.carry(v, s, s.Give)
	if _, failed := move.(quote.Fail); !failed {
		t.Fatalf("%#v, want that it fails", move)
	}
	if last := p.Calls[len(p.Calls)-1]; last.Fate != chain.Reverted {
		t.Errorf("the swap is %s, want reverted", last.Fate)
	}
	if has := r.balance(r.asset(1), r.wallet.Address()); has.Cmp(had) != 0 {
		t.Errorf("%s of %s are left", has, had)
	}
}

// forged is a chain that tells of another receipt.
type forged struct {
	port
	change func(*chain.Receipt)
}

func (f forged) Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error) {
	r, err := f.port.Receipt(ctx, tx)
	f.change(&r)
	return r, err
}

func TestAReceiptThatIsNotOurSwapsIsNotBelieved(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	f := &forged{port: r.port, change: func(*chain.Receipt) {}}
	v := must(uniswap.New(r.config(), f))(t)
	r.ok(v.Sync(ctx, time.Now()))
	s := r.step(v, r.asset(1), r.asset(2), whole(5))
	honest, p := r.carry(v, s, s.Give)
	done := honest.(quote.Done)
	stranger := canonical(common.HexToAddress("0xbad"))
	out := plain(chain.CanonicalAddress(chain.EVM, s.Out.Ref))
	for name, c := range map[string]struct {
		change func(*chain.Receipt)
		want   any // a move, or nil for an error
	}{
		"another sender":      {func(r *chain.Receipt) { r.From = stranger }, nil},
		"another contract":    {func(r *chain.Receipt) { r.To = stranger }, nil},
		"another transaction": {func(r *chain.Receipt) { r.Tx = "0x01" }, nil},
		"other data":          {func(r *chain.Receipt) { r.Data = append([]byte(nil), r.Data[1:]...) }, nil},
		"reverted after all":  {func(r *chain.Receipt) { r.Fate = chain.Reverted }, nil},
		"not final yet":       {func(r *chain.Receipt) { r.Fate = chain.Included }, quote.Wait{For: time.Second, Why: "the receipt of the swap is not final yet"}},
		"no logs":             {func(r *chain.Receipt) { r.Logs = nil }, nil},
		"logs of another contract beside ours": {func(r *chain.Receipt) {
			for _, l := range r.Logs {
				l.Address = stranger
				r.Logs = append(r.Logs, l)
			}
		}, done},
		"only logs of another contract": {func(r *chain.Receipt) {
			for i := range r.Logs {
				r.Logs[i].Address = stranger
			}
		}, nil},
		"a token that brings less than it should": {func(r *chain.Receipt) {
			for i := range r.Logs {
				if l := &r.Logs[i]; plain(l.Address) == out && len(l.Topics) == 3 && common.BytesToAddress(l.Topics[2][:]) == plain(r.From) {
					l.Data = common.LeftPadBytes([]byte{9}, 32)
				}
			}
		}, quote.Done{In: done.In, Out: money.FromUint64(9)}},
		"an amount that cannot be read": {func(r *chain.Receipt) {
			for i := range r.Logs {
				r.Logs[i].Data = r.Logs[i].Data[:min(len(r.Logs[i].Data), 31)]
			}
		}, nil},
	} {
		f.change = c.change
		got, err := v.Next(ctx, s, p)
		if c.want == nil && err == nil || c.want != nil && (err != nil || got != c.want) {
			t.Errorf("%s: %#v, %v, want %#v", name, got, err, c.want)
		}
	}
}

func TestAStepThatIsNotOursIsRefused(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	v := must(uniswap.New(r.config(), r.port))(t)
	r.ok(v.Sync(ctx, time.Now()))
	good := r.step(v, r.asset(1), r.asset(2), whole(5))
	known := quote.Progress{In: good.Give, At: time.Now()}
	for name, change := range map[string]func(*quote.Step, *quote.Progress){
		"another venue":       func(s *quote.Step, _ *quote.Progress) { s.Venue = "other" },
		"another chain":       func(s *quote.Step, _ *quote.Progress) { s.In.Chain = "eip155:1" },
		"another token":       func(s *quote.Step, _ *quote.Progress) { s.Out = r.asset(0) },
		"the other direction": func(s *quote.Step, _ *quote.Progress) { s.In, s.Out = s.Out, s.In },
		"no plan":             func(s *quote.Step, _ *quote.Progress) { s.Plan = nil },
		"a plan of tomorrow":  func(s *quote.Step, _ *quote.Progress) { s.Plan = append([]byte{9}, s.Plan[1:]...) },
		"a plan cut short":    func(s *quote.Step, _ *quote.Progress) { s.Plan = s.Plan[:len(s.Plan)-1] },
		"a plan with more":    func(s *quote.Step, _ *quote.Progress) { s.Plan = append(append([]byte(nil), s.Plan...), 0) },
		"a call of another": func(_ *quote.Step, p *quote.Progress) {
			p.Calls = []quote.Sent{{Call: chain.Call{Chain: chainID, To: canonical(common.HexToAddress("0xbad"))}, Fate: chain.Final}}
		},
		"two swaps that landed": func(_ *quote.Step, p *quote.Progress) {
			c := quote.Sent{Call: chain.Call{Chain: chainID, To: canonical(r.u.Router)}, Fate: chain.Final}
			p.Calls = []quote.Sent{c, c}
		},
	} {
		s, p := good, known
		change(&s, &p)
		if move, err := v.Next(ctx, s, p); err == nil {
			t.Errorf("%s: %#v", name, move)
		}
	}
	for name, change := range map[string]func(*quote.Step, *quote.Progress){
		"nothing to swap":    func(_ *quote.Step, p *quote.Progress) { p.In = money.Amount{} },
		"nothing as a bound": func(s *quote.Step, _ *quote.Progress) { s.MinOut = money.Amount{} },
		"a swap that reverted": func(_ *quote.Step, p *quote.Progress) {
			p.Calls = []quote.Sent{{Call: chain.Call{Chain: chainID, To: canonical(r.u.Router)}, Fate: chain.Reverted}}
		},
	} {
		s, p := good, known
		change(&s, &p)
		if move, err := v.Next(ctx, s, p); !failed(move) {
			t.Errorf("%s: %#v, %v", name, move, err)
		}
	}
	dead := known
	dead.Calls = []quote.Sent{{Call: chain.Call{Chain: chainID, To: canonical(r.u.Router)}, Fate: chain.Dead}}
	if move, err := v.Next(ctx, good, dead); err != nil || !sends(move) {
		t.Errorf("after a swap that can never land: %#v, %v", move, err)
	}
	if _, err := v.Best(ctx, market.PoolAsk{Give: r.asset(1), Get: r.asset(1), Side: market.From, Amount: good.Give, At: time.Now()}); !errors.Is(err, market.ErrNoPool) {
		t.Errorf("a token for itself: %v", err)
	}
}

func failed(m quote.Move) bool { _, is := m.(quote.Fail); return is }

func sends(m quote.Move) bool { _, is := m.(quote.Send); return is }
