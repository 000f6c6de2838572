package main

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/family/evm"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

// What the scanned EVM chain looks like: blocks of other people's payments, half of
// them in a token, and in each block two to an address of ours.
const (
	evmNumber     = 27_182
	evmBlocks     = 6
	evmTxs        = 400
	evmSenders    = 8
	evmDeposits   = 2
	evmScanGoal   = 0.70
	evmFlatGoal   = 1.25
	watchedFew    = 1000
	watchedUsual  = 100_000
	watchedMany   = 1_000_000
	evmTokenIndex = 2 // every second one
)

// runScanEVM measures how fast blocks of an EVM chain are searched for deposits, beside
// a bare client that only downloads and decodes the same.
func runScanEVM(ctx context.Context, o options) (err error) {
	c, closeChain, err := openScanEVM(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeChain()) }()
	for _, traced := range []bool{false, true} {
		name := "blocks and receipts"
		if traced {
			name = "blocks, receipts and traces"
		}
		bare := func(int, int) (int, time.Duration, error) { return c.bare(ctx, traced) }
		d, err := interleave("scan-evm: "+name, o.rounds, pace, [2]side{c.ours(ctx, traced, watchedUsual), bare})
		if err != nil {
			return err
		}
		o.report.add(result{Bench: "scan-evm", Name: name + ", beside a bare client", Unit: "transactions/s", AtLeast: evmScanGoal}.judged(d))
		d, err = interleave("scan-evm: flat, "+name, o.rounds, cost, [2]side{c.ours(ctx, traced, watchedMany), c.ours(ctx, traced, watchedFew)})
		if err != nil {
			return err
		}
		o.report.add(result{Bench: "scan-evm", Name: name + ", 1,000,000 and 1,000 addresses", Unit: "µs/transaction", AtMost: evmFlatGoal}.judged(d))
	}
	return nil
}

// scanEVM is a chain full of other people's payments.
type scanEVM struct {
	node   *devnet.Chain
	token  common.Address
	paid   common.Address // the address of ours that is paid in each block
	blocks []chain.Block
	chains map[bool]*evm.Chain
}

// noKeys is a signer for who only reads.
type noKeys struct{}

func (noKeys) Sign(context.Context, chain.Paper) ([]byte, error) {
	return nil, errors.New("nobody signs here")
}

func (noKeys) Address(context.Context, chain.ID, chain.Key) (chain.Address, error) {
	return evm.Codec{}.Make([]byte("nobody")), nil
}

// watched is a number of addresses.
type watched map[chain.Address]struct{}

// Has reports whether an address is one of them.
func (w watched) Has(a chain.Address) bool {
	_, ok := w[a]
	return ok
}

// openScanEVM builds and starts a real node and fills its blocks.
func openScanEVM(ctx context.Context) (*scanEVM, func() error, error) {
	root, err := devnet.Root(".")
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "ferry-bench-evm")
	if err != nil {
		return nil, nil, err
	}
	clean := func() error { return os.RemoveAll(dir) }
	progress("scan-evm: builds the local chains")
	program, err := devnet.Build(ctx, root, dir, nil)
	if err != nil {
		return nil, nil, errors.Join(err, clean())
	}
	host, err := devnet.Start(ctx, program, "", os.Stderr)
	if err != nil {
		return nil, nil, errors.Join(err, clean())
	}
	end := func() error { return errors.Join(host.Close(), clean()) }
	c := &scanEVM{paid: common.Address{0x0a, 0x11}, chains: map[bool]*evm.Chain{}}
	if err := c.fill(ctx, host); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return c, end, nil
}

