package solana

import (
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// decimals is how many of them a SOL has; a mint has at most maxDecimals.
const (
	decimals    = 9
	maxDecimals = 255
)

// PaymentURI is the link of Solana Pay from which a wallet pays an amount, in
// smallest units, to an address: SOL, or a token that has that many decimals.
func (c Codec) PaymentURI(a chain.Asset, to chain.Address, amount money.Amount, tokenDecimals int) (string, error) {
	switch {
	case c.Kind(to) == "":
		return "", fmt.Errorf("payment link for %s: the recipient is no Solana address", a)
	case amount.IsZero():
		return "", fmt.Errorf("payment link for %s: it would pay nothing", a)
	case a.IsNative():
		return "solana:" + to.Text() + "?amount=" + amount.Decimal(decimals), nil
	case tokenDecimals < 0 || tokenDecimals > maxDecimals:
		return "", fmt.Errorf("payment link for %s: no token has %d decimals", a, tokenDecimals)
	}
	mint, err := c.Parse(a.Ref)
	if err != nil {
		return "", fmt.Errorf("payment link for %s: its mint: %w", a, err)
	}
	return "solana:" + to.Text() + "?amount=" + amount.Decimal(tokenDecimals) + "&spl-token=" + mint.Text(), nil
}
