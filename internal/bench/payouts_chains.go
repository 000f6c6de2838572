package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	sol "github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/evm"
	"ferry/internal/family/rpc"
	"ferry/internal/family/solana"
	"ferry/internal/money"
	"ferry/internal/order"
)

// The public chains' own measure: how often a block comes.
const (
	ethereumSeconds = 12.0
	bitcoinSeconds  = 600.0
)

const (
	payEVMNumber          = 27_183
	payEVM       chain.ID = "eip155:27183"
)

// bareNode is the client of whoever does nothing else.
func bareNode(url string) (*rpc.Node, error) {
	p, err := rpc.New(oneNode(url))
	if err != nil {
		return nil, err
	}
	return p.Nodes()[0], nil
}

func (b *payouts) openEVM(ctx context.Context, host *devnet.Host) (*payer, error) {
	key, err := evmSender(0)
	if err != nil {
		return nil, err
	}
	hot, err := b.keys.Address(ctx, payEVM, chain.Key{Account: order.HotWallet})
	if err != nil {
		return nil, err
	}
	rich := object{"balance": "0xffffffffffffffffffffffff"}
	p := &payer{
		name: "EVM", id: payEVM, amount: money.FromUint64(1e12), most: money.FromUint64(1e16),
		to: func(i int) chain.Address { return evm.Codec{}.Make(fmt.Append(nil, "paid", i)) },
	}
	p.node, err = host.Open(ctx, "payouts-evm", "evm", false, object{
		"chainId": payEVMNumber, "finalDepth": payoutDepth,
		"alloc": object{hot.Text(): rich, crypto.PubkeyToAddress(key.PublicKey).Hex(): rich},
	})
	if err != nil {
		return nil, err
	}
	p.url = b.road(p.node.RPC)
	if err := p.mine(ctx, payoutDepth+1); err != nil {
		return nil, err
	}
	if p.on, err = evm.New(ctx, evm.Config{ID: payEVM, Nodes: oneNode(p.url), Tag: "finalized", MinTip: money.FromUint64(1e9)}, b.keys); err != nil {
		return nil, err
	}
	node, err := bareNode(p.url)
	if err != nil {
		return nil, err
	}
	var tip struct {
		GasLimit hexutil.Uint64 `json:"gasLimit"`
	}
	if err := node.Call(ctx, &tip, "eth_getBlockByNumber", "latest", false); err != nil {
		return nil, err
	}
	p.limit = float64(uint64(tip.GasLimit)/params.TxGas) / ethereumSeconds
	nonce := uint64(0)
	p.ready = func(context.Context) error { return nil }
	p.bare = func(ctx context.Context, n int) error {
		for range n {
			to := common.BytesToAddress(crypto.Keccak256(fmt.Append(nil, "bare", nonce)))
			tx, err := types.SignNewTx(key, types.LatestSignerForChainID(big.NewInt(payEVMNumber)), &types.DynamicFeeTx{
				ChainID: big.NewInt(payEVMNumber), Nonce: nonce, Gas: params.TxGas, GasTipCap: big.NewInt(2e9), GasFeeCap: big.NewInt(1e11), To: &to, Value: big.NewInt(1e12),
			})
			if err != nil {
				return err
			}
			raw, err := tx.MarshalBinary()
			if err != nil {
				return err
			}
			if err := p.send(ctx, node, "eth_sendRawTransaction", hexutil.Bytes(raw)); err != nil {
				return err
			}
			nonce++
		}
		return nil
	}
	return p, nil
}

func (b *payouts) openBitcoin(ctx context.Context, host *devnet.Host) (*payer, error) {
	codec, err := bitcoin.NewCodec(bitcoin.Regtest)
	if err != nil {
		return nil, err
	}
	hot, err := b.keys.Address(ctx, scanChain, chain.Key{Account: order.HotWallet})
	if err != nil {
		return nil, err
	}
	p := &payer{
		name: "Bitcoin", id: scanChain, amount: money.FromUint64(50_000), most: money.FromUint64(10_000),
		to: func(i int) chain.Address { return codec.Make(fmt.Append(nil, "paid", i)) },
	}
	if p.node, err = host.Open(ctx, "payouts-bitcoin", "bitcoin", false, object{}); err != nil {
		return nil, err
	}
	p.url = b.road(p.node.RPC)
	// Change comes back when it is final, so this is enough for as long as it goes on.
	if _, err := p.coins(ctx, hot, 3*payoutsAtOnce); err != nil {
		return nil, err
	}
	p.on, err = bitcoin.New(ctx, bitcoin.Config{
		ID: scanChain, Network: bitcoin.Regtest, FinalDepth: payoutDepth, Nodes: oneNode(p.url), Noticed: func(bitcoin.Suspect) {},
	}, b.keys)
	if err != nil {
		return nil, err
	}
	return p, p.bareBitcoin(codec)
}

// coins gives an address coins of a tenth of a bitcoin each, and says which transaction
// made them; the outputs are in no order.
func (p *payer) coins(ctx context.Context, to chain.Address, n int) (tx string, err error) {
	outs := make([]object, n)
	for i := range outs {
		outs[i] = object{"address": to.Text(), "amount": bareCoin}
	}
	var made struct {
		Tx string `json:"tx"`
	}
	if err := p.node.Do(ctx, "pay", object{"outs": outs}, &made); err != nil {
		return "", err
	}
	return made.Tx, p.mine(ctx, payoutDepth+2)
}

// What the bare client of Bitcoin spends and pays.
const (
	bareCoin = 10_000_000
	bareFee  = 2_000
)

