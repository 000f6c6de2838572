package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// errand is a call as the chain will see it.
type errand struct {
	chain.Call
	to    common.Address
	value *uint256.Int
	data  []byte
	auths []types.SetCodeAuthorization
	keys  []chain.Key      // who signs: the sender, and then whoever authorises
	words []common.Address // whose authorizations they are
	extra uint64           // gas that no simulation sees
	// beside is what a rollup may take for the data, beside the gas.
	beside money.Amount
	codes  map[common.Address]any
}

// guesses of gas for a call that cannot be simulated now.
const (
	coinGuess  = params.TxGas
	tokenGuess = 70_000
	callGuess  = 450_000
)

// check refuses calls that can never succeed.
func (c *Chain) check(call chain.Call) error {
	_, listed := c.tokens[common.HexToAddress(call.Asset.Ref)]
	to := common.HexToAddress(call.To.Text())
	switch {
	case call.Chain != c.cfg.ID || call.Asset.Chain != c.cfg.ID:
		return fmt.Errorf("%w: it is for another chain", send.ErrRefused)
	case call.From != Hot:
		return fmt.Errorf("%w: %q is none of our accounts", send.ErrRefused, call.From)
	case !(Codec{}).made(call.To):
		return fmt.Errorf("%w: the recipient is no address", send.ErrRefused)
	case !call.Asset.IsNative() && (!listed || canonical(common.HexToAddress(call.Asset.Ref)).Text() != call.Asset.Ref):
		return fmt.Errorf("%w: %v is not listed", send.ErrRefused, call.Asset)
	case len(call.Data) > 0 && (to == c.own || len(call.Sources) > 0):
		return fmt.Errorf("%w: it calls nobody", send.ErrRefused)
	case call.Amount.IsZero() && len(call.Data) == 0 && (to != c.own || !call.Asset.IsNative() || len(call.Sources) > 0):
		return fmt.Errorf("%w: it pays nothing", send.ErrRefused)
	case zero(to[:18]):
		return fmt.Errorf("%w: the recipient is a part of the chain itself", send.ErrRefused)
	}
	if _, token := c.tokens[to]; token && len(call.Data) == 0 {
		return fmt.Errorf("%w: the recipient is a token's own contract", send.ErrRefused)
	}
	return nil
}

// errand turns a call into what stands in a transaction.
func (c *Chain) errand(ctx context.Context, call chain.Call, tip header) (*errand, error) {
	if len(call.Sources) > 0 {
		return c.sweep(ctx, call, tip)
	}
	e := &errand{Call: call, to: common.HexToAddress(call.To.Text()), value: toInt(call.Amount), keys: []chain.Key{{Account: call.From}}}
	var err error
	switch {
	case len(call.Data) > 0:
		e.data = call.Data
		if !call.Asset.IsNative() { // the contract takes it by itself
			e.value = new(uint256.Int)
		}
	case !call.Asset.IsNative():
		if e.data, err = tokenContract.abi.Pack("transfer", e.to, toInt(call.Amount).ToBig()); err != nil {
			return nil, err
		}
		e.to, e.value = common.HexToAddress(call.Asset.Ref), new(uint256.Int)
	}
	e.beside, err = c.beside(ctx, e, tip)
	return e, err
}

// nothing reports whether the errand only uses up its nonce.
func (e *errand) nothing() bool { return e.Amount.IsZero() && len(e.data) == 0 }

func (e *errand) message(from common.Address) message {
	return message{From: &from, To: &e.to, Value: (*hexutil.U256)(e.value), Data: e.data}
}

// gas is what an errand may use.
func (c *Chain) gas(ctx context.Context, e *errand, tip header) (uint64, error) {
	gas, err := c.simulate(ctx, e.message(c.own), tip, e.codes)
	if err != nil {
		return 0, err
	}
	return roomy(gas + e.extra), nil
}

// cost is the most that an errand can cost.
func (e *errand) cost(gas uint64, each *uint256.Int) (money.Amount, error) {
	v, err := fee(gas, each)
	if err != nil {
		return money.Amount{}, err
	}
	return v.Add(e.beside)
}

// Cost is what a call would cost now.
func (c *Chain) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	if err := c.check(call); err != nil {
		return money.Amount{}, err
	}
	ends, err := c.ends(ctx)
	if err != nil {
		return money.Amount{}, err
	}
	p, err := c.price(ctx, ends.tip)
	if err != nil {
		return money.Amount{}, err
	}
	e, err := c.errand(ctx, call, ends.tip)
	if err != nil {
		return money.Amount{}, err
	}
	gas, err := c.gas(ctx, e, ends.tip)
	if errors.Is(err, send.ErrRefused) || errors.Is(err, ErrPoor) { // it cannot be done now, but it has a price
		gas, err = roomy(uint64(coinGuess)), nil
		if !call.Asset.IsNative() {
			gas = roomy(tokenGuess)
		}
		if len(call.Data) > 0 {
			gas = roomy(callGuess)
		}
		gas = max(gas, roomy(gas*uint64(len(call.Sources))+e.extra))
	}
	if err != nil {
		return money.Amount{}, err
	}
	return e.cost(gas, p.wanted())
}

