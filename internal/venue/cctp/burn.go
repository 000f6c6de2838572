package cctp

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Errors of what chains and attesters say.
var (
	ErrNoBurn    = errors.New("cctp: the transaction does not hold that burn")
	ErrAmbiguous = errors.New("cctp: the transaction holds that burn more than once")
	ErrForged    = errors.New("cctp: the attestation does not hold")
	ErrDomain    = errors.New("cctp: no such domain is configured")
)

// Bridge is one transfer: so much from one chain to somebody on another.
type Bridge struct {
	From, To             chain.ID
	Depositor, Recipient chain.Address
	Amount, MaxFee       money.Amount
	// Any takes a burn of another amount for the bridge's, too, if its tag is.
	Any bool
	// Tag goes with the burn as its hook, and no two bridges may have the same.
	Tag Tag
}

// Tag makes the message of a burn unlike every other. Attesters sign no transaction, so
// without it the attestation of another burn of as much to the same recipient would pass
// for this one's, and one mint for two. It is too short for a hook that anybody runs.
type Tag [16]byte

// TagOf is the tag of a name that nobody else has, such as that of an order.
func TagOf(name string) Tag { return Tag(crypto.Keccak256([]byte(name))[:len(Tag{})]) }

// Burn is a burn that stands in a receipt.
type Burn struct {
	Message Message
	Tx      chain.TxID
	Block   chain.Block
	Index   uint64 // of its message's log in the block
}

// Burns are the burns of a domain's token that a receipt holds, whoever made them and
// whatever else the transaction did. Each has the message that the transmitter said, and
// the token's own word that as much left the depositor.
func Burns(r chain.Receipt, d Domain) ([]Burn, error) {
	var out []Burn
	left := map[chain.Word][]money.Amount{}
	for _, l := range r.Logs {
		switch {
		case said(l, d.tokenAt(), topicTransfer, 3):
			v, err := unpack("Transfer", l)
			if err != nil {
				return nil, err
			}
			left[l.Topics[1]] = append(left[l.Topics[1]], fromBig(v[0].(*big.Int)))
		case said(l, d.Transmitter, topicSent, 1):
			m, err := sentIn(l)
			if errors.Is(err, ErrMessage) {
				continue // messages are of all kinds
			}
			if err != nil {
				return nil, err
			}
			if m.Source != d.Number || m.Sender != addressWord(d.Messenger) || m.Token != addressWord(d.tokenAt()) {
				continue
			}
			if !take(left, m.Depositor, m.Amount) {
				return nil, fmt.Errorf("%w: %s of %s left nobody in transaction %s", ErrNoBurn, m.Amount, d.Token, r.Tx)
			}
			out = append(out, Burn{Message: m, Tx: r.Tx, Block: r.Block, Index: l.Index})
		}
	}
	return out, nil
}

func sentIn(l chain.Log) (Message, error) {
	v, err := unpack("MessageSent", l)
	if err != nil {
		return Message{}, err
	}
	return ParseMessage(v[0].([]byte))
}

// take takes an amount out of what left an address; not ok if it is not there.
func take(left map[chain.Word][]money.Amount, who chain.Word, amount money.Amount) bool {
	for i, a := range left[who] {
		if a == amount {
			left[who] = append(left[who][:i], left[who][i+1:]...)
			return true
		}
	}
	return false
}

// FindBurn is the one burn of a receipt that is the bridge's.
func FindBurn(r chain.Receipt, b Bridge, from, to Domain) (Burn, error) {
	all, err := Burns(r, from)
	if err != nil {
		return Burn{}, err
	}
	var found []Burn
	for _, x := range all {
		if b.made(x.Message, to) {
			found = append(found, x)
		}
	}
	switch len(found) {
	case 0:
		return Burn{}, fmt.Errorf("%w: %s of %s for %s", ErrNoBurn, b.Amount, b.From, b.Recipient.Text())
	case 1:
		return found[0], nil
	}
	return Burn{}, fmt.Errorf("%w: %d times in %s", ErrAmbiguous, len(found), r.Tx)
}

// made reports whether a message is the bridge's: to whom, where and how much, and that
// anybody may hand it in, at no earlier finality and for no higher fee than was meant.
func (b Bridge) made(m Message, to Domain) bool {
	return m.Destination == to.Number && m.To == addressWord(to.Messenger) && m.Caller == chain.Word{} &&
		m.Recipient == addressWord(b.Recipient) && (b.Any || m.Amount == b.Amount) && string(m.Hook) == string(b.Tag[:]) &&
		m.MinFinality >= Standard && !b.MaxFee.Less(m.MaxFee) &&
		(b.Depositor.IsZero() || m.Depositor == addressWord(b.Depositor))
}
