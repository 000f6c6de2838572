package cctp

import (
	"context"
	"crypto/ecdsa"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

//go:embed contract/*.json
var files embed.FS

// contract is a compiled contract.
type contract struct {
	abi  abi.ABI
	code []byte
}

var (
	usdc        = mustContract("DevUSDC")
	transmitter = mustContract("DevMessageTransmitter")
	minter      = mustContract("DevTokenMinter")
	messenger   = mustContract("DevTokenMessenger")
)

func mustContract(name string) contract {
	c, err := readContract(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return c
}

func readContract(name string) (contract, error) {
	text, err := files.ReadFile("contract/" + name + ".json")
	if err != nil {
		return contract{}, err
	}
	var f struct {
		ABI  json.RawMessage `json:"abi"`
		Code hexutil.Bytes   `json:"code"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return contract{}, err
	}
	parsed, err := abi.JSON(strings.NewReader(string(f.ABI)))
	return contract{parsed, f.Code}, err
}

// Side is a chain on which the bridge is put, and its number in the bridge.
type Side struct {
	RPC    string
	Domain uint32
	// Mine makes a block where the chain makes none by itself; nil where it does.
	Mine func(ctx context.Context) error
}

// Spec is a bridge between local chains.
type Spec struct {
	Sides []Side
	// Key makes the contracts and owns them. It has coins on every side, and nothing else
	// is ever sent with it before everything is there: addresses follow from its nonces.
	Key       *ecdsa.PrivateKey
	Attesters []common.Address
	Threshold int
	// Limit is the most of one burn, in millionths of a dollar.
	Limit *big.Int
	// Minters may make the token beside the bridge, as a faucet does.
	Minters []common.Address
}

// Contracts are where a bridge is: at the same addresses on every side.
type Contracts struct{ USDC, Transmitter, Minter, Messenger common.Address }

// At is where the contracts of a key are.
func At(key *ecdsa.PrivateKey) Contracts {
	by := crypto.PubkeyToAddress(key.PublicKey)
	return Contracts{crypto.CreateAddress(by, 0), crypto.CreateAddress(by, 1), crypto.CreateAddress(by, 2), crypto.CreateAddress(by, 3)}
}

// Deploy puts the bridge on every side, or what of it is missing.
func Deploy(ctx context.Context, s Spec) (Contracts, error) {
	for _, side := range s.Sides {
		if _, err := DeployOn(ctx, s, side); err != nil {
			return At(s.Key), err
		}
	}
	return At(s.Key), nil
}

// DeployOn puts the bridge on one of its sides, or what of it is missing there; the others
// need not be there yet.
func DeployOn(ctx context.Context, s Spec, at Side) (Contracts, error) {
	c := At(s.Key)
	if s.Threshold < 1 || s.Threshold > len(s.Attesters) || len(s.Sides) < 2 {
		return c, errBridge
	}
	if err := s.deploy(ctx, c, at); err != nil {
		return c, fmt.Errorf("bridge on domain %d: %w", at.Domain, err)
	}
	return c, nil
}

var errBridge = errors.New("a bridge has two sides, and no more signatures than attesters")

// step is a transaction of a deployment; without to it makes a contract.
type step struct {
	to   *common.Address
	data []byte
}

// steps are the transactions of a deployment, the first with nonce zero.
func (s Spec) steps(c Contracts, at Side) ([]step, error) {
	var out []step
	var failed error
	add := func(to *common.Address, k contract, method string, args ...any) {
		data, err := k.abi.Pack(method, args...)
		if err != nil {
			failed = errors.Join(failed, err)
		}
		if to == nil {
			data = append(append([]byte{}, k.code...), data...)
		}
		out = append(out, step{to, data})
	}
	add(nil, usdc, "")
	add(nil, transmitter, "", at.Domain, s.Attesters, big.NewInt(int64(s.Threshold)))
	add(nil, minter, "")
	add(nil, messenger, "", c.Transmitter, c.Minter)
	add(&c.Minter, minter, "addLocalTokenMessenger", c.Messenger)
	add(&c.Minter, minter, "setMaxBurnAmountPerMessage", c.USDC, s.Limit)
	add(&c.USDC, usdc, "configureMinter", c.Minter, true)
	for _, who := range s.Minters {
		add(&c.USDC, usdc, "configureMinter", who, true)
	}
	for _, other := range s.Sides {
		if other.Domain != at.Domain {
			add(&c.Messenger, messenger, "addRemoteTokenMessenger", other.Domain, word(c.Messenger))
			add(&c.Minter, minter, "linkTokenPair", c.USDC, other.Domain, word(c.USDC))
		}
	}
	return out, failed
}

func (s Spec) deploy(ctx context.Context, c Contracts, at Side) error {
	steps, err := s.steps(c, at)
	if err != nil {
		return err
	}
	n := node(at.RPC)
	done, err := n.number(ctx, "eth_getTransactionCount", crypto.PubkeyToAddress(s.Key.PublicKey), "latest")
	if err != nil {
		return err
	}
	// All of them are sent before one is waited for, so that they need few blocks: each
	// brings a chain that stood still a second further.
	var sent []common.Hash
	for i := done; i < uint64(len(steps)); i++ {
		tx, err := n.post(ctx, s.Key, i, steps[i])
		if err != nil {
			return fmt.Errorf("transaction %d: %w", i, err)
		}
		sent = append(sent, tx)
	}
	for i, tx := range sent {
		if err := n.landed(ctx, tx, at.Mine); err != nil {
			return fmt.Errorf("transaction %d: %w", done+uint64(i), err)
		}
	}
	var code hexutil.Bytes
	err = n.call(ctx, &code, "eth_getCode", c.Messenger, "latest")
	if err == nil && len(code) == 0 {
		err = errors.New("there is no messenger; its key was used for something else")
	}
	return err
}

// Give makes dollars for somebody on a side.
func (s Spec) Give(ctx context.Context, at Side, to common.Address, amount *big.Int) error {
	n := node(at.RPC)
	nonce, err := n.number(ctx, "eth_getTransactionCount", crypto.PubkeyToAddress(s.Key.PublicKey), "pending")
	if err != nil {
		return err
	}
	data, err := usdc.abi.Pack("mint", to, amount)
	if err != nil {
		return err
	}
	where := At(s.Key).USDC
	tx, err := n.post(ctx, s.Key, nonce, step{&where, data})
	if err != nil {
		return err
	}
	return n.landed(ctx, tx, at.Mine)
}

// What is offered for gas on chains where it is worth nothing.
const (
	gas  = 3_000_000
	tip  = 1_000_000_000
	most = 100 * tip
)

// post sends a transaction. One that was sent before is the same.
func (n node) post(ctx context.Context, key *ecdsa.PrivateKey, nonce uint64, s step) (common.Hash, error) {
	id, err := n.number(ctx, "eth_chainId")
	if err != nil {
		return common.Hash{}, err
	}
	number := new(big.Int).SetUint64(id)
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(number), &types.DynamicFeeTx{
		ChainID: number, Nonce: nonce, To: s.to, Data: s.data, Gas: gas, GasTipCap: big.NewInt(tip), GasFeeCap: big.NewInt(most),
	})
	if err != nil {
		return common.Hash{}, err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return common.Hash{}, err
	}
	err = n.call(ctx, nil, "eth_sendRawTransaction", hexutil.Bytes(raw))
	if err != nil && strings.Contains(err.Error(), "nonce too low") {
		if r, failed := n.receipt(ctx, tx.Hash()); failed == nil && r != nil { // it was sent before, and came into a block meanwhile
			return tx.Hash(), nil
		}
	}
	if err != nil && !strings.Contains(err.Error(), "already known") {
		return common.Hash{}, err
	}
	return tx.Hash(), nil
}

// landed waits until a transaction stands in a block, and mines where somebody must.
func (n node) landed(ctx context.Context, tx common.Hash, mine func(ctx context.Context) error) error {
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for {
		r, err := n.receipt(ctx, tx)
		switch {
		case err != nil && !strings.Contains(err.Error(), "indexing"):
			return err
		case r != nil && r.Status != types.ReceiptStatusSuccessful:
			return fmt.Errorf("it reverted in block %s", r.BlockNumber)
		case r != nil:
			return nil
		case mine != nil:
			if err := mine(ctx); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-every.C:
		}
	}
}

// word is how messages hold an address.
func word(a common.Address) [32]byte { return common.BytesToHash(a[:]) }
