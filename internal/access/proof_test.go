package access_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/order"
)

// codecs knows two chains: one of EVM, which wants a right checksum (here: no mix of
// cases), and one where only the exact text is an address.
type codecs struct{ parsed atomic.Int64 }

func (c *codecs) Parse(id chain.ID, text string) (chain.Address, error) {
	c.parsed.Add(1)
	switch id {
	case "eip155:1":
		body, ok := strings.CutPrefix(text, "0x")
		lower := strings.ToLower(body)
		if !ok || len(body) != 40 || strings.Trim(lower, "0123456789abcdef") != "" || (body != lower && body != strings.ToUpper(body)) {
			return chain.Address{}, errors.New("not an address of EVM")
		}
		return chain.CanonicalAddress(chain.EVM, "0x"+lower), nil
	case "solana":
		if len(text) < 32 {
			return chain.Address{}, errors.New("not an address of Solana")
		}
		return chain.CanonicalAddress(chain.Solana, text), nil
	case "careless":
		return chain.Address{}, nil
	}
	return chain.Address{}, errors.New("no such chain")
}

const (
	mine   = "ses_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"
	other  = "ses_CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCA"
	evmTo  = "0x52908400098527886e0f7030069857d2e4169ee7"
	solTo  = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"
	nobody = integrator.ID("")
)

func placed(on chain.ID, family chain.Family, to string, owner integrator.ID) *order.Order {
	o := &order.Order{ID: "ord_1", Integrator: owner, Session: access.SessionDigest(owner, mine), PayTo: chain.CanonicalAddress(family, to)}
	o.Quote.Get.Chain = on
	return o
}

func proofs(t testing.TB) (*access.Proofs, *codecs) {
	t.Helper()
	c := &codecs{}
	p, err := access.NewProofs(c, []chain.ID{"eip155:1", "solana"})
	if err != nil {
		t.Fatal(err)
	}
	return p, c
}

