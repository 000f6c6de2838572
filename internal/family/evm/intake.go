package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// paidTopic is the event by which the intake tells of a payment.
var paidTopic = crypto.Keccak256Hash([]byte("Paid(bytes32,address,address,uint256)"))

// payment is one as the intake told it.
type payment struct {
	order  chain.Reference
	sender common.Address
	token  common.Address // zero is the chain's own coin
	amount *uint256.Int
}

func readPaid(l *types.Log) (payment, bool) {
	if len(l.Topics) != 4 || l.Topics[0] != paidTopic || len(l.Data) != word32 ||
		!zero(l.Topics[2][:padding]) || !zero(l.Topics[3][:padding]) {
		return payment{}, false
	}
	return payment{
		order: chain.Reference(l.Topics[1]), sender: common.BytesToAddress(l.Topics[2][padding:]),
		token: common.BytesToAddress(l.Topics[3][padding:]), amount: new(uint256.Int).SetBytes32(l.Data),
	}, true
}

// taken reads a log of the intake. Its code is ours to the last byte, so that what it
// says of the chain's own coin is true. Of a token it can only say what the token said:
// one transfer from the sender to our account must be of the same amount, and was not
// counted for another payment; and nobody pays by a transaction of ours. at is as for other
// transfers, and what is found is held against our account's balance with them.
func (s *scan) taken(f fact, i int, spent map[int]bool, at func(token, addr common.Address) *holding) *chain.Deposit {
	l := f.Logs[i]
	p, whole := readPaid(l)
	if !whole {
		return nil
	}
	to := p.order.In(chain.EVM)
	if !s.to.Has(to) {
		return nil
	}
	asset, listed := s.Chain.tokens[p.token]
	if p.token == (common.Address{}) {
		asset, listed = s.cfg.ID.Native(), true
	}
	switch {
	case l.Address != s.intake || s.intake == (common.Address{}):
		s.suspect(f.Hash, to, s.cfg.ID.Native(), ForeignIntake)
	case !f.OK:
		s.suspect(f.Hash, to, asset, Failed)
	case s.ourOwn(f):
		s.suspect(f.Hash, to, asset, PaidByUs)
	case !listed:
		s.suspect(f.Hash, to, chain.Asset{Chain: s.cfg.ID, Ref: canonical(p.token).Text()}, NotListed)
	case p.amount.IsZero():
		s.suspect(f.Hash, to, asset, NothingMoved)
	case asset.IsNative():
		d := s.deposit(f.Hash, to, asset, logPlace(i), p.amount)
		return &d
	case !s.transferred(f, i, p, spent):
		s.suspect(f.Hash, to, asset, BalanceOff)
	default:
		h := at(p.token, s.own)
		h.found = append(h.found, s.deposit(f.Hash, to, asset, logPlace(i), p.amount))
	}
	return nil
}

// ourOwn reports whether our account called a contract by a transaction. What comes to us
// in one is what we sent it for, as a swap: somebody whose code runs in it may not have the
// same counted as his payment. Coins that we only paid out are his, and he may pay with them.
func (s *scan) ourOwn(f fact) bool {
	if len(f.Data) == 0 {
		return false
	}
	from, err := s.sender(f)
	return err == nil && from == s.own
}

// transferred finds the transfer that a payment by the intake is, among the logs before it.
func (s *scan) transferred(f fact, i int, p payment, spent map[int]bool) bool {
	for k, l := range slices.Backward(f.Logs[:i]) {
		t, whole := readTransfer(l)
		if whole && !spent[k] && l.Address == p.token && t.from == p.sender && t.to == s.own && t.amount.Eq(p.amount) {
			spent[k] = true
			return true
		}
	}
	return false
}

// What the calls of somebody who pays take at most. Wallets ask for less where they know
// better.
const (
	gasPay      = 150_000
	gasPayToken = 350_000
	gasApprove  = 100_000
)

// errNoIntake: no contract takes payments on the chain.
var errNoIntake = errors.New("evm: no intake is configured")

// Fund makes the transactions by which somebody pays straight into our account: a call
// of the intake, and where it takes a token of which too little is allowed to it, what
// allows it first.
func (c *Chain) Fund(ctx context.Context, due chain.Due) (chain.Funding, error) {
	switch _, listed := c.tokens[common.HexToAddress(due.Asset.Ref)]; {
	case c.intake == (common.Address{}):
		return chain.Funding{}, fmt.Errorf("chain %s: %w", c.cfg.ID, errNoIntake)
	case due.Asset.Chain != c.cfg.ID || !due.Asset.IsNative() && !listed:
		return chain.Funding{}, fmt.Errorf("%s is no asset of %s", due.Asset, c.cfg.ID)
	case !(Codec{}).made(due.From) || due.Amount.IsZero():
		return chain.Funding{}, errors.New("evm: nobody pays, or nothing")
	}
	to := canonical(c.intake)
	if due.Asset.IsNative() {
		data, err := intakeContract.abi.Pack("pay", due.For)
		return chain.Funding{Pay: chain.Request{To: to, Data: data, Value: due.Amount, Gas: gasPay}}, err
	}
	data, err := intakeContract.abi.Pack("payToken", common.HexToAddress(due.Asset.Ref), toInt(due.Amount).ToBig(), due.For)
	if err != nil {
		return chain.Funding{}, err
	}
	f := chain.Funding{Pay: chain.Request{To: to, Data: data, Gas: gasPayToken}}
	f.Before, err = c.allowances(ctx, due)
	return f, err
}

// allowances are what lets the intake take what is due. Some tokens change an allowance
// only from nothing or to nothing, so one that is there and too small is ended first.
func (c *Chain) allowances(ctx context.Context, due chain.Due) ([]chain.Request, error) {
	token := chain.CanonicalAddress(chain.EVM, due.Asset.Ref)
	said, err := c.View(ctx, token, allowance(due.From, c.intake))
	if err != nil {
		return nil, fmt.Errorf("allowance of %s: %w", due.Asset, err)
	}
	if len(said) != word32 {
		return nil, fmt.Errorf("allowance of %s: the token answered %d bytes", due.Asset, len(said))
	}
	has := new(uint256.Int).SetBytes32(said)
	if !has.Lt(toInt(due.Amount)) {
		return nil, nil
	}
	allow := func(n money.Amount) chain.Request {
		data := append(selector("approve(address,uint256)"), common.LeftPadBytes(c.intake[:], word32)...)
		return chain.Request{To: token, Data: append(data, common.LeftPadBytes(toInt(n).Bytes(), word32)...), Gas: gasApprove}
	}
	var all []chain.Request
	if !has.IsZero() {
		all = append(all, allow(money.Amount{}))
	}
	return append(all, allow(due.Amount)), nil
}

func allowance(owner chain.Address, spender common.Address) []byte {
	of := common.HexToAddress(owner.Text())
	data := append(selector("allowance(address,address)"), common.LeftPadBytes(of[:], word32)...)
	return append(data, common.LeftPadBytes(spender[:], word32)...)
}
