package sim

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"ferry/internal/chain"
)

// foreign is a form of addresses that the sim does not know: its text can be in
// either case, and it refuses with an error of its own.
type foreign struct{ family chain.Family }

var errForeign = errors.New("not foreign enough")

func (f foreign) Parse(s string) (chain.Address, error) {
	lower := strings.ToLower(s)
	body, found := strings.CutPrefix(lower, "far-")
	if raw, err := hex.DecodeString(body); err != nil || !found || len(raw) != 12 {
		return chain.Address{}, errForeign
	}
	return chain.CanonicalAddress(f.family, lower), nil
}

func (f foreign) Make(seed []byte) chain.Address {
	return chain.CanonicalAddress(f.family, "far-"+hex.EncodeToString(seed[:12]))
}

func TestANetSpeaksTheFormThatItWasGiven(t *testing.T) {
	t.Parallel()
	for _, s := range []Shape{Nonces, Coins, Expiring} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			n := must(New(Config{ID: "sim:far", Family: "far", Shape: s, FinalDepth: 4, Addresses: foreign{"far"}}))
			deposit := must(n.Chain().DepositAddress(t.Context(), n.ID(), "ord_1"))
			for _, a := range []chain.Address{n.Own(Hot), n.User("alice"), n.Codec().Make("bob"), deposit} {
				if !strings.HasPrefix(a.Text(), "far-") || a.Family() != "far" {
					t.Errorf("%v has another form", a)
				}
				if got := must(n.Chain().Parse(strings.ToUpper(a.Text()))); got != a {
					t.Errorf("%v is read as %v", a, got)
				}
			}
			own := NewCodec("far", s).Make("bob")
			if _, err := n.Codec().Parse(own.Text()); !errors.Is(err, ErrAddress) || !errors.Is(err, errForeign) {
				t.Errorf("%v: %v", own, err)
			}
			if err := n.Faucet(own, n.ID().Native(), amount(1000)); !errors.Is(err, ErrAddress) {
				t.Errorf("money for %v: %v", own, err)
			}
			n.Pay("alice", deposit, n.ID().Native(), amount(1000))
			n.Mine(1)
			if got := n.Received(deposit); len(got) != 1 || got[0].To != deposit {
				t.Errorf("received %v", got)
			}
		})
	}
}

// bad is a form with one fault.
type bad struct {
	foreign
	parse func(s string) (chain.Address, error)
	make  func(seed []byte) chain.Address
}

func (b bad) Parse(s string) (chain.Address, error) {
	if b.parse != nil {
		return b.parse(s)
	}
	return b.foreign.Parse(s)
}

func (b bad) Make(seed []byte) chain.Address {
	if b.make != nil {
		return b.make(seed)
	}
	return b.foreign.Make(seed)
}

func TestANetRefusesAFormWithWhichMoneyWouldGoAstray(t *testing.T) {
	t.Parallel()
	far := foreign{"far"}
	for name, form := range map[string]Addresses{
		"of another family": foreign{"near"},
		"does not read":     bad{foreign: far, parse: func(string) (chain.Address, error) { return chain.Address{}, errForeign }},
		"reads another":     bad{foreign: far, parse: func(string) (chain.Address, error) { return far.Make(make([]byte, 32)), nil }},
		"makes one only":    bad{foreign: far, make: func([]byte) chain.Address { return far.Make(make([]byte, 32)) }},
	} {
		_, err := New(Config{ID: "sim:far", Family: "far", Shape: Nonces, FinalDepth: 4, Addresses: form})
		if err == nil || !strings.Contains(err.Error(), "form of the addresses") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
