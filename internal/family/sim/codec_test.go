package sim

import (
	"errors"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/order"
)

func TestAnAddressHasOneForm(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		c := n.Codec()
		a := c.Make("bob")
		got, err := c.Parse(a.Text())
		if err != nil || got != a || got.Family() != c.Family() {
			t.Fatalf("%v, %v", got, err)
		}
		upper := strings.ToUpper(a.Text())
		if n.Shape() == Nonces {
			upper = "0x" + upper[2:]
		}
		got, err = c.Parse(upper)
		if n.Shape() == Expiring {
			if !errors.Is(err, ErrAddress) {
				t.Fatalf("its case does not matter: %v", got)
			}
		} else if err != nil || got != a {
			t.Fatalf("%v, %v", got, err)
		}
	})
}

func TestNoOneLetterChangeIsAnAddress(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		c := n.Codec()
		text := c.Make("bob").Text()
		for i := range len(text) {
			for _, letter := range "0123456789abcdefghijklmnopqrstuvwxyzABCXZ \n" {
				other := text[:i] + string(letter) + text[i+1:]
				if other == text || (n.Shape() != Expiring && strings.EqualFold(other, text)) {
					continue
				}
				if a, err := c.Parse(other); err == nil {
					t.Fatalf("%q is taken as %v, made from %q", other, a, text)
				}
			}
		}
		for _, bad := range []string{"", " ", text + " ", " " + text, text + "a", text[1:], text[:len(text)-1], "0x", coinPrefix} {
			if _, err := c.Parse(bad); !errors.Is(err, ErrAddress) {
				t.Fatalf("%q gave %v", bad, err)
			}
		}
	})
}

func TestCoinAddressesNeverMixTheirCase(t *testing.T) {
	t.Parallel()
	c := NewCodec(chain.Bitcoin, Coins)
	text := c.Make("bob").Text()
	if _, err := c.Parse(strings.ToUpper(text[:10]) + text[10:]); !errors.Is(err, ErrAddress) {
		t.Fatal(err)
	}
}

func TestAnAddressOfOneFamilyIsNoneOfAnother(t *testing.T) {
	t.Parallel()
	a := NewCodec("one", Nonces).Make("bob")
	if _, err := NewCodec("two", Nonces).Parse(a.Text()); !errors.Is(err, ErrAddress) {
		t.Fatal(err)
	}
}

func TestEveryOrderHasItsOwnAddress(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		seen := make(map[chain.Address]order.ID)
		for _, o := range []order.ID{"ord_1", "ord_2", "ord_3", "ord_11"} {
			a := must(n.Chain().DepositAddress(t.Context(), n.ID(), o))
			if other, taken := seen[a]; taken {
				t.Fatalf("%s and %s have one address", o, other)
			}
			seen[a] = o
			if again := must(n.Chain().DepositAddress(t.Context(), n.ID(), o)); again != a {
				t.Fatalf("%s has two addresses", o)
			}
			must(n.Codec().Parse(a.Text()))
		}
		if _, err := n.Chain().DepositAddress(t.Context(), "other:1", "ord_1"); !errors.Is(err, ErrOtherChain) {
			t.Fatal(err)
		}
	})
}

func FuzzParse(f *testing.F) {
	codecs := []Codec{NewCodec("n", Nonces), NewCodec("c", Coins), NewCodec("e", Expiring)}
	for _, c := range codecs {
		f.Add(c.Make("bob").Text())
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range codecs {
			a, err := c.Parse(s)
			if err != nil {
				continue
			}
			if again, err := c.Parse(a.Text()); err != nil || again != a {
				t.Fatalf("%q is %v, and that is %v, %v", s, a, again, err)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	n := newNet(f, Nonces)
	a := must(n.Chain().Draft(f.Context(), chain.Call{
		Chain: n.ID(), From: Hot, To: n.Codec().Make("bob"), Asset: n.ID().Native(), Amount: amount(1),
	}, nil, amount(1_000_000)))
	f.Add(a.Raw)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if string(raw) == string(a.Raw) {
			return
		}
		if _, err := n.Broadcast(raw); err == nil {
			t.Fatal("bytes that nobody signed were taken")
		}
	})
}
