package watch_test

import (
	"fmt"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/watch"
)

// What was added is known while the set grows, and strangers are not.
func TestAddressesAreKnownWhileTheirSetGrows(t *testing.T) {
	t.Parallel()
	of := func(i int) chain.Address { return chain.CanonicalAddress(chain.Other, fmt.Sprint("ours ", i)) }
	s := watch.NewAddressSet()
	const many = 20_000
	for i := range many {
		if s.Has(of(i)) {
			t.Fatalf("%d is known before it was added", i)
		}
		s.Add(of(i))
		for _, k := range []int{0, i / 2, i} {
			if !s.Has(of(k)) {
				t.Fatalf("%d is not known when there are %d", k, i+1)
			}
		}
	}
	for i := range many {
		if s.Has(chain.CanonicalAddress(chain.Other, fmt.Sprint("a stranger's ", i))) {
			t.Fatalf("stranger %d is known", i)
		}
	}
}
