package bitcoin

import (
	"fmt"
	"slices"
	"strings"
)

// Network is one of Bitcoin's networks, by the name it has in a setting.
type Network string

// The networks. The addresses of Testnet and Signet cannot be told apart.
const (
	Mainnet Network = "mainnet"
	Testnet Network = "testnet"
	Signet  Network = "signet"
	Regtest Network = "regtest"
)

// marks are what the addresses of a network begin with.
type marks struct {
	net         Network
	human       string // before the 1 of bech32
	p2pkh, p2sh byte   // before the hash in base58
}

var networks = []marks{
	{Mainnet, "bc", 0x00, 0x05},
	{Testnet, "tb", 0x6f, 0xc4},
	{Signet, "tb", 0x6f, 0xc4},
	{Regtest, "bcrt", 0x6f, 0xc4},
}

// marksOf refuses a network that nobody named: a missing one must not mean mainnet.
func marksOf(n Network) (marks, error) {
	i := slices.IndexFunc(networks, func(m marks) bool { return m.net == n })
	if i < 0 {
		return marks{}, fmt.Errorf("bitcoin: %q is no network; write mainnet, testnet, signet or regtest", n)
	}
	return networks[i], nil
}

// named lists the networks for which a thing holds, as people would say it.
func named(holds func(m marks) bool) string {
	var names []string
	for _, m := range networks {
		if holds(m) {
			names = append(names, string(m.net))
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
