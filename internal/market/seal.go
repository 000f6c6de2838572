package market

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/quote"
)

const (
	idPrefix = "quo_"
	// sealVersion is the first byte of what is sealed; another one is not opened.
	sealVersion = 4
	// maxID bounds what Open looks at.
	maxID = 4096
)

// Seal closes offers into ids that only this deployment can open again: nobody can
// read, change or make one. What is closed for one integrator opens for no other.
type Seal struct{ aead cipher.AEAD }

// NewSeal makes a seal of a secret of 32 bytes, written as 64 hexadecimal digits. The
// key is derived from it, so that the same secret elsewhere tells nothing.
func NewSeal(s Secret) (*Seal, error) {
	raw, err := secretBytes(s)
	if err != nil {
		return nil, fmt.Errorf("market: the secret of quotes: %w", err)
	}
	key, err := hkdf.Key(sha256.New, raw, nil, "ferry quote seal v1", chacha20poly1305.KeySize)
	if err != nil {
		return nil, fmt.Errorf("market: the secret of quotes: %w", err)
	}
	// The long nonce may be random for ever: a short one would repeat after some
	// billions of quotes.
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("market: the secret of quotes: %w", err)
	}
	return &Seal{aead}, nil
}

// secretBytes reads a secret; its errors say nothing of it.
func secretBytes(s Secret) ([]byte, error) {
	if s == nil {
		return nil, errors.New("is missing; write 64 hexadecimal digits")
	}
	raw, err := hex.DecodeString(s.Reveal())
	if err != nil || len(raw) != 32 {
		return nil, errors.New("must be 64 hexadecimal digits, such as openssl rand -hex 32 prints")
	}
	if strings.Count(string(raw), string(raw[:1])) == len(raw) {
		return nil, errors.New("is one byte over and over; write 64 random hexadecimal digits")
	}
	return raw, nil
}

// appendBound writes what the seal is bound to beside its content.
func appendBound(b []byte, who integrator.ID) []byte {
	return append(append(append(b, sealVersion), idPrefix...), who...)
}

// envelope is room for closing an offer.
type envelope struct {
	nonce                      [chacha20poly1305.NonceSizeX]byte
	plain, sealed, bound, text []byte
}

var envelopes = sync.Pool{New: func() any {
	return &envelope{plain: make([]byte, 0, 512), sealed: make([]byte, 0, 1024), bound: make([]byte, 0, 64), text: make([]byte, 0, 1024)}
}}

// Close makes an id of an offer, for the integrator that the offer is for.
func (s *Seal) Close(o Offer) (string, error) {
	e := envelopes.Get().(*envelope)
	defer envelopes.Put(e)
	_, _ = rand.Read(e.nonce[:]) // it never fails: it ends the process instead
	p := packer{b: e.plain[:0]}
	p.offer(&o)
	e.plain = p.b
	e.bound = appendBound(e.bound[:0], o.Quote.Integrator)
	e.sealed = s.aead.Seal(append(append(e.sealed[:0], sealVersion), e.nonce[:]...), e.nonce[:], e.plain, e.bound)
	e.text = base64.RawURLEncoding.AppendEncode(append(e.text[:0], idPrefix...), e.sealed)
	if len(e.text) > maxID {
		return "", fmt.Errorf("market: an offer of %d characters is too long to be an id", len(e.text))
	}
	return string(e.text), nil
}

// notFound is the answer to an id that is forged, malformed, of another deployment
// or of another integrator: the same for all of them.
func notFound() error {
	return fault.New(fault.NotFound, "quote_not_found", "There is no such quote; ask for a new one.")
}

// strict takes one text for each content only.
var strict = base64.RawURLEncoding.Strict()

// Open gives back the offer that was closed for who, while it is valid. The quote in
// it is named by ShortID.
func (s *Seal) Open(id string, who integrator.ID, now time.Time) (Offer, error) {
	text, ok := strings.CutPrefix(id, idPrefix)
	if !ok || len(id) > maxID || strings.ContainsAny(text, "\r\n") { // which the decoder would pass over
		return Offer{}, notFound()
	}
	sealed, err := strict.DecodeString(text)
	head := 1 + s.aead.NonceSize()
	if err != nil || len(sealed) < head+s.aead.Overhead() || sealed[0] != sealVersion {
		return Offer{}, notFound()
	}
	plain, err := s.aead.Open(nil, sealed[1:head], sealed[head:], appendBound(nil, who))
	if err != nil {
		return Offer{}, notFound()
	}
	u := unpacker{b: plain}
	o, err := u.offer()
	if err != nil {
		return Offer{}, fmt.Errorf("open a quote of version %d: %w", sealVersion, err)
	}
	o.Quote.ID, o.Quote.Integrator = ShortID(id), who
	if !now.Before(o.Quote.ExpiresAt) {
		return Offer{}, expired(o.Quote.ExpiresAt)
	}
	return o, nil
}

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// ShortID names a sealed quote in the books without carrying it: the first 128 bits
// of its digest.
func ShortID(id string) quote.ID {
	sum := sha256.Sum256([]byte(id))
	return quote.ID(idPrefix + crockford.EncodeToString(sum[:16]))
}
