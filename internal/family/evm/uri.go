package evm

import (
	"fmt"
	"strconv"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// PaymentURI is the link of EIP-681 from which a wallet pays an amount, in smallest
// units, to an address: the chain's own coin or a token. The decimals of the asset
// do not matter here, because the link counts in smallest units too.
func (c Codec) PaymentURI(a chain.Asset, to chain.Address, amount money.Amount, _ int) (string, error) {
	id, err := chainNumber(a.Chain)
	if err != nil {
		return "", err
	}
	switch {
	case !c.made(to):
		return "", fmt.Errorf("payment link for %s: the recipient is no EVM address", a)
	case amount.IsZero():
		return "", fmt.Errorf("payment link for %s: it would pay nothing", a)
	case a.IsNative():
		return "ethereum:" + c.Show(to) + "@" + id + "?value=" + amount.String(), nil
	}
	token, err := c.Parse(a.Ref)
	if err != nil {
		return "", fmt.Errorf("payment link for %s: its token: %w", a, err)
	}
	return "ethereum:" + c.Show(token) + "@" + id + "/transfer?address=" + c.Show(to) + "&uint256=" + amount.String(), nil
}

// chainNumber is the number in a name such as "eip155:1". A link without it, or with
// a wrong one, would be paid on another chain.
func chainNumber(id chain.ID) (string, error) {
	text, found := strings.CutPrefix(string(id), "eip155:")
	n, err := strconv.ParseUint(text, 10, 64)
	if !found || err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return "", fmt.Errorf("chain %q: want eip155: and the number of the chain", id)
	}
	return text, nil
}
