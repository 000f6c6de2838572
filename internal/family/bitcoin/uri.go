package bitcoin

import (
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// decimals is how many of them a bitcoin has.
const decimals = 8

// PaymentURI is the link of BIP-21 from which a wallet pays an amount, in satoshis,
// to an address. How many decimals an asset list gives the coin does not matter:
// the link counts in bitcoins.
func (c Codec) PaymentURI(a chain.Asset, to chain.Address, amount money.Amount, _ int) (string, error) {
	switch {
	case !a.IsNative():
		return "", fmt.Errorf("payment link for %s: there are no tokens on Bitcoin", a)
	case c.Kind(to) == "":
		return "", fmt.Errorf("payment link for %s: the recipient is no address of %s", a, c.marks.net)
	case amount.IsZero():
		return "", fmt.Errorf("payment link for %s: it would pay nothing", a)
	}
	return "bitcoin:" + to.Text() + "?amount=" + amount.Decimal(decimals), nil
}
