package evm

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"ferry/internal/chain"
)

// everybody is ours.
type everybody struct{}

func (everybody) Has(chain.Address) bool { return true }

// answers is everything that a node may say of a block.
type answers struct {
	Head     *told            `json:"head"`
	Body     *body            `json:"body"`
	Receipts []*types.Receipt `json:"receipts"`
	Plain    []plainReceipt   `json:"plain"`
	Trace    []traced         `json:"trace"`
	Proof    []hexutil.Bytes  `json:"proof"`
	Root     common.Hash      `json:"root"`
	Word     word             `json:"word"`
	Raw      hexutil.Bytes    `json:"raw"`
}

// FuzzAnswers: whatever a node says, nothing panics, and nothing that the roots do not
// prove is believed.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"head":null,"body":null}`,
		`{"body":{"transactions":[null],"withdrawals":[null]},"receipts":[null]}`,
		`{"receipts":[{"status":"0x1","cumulativeGasUsed":"0x0","logsBloom":"0x","logs":[null],"transactionHash":"0x00","gasUsed":"0x0"}]}`,
		`{"trace":[{"txHash":"0x01","result":{"pre":{"0x":{}},"post":{"0x1111111111111111111111111111111111111111":{"balance":"0x1"}}}}]}`,
		`{"proof":["0xc0","0x"],"root":"0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"}`,
		`{"raw":"0x02c0"}`, `{"word":"0x"}`,
		`{"plain":[{"logs":[null,{"address":"0x1111111111111111111111111111111111111111","topics":[],"data":"0x"}]}]}`,
	} {
		f.Add([]byte(s))
	}
	c := &Chain{number: 1, rules: types.LatestSignerForChainID(common.Big1), cfg: Config{ID: "eip155:1"}, sweeper: common.Address{1}}
	c.tokens = map[common.Address]chain.Asset{{2}: {Chain: "eip155:1", Ref: "token"}}
	f.Fuzz(func(t *testing.T, text []byte) {
		var a answers
		if json.Unmarshal(text, &a) != nil {
			return
		}
		h, err := c.checked(a.Head)
		if err == nil && h.ok && a.Head.head.Hash() != a.Head.hash {
			t.Fatal("a header with another hash was taken")
		}
		if b, err := c.prove(h, a.Body, a.Receipts); err == nil && h.txs == (common.Hash{}) {
			t.Fatalf("a block without roots was taken: %v", b)
		}
		s := &scan{Chain: c, block: &block{header: h}, to: everybody{}}
		if moves, err := s.moves(a.Trace); err == nil && len(moves) > 0 {
			t.Fatal("a trace of other transactions was taken")
		}
		for _, x := range a.Trace {
			readMoves(x, everybody{})
		}
		if _, err := verify(a.Root, common.Address{1}, a.Proof); err == nil && !slices.ContainsFunc(a.Proof, func(b hexutil.Bytes) bool { return len(b) > 0 }) {
			t.Fatal("a proof of nothing was taken")
		}
		for _, r := range a.Plain {
			for _, l := range r.Logs {
				if l != nil {
					readTransfer(l)
				}
			}
			tidy(r.Logs)
		}
		if tx, err := c.decode(a.Raw); err == nil {
			t.Fatalf("bytes that nobody of us signed were taken: %s", tx.Hash())
		}
		eachAddress(a.Raw, func(common.Address) {})
		c.swept(append(slices.Clone(sweeperContract.abi.Methods["sweep"].ID), a.Raw...))
		data := append(slices.Clone(tokenContract.abi.Methods["transfer"].ID), a.Raw...)
		c.promised(types.NewTx(&types.DynamicFeeTx{To: &common.Address{2}, Data: data}))
	})
}
