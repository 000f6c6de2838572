package evm

import (
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient/gethclient"

	"ferry/devnet/evm/rollup"
)

// How the rollup of the tests runs.
const (
	deep      = 2
	every     = 3
	challenge = 3600 // longer than a busy machine may take
)

// rig is a chain, a rollup of it, and somebody with money on both.
type rig struct {
	*testing.T
	dir    string // empty in memory
	l1, l2 *Node
	who    *ecdsa.PrivateKey
	me     common.Address
	at     Card
}

func newRig(t *testing.T, dir string) *rig {
	t.Helper()
	key, err := keyOf("", "somebody")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, dir: dir, who: key, me: crypto.PubkeyToAddress(key.PublicKey)}
	r.open()
	for _, n := range []*Node{r.l1, r.l2} {
		do(t, n, "fund", fmt.Sprintf(`{"address":%q,"amount":%s}`, r.me, ether(1000)))
		do(t, n, "mine", `{}`)
	}
	return r
}

func ether(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

// open starts both chains, or goes on with them.
func (r *rig) open() {
	r.Helper()
	sub := func(name string) string {
		if r.dir == "" {
			return ""
		}
		return r.dir + "/" + name
	}
	var err error
	if r.l1, err = Open(r.Context(), sub("below"), json.RawMessage(fmt.Sprintf(`{"chainId":901,"finalDepth":%d}`, deep)), nil); err != nil {
		r.Fatal(err)
	}
	spec := fmt.Sprintf(`{"chainId":902,"finalDepth":%d,"rollup":{"of":"below","every":%d,"challengeSeconds":%d}}`, deep, every, challenge)
	find := func(name string) *Node {
		if name != "below" {
			return nil
		}
		return r.l1
	}
	if r.l2, err = Open(r.Context(), sub("above"), json.RawMessage(spec), find); err != nil {
		r.Fatal(err)
	}
	r.at = do(r.T, r.l2, "rollup", `{}`).(Card)
}

func (r *rig) close() {
	r.Helper()
	for _, n := range []*Node{r.l2, r.l1} {
		if err := n.Close(); err != nil {
			r.Fatal(err)
		}
	}
}

func (r *rig) restart() { r.Helper(); r.close(); r.open() }

// mine makes blocks on both, as their clocks would.
func (r *rig) mine(blocks int) {
	r.Helper()
	for range blocks {
		do(r.T, r.l1, "mine", `{}`)
		do(r.T, r.l2, "mine", `{}`)
	}
}

// wait has the challenge time pass.
func (r *rig) wait() {
	r.Helper()
	do(r.T, r.l1, "mine", fmt.Sprintf(`{"skipSeconds":%d}`, challenge))
}

// abiOf is that of one of the published contracts.
func abiOf(t *testing.T, name string) abi.ABI {
	t.Helper()
	return contractAt(t, "rollup/contract/"+name+".json").abi
}

type compiled struct {
	abi  abi.ABI
	code []byte
}

func contractAt(t *testing.T, path string) compiled {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		ABI  json.RawMessage `json:"abi"`
		Code hexutil.Bytes   `json:"code"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	a, err := abi.JSON(strings.NewReader(string(f.ABI)))
	if err != nil {
		t.Fatal(err)
	}
	return compiled{a, f.Code}
}

func pack(t *testing.T, a abi.ABI, method string, args ...any) []byte {
	t.Helper()
	data, err := a.Pack(method, args...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// send sends a transaction of ours and makes a block with it.
func (r *rig) send(n *Node, to common.Address, value *big.Int, data []byte) *types.Receipt {
	r.Helper()
	n.mu.Lock()
	s, err := n.send(r.who, wish{To: &to, Value: (*hexutil.Big)(value), Data: data, gas: 3_000_000})
	n.mu.Unlock()
	if err != nil {
		r.Fatal(err)
	}
	do(r.T, n, "mine", `{}`)
	return r.receipt(n, s.Tx)
}

// receipt is that of a transaction; nil where it is in no block.
func (r *rig) receipt(n *Node, tx common.Hash) *types.Receipt {
	r.Helper()
	chain := n.eth.BlockChain()
	for h := chain.CurrentBlock().Number.Uint64(); h > 0; h-- {
		for _, got := range chain.GetReceiptsByHash(chain.GetBlockByNumber(h).Hash()) {
			if got.TxHash == tx {
				return got
			}
		}
	}
	return nil
}

func (r *rig) must(got *types.Receipt) *types.Receipt {
	r.Helper()
	if got == nil || got.Status != types.ReceiptStatusSuccessful {
		r.Fatalf("it failed: %+v", got)
	}
	return got
}

// has is a balance: of coins, or of a token.
func (r *rig) has(n *Node, token, who common.Address) *big.Int {
	r.Helper()
	if token == (common.Address{}) {
		s, err := n.eth.BlockChain().State()
		if err != nil {
			r.Fatal(err)
		}
		return s.GetBalance(who).ToBig()
	}
	out, err := n.call(r.Context(), token, pack(r.T, erc20(r.T).abi, "balanceOf", who))
	if err != nil {
		r.Fatal(err)
	}
	return new(big.Int).SetBytes(out)
}

func erc20(t *testing.T) compiled {
	t.Helper()
	return contractAt(t, "../../internal/family/evm/contract/TestToken.json")
}

// tokens makes a token below, of which we have some, and its twin above.
func (r *rig) tokens() (below, above common.Address) {
	r.Helper()
	token := erc20(r.T)
	code := append(append([]byte{}, token.code...), pack(r.T, token.abi, "", "Dollar", "USD", uint8(6))...)
	below = do(r.T, r.l1, "deploy", fmt.Sprintf(`{"data":%q}`, hexutil.Encode(code))).(sent).Address
	do(r.T, r.l1, "mine", `{}`)
	do(r.T, r.l1, "fund", fmt.Sprintf(`{"address":%q,"amount":1000000,"token":%q}`, r.me, below))
	r.must(r.send(r.l1, below, nil, pack(r.T, token.abi, "approve", r.at.Bridge, big.NewInt(1_000_000))))
	above = do(r.T, r.l2, "pair", fmt.Sprintf(`{"below":%q,"name":"Dollar above","symbol":"USD","decimals":6}`, below)).(sent).Address
	do(r.T, r.l2, "mine", `{}`)
	return below, above
}

// withdrawal is a message that leaves the rollup.
type withdrawal struct {
	Nonce    *big.Int
	Sender   common.Address
	Target   common.Address
	Value    *big.Int
	GasLimit *big.Int
	Data     []byte
}

// leaving reads a withdrawal and its hash from the receipt that began it.
func (r *rig) leaving(got *types.Receipt) (w withdrawal, hash common.Hash) {
	r.Helper()
	passer := abiOf(r.T, "L2ToL1MessagePasser")
	for _, l := range got.Logs {
		if l.Address != rollup.Passer || l.Topics[0] != passer.Events["MessagePassed"].ID {
			continue
		}
		args, err := passer.Events["MessagePassed"].Inputs.NonIndexed().Unpack(l.Data)
		if err != nil {
			r.Fatal(err)
		}
		hash = args[3].([32]byte)
		return withdrawal{
			l.Topics[1].Big(), common.BytesToAddress(l.Topics[2][:]), common.BytesToAddress(l.Topics[3][:]),
			args[0].(*big.Int), args[1].(*big.Int), args[2].([]byte),
		}, hash
	}
	r.Fatal("nothing leaves")
	return w, hash
}

// prove is the call that proves a withdrawal against the newest output.
func (r *rig) prove(w withdrawal, hash common.Hash) []byte {
	r.Helper()
	answer, err := r.l1.call(r.Context(), r.at.Oracle, rollup.AskOutputs())
	if err != nil {
		r.Fatal(err)
	}
	index := new(big.Int).Sub(new(big.Int).SetBytes(answer), big.NewInt(1))
	if answer, err = r.l1.call(r.Context(), r.at.Oracle, rollup.AskOutput(index.Uint64())); err != nil {
		r.Fatal(err)
	}
	o, err := rollup.ReadOutput(answer)
	if err != nil {
		r.Fatal(err)
	}
	h := r.l2.eth.BlockChain().GetHeaderByNumber(o.L2BlockNumber.Uint64())
	slot := crypto.Keccak256Hash(hash[:], make([]byte, 32))
	client := r.l2.stack.Attach()
	defer client.Close()
	p, err := gethclient.New(client).GetProof(r.Context(), rollup.Passer, []string{slot.Hex()}, h.Number)
	if err != nil {
		r.Fatal(err)
	}
	nodes := make([][]byte, len(p.StorageProof[0].Proof))
	for i, text := range p.StorageProof[0].Proof {
		nodes[i] = hexutil.MustDecode(text)
	}
	type root struct{ Version, StateRoot, MessagePasserStorageRoot, LatestBlockhash [32]byte }
	return pack(r.T, abiOf(r.T, "OptimismPortal"), "proveWithdrawalTransaction", w, index,
		root{StateRoot: h.Root, MessagePasserStorageRoot: p.StorageHash, LatestBlockhash: h.Hash()}, nodes)
}

func (r *rig) finalize(w withdrawal) []byte {
	r.Helper()
	return pack(r.T, abiOf(r.T, "OptimismPortal"), "finalizeWithdrawalTransaction", w)
}
