package evm_test

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/family/familytest"
	"ferry/internal/family/quorum"
)

// slotOf is where a token keeps a balance: its balances are the mapping at a place that
// only the compiler chose, so it is looked for.
func slotOf(t *testing.T, b *bench, who chain.Address, want int64, height uint64) chain.Word {
	t.Helper()
	for i := range byte(16) {
		key := append(make([]byte, 12), toCommon(who).Bytes()...)
		slot := chain.Word(crypto.Keccak256Hash(key, append(make([]byte, 31), i)))
		p, err := b.chain.Proof(t.Context(), canonical(b.token), slot, height)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(p.Value[:], word(want)) {
			return slot
		}
	}
	t.Fatal("the token keeps its balances somewhere else")
	return chain.Word{}
}

func TestWhatAContractStoredIsProvenDownFromTheState(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := b.Address("holder")
	before := b.tipBlock()
	b.from("minter", wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(to), big.NewInt(77))})
	b.Mine(1)
	tip := b.tipBlock()
	slot := slotOf(t, b, to, 77, tip.Height)
	ask := func() (chain.Proof, error) {
		return b.chain.Proof(t.Context(), canonical(b.token), slot, tip.Height)
	}
	p, err := ask()
	if err != nil || p.Block.Hash != tip.Hash || len(p.Nodes) == 0 || p.Slot != slot || p.State == (chain.Word{}) {
		t.Fatalf("got %+v, %v", p, err)
	}
	if root := chain.Word(crypto.Keccak256Hash(p.Nodes[0])); root != p.Storage {
		t.Errorf("its first node has the hash %x, and not that of the store", root)
	}
	old, err := b.chain.Proof(t.Context(), canonical(b.token), slot, before.Height)
	if err != nil || old.Value != (chain.Word{}) || old.Storage == p.Storage {
		t.Errorf("before it was minted there are %x, %v", old.Value, err)
	}
	another := of("eth_getProof", func(v any) any {
		m := v.(map[string]any)
		m["storageProof"] = []any{map[string]any{"proof": []any{"0xc0"}}}
		return m
	})
	b.proxies[0].lie(another)
	b.proxies[1].lie(of("eth_getProof", func(any) any { return nil }))
	if got, err := ask(); err != nil || got.Value != p.Value {
		t.Errorf("two nodes that lie are enough: %x, %v", got.Value, err)
	}
	b.proxies[2].lie(another)
	if got, err := ask(); !errors.Is(err, evm.ErrForged) || !errors.Is(err, quorum.ErrUnknown) {
		t.Errorf("what nobody proves is believed: %+v, %v", got, err)
	}
}

func TestAProofHangsOnABlockThatAQuorumHas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tip := b.tipBlock()
	if _, err := b.chain.Proof(t.Context(), canonical(b.token), chain.Word{}, tip.Height+100); !errors.Is(err, evm.ErrNoBlock) {
		t.Errorf("a block that is not there yet: %v", err)
	}
	if _, err := b.chain.Proof(t.Context(), b.Address("nobody"), chain.Word{}, tip.Height); err == nil {
		t.Error("nobody stores something")
	}
	if _, err := b.chain.Proof(t.Context(), chain.CanonicalAddress(chain.EVM, "gold"), chain.Word{}, tip.Height); err == nil {
		t.Error("what is no address was asked")
	}
	b.Break(0, familytest.Deaf)
	b.Break(1, familytest.Deaf)
	if _, err := b.chain.Proof(t.Context(), canonical(b.token), chain.Word{}, tip.Height); !errors.Is(err, quorum.ErrUnknown) {
		t.Errorf("one node alone was believed: %v", err)
	}
}