func (c *scanEVM) fill(ctx context.Context, host *devnet.Host) (err error) {
	alloc := map[string]any{}
	for i := range evmSenders {
		key, err := evmSender(i)
		if err != nil {
			return err
		}
		alloc[crypto.PubkeyToAddress(key.PublicKey).Hex()] = map[string]any{"balance": "0xffffffffffffffffffffffff"}
	}
	spec := map[string]any{"chainId": evmNumber, "finalDepth": 1, "alloc": alloc}
	if c.node, err = host.Open(ctx, "scan-evm", "evm", false, spec); err != nil {
		return err
	}
	code, err := evm.TestTokenCode("Bench", "BEN", 18)
	if err != nil {
		return err
	}
	var made struct{ Address common.Address }
	if err := c.node.Do(ctx, "deploy", map[string]any{"data": hexutil.Bytes(code)}, &made); err != nil {
		return err
	}
	c.token = made.Address
	if err := c.node.Do(ctx, "mine", map[string]any{"n": 1}, nil); err != nil {
		return err
	}
	if err := c.open(ctx); err != nil {
		return err
	}
	for i := range evmBlocks {
		progress("scan-evm: block %d of %d", i+1, evmBlocks)
		if err := c.block(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *scanEVM) open(ctx context.Context) (err error) {
	id := chain.ID(fmt.Sprintf("eip155:%d", evmNumber))
	token, err := evm.Codec{}.Parse(c.token.Hex())
	if err != nil {
		return err
	}
	for _, traced := range []bool{false, true} {
		cfg := evm.Config{
			ID: id, Nodes: rpc.Config{URLs: []string{c.node.RPC}, Need: 1}, Tag: "finalized", NoTrace: !traced,
			Tokens: []evm.Token{{Asset: chain.Asset{Chain: id, Ref: token.Text()}, Decimals: 18}},
		}
		if c.chains[traced], err = evm.New(ctx, cfg, noKeys{}); err != nil {
			return err
		}
	}
	return nil
}

// block fills one block and remembers it.
func (c *scanEVM) block(ctx context.Context, n int) error {
	var raws []any
	for i := range evmTxs {
		key, err := evmSender(i % evmSenders)
		if err != nil {
			return err
		}
		to := common.BytesToAddress(crypto.Keccak256(fmt.Append(nil, "other", n, i))[12:])
		if i < evmDeposits {
			to = c.paid
		}
		body := &types.DynamicFeeTx{
			ChainID: big.NewInt(evmNumber), Nonce: uint64(n*evmTxs/evmSenders + i/evmSenders), Gas: 80_000, //nolint:gosec // small numbers
			GasTipCap: big.NewInt(2e9), GasFeeCap: big.NewInt(1e12), To: &to, Value: big.NewInt(1e12),
		}
		if i%evmTokenIndex == 1 {
			data := append(crypto.Keccak256([]byte("mint(address,uint256)"))[:4], common.LeftPadBytes(to[:], 32)...)
			body.To, body.Value, body.Data = &c.token, new(big.Int), append(data, common.LeftPadBytes([]byte{1, 2, 3}, 32)...)
		}
		tx, err := types.SignNewTx(key, types.LatestSignerForChainID(body.ChainID), body)
		if err != nil {
			return err
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			return err
		}
		raws = append(raws, hexutil.Bytes(raw))
	}
	node, err := c.bareNode()
	if err != nil {
		return err
	}
	q := make([]rpc.Query, len(raws))
	for i, raw := range raws {
		q[i] = rpc.Query{Method: "eth_sendRawTransaction", Params: []any{raw}}
	}
	if err := node.Batch(ctx, q); err != nil {
		return err
	}
	for _, x := range q {
		if x.Err != nil {
			return x.Err
		}
	}
	if err := c.node.Do(ctx, "mine", map[string]any{"n": 1}, nil); err != nil {
		return err
	}
	head, err := c.chains[true].Head(ctx)
	if err != nil {
		return err
	}
	c.blocks = append(c.blocks, head.Tip)
	return nil
}

// ours is a side that searches the blocks for payments to some of many addresses.
func (c *scanEVM) ours(ctx context.Context, traced bool, many int) side {
	w := watched{}
	for i := range many - 1 {
		w[evm.Codec{}.Make(fmt.Append(nil, "watched", i))] = struct{}{}
	}
	mine, err := evm.Codec{}.Parse(c.paid.Hex())
	w[mine] = struct{}{}
	return func(int, int) (int, time.Duration, error) {
		if err != nil {
			return 0, 0, err
		}
		start := time.Now()
		for _, b := range c.blocks {
			list, err := c.chains[traced].Deposits(ctx, b, w)
			if err != nil {
				return 0, 0, err
			}
			if len(list) != evmDeposits || list[0].To != mine || list[0].Amount == (money.Amount{}) {
				return 0, 0, fmt.Errorf("block %d has %d deposits, want %d", b.Height, len(list), evmDeposits)
			}
		}
		return len(c.blocks) * evmTxs, time.Since(start), nil
	}
}

func (c *scanEVM) bareNode() (*rpc.Node, error) {
	p, err := rpc.New(rpc.Config{URLs: []string{c.node.RPC}, Need: 1})
	if err != nil {
		return nil, err
	}
	return p.Nodes()[0], nil
}

// bare downloads and decodes the same blocks and does nothing with them.
func (c *scanEVM) bare(ctx context.Context, traced bool) (int, time.Duration, error) {
	node, err := c.bareNode()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	for _, b := range c.blocks {
		var block struct {
			Transactions []*types.Transaction `json:"transactions"`
		}
		var receipts []*types.Receipt
		var traces []struct {
			Result map[string]map[string]struct {
				Balance *hexutil.U256 `json:"balance"`
			} `json:"result"`
		}
		q := []rpc.Query{
			{Method: "eth_getBlockByHash", Params: []any{b.Hash, true}, Out: &block},
			{Method: "eth_getBlockReceipts", Params: []any{b.Hash}, Out: &receipts},
		}
		if traced {
			q = append(q, rpc.Query{Method: "debug_traceBlockByHash", Params: []any{b.Hash, map[string]any{
				"tracer": "prestateTracer", "tracerConfig": map[string]bool{"diffMode": true, "disableCode": true, "disableStorage": true},
			}}, Out: &traces})
		}
		if err := node.Batch(ctx, q); err != nil {
			return 0, 0, err
		}
		if len(block.Transactions) != evmTxs || len(receipts) != evmTxs || traced != (len(traces) == evmTxs) {
			return 0, 0, fmt.Errorf("block %d has %d transactions", b.Height, len(block.Transactions))
		}
	}
	return len(c.blocks) * evmTxs, time.Since(start), nil
}

func evmSender(i int) (*ecdsa.PrivateKey, error) {
	return crypto.ToECDSA(crypto.Keccak256(fmt.Append(nil, "sender", i)))
}
