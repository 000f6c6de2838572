package hooks

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"

	"ferry/internal/secret"
)

const (
	// secretPrefix and secretBytes are those of the Standard Webhooks scheme.
	secretPrefix = "whsec_"
	secretBytes  = 32
	// leastKey is how long the deployment's secret must be.
	leastKey = 32
)

// seal closes the secrets of endpoints, which are needed in clear to sign, so that the
// database alone does not tell them. What is closed for one endpoint opens for no other.
type seal struct{ aead cipher.AEAD }

func newSeal(s secret.Text) (*seal, error) {
	if len(s.Reveal()) < leastKey {
		return nil, fmt.Errorf("hooks: the secret is shorter than %d bytes", leastKey)
	}
	key, err := hkdf.Key(sha256.New, []byte(s.Reveal()), nil, "ferry webhook seal v1", chacha20poly1305.KeySize)
	if err != nil {
		return nil, fmt.Errorf("hooks: the secret: %w", err)
	}
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("hooks: the secret: %w", err)
	}
	return &seal{aead}, nil
}

// newSecret makes the secret of an endpoint.
func newSecret() secret.Text {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // it never fails: without randomness the program ends
	return secret.New(secretPrefix + base64.StdEncoding.EncodeToString(raw))
}

func (s *seal) close(id ID, t secret.Text) string {
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(t.Reveal())+s.aead.Overhead())
	_, _ = rand.Read(nonce)
	return base64.RawStdEncoding.EncodeToString(s.aead.Seal(nonce, nonce, []byte(t.Reveal()), []byte(id)))
}

var errSealed = errors.New("hooks: a secret does not open; is the deployment's secret another than before?")

func (s *seal) open(id ID, sealed string) (secret.Text, error) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil || len(raw) < s.aead.NonceSize() {
		return secret.Text{}, errSealed
	}
	n := s.aead.NonceSize()
	text, err := s.aead.Open(nil, raw[:n], raw[n:], []byte(id))
	if err != nil {
		return secret.Text{}, errSealed
	}
	return secret.New(string(text)), nil
}
