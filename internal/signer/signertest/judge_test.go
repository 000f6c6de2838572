package signertest_test

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
	"ferry/internal/signer/signertest"
)

const id chain.ID = "eip155:1"

// payer is the smallest family there is. It steals where it is told to.
type payer struct {
	send.Chain
	keys  *signer.Signer
	steal common.Address
}

func (p payer) draft(ctx context.Context, c chain.Call, price int64) (a chain.Attempt, err error) {
	to := common.HexToAddress(c.To.Text())
	if p.steal != (common.Address{}) {
		to = p.steal
	}
	amount, _ := c.Amount.Uint64()
	tx := types.NewTx(&types.DynamicFeeTx{
		ChainID: big.NewInt(1), Nonce: 3, Gas: 21_000, GasFeeCap: big.NewInt(price), GasTipCap: big.NewInt(1), To: &to,
		Value: new(big.Int).SetUint64(amount),
	})
	unsigned, err := tx.MarshalBinary()
	if err != nil {
		return a, err
	}
	a.Raw, err = p.keys.Sign(ctx, chain.Paper{Chain: c.Chain, For: c.For, Cancel: c.Amount.IsZero(), Unsigned: unsigned, Keys: []chain.Key{{Account: c.From}}})
	a.Tx = chain.TxID(a.Raw)
	return a, err
}

func (p payer) Draft(ctx context.Context, c chain.Call, _ send.Held, _ money.Amount) (chain.Attempt, error) {
	return p.draft(ctx, c, 10)
}

func (p payer) Redraft(ctx context.Context, c chain.Call, _ chain.Attempt, _ money.Amount) (chain.Attempt, error) {
	return p.draft(ctx, c, 20)
}

func TestWhatAFamilyDraftsIsJudged(t *testing.T) {
	t.Parallel()
	ring, err := signer.NewRing(bytes.Repeat([]byte{7}, 32), map[chain.ID]signer.Net{id: {Family: chain.EVM}})
	if err != nil {
		t.Fatal(err)
	}
	keys, wishes := signertest.Judge(t, ring, nil)
	own, err := keys.Address(t.Context(), id, chain.Key{Account: signer.Hot})
	if err != nil {
		t.Fatal(err)
	}
	pay := chain.Call{Chain: id, From: signer.Hot, To: chain.CanonicalAddress(chain.EVM, "0x52908400098527886e0f7030069857d2e4169ee7"), Asset: id.Native(), Amount: money.FromUint64(5)}
	honest, most := wishes.Sender(payer{keys: keys}), money.FromUint64(420_000)
	first, err := honest.Draft(t.Context(), pay, nil, most)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := honest.Redraft(t.Context(), pay, first, most); err != nil {
		t.Fatal(err)
	}
	nothing := chain.Call{Chain: id, From: signer.Hot, To: own, Asset: id.Native()}
	cancel, err := honest.Redraft(t.Context(), nothing, first, most)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := honest.Redraft(t.Context(), nothing, cancel, most); err != nil {
		t.Fatal(err)
	}
	if _, err := honest.Redraft(t.Context(), pay, first, money.FromUint64(419_999)); !errors.Is(err, signer.ErrRefused) {
		t.Errorf("above its budget: %v", err)
	}
	thief := wishes.Sender(payer{keys: keys, steal: common.Address{1}})
	if _, err := thief.Draft(t.Context(), pay, nil, most); !errors.Is(err, signer.ErrRefused) {
		t.Errorf("a theft: %v", err)
	}
	if _, err := (payer{keys: keys}).Draft(t.Context(), pay, nil, most); !errors.Is(err, signer.ErrRefused) {
		t.Errorf("for no wish: %v", err)
	}
}
