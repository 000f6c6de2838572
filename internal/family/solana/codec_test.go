package solana_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/solana"
	"ferry/internal/fault"
	"ferry/internal/testseed"
)

var codec solana.Codec

// Addresses that are well known.
const (
	usdc          = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	wallet        = "5oNDL3swdJJF1g9DzJiZ4ynHXgszjAEpUkxVYejchzrY"
	derived       = "4BJXYkfvg37zEmBbsacZjeQDpTNx91KppxFJxRqrz48e"
	systemProgram = "11111111111111111111111111111111"
)

// refusal checks that err is a refusal which a caller may read, and gives its reason.
func refusal(t *testing.T, s string, err error) any {
	t.Helper()
	f := fault.Of(err)
	if err == nil || f.Kind != fault.Invalid || f.Code != "invalid_address" || !strings.Contains(f.Text, "Give ") {
		t.Fatalf("%q: %v is no refusal that says what to do", s, err)
	}
	if len(s) > 10 && strings.Contains(err.Error(), s) {
		t.Errorf("the refusal shows the address: %v", err)
	}
	return f.Detail["reason"]
}

func TestKnownAddressesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for s, kind := range map[string]string{
		usdc:    "account",
		wallet:  "account",
		derived: "off_curve",
		// The derived addresses that Solana's own tests publish.
		"BwqrghZA2htAcqq8dzP1WDAhTXYTYWj7CHxF5j7TDBAe": "off_curve",
		"13yWmRpaTR4r5nAktwLqMpRNr28tnVUZw26rTvPSSB19": "off_curve",
		"2fnQrngrQT4SeLcdToJAD96phoEjNL2man2kfRLCASVk": "off_curve",
	} {
		a, err := codec.Parse(s)
		if err != nil || a != chain.CanonicalAddress(chain.Solana, s) || codec.Show(a) != s {
			t.Errorf("%s is %v, %v", s, a, err)
		}
		if got := codec.Kind(a); got != kind {
			t.Errorf("%s is of kind %q, want %q", s, got, kind)
		}
	}
}

func TestWhatIsNoAddressIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":                         "malformed",
		usdc + "1":                 "malformed",
		"1" + usdc[:43]:            "malformed", // 33 bytes would be one too many
		strings.Repeat("z", 44):    "malformed", // more than 32 bytes
		strings.Repeat("1", 31):    "malformed",
		strings.Repeat("1", 33):    "malformed",
		strings.Repeat("1", 44):    "malformed",
		strings.Repeat("z", 1<<20): "malformed",
		usdc[:43] + "0":            "malformed",
		usdc[:43] + "O":            "malformed",
		usdc[:43] + "I":            "malformed",
		usdc[:43] + "l":            "malformed",
		" " + usdc[:43]:            "malformed",
		"solana:" + usdc:           "malformed",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed": "malformed",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": "malformed",
		systemProgram: "not_payable",
	} {
		a, err := codec.Parse(s)
		if got := refusal(t, s, err); got != want || !a.IsZero() {
			t.Errorf("%.60q: %v, %v, want %s", s, a, got, want)
		}
	}
}

// The rows A75 and A76 of the table of attacks, as far as this family goes.
func TestVerifyTakesTheExactTextOnly(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		id, address, text string
		want              bool
	}{
		{"A75", usdc, usdc, true},
		{"A75", derived, derived, true},
		{"A75", usdc, strings.ToUpper(usdc), false},
		{"A75", usdc, strings.ToLower(usdc), false},
		{"A75", usdc, "e" + usdc[1:], false},
		{"A75", usdc, usdc[:43] + "V", false},
		{"A75", usdc, wallet, false},
		{"A76", usdc, " " + usdc, false},
		{"A76", usdc, usdc + " ", false},
		{"A76", usdc, usdc + "\r\n", false},
		{"A76", usdc, usdc[:20] + "\u200b" + usdc[20:], false},
		{"A76", usdc, strings.Replace(usdc, "E", "\u0415", 1), false}, // a Cyrillic E
		{"A76", usdc, strings.Replace(usdc, "P", "\u0420", 1), false}, // a Cyrillic P
		{"A76", usdc, strings.Replace(usdc, "1", "l", 1), false},
		{"A76", usdc, strings.Replace(usdc, "5", "\uff15", 1), false}, // a wide five
		{"A76", usdc, "bonfida.sol", false},
		{"A76", usdc, "", false},
	} {
		a, err := codec.Parse(row.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := codec.Matches(a, row.text); got != row.want {
			t.Errorf("%s: %q matches %s: %t", row.id, row.text, row.address, got)
		}
		if row.id == "A76" {
			if _, err := codec.Parse(row.text); refusal(t, row.text, err) != "malformed" {
				t.Errorf("%s: %q: %v", row.id, row.text, err)
			}
		}
	}
	if codec.Matches(chain.CanonicalAddress(chain.Other, usdc), usdc) || codec.Matches(chain.Address{}, "") {
		t.Error("an address of another family, or none, was matched")
	}
}

func TestMadeAddressesAreGoodAndAllDifferent(t *testing.T) {
	t.Parallel()
	r, seen := testseed.Rand(t), make(map[chain.Address]bool)
	for range 500 {
		seed := binary.BigEndian.AppendUint64(nil, r.Uint64())
		a := codec.Make(seed)
		if again, err := codec.Parse(a.Text()); err != nil || again != a || codec.Make(seed) != a || seen[a] || codec.Kind(a) != solana.Account {
			t.Fatalf("%x: %v of kind %q, %v, %v", seed, a, codec.Kind(a), again, err)
		}
		seen[a] = true
	}
}

func TestAnAddressThatTheCodecDidNotMakeIsOfNoKind(t *testing.T) {
	t.Parallel()
	for _, a := range []chain.Address{
		{},
		chain.CanonicalAddress(chain.Solana, "nonsense"),
		chain.CanonicalAddress(chain.Solana, systemProgram),
		chain.CanonicalAddress(chain.Bitcoin, usdc),
	} {
		if got := codec.Kind(a); got != "" || codec.Show(a) != a.Text() {
			t.Errorf("%v is of kind %q", a, got)
		}
	}
	if codec.Family() != chain.Solana {
		t.Error("the codec is of another family")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{usdc, wallet, derived, systemProgram, strings.Repeat("1", 33), strings.Repeat("z", 44), ""} {
		f.Add(s)
	}
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
		if !codec.Matches(a, s) || codec.Kind(a) == "" || a.Text() != s {
			t.Fatalf("%q is %v, which it does not match", s, a)
		}
	})
}