// bareBitcoin makes the bare client, and counts how many of its payments a block holds.
func (p *payer) bareBitcoin(codec bitcoin.Codec) error {
	key, public := btcec.PrivKeyFromBytes(chainhash.HashB([]byte("bare")))
	own := codec.AddressOf(append([]byte{0, 20}, address.Hash160(public.SerializeCompressed())...))
	mine, err := codec.Script(own)
	if err != nil {
		return err
	}
	node, err := bareNode(p.url)
	if err != nil {
		return err
	}
	var coins []wire.OutPoint
	p.ready = func(ctx context.Context) error {
		id, err := p.coins(ctx, own, payoutsAtOnce)
		if err != nil {
			return err
		}
		coins, err = coinsOf(ctx, node, id, mine)
		return err
	}
	pay := func(from wire.OutPoint) (*wire.MsgTx, error) {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(wire.NewTxIn(&from, nil, nil))
		tx.AddTxOut(wire.NewTxOut(50_000, append([]byte{0, 20}, from.Hash[:20]...)))
		tx.AddTxOut(wire.NewTxOut(bareCoin-50_000-bareFee, mine))
		hashes := txscript.NewTxSigHashes(tx, txscript.NewCannedPrevOutputFetcher(mine, bareCoin))
		var err error
		tx.TxIn[0].Witness, err = txscript.WitnessSignature(tx, hashes, 0, bareCoin, mine, txscript.SigHashAll, key, true)
		return tx, err
	}
	one, err := pay(wire.OutPoint{})
	if err != nil {
		return err
	}
	weight := 3*one.SerializeSizeStripped() + one.SerializeSize()
	p.limit = float64(wire.MaxBlockPayload/weight) / bitcoinSeconds
	p.bare = func(ctx context.Context, n int) error {
		if len(coins) < n {
			return errors.New("the bare client has too few coins")
		}
		for _, from := range coins[:n] {
			tx, err := pay(from)
			if err != nil {
				return err
			}
			var raw bytes.Buffer
			if err := tx.Serialize(&raw); err != nil {
				return err
			}
			if err := p.send(ctx, node, "sendrawtransaction", hex.EncodeToString(raw.Bytes()), 0); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// coinsOf are the outputs of a transaction that pay a script.
func coinsOf(ctx context.Context, node *rpc.Node, id string, script []byte) ([]wire.OutPoint, error) {
	var text string
	if err := node.Call(ctx, &text, "getrawtransaction", id, false); err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, err
	}
	tx := wire.NewMsgTx(2)
	if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	var out []wire.OutPoint
	for i, o := range tx.TxOut {
		if bytes.Equal(o.PkScript, script) && o.Value == bareCoin {
			out = append(out, wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}) //nolint:gosec // an index of a list
		}
	}
	return out, nil
}

func (b *payouts) openSolana(ctx context.Context, host *devnet.Host) (*payer, error) {
	hot, err := b.keys.Address(ctx, solanaChain, chain.Key{Account: order.HotWallet})
	if err != nil {
		return nil, err
	}
	p := &payer{
		name: "Solana", id: solanaChain, amount: money.FromUint64(2_000_000), most: money.FromUint64(1_000_000),
		to: func(i int) chain.Address {
			return chain.CanonicalAddress(chain.Solana, sol.NewWallet().PublicKey().String())
		},
	}
	if p.node, err = host.Open(ctx, "payouts-solana", "solana", false, object{"depth": payoutDepth}); err != nil {
		return nil, err
	}
	p.url = b.road(p.node.RPC)
	node, err := bareNode(p.url)
	if err != nil {
		return nil, err
	}
	key := sol.NewWallet().PrivateKey
	for _, a := range []string{hot.Text(), key.PublicKey().String()} {
		if err := p.node.Do(ctx, "fund", object{"address": a, "amount": 500 * sol.LAMPORTS_PER_SOL}, nil); err != nil {
			return nil, err
		}
	}
	if err := p.mine(ctx, payoutDepth+2); err != nil {
		return nil, err
	}
	var genesis string
	if err := node.Call(ctx, &genesis, "getGenesisHash"); err != nil {
		return nil, err
	}
	p.on, err = solana.New(ctx, solana.Config{
		ID: solanaChain, Genesis: genesis, Accounts: []chain.Account{order.HotWallet}, MinPrice: 1000, MaxPrice: 5_000_000, Pool: oneNode(p.url),
	}, b.keys)
	if err != nil {
		return nil, err
	}
	p.bareSolana(node, key)
	return p, nil
}

// bareSolana makes the bare client.
func (p *payer) bareSolana(node *rpc.Node, key sol.PrivateKey) {
	var recent sol.Hash
	p.ready = func(ctx context.Context) error {
		var w struct {
			Value struct {
				Blockhash string `json:"blockhash"`
			} `json:"value"`
		}
		err := node.Call(ctx, &w, "getLatestBlockhash", object{"commitment": "confirmed"})
		if err == nil {
			recent, err = sol.HashFromBase58(w.Value.Blockhash)
		}
		return err
	}
	p.bare = func(ctx context.Context, n int) error {
		for range n {
			step := system.NewTransferInstruction(2_000_000, key.PublicKey(), sol.NewWallet().PublicKey()).Build()
			tx, err := sol.NewTransaction([]sol.Instruction{step}, recent, sol.TransactionPayer(key.PublicKey()))
			if err != nil {
				return err
			}
			if _, err := tx.Sign(func(sol.PublicKey) *sol.PrivateKey { return &key }); err != nil {
				return err
			}
			raw, err := tx.MarshalBinary()
			if err != nil {
				return err
			}
			text := base64.StdEncoding.EncodeToString(raw)
			if err := p.send(ctx, node, "sendTransaction", text, object{"encoding": "base64", "preflightCommitment": "confirmed"}); err != nil {
				return err
			}
		}
		return nil
	}
}
