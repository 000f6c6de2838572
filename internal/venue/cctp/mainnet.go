package cctp

import (
	"time"

	"ferry/internal/chain"
)

// API is where Circle's attestations are had, for real money and for test networks.
const (
	API        = "https://iris-api.circle.com"
	APISandbox = "https://iris-api-sandbox.circle.com"
)

// The contracts of version 2, which have the same addresses on every chain below.
const (
	messengerV2   = "0x28b5a0e9c621a5badaa536219b3a228c8168cf5d"
	transmitterV2 = "0x81d40f21f12a8f0e3252bccb954d722d4c464b64"
)

// Mainnet is what Circle publishes of the chains where real money moves (developers.
// circle.com: contract addresses, supported domains, USDC addresses, attestation times of
// standard transfers). Own is left to whoever configures.
func Mainnet() []Domain {
	const l1, polygon, avalanche = 19 * time.Minute, 8 * time.Second, 8 * time.Second
	return []Domain{
		domain("eip155:1", 0, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", l1),
		domain("eip155:43114", 1, "0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e", avalanche),
		domain("eip155:10", 2, "0x0b2c639c533813f4aa9d7837caf62653d097ff85", l1),
		domain("eip155:42161", 3, "0xaf88d065e77c8cc2239327c5edb3a432268e5831", l1),
		domain("eip155:8453", 6, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", l1),
		domain("eip155:137", 7, "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", polygon),
	}
}

func domain(id chain.ID, number uint32, token string, attested time.Duration) Domain {
	return Domain{
		Chain: id, Number: number, Token: chain.Asset{Chain: id, Ref: token}, Attested: attested,
		Messenger:   chain.CanonicalAddress(chain.EVM, messengerV2),
		Transmitter: chain.CanonicalAddress(chain.EVM, transmitterV2),
	}
}
