package market

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"

	"ferry/internal/chain"
)

const (
	signaturePrefix = "ed25519:"
	// publicHead is the first line of what is signed.
	publicHead = "ferry-quote-v1"
)

// Public is what a signature vouches for: the terms of a quote as the caller sees
// them, each as the text on the wire. A door that shows other names for chains and
// tokens puts those here.
type Public struct {
	QuoteID, Side, RateMode             string
	FromChain, FromToken, FromAmount    string
	ToChain, ToToken, ToAmount          string
	MinToAmount, MaxFromAmount          string
	IntegratorFeePercent, PayoutAddress string // empty where no fee is charged
	ExpiresAt                           string
}

// Public is what a signature of the offer under that id vouches for.
func (o Offer) Public(id string) Public {
	q := o.Quote
	p := Public{
		QuoteID: id, Side: string(o.Side), RateMode: string(q.Mode),
		FromChain: string(q.Give.Chain), FromToken: tokenName(q.Give), FromAmount: q.In.String(),
		ToChain: string(q.Get.Chain), ToToken: tokenName(q.Get), ToAmount: q.Out.String(),
		MinToAmount: o.MinOut.String(), MaxFromAmount: o.MaxFrom.String(),
		ExpiresAt: q.ExpiresAt.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	if e := o.Earning; e != nil && !e.Skipped {
		p.IntegratorFeePercent, p.PayoutAddress = e.Percent.String(), e.PayTo.Text()
	}
	return p
}

func tokenName(a chain.Asset) string {
	if a.IsNative() {
		return "native"
	}
	return a.Ref
}

// Canonical is what is signed: a head and one line name=value for each term, in this
// order, empty ones too. No value may hold a line break, so that no two sets of terms
// have the same text.
func (p Public) Canonical() ([]byte, error) {
	lines := [...][2]string{
		{"quoteId", p.QuoteID},
		{"side", p.Side},
		{"rateMode", p.RateMode},
		{"fromChainId", p.FromChain},
		{"fromToken", p.FromToken},
		{"fromAmount", p.FromAmount},
		{"toChainId", p.ToChain},
		{"toToken", p.ToToken},
		{"toAmount", p.ToAmount},
		{"minToAmount", p.MinToAmount},
		{"maxFromAmount", p.MaxFromAmount},
		{"integratorFeePercent", p.IntegratorFeePercent},
		{"payoutAddress", p.PayoutAddress},
		{"expiresAt", p.ExpiresAt},
	}
	b := make([]byte, 0, 1024)
	b = append(b, publicHead...)
	b = append(b, '\n')
	for _, l := range lines {
		if strings.ContainsAny(l[1], "\r\n") {
			return nil, fmt.Errorf("market: sign a quote: %s has a line break", l[0])
		}
		b = append(append(append(append(b, l[0]...), '='), l[1]...), '\n')
	}
	return b, nil
}

// Signer vouches for quotes. The key is inside a function, where nothing prints it.
type Signer struct {
	sign   func(text []byte) []byte
	public string
}

// NewSigner makes a signer of a seed of 32 bytes, written as 64 hexadecimal digits.
func NewSigner(seed Secret) (*Signer, error) {
	raw, err := secretBytes(seed)
	if err != nil {
		return nil, fmt.Errorf("market: the seed of signatures: %w", err)
	}
	key := ed25519.NewKeyFromSeed(raw)
	return &Signer{
		sign:   func(text []byte) []byte { return ed25519.Sign(key, text) },
		public: signaturePrefix + base64.StdEncoding.EncodeToString(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:]),
	}, nil
}

// PublicKey is what verifies the signatures, as "ed25519:" and base64.
func (s *Signer) PublicKey() string { return s.public }

// Sign vouches for terms, as "ed25519:" and base64.
func (s *Signer) Sign(p Public) (string, error) {
	text, err := p.Canonical()
	if err != nil {
		return "", err
	}
	return signaturePrefix + base64.StdEncoding.EncodeToString(s.sign(text)), nil
}

// Verify reports whether a signature vouches for terms, under a key as PublicKey
// shows it.
func Verify(key string, p Public, signature string) bool {
	pub, ok := signed(key, ed25519.PublicKeySize)
	sig, ok2 := signed(signature, ed25519.SignatureSize)
	text, err := p.Canonical()
	return ok && ok2 && err == nil && ed25519.Verify(pub, text, sig)
}

func signed(text string, size int) ([]byte, bool) {
	rest, ok := strings.CutPrefix(text, signaturePrefix)
	b, err := base64.StdEncoding.Strict().DecodeString(rest)
	return b, ok && err == nil && len(b) == size
}
