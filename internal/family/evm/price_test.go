package evm

import (
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/send"
)

func TestAnEighthMoreIsRoundedUp(t *testing.T) {
	t.Parallel()
	for v, want := range map[uint64]uint64{0: 0, 1: 2, 7: 8, 8: 9, 9: 11, 16: 18, 1_000_000_001: 1_125_000_002} {
		if got := eighthMore(uint256.NewInt(v)); got.Uint64() != want {
			t.Errorf("an eighth more than %d is %s, want %d", v, got.Dec(), want)
		}
	}
}

func TestBidsStayWithinTheirBudget(t *testing.T) {
	t.Parallel()
	p := price{base: uint256.NewInt(100), tip: uint256.NewInt(10)}
	for _, c := range []struct {
		budget, cap uint64 // of a thousand units of gas; cap zero is too dear
	}{{0, 0}, {122_999, 0}, {123_000, 123}, {150_500, 150}, {210_000, 210}, {900_000, 210}} {
		b, err := p.first(1000, money.FromUint64(c.budget))
		switch {
		case c.cap == 0 && !errors.Is(err, send.ErrTooDear):
			t.Errorf("budget %d: got %v", c.budget, err)
		case c.cap != 0 && (err != nil || b.cap.Uint64() != c.cap || b.tip.Uint64() != 10):
			t.Errorf("budget %d: bid %v, %v", c.budget, b, err)
		}
	}
	old := types.NewTx(&types.DynamicFeeTx{GasFeeCap: big.NewInt(210), GasTipCap: big.NewInt(10)})
	for _, c := range []struct{ budget, cap, tip uint64 }{{236_999, 0, 0}, {237_000, 237, 37}, {205_000, 0, 0}, {900_000, 900, 700}} {
		b, err := p.next(old, 1000, money.FromUint64(c.budget))
		switch {
		case c.cap == 0 && !errors.Is(err, send.ErrTooDear):
			t.Errorf("budget %d: got %v", c.budget, err)
		case c.cap != 0 && (err != nil || b.cap.Uint64() != c.cap || b.tip.Uint64() != c.tip):
			t.Errorf("budget %d: bid %s of which %s, %v", c.budget, b.cap.Dec(), b.tip.Dec(), err)
		}
	}
}

func TestWhatNodesSayHasAType(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"already known": ErrKnown, "AlreadyKnown": ErrKnown, "known transaction: 0xab": ErrKnown,
		"nonce too low: next nonce 5, tx nonce 4": ErrNonceUsed, "OldNonce": ErrNonceUsed,
		"replacement transaction underpriced": ErrUnderpriced, "transaction underpriced: tip needed 1": ErrUnderpriced,
		"insufficient funds for gas * price + value": ErrPoor,
		"execution reverted: frozen":                 ErrFails, "gas required exceeds allowance (30000000)": ErrFails,
	} {
		if err := typed(&rpc.Error{Code: -32000, Message: text}); !errors.Is(err, want) {
			t.Errorf("%q is %v", text, err)
		}
	}
	for _, err := range []error{&rpc.Error{Code: -32000, Message: "header not found"}, rpc.ErrSilent, nil} {
		got := typed(err)
		for _, kind := range []error{ErrKnown, ErrNonceUsed, ErrUnderpriced, ErrPoor, ErrFails} {
			if errors.Is(got, kind) {
				t.Errorf("%v was taken for %v", err, kind)
			}
		}
	}
}
