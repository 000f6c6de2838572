package world

import (
	"os"
	"testing"
)

func TestMany(t *testing.T) {
	r, err := Run(t.Context(), Config{Seed: 7, Orders: 10000, Parallel: 1, Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Print(os.Stderr)
}
