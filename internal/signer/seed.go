package signer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/tyler-smith/go-bip39"

	"ferry/internal/secret"
)

// entropyBytes is how much chance is in a seed of ours; one that is restored may have less.
const entropyBytes = 32

// ErrMnemonic: the words are no mnemonic of BIP-39. It never says which.
var ErrMnemonic = errors.New("signer: these words are no mnemonic: there must be 12 to 24 English words of BIP-39, in their order, and their checksum must be right")

// Seed is what all keys come from. It is written down as a mnemonic, and hides itself.
type Seed struct{ words secret.Text }

// NewSeed makes a seed of 256 random bits.
func NewSeed() (Seed, error) {
	chance := make([]byte, entropyBytes)
	_, _ = rand.Read(chance) // it never fails, or ends the process
	return seedOf(chance)
}

func seedOf(entropy []byte) (Seed, error) {
	words, err := bip39.NewMnemonic(entropy)
	if err != nil {
		return Seed{}, ErrMnemonic // what the library says may hold the words
	}
	return Seed{words: secret.New(words)}, nil
}

// ParseMnemonic reads a mnemonic, whatever blanks and lines are between its words.
func ParseMnemonic(text secret.Text) (Seed, error) {
	words := strings.Join(strings.Fields(strings.ToLower(text.Reveal())), " ")
	entropy, err := bip39.EntropyFromMnemonic(words)
	if err != nil {
		return Seed{}, ErrMnemonic
	}
	return seedOf(entropy)
}

// Mnemonic is the seed for people, to be written on paper.
func (s Seed) Mnemonic() secret.Text { return s.words }

// IsZero reports whether there is none.
func (s Seed) IsZero() bool { return s.words.IsZero() }

// Bytes is the seed of BIP-39 without a passphrase of its own, for NewRing.
func (s Seed) Bytes() []byte { return bip39.NewSeed(s.words.Reveal(), "") }

// entropy is what the seed file keeps.
func (s Seed) entropy() ([]byte, error) {
	b, err := bip39.EntropyFromMnemonic(s.words.Reveal())
	if err != nil {
		return nil, ErrMnemonic
	}
	return b, nil
}

// Format hides it from every verb.
func (s Seed) Format(f fmt.State, c rune) { s.words.Format(f, c) }
