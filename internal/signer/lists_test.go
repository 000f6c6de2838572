package signer_test

import (
	"io"
	"maps"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/signer"
)

// Whatever is different in a list is different in its digest.
func TestListsThatDifferHaveOtherDigests(t *testing.T) {
	t.Parallel()
	one, two := chain.CanonicalAddress(chain.EVM, "0x0000000000000000000000000000000000000001"), chain.CanonicalAddress(chain.EVM, "0x0000000000000000000000000000000000000002")
	list := func(change func(c *chain.Contract, m *chain.Method)) map[chain.ID][]chain.Contract {
		c := chain.Contract{Address: one}
		m := chain.Method{
			Signature: "f(address,uint256)", Own: []string{"0"}, Also: []chain.Address{one}, Only: map[string][]chain.Address{"0": {one}, "1": {two}},
			Few: map[string][]uint64{"1": {1}}, Amount: "1", Token: "0", Coin: one, Empty: []string{"2"}, Inner: "3",
		}
		change(&c, &m)
		c.Methods = append(c.Methods, m)
		return map[chain.ID][]chain.Contract{"eip155:1": {c}, "eip155:2": {c}}
	}
	same := func(*chain.Contract, *chain.Method) {}
	seen := map[string]string{signer.Digest(list(same)): "as it is"}
	for range 20 { // whatever the order of maps
		if _, ok := seen[signer.Digest(list(same))]; !ok {
			t.Fatal("the same list has two digests")
		}
	}
	for name, change := range map[string]func(c *chain.Contract, m *chain.Method){
		"address": func(c *chain.Contract, _ *chain.Method) { c.Address = two }, "signature": func(_ *chain.Contract, m *chain.Method) { m.Signature = "g(address,uint256)" },
		"own": func(_ *chain.Contract, m *chain.Method) { m.Own = nil }, "also": func(_ *chain.Contract, m *chain.Method) { m.Also = append(m.Also, two) },
		"only": func(_ *chain.Contract, m *chain.Method) { m.Only["0"] = []chain.Address{two} }, "only's place": func(_ *chain.Contract, m *chain.Method) { delete(m.Only, "1") },
		"few": func(_ *chain.Contract, m *chain.Method) { m.Few["1"] = []uint64{2} }, "amount": func(_ *chain.Contract, m *chain.Method) { m.Amount = "" },
		"token": func(_ *chain.Contract, m *chain.Method) { m.Token = "" }, "coin": func(_ *chain.Contract, m *chain.Method) { m.Coin = two },
		"empty": func(_ *chain.Contract, m *chain.Method) { m.Empty = nil }, "inner": func(_ *chain.Contract, m *chain.Method) { m.Inner = "" },
		"a method more": func(c *chain.Contract, m *chain.Method) { c.Methods = append(c.Methods, *m) },
	} {
		d := signer.Digest(list(change))
		if before, twice := seen[d]; twice {
			t.Errorf("%s and %s have one digest", name, before)
		}
		seen[d] = name
	}
	fewer := maps.Clone(list(same))
	delete(fewer, "eip155:2")
	if _, twice := seen[signer.Digest(fewer)]; twice || signer.Digest(nil) != "" {
		t.Error("a chain less is the same")
	}
}

func TestSocketTellsWhatMayBeCalled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.policy.Contracts = map[chain.ID][]chain.Contract{ether: {{
		Address: chain.CanonicalAddress(chain.EVM, sweeperText), Methods: []chain.Method{{Signature: "approve(address,uint256)"}},
	}}}
	r.remake()
	c := served(t, spot(t), r.signer, nil, io.Discard)
	if got, err := c.Lists(t.Context()); err != nil || got == "" || got != signer.Digest(r.policy.Contracts) {
		t.Errorf("got %q, %v", got, err)
	}
}
