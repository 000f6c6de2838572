package store_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
)

// TestWishesAreReadBesideTheService: another process sees each wish as soon as it is
// written, and can write nothing.
func TestWishesAreReadBesideTheService(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "a.db"), "postgres": pgtest.URL(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, url)
			w, err := store.OpenWishes(t.Context(), store.Config{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}()
			if _, err := w.Transfer(t.Context(), "t"); !errors.Is(err, send.ErrUnknown) {
				t.Fatalf("got %v", err)
			}
			wish := send.Transfer{
				ID: "t", Order: "ord_x", USD: money.Dollar, Call: chain.Call{Chain: "eip155:1", From: "hot", Asset: chain.ID("eip155:1").Native(), Amount: money.FromUint64(5)},
			}
			now := time.Now()
			if err := db.Wish(t.Context(), wish, send.Cap{PerHour: money.Dollar}, now); err != nil {
				t.Fatal(err)
			}
			if k, err := w.Transfer(t.Context(), "t"); err != nil || !k.Open || k.Transfer.Call.Amount != wish.Call.Amount {
				t.Fatalf("%+v, %v", k, err)
			}
			if why, err := w.Halted(t.Context(), "eip155:1"); err != nil || why != "" {
				t.Fatalf("%q, %v", why, err)
			}
			if err := db.Halt(t.Context(), "eip155:1", "look", now); err != nil {
				t.Fatal(err)
			}
			if why, err := w.Halted(t.Context(), "eip155:1"); err != nil || why != "look" {
				t.Fatalf("%q, %v", why, err)
			}
		})
	}
	for _, url := range []string{"sqlite::memory:", "sqlite:", "sqlite:" + filepath.Join(t.TempDir(), "none.db"), "mysql:x"} {
		if _, err := store.OpenWishes(t.Context(), store.Config{URL: url}); err == nil {
			t.Errorf("%s was opened", url)
		}
	}
}
