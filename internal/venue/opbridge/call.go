package opbridge

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/venue/contract"
)

// errTransfer: a transfer is not whole.
var errTransfer = errors.New("opbridge: a transfer names both tokens or neither, somebody, and an amount")

// read takes a transfer apart.
func read(t Transfer) (token, twin, to common.Address, err error) {
	if t.Amount.IsZero() || t.Token.IsZero() != t.Twin.IsZero() {
		return token, twin, to, errTransfer
	}
	if to, err = address(t.To); err != nil {
		return token, twin, to, errors.Join(errTransfer, err)
	}
	if t.Token.IsZero() {
		return token, twin, to, nil
	}
	if token, err = address(t.Token); err == nil {
		twin, err = address(t.Twin)
	}
	if err != nil {
		err = errors.Join(errTransfer, err)
	}
	return token, twin, to, err
}

// Approval lets the bridge below take a token; the coin needs none, and above tokens are
// burnt where they lie.
func (b *Bridge) Approval(t Transfer) (chain.Call, error) {
	token, _, _, err := read(t)
	if err == nil && t.Token.IsZero() {
		err = fmt.Errorf("%w: the coin needs no approval", errTransfer)
	}
	if err != nil {
		return chain.Call{}, err
	}
	data, err := tokenABI.Pack("approve", b.bridge, toBig(t.Amount))
	return chain.Call{Chain: b.cfg.Below, To: contract.Address(token), Asset: b.asset(t, b.cfg.Below), Amount: t.Amount, Data: data}, err
}

// Deposit begins a transfer below.
func (b *Bridge) Deposit(t Transfer) (chain.Call, error) {
	token, twin, to, err := read(t)
	if err != nil {
		return chain.Call{}, err
	}
	c := chain.Call{Chain: b.cfg.Below, To: contract.Address(b.bridge), Asset: b.asset(t, b.cfg.Below), Amount: t.Amount}
	if t.Token.IsZero() {
		c.Data, err = bridgeABI.Pack("depositETHTo", to, b.cfg.Gas, []byte{})
	} else {
		c.Data, err = bridgeABI.Pack("depositERC20To", token, twin, to, toBig(t.Amount), b.cfg.Gas, []byte{})
	}
	return c, err
}

// Withdraw begins a transfer above.
func (b *Bridge) Withdraw(t Transfer) (chain.Call, error) {
	_, twin, to, err := read(t)
	if err != nil {
		return chain.Call{}, err
	}
	c := chain.Call{Chain: b.cfg.Above, To: contract.Address(bridgeAbove), Asset: b.asset(t, b.cfg.Above), Amount: t.Amount}
	if t.Token.IsZero() {
		c.Data, err = bridge2ABI.Pack("bridgeETHTo", to, b.cfg.Gas, []byte{})
	} else {
		c.Data, err = bridge2ABI.Pack("withdrawTo", twin, to, toBig(t.Amount), b.cfg.Gas, []byte{})
	}
	return c, err
}

// plain is a call of the portal by which nothing leaves a wallet.
func (b *Bridge) plain(data []byte) chain.Call {
	return chain.Call{Chain: b.cfg.Below, To: contract.Address(b.portal), Asset: b.cfg.Below.Native(), Data: data}
}