func TestWhatAProofIsWorth(t *testing.T) {
	t.Parallel()
	p, _ := proofs(t)
	evm, sol := placed("eip155:1", chain.EVM, evmTo, "int_a"), placed("solana", chain.Solana, solTo, nobody)
	lost := placed("eip155:1", chain.EVM, evmTo, "int_a")
	lost.PayTo, lost.Session = chain.Address{}, [32]byte{}
	careless := placed("careless", "", "", "int_a")
	foreign := placed("eip155:1", chain.EVM, evmTo, "int_a")
	foreign.Session = access.SessionDigest("int_b", mine) // as if B had supplied A's session
	swapped := placed("solana", chain.EVM, solTo, nobody)
	for _, tt := range []struct {
		name            string
		o               *order.Order
		session, verify []string
		want            access.Right
	}{
		{"session", evm, []string{mine}, nil, access.Act},
		{"session of nobody's order", sol, []string{mine}, nil, access.Act},
		{"verify", evm, nil, []string{evmTo}, access.Read},
		{"session and verify", evm, []string{mine}, []string{evmTo}, access.Act},
		{"session and wrong verify", evm, []string{mine}, []string{"x"}, access.Act},
		{"A69 missing order", nil, []string{mine}, nil, access.None},
		{"A69 missing order, verify", nil, nil, []string{evmTo}, access.None},
		{"A69 missing order, both", nil, []string{mine}, []string{evmTo}, access.None},
		{"A69 wrong session", evm, []string{other}, nil, access.None},
		{"A69 no proof", evm, nil, nil, access.None},
		{"A69 no proof, missing order", nil, nil, nil, access.None},
		{"A69 wrong verify", evm, nil, []string{"0x52908400098527886e0f7030069857d2e4169ee8"}, access.None},
		{"A72 verify never acts", sol, nil, []string{solTo}, access.Read},
		{"A74 verify twice", evm, nil, []string{evmTo, evmTo}, access.None},
		{"A74 verify and a wrong session", evm, []string{other}, []string{evmTo}, access.None},
		{"A74 verify and an empty session", evm, []string{""}, []string{evmTo}, access.None},
		{"A74 session twice", evm, []string{mine, mine}, nil, access.None},
		{"A74 session twice and verify", evm, []string{mine, mine}, []string{evmTo}, access.None},
		{"A75 EVM capitals", evm, nil, []string{"0x" + strings.ToUpper(evmTo[2:])}, access.Read},
		{"A75 EVM any case", evm, nil, []string{"0x52908400098527886E0F7030069857d2e4169Ee7"}, access.Read},
		{"A75 base58 exact", sol, nil, []string{strings.ToLower(solTo)}, access.None},
		{"A76 0X", evm, nil, []string{"0X" + evmTo[2:]}, access.None},
		{"A76 without 0x", evm, nil, []string{evmTo[2:]}, access.None},
		{"A76 blank", evm, nil, []string{evmTo + " "}, access.None},
		{"A76 look-alike", evm, nil, []string{strings.Replace(evmTo, "e", "е", 1)}, access.None},
		{"A76 name", evm, nil, []string{"vitalik.eth"}, access.None},
		{"A76 empty", evm, nil, []string{""}, access.None},
		{"A76 huge", sol, nil, []string{strings.Repeat("x", 16<<10)}, access.None},
		{"A76 beginning of it", sol, nil, []string{solTo[:40]}, access.None},
		{"A76 longer by a zero", sol, nil, []string{solTo + "\x00"}, access.None},
		{"A78 the session of another integrator", foreign, []string{mine}, nil, access.None},
		{"another family's address of the same text", swapped, nil, []string{solTo}, access.None},
		{"order without proofs", lost, []string{mine}, nil, access.None},
		{"order without proofs, nothing shown", lost, nil, []string{""}, access.None},
		{"codec that finds nothing and says so to nobody", careless, nil, []string{"x"}, access.None},
		{"malformed session", evm, []string{"1"}, nil, access.None},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := p.RightTo("ord_1", tt.o, access.Proof{Session: tt.session, Verify: tt.verify}); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// A session whose form is bad opens nothing, even where somebody stored its digest.
func TestAMalformedSessionOpensNothing(t *testing.T) {
	t.Parallel()
	p, _ := proofs(t)
	o := placed("solana", chain.Solana, solTo, "int_a")
	o.Session = access.SessionDigest("int_a", "1")
	if got := p.RightTo("ord_1", o, access.Proof{Session: []string{"1"}}); got != access.None {
		t.Errorf("A80 got %d", got)
	}
	if _, err := access.NewProofs(&codecs{}, nil); err == nil {
		t.Error("without chains an order that is not there would be on none")
	}
}

// classes are the six ways to be refused, and what is granted, by what is shown.
func classes() map[string]struct {
	asked order.ID
	o     *order.Order
	shown access.Proof
} {
	evm := placed("eip155:1", chain.EVM, evmTo, "int_a")
	type class = struct {
		asked order.ID
		o     *order.Order
		shown access.Proof
	}
	return map[string]class{
		"missing order":      {"ord_0", nil, access.Proof{Session: []string{mine}}},
		"missing, verify":    {"ord_0", nil, access.Proof{Verify: []string{evmTo}}},
		"wrong session":      {"ord_1", evm, access.Proof{Session: []string{other}}},
		"no proof":           {"ord_1", evm, access.Proof{}},
		"malformed id":       {"../x", nil, access.Proof{Session: []string{mine}}},
		"other integrator's": {"ord_1", placed("eip155:1", chain.EVM, evmTo, "int_b"), access.Proof{Session: []string{other}}},
		"wrong verify":       {"ord_1", evm, access.Proof{Verify: []string{"0x52908400098527886e0f7030069857d2e4169ee8"}}},
		"repeated":           {"ord_1", evm, access.Proof{Session: []string{mine, mine}, Verify: []string{evmTo, evmTo}}},
		"right session":      {"ord_1", evm, access.Proof{Session: []string{mine}}},
		"right verify":       {"ord_1", evm, access.Proof{Verify: []string{evmTo}}},
	}
}

func TestEveryClassOfProofIsTheSameWork(t *testing.T) {
	t.Parallel()
	p, c := proofs(t)
	for name, class := range classes() {
		before := c.parsed.Load()
		p.RightTo(class.asked, class.o, class.shown)
		if n := c.parsed.Load() - before; n != 1 {
			t.Errorf("A70 %s: an address was read %d times", name, n)
		}
	}
	// The chain of an order that is not there does not change from one look to the next.
	for _, asked := range []order.ID{"ord_a", "ord_b", "ord_c", ""} {
		seen := &chainsSeen{}
		q, err := access.NewProofs(seen, []chain.ID{"a", "b", "c"})
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			q.RightTo(asked, nil, access.Proof{Verify: []string{"x"}})
		}
		if slices.Sort(seen.ids); len(slices.Compact(seen.ids)) != 1 {
			t.Errorf("A70 %q is on several chains", asked)
		}
	}
}

type chainsSeen struct{ ids []chain.ID }

func (c *chainsSeen) Parse(id chain.ID, _ string) (chain.Address, error) {
	c.ids = append(c.ids, id)
	return chain.Address{}, errors.New("none")
}

// A missing order and one with a wrong proof take the same time.
func TestAMissingOrderTakesAsLongAsAWrongProof(t *testing.T) {
	c := &codecs{}
	p, err := access.NewProofs(c, []chain.ID{"eip155:1"})
	if err != nil {
		t.Fatal(err)
	}
	evm := placed("eip155:1", chain.EVM, evmTo, "int_a")
	shown := access.Proof{Session: []string{other}, Verify: []string{"0x52908400098527886e0f7030069857d2e4169ee8"}}
	orders := []*order.Order{evm, nil}
	took := fastest(len(orders), func(i int) { p.RightTo("ord_1", orders[i], shown) })
	if ratio := float64(took[0]) / float64(took[1]); ratio < 0.7 || ratio > 1.4 {
		t.Errorf("A70 wrong proof and missing order take %v", took)
	}
}

func BenchmarkRightTo(b *testing.B) {
	p, _ := proofs(b)
	for name, class := range classes() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.RightTo(class.asked, class.o, class.shown)
			}
		})
	}
}
