package chain

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Reference is what stands on a chain in the place of an order's id, where a payment
// comes straight into our wallet and says whom it is for. It is a digest: whoever knows
// the id and where the money went may read the order, so the id itself is never made
// public.
type Reference Word

// referenceSalt keeps these digests apart from all others.
const referenceSalt = "ferry order reference\x00"

// ReferenceTo is the reference of an id. An id has 128 random bits, so that nobody finds
// it by its reference.
func ReferenceTo(id string) Reference { return sha256.Sum256([]byte(referenceSalt + id)) }

// referencePrefix begins the texts of addresses that are references. No codec makes such
// a text, so that nothing can ever be sent to one.
const referencePrefix = "order:"

// In is the reference in the place of a deposit address: what came to it lies in our
// wallet already.
func (r Reference) In(f Family) Address {
	return CanonicalAddress(f, referencePrefix+hex.EncodeToString(r[:]))
}

// Reference reads what In writes; false if the address is a real one.
func (a Address) Reference() (r Reference, is bool) {
	text, ok := strings.CutPrefix(a.text, referencePrefix)
	if !ok || len(text) != hex.EncodedLen(len(r)) || strings.ToLower(text) != text {
		return Reference{}, false
	}
	_, err := hex.Decode(r[:], []byte(text))
	return r, err == nil
}
