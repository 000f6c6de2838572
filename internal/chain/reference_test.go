package chain_test

import (
	"strings"
	"testing"

	"ferry/internal/chain"
)

func TestAReferenceStandsInThePlaceOfAnAddressAndIsReadBack(t *testing.T) {
	t.Parallel()
	a, b := chain.ReferenceTo("ord_1"), chain.ReferenceTo("ord_2")
	if a == b || a != chain.ReferenceTo("ord_1") {
		t.Error("a reference is not of its order alone")
	}
	to := a.In(chain.EVM)
	if got, is := to.Reference(); !is || got != a || to.Family() != chain.EVM {
		t.Errorf("%s is read as %x, %t", to.Text(), got, is)
	}
	if strings.Contains(to.Text(), "ord_1") {
		t.Error("the id can be read from its reference")
	}
	for _, text := range []string{
		"", "order:", "order:00", strings.ToUpper(to.Text()), to.Text() + "0", to.Text()[1:], "order:" + strings.Repeat("zz", 32),
		"order:" + strings.ToUpper(strings.Repeat("ab", 32)), "0x" + strings.Repeat("ab", 20),
	} {
		if r, is := chain.CanonicalAddress(chain.EVM, text).Reference(); is {
			t.Errorf("%q is taken for the reference %x", text, r)
		}
	}
}
