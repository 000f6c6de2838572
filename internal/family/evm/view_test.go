package evm_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/big"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/family/familytest"
	"ferry/internal/family/quorum"
)

// balanceOf is the question that the tests of views ask.
func balanceOf(a chain.Address) []byte { return pack(tokenFile(), "balanceOf", toCommon(a)) }

func word(n int64) []byte { return big.NewInt(n).FillBytes(make([]byte, 32)) }

func TestAViewIsWhatAQuorumSaysOfOneBlock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := b.Address("holder")
	before := b.tipBlock()
	b.from("minter", wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(to), big.NewInt(77))})
	b.Mine(1)
	ask := func() ([]byte, error) { return b.chain.View(t.Context(), canonical(b.token), balanceOf(to)) }
	if got, err := ask(); err != nil || !bytes.Equal(got, word(77)) {
		t.Fatalf("got %x, %v", got, err)
	}
	if got, err := b.chain.ViewAt(t.Context(), canonical(b.token), balanceOf(to), before); err != nil || !bytes.Equal(got, word(0)) {
		t.Errorf("before it was made there are %x, %v", got, err)
	}
	for trouble := familytest.Deaf; trouble <= familytest.Shuffling; trouble++ {
		b.Break(1, trouble)
		got, err := ask()
		// A node that is behind makes the tip older for nobody: the others have it.
		if err != nil || !bytes.Equal(got, word(77)) {
			t.Errorf("trouble %d of one node: got %x, %v", trouble, got, err)
		}
	}
	b.Break(1, familytest.Forging)
	b.Break(2, familytest.Deaf)
	if got, err := ask(); !errors.Is(err, quorum.ErrUnknown) || errors.Is(err, evm.ErrReverted) {
		t.Errorf("without a quorum got %x, %v", got, err)
	}
}

func TestANodeThatIsBehindHasNoVoteInAView(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := b.Address("holder")
	b.from("minter", wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(to), big.NewInt(77))})
	b.Mine(1)
	tip := b.tipBlock()
	b.Break(0, familytest.Behind)
	b.Break(1, familytest.Behind)
	if got, err := b.chain.ViewAt(t.Context(), canonical(b.token), balanceOf(to), tip); !errors.Is(err, quorum.ErrUnknown) {
		t.Errorf("one node alone was believed: %x, %v", got, err)
	}
	b.Break(0, familytest.None)
	if got, err := b.chain.ViewAt(t.Context(), canonical(b.token), balanceOf(to), tip); err != nil || !bytes.Equal(got, word(77)) {
		t.Errorf("got %x, %v", got, err)
	}
	b.Reorg(1, true)
	if got, err := b.chain.ViewAt(t.Context(), canonical(b.token), balanceOf(to), tip); err == nil {
		t.Errorf("a block that was orphaned answers %x", got)
	}
}

func TestARefusalOfAContractIsAnAnswerWithItsWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := b.Address("holder")
	overdraw := pack(tokenFile(), "transfer", toCommon(to), big.NewInt(1)) // the zero address has none
	panicked, err := hex.DecodeString("4e487b71" + strings.Repeat("00", 31) + "11")
	b.ok(err)
	refused := func(a chain.Address, data, words []byte) {
		t.Helper()
		got, err := b.chain.View(t.Context(), a, data)
		var r *evm.Revert
		if !errors.Is(err, evm.ErrReverted) || !errors.As(err, &r) || !bytes.Equal(r.Data, words) || got != nil {
			t.Errorf("got %x, %v, want a refusal with %x", got, err, words)
		}
	}
	refused(canonical(b.token), overdraw, panicked)
	refused(canonical(grumpy), nil, nil)
	b.proxies[0].set(familytest.Deaf)
	tip := b.tipBlock()
	b.proxies[1].set(familytest.Deaf)
	if got, err := b.chain.ViewAt(t.Context(), canonical(b.token), overdraw, tip); !errors.Is(err, quorum.ErrUnknown) || errors.Is(err, evm.ErrReverted) {
		t.Errorf("got %x, %v", got, err)
	}
}

func TestRefusalsThatNodesWordDifferentlyAreRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	said := []rebuff{
		{"code": 3, "message": "execution reverted", "data": "0x0102"},
		{"code": -32015, "message": "VM execution error: revert", "data": "Reverted 0x0102"},
		{"code": -32000, "message": "execution reverted"},
	}
	ask := func(which ...int) error {
		for i, k := range which {
			b.proxies[i].lie(of("eth_call", func(any) any { return said[k] }))
		}
		_, err := b.chain.View(t.Context(), canonical(b.token), balanceOf(b.Address("holder")))
		return err
	}
	var r *evm.Revert
	if err := ask(0); err != nil {
		t.Errorf("one node makes it a refusal: %v", err)
	}
	if err := ask(0, 1, 2); !errors.As(err, &r) || !bytes.Equal(r.Data, []byte{1, 2}) {
		t.Errorf("got %v", err)
	}
	b.Break(0, familytest.Deaf)
	if err := ask(0, 1, 2); !errors.As(err, &r) || len(r.Data) != 0 {
		t.Errorf("words that no quorum told were believed: %v", err)
	}
	b.Break(0, familytest.None)
	said = []rebuff{{"code": -32000, "message": "out of gas"}, {"code": -32000, "message": "header not found"}, {"code": -32005, "message": "limit exceeded"}}
	if err := ask(0, 1, 2); err == nil || errors.Is(err, evm.ErrReverted) {
		t.Errorf("a node's own trouble was taken for a refusal of the contract: %v", err)
	}
}

func TestAViewOfNothingIsRefusedOrEmpty(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if got, err := b.chain.View(t.Context(), b.Address("nobody"), balanceOf(b.Address("a"))); err != nil || len(got) != 0 {
		t.Errorf("an address without code answers %x, %v", got, err)
	}
	if _, err := b.chain.View(t.Context(), chain.CanonicalAddress(chain.EVM, "gold"), nil); err == nil {
		t.Error("what is no address was asked")
	}
	if _, err := b.chain.ViewAt(t.Context(), canonical(b.token), nil, chain.Block{Hash: "latest"}); err == nil {
		t.Error("what is no block was asked")
	}
}
