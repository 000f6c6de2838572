package front

import (
	"context"
	"errors"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
)

// purse are balances by asset.
type purse map[chain.Asset]ledger.Balance

func (p purse) Balance(_ context.Context, k ledger.Key) (ledger.Balance, error) {
	switch k.Account {
	case ledger.Hot(k.Asset.Chain):
		return p[k.Asset], nil
	case ledger.TakenBack(k.Asset.Chain):
		return ledger.Balance{Credits: p[k.Asset].Credits}, nil // as much as went out of the wallet, to tell it from nothing
	}
	return ledger.Balance{}, errors.New("only the wallet counts, and what a chain took back out of it")
}

func TestNothingIsSoldBelowTheMinimum(t *testing.T) {
	t.Parallel()
	const on chain.ID = "sim:x"
	coin, token := on.Native(), chain.Asset{Chain: on, Ref: "usd"}
	n := money.FromUint64
	for _, c := range []struct {
		name         string
		coins, usd   ledger.Balance
		least        map[chain.Asset]money.Amount
		coin, tokens uint64 // that are free
	}{
		{"no minimum", ledger.Balance{Debits: n(5)}, ledger.Balance{Debits: n(7), Reserved: n(2)}, nil, 5, 5},
		{"at the minimum", ledger.Balance{Debits: n(5)}, ledger.Balance{Debits: n(7)}, map[chain.Asset]money.Amount{token: n(7)}, 5, 7},
		{"below the minimum", ledger.Balance{Debits: n(5)}, ledger.Balance{Debits: n(6)}, map[chain.Asset]money.Amount{token: n(7)}, 5, 0},
		{"what is reserved does not count", ledger.Balance{Debits: n(5)}, ledger.Balance{Debits: n(9), Reserved: n(3)}, map[chain.Asset]money.Amount{token: n(7)}, 5, 0},
		{"too little of the coin", ledger.Balance{Debits: n(5)}, ledger.Balance{Debits: n(9)}, map[chain.Asset]money.Amount{coin: n(6)}, 0, 0},
		{"what a chain took back is not there", ledger.Balance{Debits: n(5)}, ledger.Balance{Debits: n(9), Credits: n(2)}, nil, 5, 5},
		{"enough of the coin", ledger.Balance{Debits: n(6)}, ledger.Balance{Debits: n(9)}, map[chain.Asset]money.Amount{coin: n(6)}, 6, 9},
	} {
		s := &stock{books: purse{coin: c.coins, token: c.usd}, now: time.Now, least: c.least}
		for a, want := range map[chain.Asset]uint64{coin: c.coin, token: c.tokens} {
			for range 2 { // the second time from memory
				if got, err := s.Free(t.Context(), a); err != nil || got != n(want) {
					t.Errorf("%s: %s of %s is free, want %d (%v)", c.name, got, a, want, err)
				}
			}
		}
	}
}
