package cctp

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/contract"
)

// protocol is what is called of the contracts, and what they say.
var protocol = contract.Must(`[
{"type":"function","name":"approve","inputs":[{"type":"address"},{"type":"uint256"}]},
{"type":"function","name":"allowance","inputs":[{"type":"address"},{"type":"address"}],"outputs":[{"type":"uint256"}]},
{"type":"function","name":"depositForBurnWithHook","inputs":[{"type":"uint256"},{"type":"uint32"},{"type":"bytes32"},{"type":"address"},{"type":"bytes32"},{"type":"uint256"},{"type":"uint32"},{"type":"bytes"}]},
{"type":"function","name":"receiveMessage","inputs":[{"type":"bytes"},{"type":"bytes"}]},
{"type":"function","name":"usedNonces","inputs":[{"type":"bytes32"}],"outputs":[{"type":"uint256"}]},
{"type":"function","name":"signatureThreshold","inputs":[],"outputs":[{"type":"uint256"}]},
{"type":"function","name":"isEnabledAttester","inputs":[{"type":"address"}],"outputs":[{"type":"bool"}]},
{"type":"function","name":"localDomain","inputs":[],"outputs":[{"type":"uint32"}]},
{"type":"function","name":"localMessageTransmitter","inputs":[],"outputs":[{"type":"address"}]},
{"type":"function","name":"localMinter","inputs":[],"outputs":[{"type":"address"}]},
{"type":"function","name":"remoteTokenMessengers","inputs":[{"type":"uint32"}],"outputs":[{"type":"bytes32"}]},
{"type":"function","name":"burnLimitsPerMessage","inputs":[{"type":"address"}],"outputs":[{"type":"uint256"}]},
{"type":"event","name":"Transfer","inputs":[{"name":"from","type":"address","indexed":true},{"name":"to","type":"address","indexed":true},{"name":"value","type":"uint256"}]},
{"type":"event","name":"MessageSent","inputs":[{"name":"message","type":"bytes"}]},
{"type":"event","name":"MessageReceived","inputs":[{"name":"caller","type":"address","indexed":true},{"name":"sourceDomain","type":"uint32"},{"name":"nonce","type":"bytes32","indexed":true},{"name":"sender","type":"bytes32"},{"name":"finalityThresholdExecuted","type":"uint32","indexed":true},{"name":"messageBody","type":"bytes"}]},
{"type":"event","name":"MintAndWithdraw","inputs":[{"name":"mintRecipient","type":"address","indexed":true},{"name":"amount","type":"uint256"},{"name":"mintToken","type":"address","indexed":true},{"name":"feeCollected","type":"uint256"}]}
]`)

// What contracts say first in a log.
var (
	topicTransfer = protocol.Topic("Transfer")
	topicSent     = protocol.Topic("MessageSent")
	topicReceived = protocol.Topic("MessageReceived")
	topicMinted   = protocol.Topic("MintAndWithdraw")
)

// unpack reads what is in a log beside its topics.
func unpack(event string, l chain.Log) ([]any, error) {
	out, err := protocol.Events[event].Inputs.NonIndexed().Unpack(l.Data)
	if err != nil {
		return nil, fmt.Errorf("%s in log %d: %w", event, l.Index, err)
	}
	return out, nil
}

// said reports whether a log is such an event of that contract.
func said(l chain.Log, by chain.Address, topic chain.Word, topics int) bool {
	return l.Address == by && len(l.Topics) == topics && l.Topics[0] == topic
}

// ask calls a contract that answers one value.
func ask[T any](ctx context.Context, c Chain, at chain.Address, method string, args ...any) (T, error) {
	var none T
	raw, err := c.View(ctx, at, protocol.Data(method, args...))
	if err != nil {
		return none, fmt.Errorf("%s of %s: %w", method, at.Text(), err)
	}
	out, err := protocol.Methods[method].Outputs.Unpack(raw)
	if err != nil || len(out) != 1 {
		return none, fmt.Errorf("%s of %s: the contract answered %d bytes that are none: %w", method, at.Text(), len(raw), err)
	}
	v, ok := out[0].(T)
	if !ok {
		return none, fmt.Errorf("%s of %s: the contract answered %T", method, at.Text(), out[0])
	}
	return v, nil
}

func fromBig(n *big.Int) money.Amount { return money.MustParse(n.String()) }

func toBig(a money.Amount) *big.Int { return toInt(a).ToBig() }

// without is the data of a call without the name of the function; not ok if it is
// another function's.
func without(data []byte, method string) (args []any, ok bool) {
	m := protocol.Methods[method]
	if len(data) < 4 || string(data[:4]) != string(m.ID) {
		return nil, false
	}
	args, err := m.Inputs.Unpack(data[4:])
	return args, err == nil
}

// everything is the largest allowance.
var everything = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

// approveData lets the messenger take the token. It takes only from whoever calls it, so
// it takes no more than our own burns say; an allowance for each burn would be
// overwritten by the next one that runs beside it.
func approveData(messenger chain.Address) []byte {
	return protocol.Data("approve", toCommon(messenger), everything)
}

func burnData(b Bridge, from, to Domain) []byte {
	return protocol.Data("depositForBurnWithHook", toBig(b.Amount), to.Number, [32]byte(addressWord(b.Recipient)), toCommon(from.tokenAt()),
		[32]byte{}, toBig(b.MaxFee), uint32(Standard), b.Tag[:])
}

func mintData(a Attested) []byte { return protocol.Data("receiveMessage", a.Message, a.Attestation) }

// burned is what a call of ours burns: not ok if it is none.
func burned(data []byte) (b Bridge, ok bool) {
	args, ok := without(data, "depositForBurnWithHook")
	if !ok || len(args[7].([]byte)) != len(b.Tag) {
		return Bridge{}, false
	}
	b.Amount, b.MaxFee = fromBig(args[0].(*big.Int)), fromBig(args[5].(*big.Int))
	b.Recipient, b.Tag = addressIn(args[2].([32]byte)), Tag(args[7].([]byte))
	return b, true
}

// minted is what a call hands in: not ok if it hands in nothing.
func minted(data []byte) (Attested, bool) {
	args, ok := without(data, "receiveMessage")
	if !ok {
		return Attested{}, false
	}
	return Attested{Message: args[0].([]byte), Attestation: args[1].([]byte)}, true
}

// addressIn reads a topic or field that holds an address.
func addressIn(w chain.Word) chain.Address {
	return chain.CanonicalAddress(chain.EVM, strings.ToLower(common.BytesToAddress(w[:]).Hex()))
}
