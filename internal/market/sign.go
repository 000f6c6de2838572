package market

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

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
func (o *Offer) Public(id string) Public {
	q := &o.Quote
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
func (p Public) Canonical() ([]byte, error) { return p.appendCanonical(make([]byte, 0, 1024)) }

func (p *Public) appendCanonical(b []byte) ([]byte, error) {
	lines := [...][2]string{
		{"\nquoteId=", p.QuoteID},
		{"\nside=", p.Side},
		{"\nrateMode=", p.RateMode},
		{"\nfromChainId=", p.FromChain},
		{"\nfromToken=", p.FromToken},
		{"\nfromAmount=", p.FromAmount},
		{"\ntoChainId=", p.ToChain},
		{"\ntoToken=", p.ToToken},
		{"\ntoAmount=", p.ToAmount},
		{"\nminToAmount=", p.MinToAmount},
		{"\nmaxFromAmount=", p.MaxFromAmount},
		{"\nintegratorFeePercent=", p.IntegratorFeePercent},
		{"\npayoutAddress=", p.PayoutAddress},
		{"\nexpiresAt=", p.ExpiresAt},
	}
	from := len(b)
	b = append(b, publicHead...)
	for i := range lines {
		b = append(append(b, lines[i][0]...), lines[i][1]...)
	}
	b = append(b, '\n')
	// One look at the whole is cheaper than one at each value, which are all sound.
	if text := b[from:]; bytes.Count(text, lineFeed) == len(lines)+1 && bytes.IndexByte(text, '\r') < 0 {
		return b, nil
	}
	for _, l := range lines {
		if strings.ContainsAny(l[1], "\r\n") {
			return nil, fmt.Errorf("market: sign a quote: %s has a line break", strings.Trim(l[0], "\n="))
		}
	}
	return nil, errors.New("market: sign a quote: a name has a line break")
}

var lineFeed = []byte{'\n'}

// Signer vouches for quotes. The key is inside a function, where nothing prints it.
type Signer struct {
	sign   func(text []byte) []byte
	public string

	signing sync.Mutex // held while a signature is made
	mu      sync.Mutex
	open    *tree // that a quote may still join; nil where there is none
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

// texts are buffers for what is signed.
var texts = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

// Sign vouches for terms. Quotes that are signed at the same time share one signature,
// over the root of a tree of which each is a leaf: the text is then "ed25519:", the
// signature in base64, and where there is more than one leaf the way from this one to
// the root.
func (s *Signer) Sign(p Public) (string, error) {
	buffer := texts.Get().(*[]byte)
	defer texts.Put(buffer)
	text, err := p.appendCanonical(append((*buffer)[:0], leafMark))
	if err != nil {
		return "", err
	}
	*buffer = text[:0]
	t, i := s.join(sha256.Sum256(text))
	return t.vouch(i), nil
}

// join puts a leaf into a tree, and comes back when the tree is signed. Nobody waits
// for company: whoever finds no open tree opens one and signs it as soon as no other
// signature is being made, and whoever comes until then is in it.
func (s *Signer) join(l node) (*tree, int) {
	s.mu.Lock()
	if t := s.open; t != nil {
		i := t.add(l)
		if i+1 == maxLeaves {
			s.open = nil
		}
		s.mu.Unlock()
		<-t.signed
		return t, i
	}
	t := &tree{nodes: []node{l}}
	s.open = t
	s.mu.Unlock()

	s.signing.Lock()
	defer s.signing.Unlock()
	// Requests that could run now run first: on one processor they would otherwise
	// always come one after the other, each to a signature of its own. Where there are
	// none this is nothing.
	runtime.Gosched()
	s.mu.Lock()
	if s.open == t {
		s.open = nil
	}
	s.mu.Unlock()
	t.sign(s.sign)
	return t, 0
}

// Verify reports whether a signature vouches for terms, under a key as PublicKey
// shows it.
func Verify(key string, p Public, signature string) bool {
	pub, ok := signed(key, ed25519.PublicKeySize)
	v, ok2 := parseVouch(signature)
	text, err := p.appendCanonical([]byte{leafMark})
	return ok && ok2 && err == nil && ed25519.Verify(pub, rootText(v.root(sha256.Sum256(text))), v.signature)
}

func signed(text string, size int) ([]byte, bool) {
	rest, ok := strings.CutPrefix(text, signaturePrefix)
	b, ok2 := strictBase64(rest)
	return b, ok && ok2 && len(b) == size
}
