package signer_test

import (
	"math/big"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
	"ferry/internal/store"
)

// TestSignerReadsTheRealStore: a wish from its beginning to its end.
func TestSignerReadsTheRealStore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite::memory:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if r.signer, err = signer.New(r.ring, r.policy, db, db); err != nil {
		t.Fatal(err)
	}
	at := func(nonce uint64, price int64) chain.Paper {
		tx := evmTx()
		tx.Nonce, tx.GasFeeCap = nonce, big.NewInt(price)
		return evmPaper(r, tx)
	}
	keep := func(n int, raw []byte, slot chain.Slot) {
		t.Helper()
		ok(db.Keep(t.Context(), "t", send.Kept{N: n, At: start, Attempt: chain.Attempt{Tx: chain.TxID(string(rune('a' + n))), Raw: raw, Slots: []chain.Slot{slot}}}))
	}
	r.refused(at(7, 2e9), signer.NotWished)
	evmWish(r, "")
	ok(db.Wish(t.Context(), r.book.records["t"].Transfer, send.Cap{PerHour: 10_000 * money.Dollar}, start))
	keep(1, r.sign(at(7, 2e9)), "nonce:hot:7")
	r.refused(at(8, 2e9), signer.Beside)
	keep(2, r.sign(at(7, 3e9)), "nonce:hot:7")
	ok(db.Halt(t.Context(), ether, "look first", start))
	r.refused(at(7, 4e9), signer.Halted)
	ok(db.Resume(t.Context(), ether))
	ok(db.Bury(t.Context(), "t", 1))
	r.refused(at(8, 2e9), signer.Beside)
	ok(db.Bury(t.Context(), "t", 2))
	keep(3, r.sign(at(8, 2e9)), "nonce:hot:8")
	ok(db.End(t.Context(), "t", send.Result{Fate: chain.Final, Tx: "d", Block: chain.Block{Height: 1, Hash: "h"}}, start))
	r.refused(at(8, 3e9), signer.Closed)
}