// Draft signs a first attempt at the going price.
func (c *Chain) Draft(ctx context.Context, call chain.Call, held send.Held, most money.Amount) (chain.Attempt, error) {
	if err := c.check(call); err != nil {
		return chain.Attempt{}, err
	}
	ends, err := c.ends(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	p, err := c.price(ctx, ends.tip)
	if err != nil {
		return chain.Attempt{}, err
	}
	// Whether there is enough is asked first: without it a simulation fails too, and
	// would say that the recipient cannot be paid.
	if err := c.affords(ctx, call, ends, money.Amount{}); err != nil {
		return chain.Attempt{}, err
	}
	e, err := c.errand(ctx, call, ends.tip)
	if err != nil {
		return chain.Attempt{}, err
	}
	gas, err := c.gas(ctx, e, ends.tip)
	if err != nil {
		return chain.Attempt{}, err
	}
	b, err := p.first(gas, most.Less0(e.beside))
	if err != nil {
		return chain.Attempt{}, err
	}
	cost, err := e.cost(gas, b.cap)
	if err != nil {
		return chain.Attempt{}, err
	}
	if err := c.affords(ctx, call, ends, cost); err != nil {
		return chain.Attempt{}, err
	}
	slots, err := held.Slots(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	nonce, err := c.nonce(ctx, ends.tip, slots)
	if err != nil {
		return chain.Attempt{}, err
	}
	return c.sign(ctx, e, nonce, gas, b)
}

// nonce is the next one: what the chain has at the tip, or above all that are held.
func (c *Chain) nonce(ctx context.Context, tip header, held []chain.Slot) (uint64, error) {
	n, err := c.sentBy(ctx, tip)
	if err != nil {
		return 0, err
	}
	for _, s := range held {
		if h, ok := s.Nonce(Hot); ok && h >= n {
			n = h + 1
		}
	}
	return n, nil
}

// sentBy is how many transactions our account had sent by a block. It is asked once for
// each, whose state never changes: while a draft asks, all others wait.
func (c *Chain) sentBy(ctx context.Context, on header) (uint64, error) {
	c.mu.Lock()
	known := c.sent
	c.mu.Unlock()
	if known.by == on.Hash {
		return known.count, nil
	}
	n, err := c.count(ctx, c.own, on)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = sent{on.Hash, n}
	return n, nil
}

// Redraft signs an attempt with the nonce of another, so that only one of them can land.
func (c *Chain) Redraft(ctx context.Context, call chain.Call, prev chain.Attempt, most money.Amount) (chain.Attempt, error) {
	if err := c.check(call); err != nil {
		return chain.Attempt{}, err
	}
	old, err := c.readBack(prev)
	if err != nil {
		return chain.Attempt{}, err
	}
	ends, err := c.ends(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	p, err := c.price(ctx, ends.tip)
	if err != nil {
		return chain.Attempt{}, err
	}
	e, err := c.errand(ctx, call, ends.tip)
	if err != nil {
		return chain.Attempt{}, err
	}
	gas := old.Gas()
	if e.nothing() { // it only uses up the nonce
		gas = params.TxGas
	} else if len(e.auths) > len(old.SetCodeAuthorizations()) || e.to != *old.To() || !bytes.Equal(e.data, old.Data()) || e.value.ToBig().Cmp(old.Value()) != 0 {
		if gas, err = c.gas(ctx, e, ends.tip); err != nil { // what came before did less
			return chain.Attempt{}, err
		}
	}
	b, err := p.next(old, gas, most.Less0(e.beside))
	if err != nil {
		return chain.Attempt{}, err
	}
	cost, err := e.cost(gas, b.cap)
	if err != nil {
		return chain.Attempt{}, err
	}
	if err := c.affords(ctx, call, ends, cost); err != nil {
		return chain.Attempt{}, err
	}
	return c.sign(ctx, e, old.Nonce(), gas, b)
}

// sign has an errand signed, and reads it back from its own bytes: what is signed is
// what was meant.
func (c *Chain) sign(ctx context.Context, e *errand, nonce, gas uint64, b bid) (chain.Attempt, error) {
	id := uint256.NewInt(c.number)
	var body types.TxData = &types.DynamicFeeTx{
		ChainID: id.ToBig(), Nonce: nonce, GasTipCap: b.tip.ToBig(), GasFeeCap: b.cap.ToBig(), Gas: gas,
		To: &e.to, Value: e.value.ToBig(), Data: e.data,
	}
	if len(e.auths) > 0 {
		body = &types.SetCodeTx{
			ChainID: id, Nonce: nonce, GasTipCap: b.tip, GasFeeCap: b.cap, Gas: gas,
			To: e.to, Value: e.value, Data: e.data, AuthList: e.auths,
		}
	}
	meant := types.NewTx(body)
	unsigned, err := meant.MarshalBinary()
	if err != nil {
		return chain.Attempt{}, err
	}
	cancel := e.nothing()
	raw, err := c.signer.Sign(ctx, chain.Paper{Chain: c.cfg.ID, For: e.For, Cancel: cancel, Unsigned: unsigned, Keys: e.keys})
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("sign: %w", err)
	}
	tx, err := c.decode(raw)
	if err != nil {
		return chain.Attempt{}, err
	}
	if c.rules.Hash(tx) != c.rules.Hash(withAuths(meant, tx)) || !authorised(tx, e.words) {
		return chain.Attempt{}, fmt.Errorf("%w: another transaction was signed than was asked", ErrBytes)
	}
	cost, err := e.cost(gas, b.cap)
	if err != nil {
		return chain.Attempt{}, err
	}
	return chain.Attempt{Tx: txID(tx.Hash()), Raw: raw, Slots: []chain.Slot{chain.NonceSlot(Hot, nonce)}, Fee: cost}, nil
}
