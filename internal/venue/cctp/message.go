package cctp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Where the fields of a message begin, and of the body of a burn.
const (
	atNonce    = 12
	atSender   = 44
	atTo       = 76
	atCaller   = 108
	atMin      = 140
	atFinality = 144
	headBytes  = 148

	atToken     = 4
	atRecipient = 36
	atAmount    = 68
	atDepositor = 100
	atMaxFee    = 132
	atFee       = 164
	atExpires   = 196
	burnBytes   = 228
)

// version is of messages and of burns in version 2 of the protocol, which counts from 0.
const version = 1

// Standard is the finality at which a standard transfer is attested.
const Standard = 2000

// ErrMessage: bytes are not a burn's message.
var ErrMessage = errors.New("cctp: not the message of a burn")

// Message is what a burn tells the other side. Nonce, Finality, Fee and Expires are
// empty where it was burned: the attesters fill them in.
type Message struct {
	Source, Destination   uint32 // domains
	Nonce                 chain.Word
	Sender, To, Caller    chain.Word // messengers on both sides; Caller is zero for anybody
	MinFinality, Finality uint32

	Token, Recipient chain.Word
	Amount           money.Amount
	Depositor        chain.Word
	MaxFee, Fee      money.Amount
	Expires          uint64 // height of the other side; zero is never
	Hook             []byte
}

// ParseMessage reads a message whose body is a burn.
func ParseMessage(b []byte) (Message, error) {
	if len(b) < headBytes+burnBytes {
		return Message{}, fmt.Errorf("%w: it has %d bytes", ErrMessage, len(b))
	}
	body := b[headBytes:]
	if u32(b, 0) != version || u32(body, 0) != version {
		return Message{}, fmt.Errorf("%w: its versions are %d and %d", ErrMessage, u32(b, 0), u32(body, 0))
	}
	expires := new(uint256.Int).SetBytes(body[atExpires:burnBytes])
	if !expires.IsUint64() {
		return Message{}, fmt.Errorf("%w: it expires at a height that no chain has", ErrMessage)
	}
	return Message{
		Source: u32(b, 4), Destination: u32(b, 8), Nonce: wordAt(b, atNonce), Sender: wordAt(b, atSender), To: wordAt(b, atTo),
		Caller: wordAt(b, atCaller), MinFinality: u32(b, atMin), Finality: u32(b, atFinality),
		Token: wordAt(body, atToken), Recipient: wordAt(body, atRecipient), Amount: amountAt(body, atAmount), Depositor: wordAt(body, atDepositor),
		MaxFee: amountAt(body, atMaxFee), Fee: amountAt(body, atFee), Expires: expires.Uint64(), Hook: body[burnBytes:],
	}, nil
}

// Bytes is the message as contracts write it.
func (m Message) Bytes() []byte {
	b := make([]byte, 0, headBytes+burnBytes+len(m.Hook))
	for _, n := range []uint32{version, m.Source, m.Destination} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	for _, w := range []chain.Word{m.Nonce, m.Sender, m.To, m.Caller} {
		b = append(b, w[:]...)
	}
	for _, n := range []uint32{m.MinFinality, m.Finality, version} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	expires := chain.Word(new(uint256.Int).SetUint64(m.Expires).Bytes32())
	for _, w := range []chain.Word{m.Token, m.Recipient, amountWord(m.Amount), m.Depositor, amountWord(m.MaxFee), amountWord(m.Fee), expires} {
		b = append(b, w[:]...)
	}
	return append(b, m.Hook...)
}

// Hash is what the attesters sign.
func (m Message) Hash() chain.Word { return chain.Word(crypto.Keccak256Hash(m.Bytes())) }

// sent is the message as it was when it was burned.
func (m Message) sent() string {
	m.Nonce, m.Finality, m.Fee, m.Expires = chain.Word{}, 0, money.Amount{}, 0
	return string(m.Bytes())
}

func u32(b []byte, at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }

func wordAt(b []byte, at int) chain.Word { return chain.Word(b[at : at+32]) }

func amountAt(b []byte, at int) money.Amount {
	return toAmount(new(uint256.Int).SetBytes(b[at : at+32]))
}

func amountWord(a money.Amount) chain.Word { return chain.Word(toInt(a).Bytes32()) }

func toInt(a money.Amount) *uint256.Int {
	n := uint256.Int(a.Words())
	return &n
}

func toAmount(v *uint256.Int) money.Amount { return money.FromWords(*v) }

func toCommon(a chain.Address) common.Address { return common.HexToAddress(a.Text()) }

// addressWord is how messages and topics hold an address.
func addressWord(a chain.Address) chain.Word {
	return chain.Word(common.BytesToHash(toCommon(a).Bytes()))
}
