package bitcoin_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/bitcoin"
	"ferry/internal/fault"
	"ferry/internal/testseed"
)

func codec(t testing.TB, n bitcoin.Network) bitcoin.Codec {
	t.Helper()
	c, err := bitcoin.NewCodec(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Addresses that are well known, one of each kind.
const (
	genesis = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
	script  = "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"
	witness = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
	taproot = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"

	testKey    = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
	testScript = "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc"
)

// refusal checks that err is a refusal which a caller may read, and gives its reason.
func refusal(t *testing.T, s string, err error) any {
	t.Helper()
	f := fault.Of(err)
	if err == nil || f.Kind != fault.Invalid || f.Code != "invalid_address" ||
		!strings.Contains(f.Text, "Give ") && !strings.Contains(f.Text, "Copy ") && !strings.Contains(f.Text, "Write ") {
		t.Fatalf("%q: %v is no refusal that says what to do", s, err)
	}
	if len(s) > 10 && strings.Contains(err.Error(), s) {
		t.Errorf("the refusal shows the address: %v", err)
	}
	return f.Detail["reason"]
}

func TestGoodAddressesHaveAKindAndOneForm(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		net        bitcoin.Network
		text, kind string
	}{
		{bitcoin.Mainnet, genesis, "p2pkh"},
		{bitcoin.Mainnet, script, "p2sh"},
		{bitcoin.Testnet, testKey, "p2pkh"},
		{bitcoin.Testnet, testScript, "p2sh"},
		{bitcoin.Signet, testKey, "p2pkh"},
		{bitcoin.Regtest, testScript, "p2sh"},
		// BIP-173 and BIP-350: those of their valid addresses that can be paid.
		{bitcoin.Mainnet, "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "p2wpkh"},
		{bitcoin.Testnet, "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", "p2wsh"},
		{bitcoin.Signet, "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", "p2wsh"},
		{bitcoin.Testnet, "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy", "p2wsh"},
		{bitcoin.Testnet, "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c", "p2tr"},
		{bitcoin.Mainnet, taproot, "p2tr"},
		{bitcoin.Mainnet, strings.ToUpper(taproot), "p2tr"},
	} {
		c := codec(t, row.net)
		a, err := c.Parse(row.text)
		if err != nil {
			t.Errorf("%s on %s: %v", row.text, row.net, err)
			continue
		}
		want := row.text
		if strings.HasPrefix(row.kind, "p2w") || row.kind == "p2tr" {
			want = strings.ToLower(row.text)
		}
		if a != chain.CanonicalAddress(chain.Bitcoin, want) || c.Show(a) != want || c.Kind(a) != row.kind || !c.Matches(a, row.text) {
			t.Errorf("%s is %v of kind %q, shown as %s", row.text, a, c.Kind(a), c.Show(a))
		}
	}
}

func TestEveryInvalidVectorIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		net          bitcoin.Network
		text, reason string
	}{
		// BIP-173, invalid addresses.
		{bitcoin.Mainnet, "tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty", "malformed"},
		{bitcoin.Mainnet, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "checksum"},
		{bitcoin.Mainnet, "BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2", "malformed"},
		{bitcoin.Mainnet, "bc1rw5uspcuh", "malformed"},
		{bitcoin.Mainnet, "bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90", "malformed"},
		{bitcoin.Mainnet, "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P", "malformed"},
		{bitcoin.Testnet, "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7", "mixed_case"},
		{bitcoin.Mainnet, "bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du", "malformed"},
		{bitcoin.Testnet, "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv", "malformed"},
		{bitcoin.Mainnet, "bc1gmk9yu", "malformed"},
		// BIP-173, valid before BIP-350 changed the checksum of later versions.
		{bitcoin.Mainnet, "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx", "checksum"},
		{bitcoin.Mainnet, "BC1SW50QA3JX3S", "checksum"},
		{bitcoin.Mainnet, "bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj", "checksum"},
		// BIP-350, invalid addresses.
		{bitcoin.Mainnet, "tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut", "malformed"},
		{bitcoin.Mainnet, "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", "checksum"},
		{bitcoin.Testnet, "tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf", "checksum"},
		{bitcoin.Mainnet, "BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL", "checksum"},
		{bitcoin.Mainnet, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh", "checksum"},
		{bitcoin.Testnet, "tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47", "checksum"},
		{bitcoin.Mainnet, "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4", "malformed"},
		{bitcoin.Mainnet, "BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R", "malformed"},
		{bitcoin.Mainnet, "bc1pw5dgrnzv", "malformed"},
		{bitcoin.Mainnet, "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav", "malformed"},
		{bitcoin.Testnet, "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq", "mixed_case"},
		{bitcoin.Mainnet, "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf", "malformed"},
		{bitcoin.Testnet, "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j", "malformed"},
		// BIP-350, valid addresses of versions and lengths that nobody can spend from yet.
		{bitcoin.Mainnet, "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y", "unsupported"},
		{bitcoin.Mainnet, "BC1SW50QGDZ25J", "unsupported"},
		{bitcoin.Mainnet, "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs", "unsupported"},
		{bitcoin.Mainnet, "bc1pfeessrawgf", "unsupported"}, // an anchor
		// Both: texts that are no bech32, or are bech32 and no address.
		{bitcoin.Mainnet, "\x201nwldj5", "malformed"},
		{bitcoin.Mainnet, "\x7f1g6xzxy", "malformed"},
		{bitcoin.Mainnet, "\x801eym55h", "malformed"},
		{bitcoin.Mainnet, "an84characterslonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1569pvx", "malformed"},
		{bitcoin.Mainnet, "split1checkupstagehandshakeupstreamerranterredcaperredlc445v", "malformed"},
		{bitcoin.Mainnet, "A12UEL5L", "malformed"},
		{bitcoin.Mainnet, "1qzzfhee", "malformed"},
		// Base58.
		{bitcoin.Mainnet, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "checksum"},
		{bitcoin.Mainnet, strings.ToLower(genesis), "malformed"}, // it has an l then
		{bitcoin.Mainnet, "1" + genesis, "malformed"},
		{bitcoin.Mainnet, genesis[1:], "malformed"},
		{bitcoin.Mainnet, strings.Repeat("1", 90), "malformed"},
		{bitcoin.Mainnet, strings.Repeat("z", 1<<20), "malformed"},
		{bitcoin.Mainnet, "5Kb8kLf9zgWQnogidDA76MzPL6TsZZY36hWXMssSzNydYXYB9KF", "malformed"}, // a private key
		{bitcoin.Mainnet, "LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9", "wrong_network"},              // Litecoin
		{bitcoin.Mainnet, "", "malformed"},
		{bitcoin.Mainnet, "bc1", "malformed"},
		{bitcoin.Mainnet, "bitcoin:" + witness, "malformed"},
		{bitcoin.Mainnet, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "malformed"},
	} {
		a, err := codec(t, row.net).Parse(row.text)
		if got := refusal(t, row.text, err); got != row.reason || !a.IsZero() {
			t.Errorf("%.100q on %s: %v, %v, want %s", row.text, row.net, a, got, row.reason)
		}
	}
}

func TestAnAddressOfAnotherNetworkIsNamedAsSuch(t *testing.T) {
	t.Parallel()
	regtest := codec(t, bitcoin.Regtest).Make(nil).Text()
	for _, row := range []struct {
		net        bitcoin.Network
		text, says string
	}{
		{bitcoin.Mainnet, testKey, "of Bitcoin's testnet, signet or regtest. Give one of mainnet."},
		{bitcoin.Mainnet, testScript, "of Bitcoin's testnet, signet or regtest."},
		{bitcoin.Mainnet, "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", "of Bitcoin's testnet or signet."},
		{bitcoin.Mainnet, regtest, "of Bitcoin's regtest."},
		{bitcoin.Testnet, genesis, "of Bitcoin's mainnet. Give one of testnet."},
		{bitcoin.Signet, script, "of Bitcoin's mainnet. Give one of signet."},
		{bitcoin.Regtest, strings.ToUpper(taproot), "of Bitcoin's mainnet."},
		{bitcoin.Regtest, "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c", "of Bitcoin's testnet or signet. Give one of regtest."},
		{bitcoin.Testnet, regtest, "of Bitcoin's regtest."},
	} {
		c := codec(t, row.net)
		_, err := c.Parse(row.text)
		if got := refusal(t, row.text, err); got != "wrong_network" || !strings.Contains(fault.Of(err).Text, row.says) {
			t.Errorf("%s on %s: %v", row.text, row.net, err)
		}
		if a := chain.CanonicalAddress(chain.Bitcoin, strings.ToLower(row.text)); c.Matches(a, row.text) || c.Kind(a) != "" {
			t.Errorf("%s on %s is of kind %q", row.text, row.net, c.Kind(a))
		}
	}
}

// The rows A75 and A76 of the table of attacks, as far as this family goes.
func TestVerifyTakesOneCaseAndNoLookAlike(t *testing.T) {
	t.Parallel()
	c := codec(t, bitcoin.Mainnet)
	for _, row := range []struct {
		id, address, text string
		want              bool
	}{
		{"A75", witness, witness, true},
		{"A75", witness, strings.ToUpper(witness), true},
		{"A75", witness, "BC1" + witness[3:], false},
		{"A75", witness, "bc1Q" + witness[4:], false},
		{"A75", taproot, strings.ToUpper(taproot), true},
		{"A75", taproot, strings.ToUpper(taproot[:30]) + taproot[30:], false},
		{"A75", taproot, witness, false},
		{"A75", genesis, genesis, true},
		{"A75", genesis, strings.ToUpper(genesis), false},
		{"A75", genesis, strings.ToLower(genesis), false},
		{"A75", genesis, "1a1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", false},
		{"A75", genesis, script, false},
		{"A76", witness, " " + witness, false},
		{"A76", witness, witness + " ", false},
		{"A76", witness, witness + "\n", false},
		{"A76", witness, witness[:20] + "\u200b" + witness[20:], false},
		{"A76", witness, strings.Replace(witness, "c", "\u0441", 1), false},                  // a Cyrillic c
		{"A76", witness, strings.Replace(strings.ToUpper(witness), "K", "\u212a", 1), false}, // a Kelvin, whose lower case is a k
		{"A76", witness, "bitcoin:" + witness, false},
		{"A76", genesis, genesis + " ", false},
		{"A76", genesis, strings.Replace(genesis, "A", "\u0410", 1), false}, // a Cyrillic A
		{"A76", genesis, strings.Replace(genesis, "1", "l", 1), false},
		{"A76", genesis, "satoshi.btc", false},
		{"A76", genesis, "", false},
	} {
		a, err := c.Parse(row.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Matches(a, row.text); got != row.want {
			t.Errorf("%s: %q matches %s: %t", row.id, row.text, row.address, got)
		}
		if row.id == "A76" {
			if _, err := c.Parse(row.text); err == nil {
				t.Errorf("%s: %q was taken", row.id, row.text)
			}
		}
	}
	if c.Matches(chain.CanonicalAddress(chain.Other, witness), witness) || c.Matches(chain.Address{}, "") {
		t.Error("an address of another family, or none, was matched")
	}
}

func TestNoOneLetterChangeIsAnAddress(t *testing.T) {
	t.Parallel()
	c := codec(t, bitcoin.Mainnet)
	for _, s := range []string{genesis, script, witness, taproot, strings.ToUpper(witness)} {
		for i := range len(s) {
			for _, letter := range "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ \n" {
				other := s[:i] + string(letter) + s[i+1:]
				if other == s {
					continue
				}
				if a, err := c.Parse(other); err == nil {
					t.Fatalf("%q is taken as %v, made from %q", other, a, s)
				}
			}
		}
	}
}

func TestACodecNeedsANetwork(t *testing.T) {
	t.Parallel()
	for _, n := range []bitcoin.Network{"", "main", "Mainnet", "testnet4"} {
		if _, err := bitcoin.NewCodec(n); err == nil || !strings.Contains(err.Error(), "write mainnet, testnet, signet or regtest") {
			t.Errorf("%q: %v", n, err)
		}
	}
	var none bitcoin.Codec
	for _, s := range []string{genesis, script, witness, taproot} {
		if a, err := none.Parse(s); err == nil || none.Kind(chain.CanonicalAddress(chain.Bitcoin, s)) != "" {
			t.Errorf("a codec of no network took %s as %v", s, a)
		}
	}
}

func TestMadeAddressesAreGoodAndAllDifferent(t *testing.T) {
	t.Parallel()
	r, seen := testseed.Rand(t), make(map[chain.Address]bool)
	for _, n := range []bitcoin.Network{bitcoin.Mainnet, bitcoin.Testnet, bitcoin.Regtest} {
		c := codec(t, n)
		for range 200 {
			seed := binary.BigEndian.AppendUint64(nil, r.Uint64())
			a := c.Make(seed)
			if again, err := c.Parse(a.Text()); err != nil || again != a || c.Make(seed) != a || seen[a] || c.Kind(a) != bitcoin.P2WPKH {
				t.Fatalf("%x: %v, %v, %v", seed, a, again, err)
			}
			seen[a] = true
		}
	}
}

func TestAnAddressThatTheCodecDidNotMakeIsOfNoKind(t *testing.T) {
	t.Parallel()
	c := codec(t, bitcoin.Mainnet)
	for _, a := range []chain.Address{
		{},
		chain.CanonicalAddress(chain.Bitcoin, "nonsense"),
		chain.CanonicalAddress(chain.Bitcoin, strings.ToUpper(witness)),
		chain.CanonicalAddress(chain.EVM, witness),
	} {
		if got := c.Kind(a); got != "" || c.Show(a) != a.Text() {
			t.Errorf("%v is of kind %q", a, got)
		}
	}
	if c.Family() != chain.Bitcoin {
		t.Error("the codec is of another family")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{genesis, script, witness, taproot, testKey, testScript, strings.ToUpper(taproot), "bc1gmk9yu", "BC1SW50QGDZ25J", ""} {
		f.Add(s)
	}
	codecs := []bitcoin.Codec{codec(f, bitcoin.Mainnet), codec(f, bitcoin.Testnet), codec(f, bitcoin.Regtest)}
	for _, c := range codecs {
		f.Add(c.Make([]byte(f.Name())).Text())
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range codecs {
			a, err := c.Parse(s)
			if err != nil {
				if fault.Of(err).Kind != fault.Invalid || !a.IsZero() {
					t.Fatalf("%q: %v, %v", s, a, err)
				}
				continue
			}
			for _, form := range []string{a.Text(), c.Show(a)} {
				if again, err := c.Parse(form); err != nil || again != a {
					t.Fatalf("%q is %v, and %q is %v, %v", s, a, form, again, err)
				}
			}
			if !c.Matches(a, s) || c.Kind(a) == "" || !strings.EqualFold(a.Text(), s) {
				t.Fatalf("%q is %v, which it does not match", s, a)
			}
		}
	})
}
