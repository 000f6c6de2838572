package signer

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// transferMethod is transfer(address,uint256) of ERC-20, the only method of a token
// that is ever signed.
const transferMethod = 0xa9059cbb

func (s *evmShelf) tokens(raw []byte) ([]string, error) {
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(raw); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return evmTokens(tx), nil
}

// evmTokens: every transaction is from the hot account, so its nonce is all.
func evmTokens(tx *types.Transaction) []string {
	return []string{"nonce:" + strconv.FormatUint(tx.Nonce(), 10)}
}

func (s *evmShelf) judge(m matter) (verdict, error) {
	tx, err := readEVM(m.paper.Unsigned, s.number)
	if err != nil {
		return verdict{}, err
	}
	if m.paper.Keys[0] != (chain.Key{Account: Hot}) {
		return verdict{}, refuse(WrongKeys, "the sender would be %q %d", m.paper.Keys[0].Account, m.paper.Keys[0].Index)
	}
	if tx.To() == nil || len(tx.AccessList()) != 0 {
		return verdict{}, refuse(Method, "it makes a contract, or names what it will read")
	}
	switch {
	case m.act == sweep:
		err = s.judgeSweep(m, tx)
	case tx.Type() != types.DynamicFeeTxType || len(m.paper.Keys) != 1:
		err = refuse(Method, "a payment authorises nobody")
	case m.act == cancel:
		err = evmPlain(tx, m.hot, money.Amount{})
	case m.act == invoke:
		err = s.judgeCall(m, tx)
	case m.wish.Call.Asset.IsNative():
		err = evmPlain(tx, m.wish.Call.To, m.wish.Call.Amount)
	default:
		err = evmToken(tx, m)
	}
	if err != nil {
		return verdict{}, err
	}
	fee, err := evmFee(tx)
	return verdict{fee: fee, tokens: evmTokens(tx)}, err
}

// evmPlain is a transfer of the chain's own coin and nothing else.
func evmPlain(tx *types.Transaction, to chain.Address, amount money.Amount) error {
	switch {
	case len(tx.Data()) != 0:
		return refuse(Method, "it calls a method")
	case evmAddress(*tx.To()) != to:
		return refuse(Recipient, "it pays %s and not %s", evmAddress(*tx.To()).Text(), to.Text())
	case tx.Value().String() != amount.String():
		return refuse(Amount, "it pays %s and not %s", tx.Value(), amount)
	}
	return nil
}

// evmToken is one transfer of the wished token and nothing else.
func evmToken(tx *types.Transaction, m matter) error {
	call, data := m.wish.Call, tx.Data()
	switch {
	case !strings.EqualFold(evmAddress(*tx.To()).Text(), call.Asset.Ref):
		return refuse(Recipient, "it calls %s and not the token %s", evmAddress(*tx.To()).Text(), call.Asset.Ref)
	case tx.Value().Sign() != 0:
		return refuse(Amount, "it sends %s of the chain's own coin along", tx.Value())
	case len(data) != 4+2*32 || binary.BigEndian.Uint32(data) != transferMethod:
		return refuse(Method, "it is not a plain transfer of a token")
	}
	to, whole := evmWord(data[4:36])
	amount := new(big.Int).SetBytes(data[36:])
	switch {
	case !whole || evmAddress(to) != call.To:
		return refuse(Recipient, "it pays %s and not %s", evmAddress(to).Text(), call.To.Text())
	case amount.String() != call.Amount.String():
		return refuse(Amount, "it pays %s and not %s", amount, call.Amount)
	}
	return nil
}

// evmWord is the address in a word of an ABI, whose upper bytes must be empty.
func evmWord(word []byte) (common.Address, bool) {
	return common.BytesToAddress(word), new(big.Int).SetBytes(word[:12]).Sign() == 0
}

// evmFee is the most that a transaction can cost beside what it pays.
func evmFee(tx *types.Transaction) (money.Amount, error) {
	if tx.GasTipCapIntCmp(tx.GasFeeCap()) > 0 {
		return money.Amount{}, refuse(Fee, "its tip is above all that it pays")
	}
	fee, err := money.Parse(new(big.Int).Mul(tx.GasFeeCap(), new(big.Int).SetUint64(tx.Gas())).String())
	if err != nil {
		return money.Amount{}, refuse(Fee, "its fee is no amount: %v", err)
	}
	return fee, nil
}
