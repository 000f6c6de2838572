package access

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"hash/maphash"
	"slices"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/order"
)

// Right is what may be done with an order.
type Right uint8

// The rights. Each has the ones before it.
const (
	None Right = iota // as if the order were not there
	Read              // it may be seen, without its owner's secrets
	Act               // it is the owner's
)

// Proof is what a request shows for an order: every value of the header
// X-Session-ID and of the query parameter verify.
type Proof struct{ Session, Verify []string }

// Proofs says what a proof is worth.
type Proofs struct {
	codecs Codecs
	chains []chain.ID
	seed   maphash.Seed
	dummy  [32]byte
}

// Stand-ins for what a request did not show and an order that is not there.
const (
	dummySession = "ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	dummyVerify  = "0x0000000000000000000000000000000000000001"
	dummyOwner   = integrator.ID("int_00000000000000000000000000")
)

var dummyPayTo = chain.CanonicalAddress(chain.Other, "no order has this one as its destination!!")

// NewProofs reads addresses by codecs. The chains are those that orders may pay on:
// an order that is not there is treated as one on any of them.
func NewProofs(codecs Codecs, chains []chain.ID) (*Proofs, error) {
	if len(chains) == 0 {
		return nil, errors.New("access: no chain that orders may pay on")
	}
	p := &Proofs{codecs: codecs, chains: slices.Clone(chains), seed: maphash.MakeSeed()}
	_, _ = rand.Read(p.dummy[:]) // it never fails
	return p, nil
}

// RightTo is what a proof gives on the order that was asked for; o is nil when there
// is no such order. Both proofs are always tried, against the order or against a
// stand-in, so that the time it takes does not tell the one from the other.
func (p *Proofs) RightTo(asked order.ID, o *order.Order, shown Proof) Right {
	digest, owner, payTo := p.dummy, dummyOwner, dummyPayTo
	// Codecs differ in speed. An order that is not there is therefore always on the
	// same chain, as one that is there would be.
	on := p.chains[maphash.String(p.seed, string(asked))%uint64(len(p.chains))]
	if o != nil {
		digest, owner, payTo, on = o.Session, o.Integrator, o.PayTo, o.Quote.Get.Chain
	}
	bySession := sessionOpens(shown.Session, owner, &digest)
	byVerify := p.verifies(shown.Verify, on, payTo)
	switch {
	case o == nil:
		return None
	case len(shown.Session) > 0: // then it is the proof, whatever else is shown
		if bySession {
			return Act
		}
		return None
	case byVerify:
		return Read
	}
	return None
}

// sessionOpens compares the digest of the one session that is shown.
func sessionOpens(shown []string, owner integrator.ID, digest *[32]byte) bool {
	text, one := only(shown, dummySession)
	got := SessionDigest(owner, text)
	same := subtle.ConstantTimeCompare(got[:], digest[:]) == 1
	return one && ValidSession(text) && same
}

// verifies compares the one address that is shown, in its canonical form.
func (p *Proofs) verifies(shown []string, on chain.ID, payTo chain.Address) bool {
	text, one := only(shown, dummyVerify)
	got, err := p.codecs.Parse(on, lowerHex(text))
	same := sameText(got.Text(), payTo.Text())
	return one && err == nil && same && !payTo.IsZero() && got.Family() == payTo.Family()
}

// only is the one value that was shown, or a stand-in.
func only(shown []string, standIn string) (string, bool) {
	if len(shown) != 1 {
		return standIn, false
	}
	return shown[0], true
}

// lowerHex writes the letters of an EVM address small: whoever verifies may have it
// in any case, and its checksum is of no matter when the address is only compared.
func lowerHex(text string) string {
	if len(text) != len(dummyVerify) || text[:2] != dummyVerify[:2] {
		return text
	}
	for i := 2; i < len(text); i++ {
		if hexDigit(text[i]) < 0 {
			return text
		}
	}
	return strings.ToLower(text)
}

// sameText compares two canonical addresses in a time that does not tell how much of
// them agrees. No address of any family is longer than the room for it.
func sameText(a, b string) bool {
	const room = 128
	var x, y [room]byte
	if len(a) > room || len(b) > room {
		return false
	}
	copy(x[:], a)
	copy(y[:], b)
	return subtle.ConstantTimeCompare(x[:], y[:])&subtle.ConstantTimeEq(int32(len(a)), int32(len(b))) == 1
}
