package cctp

import (
	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
)

// Contracts are what a signer must let our account call, and what it holds each call to:
// only the messenger may take the token, a burn is for our own account on a chain that is
// configured and for anybody to hand in, and takes what the wish says.
func (c Config) Contracts() map[chain.ID][]chain.Contract {
	all := map[chain.ID][]chain.Contract{}
	for _, d := range c.Domains {
		var own []chain.Address
		var numbers []uint64
		for _, other := range c.Domains {
			if other.Number != d.Number {
				own, numbers = append(own, other.Own), append(numbers, uint64(other.Number))
			}
		}
		anybody := []chain.Address{addressIn(chain.Word(common.Hash{}))}
		all[d.Chain] = []chain.Contract{
			{Address: d.tokenAt(), Methods: []chain.Method{
				{Signature: "approve(address,uint256)", Only: map[string][]chain.Address{"0": {d.Messenger}}},
			}},
			{Address: d.Messenger, Methods: []chain.Method{{
				Signature: "depositForBurnWithHook(uint256,uint32,bytes32,address,bytes32,uint256,uint32,bytes)",
				Only:      map[string][]chain.Address{"2": own, "3": {d.tokenAt()}, "4": anybody},
				Few:       map[string][]uint64{"1": numbers, "6": {Standard}},
				Amount:    "0",
			}}},
			{Address: d.Transmitter, Methods: []chain.Method{{Signature: "receiveMessage(bytes,bytes)"}}},
		}
	}
	return all
}
