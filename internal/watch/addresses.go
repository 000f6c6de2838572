package watch

import (
	"context"
	"fmt"
	"hash/maphash"

	"ferry/internal/chain"
)

// addressPage is how many addresses are read at a time.
const addressPage = 10_000

// bitsEach is how many bits of the filter there are for each address: of sixteen
// strangers one is looked up in the set.
const bitsEach = 16

// AddressSet knows the watched addresses of a chain by a hash of eight bytes, so
// that a million of them fit into some twenty megabytes. A false hit does no harm:
// the store looks the address up before it records anything. Nearly all addresses that
// are asked for are strangers', and a filter that fits into a processor's cache says so:
// a million addresses cost no more than a thousand.
type AddressSet struct {
	seed maphash.Seed
	seq  int64
	set  map[uint64]struct{}
	bits []uint64 // a bit for each hash; a power of two of them
}

// NewAddressSet makes an empty set.
func NewAddressSet() *AddressSet {
	return &AddressSet{seed: maphash.MakeSeed(), set: map[uint64]struct{}{}, bits: make([]uint64, 16)}
}

// Has implements Addresses.
func (s *AddressSet) Has(a chain.Address) bool {
	h := maphash.String(s.seed, a.Text())
	if word, bit := s.bit(h); s.bits[word]&bit == 0 {
		return false
	}
	_, ok := s.set[h]
	return ok
}

// Add makes an address watched.
func (s *AddressSet) Add(a chain.Address) {
	h := maphash.String(s.seed, a.Text())
	s.set[h] = struct{}{}
	s.mark(h)
	if len(s.set)*bitsEach <= len(s.bits)*64 {
		return
	}
	s.bits = make([]uint64, 2*len(s.bits))
	for h := range s.set {
		s.mark(h)
	}
}

func (s *AddressSet) mark(h uint64) {
	word, bit := s.bit(h)
	s.bits[word] |= bit
}

// bit is where the bit of a hash is.
func (s *AddressSet) bit(h uint64) (word, bit uint64) {
	return h >> 6 & uint64(len(s.bits)-1), 1 << (h & 63)
}

// refresh adds the addresses that were given out since the last call. It is
// called after a block was named and before it is read, so that an address that
// was known to its payer is known here too.
func (s *AddressSet) refresh(ctx context.Context, id chain.ID, st Store) error {
	for {
		page, err := st.AddressesSince(ctx, id, s.seq, addressPage)
		if err != nil {
			return fmt.Errorf("addresses of %s: %w", id, err)
		}
		for _, w := range page {
			s.Add(w.Address)
			s.seq = w.Seq
		}
		if len(page) < addressPage {
			return nil
		}
	}
}
