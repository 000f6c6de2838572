package uniswap

import (
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"

	"ferry/internal/chain"
	"ferry/internal/venue/contract"
)

// routerItself is what the router takes for its own address.
var routerItself = common.BytesToAddress([]byte{2})

// swap is a swap to be written down for the router.
type swap struct {
	plan      plan
	own       common.Address
	least     *big.Int // of what it brings
	until     time.Time
	out       common.Address
	coinIn    bool
	coinOut   bool
	collected bool // all ways end at the router, which hands over the sum
}

// data is one call of the router. The least is asked of the sum: where there are several
// ways, or where coins are unwrapped, all of it is first collected by the router.
func (s *swap) data() []byte {
	s.collected = len(s.plan.legs) > 1 || s.coinOut
	var calls [][]byte
	for i := range s.plan.legs {
		calls = append(calls, s.leg(&s.plan.legs[i])...)
	}
	switch {
	case s.coinOut:
		calls = append(calls, protocol.Data("unwrapWETH9", s.least, s.own))
	case s.collected:
		calls = append(calls, protocol.Data("sweepToken", s.out, s.least, s.own))
	}
	if s.coinIn { // what a pool did not take must not stay with the router
		calls = append(calls, protocol.Data("refundETH"))
	}
	return protocol.Data("multicall", big.NewInt(s.until.Unix()), calls)
}

// exactInput is what the router calls its argument; the names are the router's.
type exactInput struct {
	Path                       []byte
	Recipient                  common.Address
	AmountIn, AmountOutMinimum *big.Int
}

// leg is one way: a call for each run of pools of one version. Those after the first
// spend all that the router got from the one before, which it takes from nothing said.
func (s *swap) leg(l *leg) (calls [][]byte) {
	from, amount := s.plan.token, l.amount.ToBig()
	for at := 0; at < len(l.hops); {
		end := at + 1
		for end < len(l.hops) && (l.hops[end].fee == 0) == (l.hops[at].fee == 0) {
			end++
		}
		to, least := routerItself, new(big.Int)
		if end == len(l.hops) && !s.collected {
			to, least = s.own, s.least
		}
		if l.hops[at].fee == 0 {
			way := []common.Address{from}
			for _, h := range l.hops[at:end] {
				way = append(way, h.to)
			}
			calls = append(calls, protocol.Data("swapExactTokensForTokens", amount, least, way, to))
		} else {
			path := append([]byte(nil), from[:]...)
			for _, h := range l.hops[at:end] {
				path = append(append(path, byte(h.fee>>16), byte(h.fee>>8), byte(h.fee)), h.to[:]...)
			}
			calls = append(calls, protocol.Data("exactInput", exactInput{path, to, amount, least}))
		}
		from, amount, at = l.hops[end-1].to, new(big.Int), end
	}
	return calls
}

// approve lets the router take all of a token, or nothing again: some tokens want that
// before they allow anything new.
func (v *Venue) approve(token common.Address, all bool) chain.Call {
	amount := new(big.Int)
	if all {
		amount = math.MaxBig256
	}
	return chain.Call{
		Chain: v.cfg.Chain, From: hot, To: contract.Address(token), Asset: v.cfg.Chain.Native(),
		Data: protocol.Data("approve", known(v.cfg.Router), amount),
	}
}

// Contracts are what the signer must let the account call for a venue of these settings.
func (c Config) Contracts() []chain.Contract {
	itself := []chain.Address{contract.Address(routerItself)}
	all := []chain.Contract{{Address: c.Router, Methods: []chain.Method{
		{Signature: "multicall(uint256,bytes[])", Inner: "1"},
		{Signature: "exactInput((bytes,address,uint256,uint256))", Own: []string{"0.1"}, Also: itself, Amount: "0.2"},
		{Signature: "swapExactTokensForTokens(uint256,uint256,address[],address)", Own: []string{"3"}, Also: itself, Amount: "0"},
		{Signature: "unwrapWETH9(uint256,address)", Own: []string{"1"}},
		{Signature: "sweepToken(address,uint256,address)", Own: []string{"2"}},
		{Signature: "refundETH()"},
	}}}
	for _, t := range c.Tokens {
		all = append(all, chain.Contract{Address: t, Methods: []chain.Method{
			{Signature: "approve(address,uint256)", Only: map[string][]chain.Address{"0": {c.Router}}},
		}})
	}
	return all
}
