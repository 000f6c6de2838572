package opbridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"ferry/internal/chain"
	"ferry/internal/venue/opbridge"
)

// as is the rig as somebody else acts on it.
func (r *rig) as(name string) *rig {
	r.Helper()
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte(name)))
	if err != nil {
		r.Fatal(err)
	}
	other := *r
	other.key, other.me = key, crypto.PubkeyToAddress(key.PublicKey)
	r.do(r.l1, "fund", map[string]any{"address": other.me, "amount": json.Number(ether(10).String())}, nil)
	r.mine(r.l1, 1)
	return &other
}

// dreamer sees a rollup that is far ahead and has the withdrawal and nothing else.
type dreamer struct {
	opbridge.Above
	height uint64
	slot   chain.Word
}

func (d dreamer) Head(ctx context.Context) (chain.Head, error) {
	h, err := d.Above.Head(ctx)
	h.Final.Height = d.height
	return h, err
}

func (d dreamer) Proof(context.Context, chain.Address, chain.Word, uint64) (chain.Proof, error) {
	one, err := rlp.EncodeToBytes([]byte{1})
	if err != nil {
		return chain.Proof{}, err
	}
	all := trie.NewEmpty(nil)
	key := crypto.Keccak256(d.slot[:])
	if err := all.Update(key, one); err != nil {
		return chain.Proof{}, err
	}
	root, way := all.Hash(), memorydb.New()
	if err := all.Prove(key, way); err != nil {
		return chain.Proof{}, err
	}
	p := chain.Proof{State: chain.Word{1}, Storage: chain.Word(root), Slot: d.slot, Value: chain.Word{31: 1}}
	it := way.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		p.Nodes = append(p.Nodes, append([]byte{}, it.Value()...))
	}
	return p, it.Error()
}

// TestAProofByAGameAboutABlockThatIsNotThereHoldsNobodyUp: whoever pays the bond of a game
// may claim any state of any block, and prove everybody's withdrawals by it.
func TestAProofByAGameAboutABlockThatIsNotThereHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, true)
	w := r.began(r.coins(common.Address{0xb0}, ether(1)))
	r.ready(w)
	r.act(ok[chain.Call](t)(r.bridge.Prove(t.Context(), w)))
	r.mine(r.l1, deep)
	r.stands(w, opbridge.WaitingToFinalize)

	const far = 1 << 40
	eyes := dreamer{Above: r.l2.read, height: far, slot: chain.Word(crypto.Keccak256Hash(w.Hash[:], make([]byte, 32)))}
	p := ok[chain.Proof](t)(eyes.Proof(t.Context(), chain.Address{}, chain.Word{}, far))
	root := crypto.Keccak256Hash(make([]byte, 32), p.State[:], p.Storage[:], make([]byte, 32))
	villain := r.as("villain")
	villain.send(r.l1, r.at.Games, nil, pack(t, "create(uint32,bytes32,bytes)", uint32(0), [32]byte(root), new(big.Int).SetUint64(far).FillBytes(make([]byte, 32))))
	r.mine(r.l1, deep)
	tx := villain.act(ok[chain.Call](t)(r.over(r.l1.read, eyes).Prove(t.Context(), w)))
	r.mine(r.l1, deep)
	if got := ok[chain.Receipt](t)(r.l1.read.Receipt(t.Context(), tx)); got.Fate != chain.Final {
		t.Fatalf("the portal does not take the lie, which is %s", got.Fate)
	}
	if s := r.stands(w, opbridge.WaitingToFinalize); s.Prover != canon(r.me) {
		t.Fatalf("it is finalized by the proof of %s", s.Prover.Text())
	}
	if s := r.undisputed(w); s.Prover != canon(r.me) {
		t.Fatalf("it is finalized by the proof of %s", s.Prover.Text())
	}
}

// TestProofsOfOthersDoNotPutOffAWithdrawal: anybody may prove what somebody else has
// proven, as often as he likes, and each proof has a time of its own to wait.
func TestProofsOfOthersDoNotPutOffAWithdrawal(t *testing.T) {
	t.Parallel()
	r := newRig(t, true)
	w := r.began(r.coins(common.Address{0xb0}, ether(1)))
	r.ready(w)
	proof := ok[chain.Call](t)(r.bridge.Prove(t.Context(), w))
	r.act(proof)
	r.mine(r.l1, deep)
	r.undisputed(w)
	for i := range 20 {
		r.as(fmt.Sprint("other ", i%12)).act(proof)
	}
	r.mine(r.l1, deep)
	if s := r.stands(w, opbridge.ReadyToFinalize); s.Prover != canon(r.me) {
		t.Fatalf("it is finalized by the proof of %s", s.Prover.Text())
	}
}
