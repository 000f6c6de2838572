package access

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"

	"ferry/internal/integrator"
	"ferry/internal/secret"
)

// A session is a prefix and 256 random bits.
const (
	sessionPrefix = "ses_"
	sessionBytes  = 32
	sessionBody   = 43
	sessionLen    = len(sessionPrefix) + sessionBody
)

// sessionText refuses a last letter that has bits beyond the 256, so that a session
// has one text.
var sessionText = base64.RawURLEncoding.Strict()

// sessionDomain keeps the digest of a session from being that of anything else.
const sessionDomain = "ferry session 1\x00"

// NewSession makes a session out of a source of randomness.
func NewSession(random io.Reader) (secret.Text, error) {
	var raw [sessionBytes]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return secret.Text{}, fmt.Errorf("no randomness for a session: %w", err)
	}
	return secret.New(sessionPrefix + sessionText.EncodeToString(raw[:])), nil
}

// ValidSession reports whether a text has the form of a session that nobody can
// guess: ours, or a random UUID in small letters.
func ValidSession(text string) bool {
	switch len(text) {
	case sessionLen:
		if text[:len(sessionPrefix)] != sessionPrefix {
			return false
		}
		var body [sessionBody]byte
		var raw [sessionBytes]byte
		copy(body[:], text[len(sessionPrefix):])
		n, err := sessionText.Decode(raw[:], body[:])
		return err == nil && n == sessionBytes // line breaks are skipped, and then it is less
	case uuidLen:
		return randomUUID(text)
	}
	return false
}

const uuidLen = 36

// randomUUID reports whether a text is a UUID of version 4 in its canonical form.
func randomUUID(text string) bool {
	for i := range uuidLen {
		c := text[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
			continue
		case 14:
			if c != '4' {
				return false
			}
		case 19:
			if c != '8' && c != '9' && c != 'a' && c != 'b' {
				return false
			}
		}
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// SessionDigest is what is kept of a session. It is of one integrator's orders only,
// so that the same text given by another opens nothing of this one's. The id goes
// in as its own digest: how long it is must not show in how long it takes.
func SessionDigest(i integrator.ID, session string) [32]byte {
	const idAt = len(sessionDomain)
	var short [idAt + sha256.Size + sessionLen]byte // no allocation for a session of ours
	id := sha256.Sum256([]byte(i))
	text := append(short[:0], sessionDomain...)
	text = append(text, id[:]...)
	return sha256.Sum256(append(text, session...))
}
