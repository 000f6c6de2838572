package operator

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"ferry/internal/secret"
)

// Digest is the SHA-256 of a token, which is all that the configuration has of it.
type Digest = [sha256.Size]byte

// Operator is a person who may use the door.
type Operator struct {
	Name   string
	Digest Digest
}

const tokenPrefix = "opr_"

// MintToken makes a token of 256 random bits and its digest.
func MintToken(random io.Reader) (secret.Text, Digest, error) {
	var raw [32]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return secret.Text{}, Digest{}, fmt.Errorf("no randomness for a token: %w", err)
	}
	text := tokenPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return secret.New(text), sha256.Sum256([]byte(text)), nil
}

// known finds whose token an Authorization header shows. Everybody is compared with,
// each in constant time, so that the time tells nothing.
func known(operators []Operator, headers []string) (name string, ok bool) {
	if len(headers) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || !strings.HasPrefix(token, tokenPrefix) {
		return "", false
	}
	digest := sha256.Sum256([]byte(token))
	for _, o := range operators {
		if subtle.ConstantTimeCompare(digest[:], o.Digest[:]) == 1 {
			name, ok = o.Name, true
		}
	}
	return name, ok
}
