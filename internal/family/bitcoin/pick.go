package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/send"
)

// Weights of a transaction whose inputs all spend P2WPKH coins (BIP-141), with the
// longest signature that a key can make.
const (
	baseWeight  = 4*(4+4) + 2 // version, lock time, and the two marks of a segregated witness
	inputWeight = 4*(36+1+4) + 1 + 1 + 72 + 1 + 33
	changeBytes = 8 + 1 + 22
)

// maxInputs is how many coins one transaction spends at most: more of them make one
// that pays for a long time after the price rose, and a signer busy.
const maxInputs = 100

// relayStep is what a replacement must pay above what it replaces, in satoshis for
// each thousand of its virtual bytes. Newer nodes ask less; the strictest count.
const relayStep = 1000

// dust is the least that an output of a kind must be worth to be relayed: what it
// would cost to spend it at 3 satoshis a byte, as Core counts.
func dust(kind string) int64 {
	switch kind {
	case P2WPKH:
		return 294
	case P2WSH, P2TR:
		return 330
	case P2SH:
		return 540
	}
	return 546
}

// coin is an output of ours that can be spent.
type coin struct {
	at     wire.OutPoint
	value  int64
	script []byte
}

// sizeOf is how many virtual bytes a transaction has at most.
func sizeOf(inputs int, outs ...[]byte) int64 {
	bytes := varint(inputs) + varint(len(outs))
	for _, script := range outs {
		bytes += 8 + varint(len(script)) + len(script)
	}
	return int64(baseWeight+4*bytes+inputs*inputWeight+3) / 4
}

func varint(n int) int {
	switch {
	case n < 0xfd:
		return 1
	case n <= 0xffff:
		return 3
	}
	return 5
}

// feeAt is what a size costs at a price, rounded up.
func feeAt(rate, size int64) int64 { return (rate*size + 999) / 1000 }

// bill is what is to be paid and how: Change goes to our own script.
type bill struct {
	amount int64  // zero: nobody is paid, and all goes back to ourselves
	to     []byte // the recipient's script
	change []byte
	rate   int64 // the going price
	most   int64 // the budget for the fee
}

// plan is which coins pay a bill and what they leave.
type plan struct {
	coins  []coin
	change int64 // zero: there is none
	fee    int64
}

func (b bill) outs(change bool) [][]byte {
	var outs [][]byte
	if b.amount > 0 {
		outs = append(outs, b.to)
	}
	if change {
		outs = append(outs, b.change)
	}
	return outs
}

// pick takes the largest coins first until they pay the amount and the going fee.
//
// Largest first, and not a search for coins that leave no change, because it needs
// the fewest inputs, is the same for everybody who looks at the same coins, and
// leaves change from which a bump can be paid. Small coins are gathered by whoever
// sweeps, when the price is low. If it can, it takes so many that the whole budget
// fits, since a bump should need no other coins than these.
func pick(coins []coin, b bill) (plan, error) {
	var least plan
	var total int64
	found := false
	for i, c := range coins {
		if i == maxInputs {
			break
		}
		total += c.value
		p, ok := split(coins[:i+1], total, b)
		if !ok {
			continue
		}
		if !found || (b.most > 0 && least.fee > b.most && p.fee <= b.most) {
			least, found = p, true
		}
		if b.most == 0 {
			break
		}
		if total >= b.amount+b.most+dust(P2WPKH) {
			if p.fee <= b.most {
				return p, nil
			}
			break
		}
	}
	if !found {
		return plan{}, fmt.Errorf("%w: the free final coins are worth %d in at most %d of them", send.ErrNoFunds, total, maxInputs)
	}
	return least, nil
}

// split says what an amount leaves of some coins at a price. Change that would be
// dust goes to the fee.
func split(coins []coin, total int64, b bill) (plan, bool) {
	left := total - b.amount
	full := feeAt(b.rate, sizeOf(len(coins), b.outs(true)...))
	if change := left - full; change >= dust(P2WPKH) {
		return plan{coins: coins, change: change, fee: full}, true
	}
	if b.amount == 0 || left < feeAt(b.rate, sizeOf(len(coins), b.outs(false)...)) {
		return plan{}, false
	}
	return plan{coins: coins, fee: left}, true
}

// rival is what a replacement must beat.
type rival struct{ fee, size int64 }

// outbid spends some coins for a fee as near to the budget as they allow. The higher
// fee comes from the change alone: what the recipient gets never changes.
func outbid(coins []coin, b bill, old rival) (plan, bool) {
	var total int64
	for _, c := range coins {
		total += c.value
	}
	left := total - b.amount
	try := func(change int64) (plan, bool) {
		outs := b.outs(change > 0)
		if len(outs) == 0 || change < 0 || left < change {
			return plan{}, false
		}
		fee, size := left-change, sizeOf(len(coins), outs...)
		relayed := fee >= old.fee+feeAt(relayStep, size)
		better := fee*old.size > old.fee*size
		return plan{coins: coins, change: change, fee: fee}, relayed && better && fee <= b.most
	}
	if p, ok := try(max(left-b.most, dust(P2WPKH))); ok {
		return p, true
	}
	return try(0)
}
