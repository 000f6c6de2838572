package uniswap_test

import (
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/quote"
	"ferry/internal/venue/uniswap"
)

// Wrapped coins tell of wrapping in two ways: most by events of their own, and Arbitrum's
// by transfers from nobody and to nobody alone. Some tell both.
func TestWhatMovedIsReadHoweverAWrappedCoinTellsOfIt(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	f := &forged{port: r.port, change: func(*chain.Receipt) {}}
	v := must(uniswap.New(r.config(), f))(t)
	topic := func(s string) chain.Word { return chain.Word(crypto.Keccak256Hash([]byte(s))) }
	wrap, unwrap := topic("Deposit(address,uint256)"), topic("Withdrawal(address,uint256)")
	// asTransfers is the same told by transfers.
	asTransfers := func(r *chain.Receipt) (told []chain.Log) {
		for _, l := range r.Logs {
			who := chain.Word{}
			if len(l.Topics) > 1 {
				who = l.Topics[1]
			}
			switch l.Topics[0] {
			case wrap:
				l.Topics = []chain.Word{topic("Transfer(address,address,uint256)"), {}, who}
			case unwrap:
				l.Topics = []chain.Word{topic("Transfer(address,address,uint256)"), who, {}}
			default:
				continue
			}
			told = append(told, l)
		}
		return told
	}
	ways := map[string]func(*chain.Receipt){
		"by its own events": func(*chain.Receipt) {},
		"by transfers": func(r *chain.Receipt) {
			told := asTransfers(r)
			for _, l := range r.Logs {
				if l.Topics[0] != wrap && l.Topics[0] != unwrap {
					told = append(told, l)
				}
			}
			r.Logs = told
		},
		"by both": func(r *chain.Receipt) { r.Logs = append(asTransfers(r), r.Logs...) },
	}
	coin := chainID.Native()
	for _, c := range []struct{ give, get chain.Asset }{{coin, r.asset(2)}, {r.asset(2), coin}} {
		f.change = func(*chain.Receipt) {}
		r.ok(v.Sync(ctx, time.Now()))
		s := r.step(v, c.give, c.get, whole(90))
		want := quote.Done{In: s.Give, Out: s.Bring}
		_, p := r.carry(v, s, s.Give)
		for name, change := range ways {
			f.change = change
			if got, err := v.Next(ctx, s, p); err != nil || got != want {
				t.Errorf("%s for %s, told %s: %#v, %v, want %#v", c.give, c.get, name, got, err, want)
			}
		}
	}
}
