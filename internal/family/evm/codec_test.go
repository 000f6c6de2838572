package evm_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/fault"
	"ferry/internal/testseed"
)

var codec evm.Codec

// examples are those of EIP-55.
var examples = []string{
	"0x52908400098527886E0F7030069857D2E4169EE7",
	"0x8617E340B3D01FA5F11F306F4090FD50E238070D",
	"0xde709f2102306220921060314715629080e2fb77",
	"0x27b1fdb04752bbc536007a920d24acb045561c26",
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
	"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
	"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
	"0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
}

// good is an address that has letters and digits of every sort.
const good = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

// refusal checks that err is a refusal which a caller may read, and gives its reason.
func refusal(t *testing.T, s string, err error) any {
	t.Helper()
	f := fault.Of(err)
	if err == nil || f.Kind != fault.Invalid || f.Code != "invalid_address" || !strings.Contains(f.Text, "ive ") && !strings.Contains(f.Text, "Copy ") {
		t.Fatalf("%q: %v is no refusal that says what to do", s, err)
	}
	if len(s) > 10 && strings.Contains(err.Error(), s) {
		t.Errorf("the refusal shows the address: %v", err)
	}
	return f.Detail["reason"]
}

func TestEveryExampleOfEIP55IsReadAndShownAsPublished(t *testing.T) {
	t.Parallel()
	for _, s := range examples {
		lower := strings.ToLower(s)
		for _, form := range []string{s, lower, "0x" + strings.ToUpper(s[2:])} {
			a, err := codec.Parse(form)
			if err != nil || a != chain.CanonicalAddress(chain.EVM, lower) {
				t.Errorf("%s is %v, %v", form, a, err)
			}
			if got := codec.Show(a); got != s {
				t.Errorf("%s is shown as %s, want %s", form, got, s)
			}
			if got := codec.Kind(a); got != "account" {
				t.Errorf("%s is of kind %q", form, got)
			}
		}
	}
}

func TestWhatIsNoAddressIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":                 "malformed",
		"0x":               "malformed",
		good[:41]:          "malformed",
		good + "0":         "malformed",
		good[2:]:           "malformed",
		"0X" + good[2:]:    "malformed",
		" " + good:         "malformed",
		good + " ":         "malformed",
		good + "\n":        "malformed",
		" " + good[:41]:    "malformed",
		good[:41] + "g":    "malformed",
		good[:41] + "\x00": "malformed",
		"0x" + good[:40]:   "malformed",
		"ethereum:" + good: "malformed",
		"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed": "checksum",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee": "checksum",
		"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeD": "checksum",
		"0x" + strings.Repeat("0", 40):               "not_payable",
	} {
		a, err := codec.Parse(s)
		if got := refusal(t, s, err); got != want || !a.IsZero() {
			t.Errorf("%q: %v, %v, want %s", s, a, err, want)
		}
	}
	_, err := codec.Parse("0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	if f := fault.Of(err); !strings.Contains(f.Text, "checksum") {
		t.Errorf("%q does not speak of the checksum", f.Text)
	}
}

// The rows A75 and A76 of the table of attacks, as far as this family goes.
func TestVerifyTakesAnyCaseAndNoLookAlike(t *testing.T) {
	t.Parallel()
	a, err := codec.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		id, text string
		want     bool
	}{
		{"A75", good, true},
		{"A75", strings.ToLower(good), true},
		{"A75", "0x" + strings.ToUpper(good[2:]), true},
		{"A75", "0x5AAEB6053f3e94c9b9a09f33669435e7ef1beaed", true}, // no checksum at all
		{"A75", good[:41] + "e", false},
		{"A75", examples[5], false},
		{"A76", good[2:], false},
		{"A76", "0X" + good[2:], false},
		{"A76", " " + good, false},
		{"A76", good + " ", false},
		{"A76", good + "\t", false},
		{"A76", good[:41] + "\u0501", false},                    // a Cyrillic d
		{"A76", strings.Replace(good, "e", "\u0435", 1), false}, // a Cyrillic e
		{"A76", strings.Replace(good, "0", "O", 2), false},      // a letter O
		{"A76", "\uff10x" + good[2:], false},                    // a wide zero
		{"A76", good[:20] + "\u200b" + good[20:], false},        // a blank that nobody sees
		{"A76", strings.Replace(good, "5", "\uff15", 1), false}, // a wide five
		{"A76", "vitalik.eth", false},
		{"A76", "", false},
	} {
		if got := codec.Matches(a, row.text); got != row.want {
			t.Errorf("%s: %q matches: %t", row.id, row.text, got)
		}
		if row.id == "A76" {
			if _, err := codec.Parse(row.text); refusal(t, row.text, err) != "malformed" {
				t.Errorf("%s: %q: %v", row.id, row.text, err)
			}
		}
	}
	if codec.Matches(chain.CanonicalAddress(chain.Other, a.Text()), good) || codec.Matches(chain.Address{}, good) || codec.Matches(chain.Address{}, "") {
		t.Error("an address of another family, or none, was matched")
	}
}

