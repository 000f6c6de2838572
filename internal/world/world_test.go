package world

import (
	"os"
	"testing"
)

func TestACalmWorldIsSound(t *testing.T) {
	r, err := Run(t.Context(), Config{Seed: 1, Orders: 100, Calm: true})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Sound() {
		_ = r.Print(os.Stderr)
		t.Fatal("not sound")
	}
}

func TestWildWorldsAreSound(t *testing.T) {
	r, err := Run(t.Context(), Config{Seed: 1, Orders: 300})
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Print(os.Stderr)
	if !r.Sound() {
		t.Fatal("not sound")
	}
}
