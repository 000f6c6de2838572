package uniswap

import (
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
)

// plan is what a step carries: the ways, and how much of what is given goes by each.
type plan struct {
	token common.Address // that is paid in
	legs  []leg
}

// leg is one way.
type leg struct {
	amount uint256.Int
	hops   []hop
}

// hop is a pool on a way: without a fee it is a pair of version 2.
type hop struct {
	fee uint32
	to  common.Address
}

const (
	planVersion = 1
	maxLegs     = 4
	maxHops     = 3
	hopBytes    = 3 + common.AddressLength
)

var errPlan = errors.New("uniswap: a plan that it did not make")

// encode is a version, the token, and of each way its amount and its hops.
func (p *plan) encode() []byte {
	b := make([]byte, 0, 1+common.AddressLength+len(p.legs)*(2+32+maxHops*hopBytes))
	b = append(append(b, planVersion), p.token[:]...)
	for _, l := range p.legs {
		amount, size := l.amount.Bytes32(), l.amount.ByteLen()
		b = append(append(b, byte(size), byte(len(l.hops))), amount[32-size:]...)
		for _, h := range l.hops {
			b = append(append(b, byte(h.fee>>16), byte(h.fee>>8), byte(h.fee)), h.to[:]...)
		}
	}
	return b
}

// decode reads what encode wrote, and nothing else.
func decode(b []byte) (p plan, err error) {
	if len(b) < 1+common.AddressLength || b[0] != planVersion {
		return p, errPlan
	}
	p.token = common.BytesToAddress(b[1 : 1+common.AddressLength])
	for b = b[1+common.AddressLength:]; len(b) > 0; {
		if len(b) < 2 {
			return p, errPlan
		}
		size, hops := int(b[0]), int(b[1])
		b = b[2:]
		if size < 1 || size > 32 || hops < 1 || hops > maxHops || len(b) < size+hops*hopBytes || b[0] == 0 || len(p.legs) == maxLegs {
			return p, errPlan
		}
		var l leg
		l.amount.SetBytes(b[:size])
		for b = b[size:]; hops > 0; hops-- {
			l.hops = append(l.hops, hop{uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]), common.BytesToAddress(b[3:hopBytes])})
			b = b[hopBytes:]
		}
		p.legs = append(p.legs, l)
	}
	if len(p.legs) == 0 {
		return p, errPlan
	}
	return p, nil
}

// scale makes the amounts sum up to what there is: each its share, rounded down, and what
// rounding leaves goes to the largest. A way for which nothing is left is left out.
func (p *plan) scale(to *uint256.Int) error {
	var sum uint256.Int
	for _, l := range p.legs {
		if _, over := sum.AddOverflow(&sum, &l.amount); over {
			return errPlan
		}
	}
	if sum.IsZero() {
		return errPlan
	}
	left, big := *to, 0
	for i := range p.legs {
		if p.legs[i].amount.Gt(&p.legs[big].amount) {
			big = i
		}
	}
	for i := range p.legs {
		if _, over := p.legs[i].amount.MulDivOverflow(&p.legs[i].amount, to, &sum); over {
			return errPlan
		}
		left.Sub(&left, &p.legs[i].amount)
	}
	p.legs[big].amount.Add(&p.legs[big].amount, &left)
	kept := p.legs[:0]
	for _, l := range p.legs {
		if !l.amount.IsZero() {
			kept = append(kept, l)
		}
	}
	p.legs = kept
	return nil
}
