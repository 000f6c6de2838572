package signer

import (
	"fmt"

	"ferry/internal/chain"
)

// Path is where a key hangs, as other wallets write it; empty if there is no such key.
// It never changes: money lies there.
func Path(n Net, k chain.Key) string {
	account, index, err := place(k)
	if err != nil {
		return ""
	}
	switch n.Family {
	case chain.EVM:
		return fmt.Sprintf("m/44'/60'/%d'/0/%d", account, index)
	case chain.Bitcoin:
		return fmt.Sprintf("m/84'/%d'/%d'/0/%d", coinType(n.Network), account, index)
	case chain.Solana:
		return fmt.Sprintf("m/44'/501'/%d'/%d'", account, index)
	default:
		return ""
	}
}

// coinType is the number of Bitcoin in a path: all networks but the real one share theirs.
func coinType(network string) uint32 {
	if network == "mainnet" {
		return 0
	}
	return 1
}
