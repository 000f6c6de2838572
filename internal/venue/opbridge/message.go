package opbridge

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/venue/contract"
)

// relay is a message between the messengers of the two chains.
type relay struct {
	Nonce          *big.Int
	Sender, Target common.Address
	Value, MinGas  *big.Int
	Message        []byte
}

// messageVersion stands in the highest two bytes of a nonce.
const messageVersion, versionShift = 1, 240

// readRelay reads a message from the call that delivers it. It must be written as the
// messenger writes it, byte for byte: its hash is that of the call.
func readRelay(data []byte) (relay, bool) {
	m := messengerABI.Methods["relayMessage"]
	if len(data) < 4 || !bytes.Equal(data[:4], m.ID) {
		return relay{}, false
	}
	v, err := m.Inputs.Unpack(data[4:])
	if err != nil {
		return relay{}, false
	}
	again, err := m.Inputs.Pack(v...)
	if err != nil || !bytes.Equal(again, data[4:]) {
		return relay{}, false
	}
	r := relay{
		Nonce: v[0].(*big.Int), Sender: v[1].(common.Address), Target: v[2].(common.Address),
		Value: v[3].(*big.Int), MinGas: v[4].(*big.Int), Message: v[5].([]byte),
	}
	return r, new(big.Int).Rsh(r.Nonce, versionShift).Cmp(big.NewInt(messageVersion)) == 0
}

// messageHash is the name under which a messenger remembers a message.
func messageHash(data []byte) common.Hash { return crypto.Keccak256Hash(data) }

// carried reads what a message of the bridge on one side tells that on the other. The
// token on the side where it ends is local there.
func carried(r relay, up bool) (Transfer, bool) {
	if len(r.Message) < 4 {
		return Transfer{}, false
	}
	m, err := bridgeABI.MethodById(r.Message)
	if err != nil {
		return Transfer{}, false
	}
	v, err := m.Inputs.Unpack(r.Message[4:])
	if err != nil {
		return Transfer{}, false
	}
	switch m.Name {
	case "finalizeBridgeETH":
		amount := v[2].(*big.Int)
		return Transfer{From: contract.Address(v[0].(common.Address)), To: contract.Address(v[1].(common.Address)), Amount: toAmount(amount)},
			amount.Cmp(r.Value) == 0
	case "finalizeBridgeERC20":
		local, remote := contract.Address(v[0].(common.Address)), contract.Address(v[1].(common.Address))
		t := Transfer{
			Token: local, Twin: remote,
			From: contract.Address(v[2].(common.Address)), To: contract.Address(v[3].(common.Address)), Amount: toAmount(v[4].(*big.Int)),
		}
		if up {
			t.Token, t.Twin = remote, local
		}
		return t, r.Value.Sign() == 0
	}
	return Transfer{}, false
}

// route is a side on which messages arrive.
type route struct {
	messenger, bridge common.Address
	up                bool
}

func (b *Bridge) route(up bool) route {
	if up {
		return route{messengerAbove, bridgeAbove, true}
	}
	return route{b.messenger, b.bridge, false}
}