func TestOneLetterInTheWrongCaseIsRefused(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 200 {
		shown := codec.Show(codec.Make(binary.BigEndian.AppendUint64(nil, r.Uint64())))
		for i := 2; i < len(shown); i++ {
			if shown[i] <= '9' {
				continue
			}
			other := shown[:i] + string(shown[i]^0x20) + shown[i+1:]
			if plain := other[2:]; plain == strings.ToLower(plain) || plain == strings.ToUpper(plain) {
				continue // one case alone carries no checksum
			}
			if a, err := codec.Parse(other); !errors.Is(err, fault.New(fault.Invalid, "invalid_address", "")) {
				t.Fatalf("%s was taken as %v, made from %s", other, a, shown)
			}
		}
	}
}

func TestMadeAddressesAreGoodAndAllDifferent(t *testing.T) {
	t.Parallel()
	r, seen := testseed.Rand(t), make(map[chain.Address]bool)
	for range 500 {
		seed := binary.BigEndian.AppendUint64(nil, r.Uint64())
		a := codec.Make(seed)
		if again, err := codec.Parse(a.Text()); err != nil || again != a || codec.Make(seed) != a || seen[a] {
			t.Fatalf("%x: %v, %v, %v", seed, a, again, err)
		}
		seen[a] = true
	}
	// The hash of nothing is known to everybody.
	if got := codec.Make(nil).Text(); got != "0xdcc703c0e500b653ca82273b7bfad8045d85a470" {
		t.Errorf("got %s", got)
	}
}

func TestAnAddressThatTheCodecDidNotMakeIsOfNoKind(t *testing.T) {
	t.Parallel()
	for _, a := range []chain.Address{
		{},
		chain.CanonicalAddress(chain.EVM, "nonsense"),
		chain.CanonicalAddress(chain.EVM, good),
		chain.CanonicalAddress(chain.Solana, strings.ToLower(good)),
		chain.CanonicalAddress(chain.EVM, "0x"+strings.Repeat("0", 40)),
	} {
		if got := codec.Kind(a); got != "" {
			t.Errorf("%v is of kind %q", a, got)
		}
		if got := codec.Show(a); got != a.Text() {
			t.Errorf("%v is shown as %q", a, got)
		}
	}
	if codec.Family() != chain.EVM {
		t.Error("the codec is of another family")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range examples {
		f.Add(s)
		f.Add(strings.ToLower(s))
		f.Add("0x" + strings.ToUpper(s[2:]))
	}
	f.Add("0X" + good[2:])
	f.Add("0x" + strings.Repeat("0", 40))
	f.Fuzz(func(t *testing.T, s string) {
		a, err := codec.Parse(s)
		if err != nil {
			if fault.Of(err).Kind != fault.Invalid || !a.IsZero() {
				t.Fatalf("%q: %v, %v", s, a, err)
			}
			return
		}
		for _, form := range []string{a.Text(), codec.Show(a)} {
			if again, err := codec.Parse(form); err != nil || again != a {
				t.Fatalf("%q is %v, and %q is %v, %v", s, a, form, again, err)
			}
		}
		if !codec.Matches(a, s) || codec.Kind(a) != evm.Account || !strings.EqualFold(a.Text(), s) {
			t.Fatalf("%q is %v, which it does not match", s, a)
		}
	})
}
