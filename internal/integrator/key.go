package integrator

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"time"

	"ferry/internal/secret"
)

// KeyID names a key; it is no secret.
type KeyID string

// Kind says where a key lives. It never changes: there is no way to set it but at
// issue.
type Kind string

// The kinds.
const (
	Server Kind = "server" // kept on a backend; may read reports
	Public Kind = "public" // in a browser or a mobile app; attribution and fees only
)

// Digest is the SHA-256 of a key, which is all that is kept of it.
type Digest [sha256.Size]byte

// Key is an integrator's key as it is known after its issue.
type Key struct {
	ID                   KeyID
	Integrator           ID
	Kind                 Kind
	Label                string
	Hint                 string // how it begins and ends, for people who look for it
	Digest               Digest
	Requests             int64 // per minute; zero disables it
	CreatedAt, RevokedAt time.Time
	LastUsedAt           time.Time // now and then brought up to date; zero is never
}

// Revoked reports whether the key opens nothing any more.
func (k Key) Revoked() bool { return !k.RevokedAt.IsZero() }

// Check refuses a key that could not be issued.
func (k Key) Check() error {
	if k.Kind != Server && k.Kind != Public {
		return refuseKind(k.Kind)
	}
	if err := CheckName("label", k.Label); err != nil {
		return err
	}
	return CheckLimit("keyRequestLimitPerMin", k.Requests)
}

func refuseKind(k Kind) error { return refuse("kind", "%q is neither server nor public", k) }

// A key is a prefix that says its kind, 256 random bits and a checksum, so that
// secret scanners and our own find it and a mistyped one costs no lookup.
const (
	serverPrefix = "sk_live_"
	publicPrefix = "pk_live_"
	prefixLen    = len(serverPrefix)
	bodyLen      = 43
	sumLen       = 6
	// KeyLen is how long every key is.
	KeyLen = prefixLen + bodyLen + sumLen

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Mint makes a new key of a kind out of a source of randomness.
func Mint(kind Kind, random io.Reader) (secret.Text, error) {
	var prefix string
	switch kind {
	case Server:
		prefix = serverPrefix
	case Public:
		prefix = publicPrefix
	default: // a kind that was forgotten must never become the stronger one
		return secret.Text{}, refuseKind(kind)
	}
	var raw [32]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return secret.Text{}, fmt.Errorf("no randomness for a key: %w", err)
	}
	text := prefix + inBase62(new(big.Int).SetBytes(raw[:]), bodyLen)
	return secret.New(text + inBase62(big.NewInt(int64(checksum(text))), sumLen)), nil
}

func inBase62(n *big.Int, width int) string {
	out := make([]byte, width)
	digit := new(big.Int)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, big.NewInt(int64(len(base62))), digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}

// KindOf reads the kind of a key off its form: prefix, length, letters and checksum.
// It says nothing of whether such a key was ever issued.
func KindOf(text string) (Kind, bool) {
	if len(text) != KeyLen {
		return "", false
	}
	var kind Kind
	switch text[:prefixLen] {
	case serverPrefix:
		kind = Server
	case publicPrefix:
		kind = Public
	default:
		return "", false
	}
	var sum uint64
	for i := prefixLen; i < KeyLen; i++ {
		d := digitOf(text[i])
		if d < 0 {
			return "", false
		}
		if i >= KeyLen-sumLen {
			sum = sum*uint64(len(base62)) + uint64(d)
		}
	}
	if sum != uint64(checksum(text[:KeyLen-sumLen])) {
		return "", false
	}
	return kind, true
}

// checksum is crc32.ChecksumIEEE of a text, without the allocation that it makes of
// every request's key.
func checksum(text string) uint32 {
	sum := ^uint32(0)
	for i := range len(text) {
		sum = crc32.IEEETable[byte(sum)^text[i]] ^ sum>>8
	}
	return ^sum
}

func digitOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 36
	}
	return -1
}

// DigestOf is what is kept of a key.
func DigestOf(text string) Digest {
	var buf [KeyLen]byte
	if len(text) == KeyLen { // the usual case, without an allocation
		copy(buf[:], text)
		return sha256.Sum256(buf[:])
	}
	return sha256.Sum256([]byte(text))
}

// HintOf shows enough of a key to tell it from others, and not more.
func HintOf(text string) string {
	if len(text) != KeyLen {
		return ""
	}
	return text[:prefixLen+2] + "…" + text[KeyLen-4:]
}
