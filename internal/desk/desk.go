package desk

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"ferry/internal/chain"
	"ferry/internal/limit"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/secret"
)

// Config is how the desk works.
type Config struct {
	Funding  map[chain.ID]time.Duration // how long a user has to pay, by where he pays
	Patience order.Patience
	IP       limit.IPLimits
	// Own are our wallets: nothing is ever paid out to one.
	Own map[chain.ID]chain.Address
	// Award are the terms for points of an order that is made now, zero for none; nil
	// gives none at all.
	Award func(now time.Time) order.Award
	// PerPairMinute is how many dollars of a pair of symbols are sold within a minute.
	PerPairMinute money.USD
	// Secret is what digests of addresses and derived sessions are keyed with. It is
	// the same in every process of a deployment.
	Secret secret.Text
}

// Ports are what the desk works with.
type Ports struct {
	Market  Market
	Seal    Seal
	Settler Settler
	Store   Store
	Proofs  Proofs
	Codecs  Codecs
	Funder  Funder
	Atlas   *Atlas
	Look    func(chain.ID) // has the watcher of a chain look now
	// Bridges are the native bridges that are offered, and Worth prices what goes over
	// them; both are left out where there are none.
	Bridges []*Bridge
	Worth   func(ctx context.Context, x chain.Asset, n money.Amount) (money.USD, error)
}

// Desk is the counter.
type Desk struct {
	cfg   Config
	ports Ports
	twin  atomic.Pointer[order.ID] // an order that is there; see even
	made  made
}

// minSecret is how long a secret must be at least.
const minSecret = 32

// New makes a desk.
func New(cfg Config, p Ports) (*Desk, error) {
	switch {
	case cfg.PerPairMinute <= 0:
		return nil, errors.New("desk: zero never means unlimited; say how many dollars of a pair may be sold in a minute")
	case len(cfg.Secret.Reveal()) < minSecret:
		return nil, errors.New("desk: the secret has fewer than 32 bytes")
	case p.Market == nil || p.Seal == nil || p.Settler == nil || p.Store == nil || p.Proofs == nil || p.Codecs == nil || p.Funder == nil || p.Atlas == nil || p.Look == nil:
		return nil, errors.New("desk: a port is missing")
	}
	for _, c := range p.Atlas.Chains() {
		if cfg.Funding[c.ID] <= 0 {
			return nil, errors.New("desk: chain " + string(c.ID) + " has no time to pay")
		}
	}
	names := map[string]bool{}
	for _, b := range p.Bridges {
		if err := b.check(); err != nil || names[b.ID] || p.Worth == nil {
			return nil, fmt.Errorf("desk: bridge %q is not whole, or stands there twice, or nothing prices it: %w", b.ID, err)
		}
		names[b.ID] = true
	}
	return &Desk{cfg: cfg, ports: p}, nil
}

// Chains are the chains that orders may be made on.
func (d *Desk) Chains() []Chain { return d.ports.Atlas.Chains() }

// digest is a keyed digest, so that who has the database alone can not guess what
// was digested. kind keeps digests of different things apart.
func (d *Desk) digest(kind string, parts ...string) []byte {
	h := hmac.New(sha256.New, []byte(d.cfg.Secret.Reveal()))
	h.Write([]byte(kind))
	for _, p := range parts {
		n := len(p)
		h.Write([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// short is a keyed digest that names somebody.
func (d *Desk) short(kind string, parts ...string) string {
	return hex.EncodeToString(d.digest(kind, parts...)[:16])
}

// session derives the session of a request that may be repeated, so that the answer
// can be given again though only its digest is kept.
func (d *Desk) session(parts ...string) string {
	return sessionPrefix + base64.RawURLEncoding.EncodeToString(d.digest("session", parts...))
}

const sessionPrefix = "ses_"

// crockford has no letters that are mistaken for others.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// OrderID makes an id that nobody can guess.
func OrderID() order.ID {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return order.ID(idPrefix + crockford.EncodeToString(raw[:]))
}

const (
	idPrefix = "ord_"
	idLen    = len(idPrefix) + 26
	// nobody is the id of no order.
	nobody = idPrefix + "00000000000000000000000000"
)

// named is the id to look for. One that no order could have is looked for all the
// same, under a name that is not there, so that it takes as long.
func named(text string) order.ID {
	if len(text) != idLen || text[:len(idPrefix)] != idPrefix {
		return nobody
	}
	for i := len(idPrefix); i < idLen; i++ {
		c := text[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return nobody
		}
	}
	return order.ID(text)
}
