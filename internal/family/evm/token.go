package evm

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// transferTopic is the event that every token tells its transfers by.
var transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))

// transfer is a transfer as a token told it.
type transfer struct {
	from, to common.Address
	amount   *uint256.Int
}

// readTransfer reads the event of ERC-20; another form is none.
func readTransfer(l *types.Log) (transfer, bool) {
	if len(l.Topics) != 3 || l.Topics[0] != transferTopic || len(l.Data) != word32 ||
		!zero(l.Topics[1][:padding]) || !zero(l.Topics[2][:padding]) {
		return transfer{}, false
	}
	return transfer{
		from: common.BytesToAddress(l.Topics[1][padding:]), to: common.BytesToAddress(l.Topics[2][padding:]),
		amount: new(uint256.Int).SetBytes32(l.Data),
	}, true
}

// holding is what an address has of a token.
type holding struct {
	token common.Address
	hand
}

// tokens finds payments in listed tokens, and whatever the intake passed on.
func (s *scan) tokens(ctx context.Context) ([]chain.Deposit, error) {
	var all []*holding
	var coins []chain.Deposit // that the intake passed on
	of := make(map[[2]common.Address]*holding)
	for _, f := range s.facts {
		spent := map[int]bool{}
		for i, l := range f.Logs {
			at := func(token, addr common.Address) *holding {
				k := [2]common.Address{token, addr}
				if of[k] == nil {
					of[k] = &holding{token: token, hand: hand{addr: addr, change: new(big.Int)}}
					all = append(all, of[k])
				}
				return of[k]
			}
			s.log(f, i, l, at)
			if d := s.taken(f, i, spent, at); d != nil {
				coins = append(coins, *d)
			}
		}
	}
	all = slices.DeleteFunc(all, func(h *holding) bool { return len(h.found) == 0 })
	if len(all) == 0 {
		return coins, nil
	}
	found, err := s.weigh(ctx, all)
	if err != nil {
		return nil, err
	}
	return append(coins, found...), nil
}

// log reads one log: a transfer of a listed token to or from an address of ours.
func (s *scan) log(f fact, i int, l *types.Log, at func(token, addr common.Address) *holding) {
	if len(l.Topics) == 0 || l.Topics[0] != transferTopic {
		return
	}
	asset, listed := s.Chain.tokens[l.Address]
	t, whole := readTransfer(l)
	if !listed || !whole {
		for _, topic := range l.Topics[1:] { // whoever it names is told of it
			if to := canonical(common.BytesToAddress(topic[padding:])); s.to.Has(to) {
				why := NotListed
				if listed {
					why = Malformed
				}
				s.suspect(f.Hash, to, chain.Asset{Chain: s.cfg.ID, Ref: canonical(l.Address).Text()}, why)
				return
			}
		}
		return
	}
	mine := func(a common.Address) bool { return a == s.own && s.intake != (common.Address{}) }
	if s.to.Has(canonical(t.from)) || mine(t.from) {
		h := at(l.Address, t.from)
		h.change.Sub(h.change, t.amount.ToBig())
	}
	to := canonical(t.to)
	switch {
	case mine(t.to) && f.OK: // what it is for is said by the intake
		h := at(l.Address, t.to)
		h.change.Add(h.change, t.amount.ToBig())
	case !s.to.Has(to):
	case !f.OK: // a failed transaction has no logs; a node may say otherwise
		s.suspect(f.Hash, to, asset, Failed)
	case t.amount.IsZero():
		s.suspect(f.Hash, to, asset, NothingMoved)
	default:
		h := at(l.Address, t.to)
		h.change.Add(h.change, t.amount.ToBig())
		h.found = append(h.found, s.deposit(f.Hash, to, asset, logPlace(i), t.amount))
	}
}

// weigh holds what tokens told against what they say somebody has, before and after.
// A token that says two things is not believed; others are.
func (s *scan) weigh(ctx context.Context, all []*holding) ([]chain.Deposit, error) {
	balances, err := quorum.Agree(s.pool.Rule(), rpc.Each(ctx, s.pool, func(ctx context.Context, n *rpc.Node) ([]reply, error) {
		return s.holdings(ctx, n, all)
	}), slices.Equal)
	if err != nil {
		return nil, err
	}
	var out []chain.Deposit
	for i, h := range all {
		was, is := balances[2*i], balances[2*i+1]
		change := new(big.Int).Sub(is.ToBig(), was.ToBig())
		if !was.ok || !is.ok || change.Cmp(h.change) != 0 {
			for _, d := range h.found {
				s.suspect(common.HexToHash(string(d.Tx)), d.To, d.Asset, BalanceOff)
			}
			continue
		}
		out = append(out, h.found...)
	}
	return out, nil
}

// reply is what a token said; not ok is that it has no answer, which is one too.
type reply struct {
	uint256.Int
	ok bool
}

// holdings asks one node what tokens say that addresses have, at the parent and at
// the block.
func (s *scan) holdings(ctx context.Context, n *rpc.Node, all []*holding) ([]reply, error) {
	said := make([]hexutil.Bytes, 2*len(all))
	q := make([]rpc.Query, 0, len(said))
	for i, h := range all {
		data := append(selector("balanceOf(address)"), common.LeftPadBytes(h.addr[:], word32)...)
		for j, hash := range []string{s.Parent, s.Hash} {
			q = append(q, rpc.Query{Method: "eth_call", Params: []any{message{To: &h.token, Data: data}, at{hash}}, Out: &said[2*i+j]})
		}
	}
	if err := askAll(ctx, n, q, func(err error) bool { return errors.Is(typed(err), ErrFails) }); err != nil {
		return nil, err
	}
	out := make([]reply, len(said))
	for i, x := range q {
		if x.Err == nil && len(said[i]) == word32 {
			out[i].SetBytes32(said[i])
			out[i].ok = true
		}
	}
	return out, nil
}
