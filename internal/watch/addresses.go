package watch

import (
	"context"
	"fmt"
	"hash/maphash"

	"ferry/internal/chain"
)

// addressPage is how many addresses are read at a time.
const addressPage = 10_000

// addressSet knows the watched addresses of a chain by a hash of eight bytes, so
// that a million of them fit into some twenty megabytes. A false hit does no harm:
// the store looks the address up before it records anything.
type addressSet struct {
	seed maphash.Seed
	seq  int64
	set  map[uint64]struct{}
}

func newAddressSet() *addressSet {
	return &addressSet{seed: maphash.MakeSeed(), set: map[uint64]struct{}{}}
}

// Has implements Addresses.
func (s *addressSet) Has(a chain.Address) bool {
	_, ok := s.set[maphash.String(s.seed, a.Text())]
	return ok
}

// refresh adds the addresses that were given out since the last call. It is
// called after a block was named and before it is read, so that an address that
// was known to its payer is known here too.
func (s *addressSet) refresh(ctx context.Context, id chain.ID, st Store) error {
	for {
		page, err := st.AddressesSince(ctx, id, s.seq, addressPage)
		if err != nil {
			return fmt.Errorf("addresses of %s: %w", id, err)
		}
		for _, w := range page {
			s.set[maphash.String(s.seed, w.Address.Text())] = struct{}{}
			s.seq = w.Seq
		}
		if len(page) < addressPage {
			return nil
		}
	}
}
