package dev

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/gagliardetto/solana-go"

	"ferry/internal/chain"
	"ferry/internal/family/rpc"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/order"
)

// customer is somebody with a wallet, who signs what he is asked to.
type customer struct{ seed [32]byte }

// newCustomer is the customer of a name. His keys are worth nothing: everybody knows them.
func newCustomer(name string) customer { return customer{sha256.Sum256([]byte("customer " + name))} }

// address is his on a family of chains.
func (c customer) address(f chain.Family) (chain.Address, error) {
	if f == chain.Solana {
		return chain.CanonicalAddress(f, c.solana().PublicKey().String()), nil
	}
	key, err := crypto.ToECDSA(c.seed[:])
	if err != nil {
		return chain.Address{}, err
	}
	return chain.CanonicalAddress(f, strings.ToLower(crypto.PubkeyToAddress(key.PublicKey).Hex())), nil
}

func (c customer) solana() solana.PrivateKey {
	return solana.PrivateKey(ed25519.NewKeyFromSeed(c.seed[:]))
}

// signs is a chain on which a customer can send what he is asked to sign.
type signs interface {
	ground
	sign(ctx context.Context, who customer, r chain.Request) (chain.TxID, error)
}

// call pays an order by the transactions that are made for a customer, who is given what
// they need before.
func (n *Network) call(ctx context.Context, o order.Order, x chain.Asset, amount money.Amount) (chain.TxID, error) {
	ref, _ := o.DepositTo.Reference()
	on, ok := n.grounds[x.Chain].(signs)
	var funder front.Chain
	for _, c := range n.chains {
		if c.ID == x.Chain {
			funder = c
		}
	}
	if !ok || funder.Funder == nil {
		return "", errors.New("nobody can sign on that chain")
	}
	who := newCustomer(string(o.ID))
	from, err := who.address(funder.Family)
	if err != nil {
		return "", err
	}
	if err := n.enrich(ctx, on, from, x, amount); err != nil {
		return "", err
	}
	f, err := funder.Funder.Fund(ctx, chain.Due{From: from, Asset: x, Amount: amount, For: ref})
	if err != nil {
		return "", err
	}
	for _, r := range f.Before {
		if _, err := on.sign(ctx, who, r); err != nil {
			return "", err
		}
	}
	return on.sign(ctx, who, f.Pay)
}

// enrich gives somebody what he needs to pay, and coins for it, in a block.
func (n *Network) enrich(ctx context.Context, on ground, who chain.Address, x chain.Asset, amount money.Amount) error {
	coins := money.FromUint64(1_000_000_000)
	if who.Family() == chain.EVM {
		coins = money.FromUint64(1_000_000_000_000_000_000)
	}
	if x.IsNative() {
		var err error
		if coins, err = coins.Add(amount); err != nil {
			return err
		}
	} else if _, err := on.pay(ctx, who, x, amount); err != nil {
		return err
	}
	if _, err := on.pay(ctx, who, x.Chain.Native(), coins); err != nil {
		return err
	}
	return on.mine(ctx, 1)
}

// ask asks the node of a chain.
func (n node) ask(ctx context.Context, out any, method string, params ...any) error {
	pool, err := rpc.New(rpc.Config{URLs: []string{n.on.RPC}, Need: 1})
	if err != nil {
		return err
	}
	return pool.Nodes()[0].Call(ctx, out, method, params...)
}

func (g evmNode) sign(ctx context.Context, who customer, r chain.Request) (chain.TxID, error) {
	key, err := crypto.ToECDSA(who.seed[:])
	if err != nil {
		return "", err
	}
	var number, nonce hexutil.Uint64
	if err := g.ask(ctx, &number, "eth_chainId"); err != nil {
		return "", err
	}
	if err := g.ask(ctx, &nonce, "eth_getTransactionCount", crypto.PubkeyToAddress(key.PublicKey), "pending"); err != nil {
		return "", err
	}
	value, ok := new(big.Int).SetString(r.Value.String(), 10)
	if !ok {
		return "", fmt.Errorf("value %s is no number", r.Value)
	}
	const tip, most = 2_000_000_000, 100_000_000_000
	to, id := common.HexToAddress(r.To.Text()), new(big.Int).SetUint64(uint64(number))
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: uint64(nonce), To: &to, Value: value, Data: r.Data, Gas: r.Gas, GasTipCap: big.NewInt(tip), GasFeeCap: big.NewInt(most),
	})
	if err != nil {
		return "", err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return "", err
	}
	var hash common.Hash
	err = g.ask(ctx, &hash, "eth_sendRawTransaction", hexutil.Bytes(raw))
	return chain.TxID(tx.Hash().Hex()), err
}

func (g solanaNode) sign(ctx context.Context, who customer, r chain.Request) (chain.TxID, error) {
	tx, err := solana.TransactionFromBytes(r.Serialized)
	if err != nil {
		return "", fmt.Errorf("transaction of %s bytes: %w", strconv.Itoa(len(r.Serialized)), err)
	}
	key := who.solana()
	if _, err := tx.Sign(func(solana.PublicKey) *solana.PrivateKey { return &key }); err != nil {
		return "", err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return "", err
	}
	err = g.on.Do(ctx, "submit", map[string]any{"raws": [][]byte{raw}}, nil)
	return chain.TxID(tx.Signatures[0].String()), err
}
