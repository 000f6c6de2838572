package cctp_test

import (
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/quote"
)

// Everything that a step asks for is on the list, and what the list holds it to is true
// of it: a signer would refuse it halfway otherwise.
func TestWhatIsAskedForMayBeCalled(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	v := s.venue()
	ask := func(calls ...quote.Sent) chain.Call {
		t.Helper()
		m, err := v.Next(t.Context(), theStep, quote.Progress{In: n(500), At: start, Calls: calls})
		if err != nil {
			t.Fatal(err)
		}
		return m.(quote.Send).Call
	}
	approve := ask()
	s.src.views[fnAllowance] = numWord(n(500))
	burn, mint := ask(), ask(s.burnCall(chain.Final))
	for name, c := range map[string]chain.Call{"approve": approve, "burn": burn, "mint": mint} {
		list := s.cfg.Contracts()[c.Chain]
		i := slices.IndexFunc(list, func(x chain.Contract) bool { return x.Address == c.To })
		if i < 0 || len(list[i].Methods) != 1 {
			t.Fatalf("%s: %s is not on the list %+v", name, c.To.Text(), list)
		}
		m := list[i].Methods[0]
		if string(crypto.Keccak256([]byte(m.Signature))[:4]) != string(c.Data[:4]) {
			t.Errorf("%s: the list has %s", name, m.Signature)
		}
		arg := func(place string) chain.Word { return chain.Word(c.Data[4+32*int(place[0]-'0'):][:32]) }
		for place, few := range m.Only {
			if !slices.ContainsFunc(few, func(a chain.Address) bool { return asWord(a) == arg(place) }) {
				t.Errorf("%s: argument %s is %x, and %v are on the list", name, place, arg(place), few)
			}
		}
		for place, few := range m.Few {
			if !slices.ContainsFunc(few, func(x uint64) bool { return chain.Word(numWord(n(x))) == arg(place) }) {
				t.Errorf("%s: argument %s is %x, and %v are on the list", name, place, arg(place), few)
			}
		}
		if m.Amount != "" && chain.Word(numWord(c.Amount)) != arg(m.Amount) {
			t.Errorf("%s takes %x and says %s", name, arg(m.Amount), c.Amount)
		}
	}
	if m := s.cfg.Contracts()[here.Chain][1].Methods[0]; len(m.Only) != 3 || len(m.Few) != 2 || m.Amount == "" {
		t.Errorf("a burn is held to %+v", m)
	}
}
