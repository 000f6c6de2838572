package signer_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/tyler-smith/go-bip39"

	"ferry/internal/secret"
	"ferry/internal/signer"
)

func readVectors[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all) < 10 {
		t.Fatalf("%d vectors, %v", len(all), err)
	}
	return all
}

// TestBIP32Vectors are those of BIP-32, with the two about leading zeros.
func TestBIP32Vectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors[struct{ Seed, Path, Pub, Priv string }](t, "bip32.json") {
		key, err := hdkeychain.NewMaster(unhex(t, v.Seed), &chaincfg.MainNetParams)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range strings.Split(v.Path, "/")[1:] {
			n, err := strconv.ParseUint(strings.TrimSuffix(step, "'"), 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(step, "'") {
				n += hdkeychain.HardenedKeyStart
			}
			if key, err = key.Derive(uint32(n)); err != nil {
				t.Fatal(err)
			}
		}
		pub, err := key.Neuter()
		if err != nil || key.String() != v.Priv || (v.Pub != "" && pub.String() != v.Pub) {
			t.Errorf("%s of %.8s…: %s, %s, %v", v.Path, v.Seed, key, pub, err)
		}
	}
}

// TestBIP39Vectors are the English ones that BIP-39 points at.
func TestBIP39Vectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors[struct{ Entropy, Mnemonic, Seed string }](t, "bip39.json") {
		words, err := bip39.NewMnemonic(unhex(t, v.Entropy))
		if err != nil || words != v.Mnemonic {
			t.Errorf("%s: %q, %v", v.Entropy, words, err)
		}
		if got := hex.EncodeToString(bip39.NewSeed(v.Mnemonic, "TREZOR")); got != v.Seed {
			t.Errorf("%q: seed %s", v.Mnemonic, got)
		}
		s, err := signer.ParseMnemonic(secret.New(v.Mnemonic))
		if err != nil || s.Mnemonic().Reveal() != v.Mnemonic {
			t.Errorf("%q: %v", v.Mnemonic, err)
		}
	}
}

// TestSLIP10Vectors are both of SLIP-10 for Ed25519.
func TestSLIP10Vectors(t *testing.T) {
	t.Parallel()
	const one = "000102030405060708090a0b0c0d0e0f"
	const two = "fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542"
	for _, v := range []struct {
		seed      string
		path      []uint32
		code, key string
	}{
		{one, nil, "90046a93de5380a72b5e45010748567d5ea02bbf6522f979e05c0d8d8ca9fffb", "2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7"},
		{one, []uint32{0}, "8b59aa11380b624e81507a27fedda59fea6d0b779a778918a2fd3590e16e9c69", "68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3"},
		{one, []uint32{0, 1}, "a320425f77d1b5c2505a6b1b27382b37368ee640e3557c315416801243552f14", "b1d0bad404bf35da785a64ca1ac54b2617211d2777696fbffaf208f746ae84f2"},
		{one, []uint32{0, 1, 2}, "2e69929e00b5ab250f49c3fb1c12f252de4fed2c1db88387094a0f8c4c9ccd6c", "92a5b23c0b8a99e37d07df3fb9966917f5d06e02ddbd909c7e184371463e9fc9"},
		{one, []uint32{0, 1, 2, 2}, "8f6d87f93d750e0efccda017d662a1b31a266e4a6f5993b15f5c1f07f74dd5cc", "30d1dc7e5fc04c31219ab25a27ae00b50f6fd66622f6e9c913253d6511d1e662"},
		{one, []uint32{0, 1, 2, 2, 1000000000}, "68789923a0cac2cd5a29172a475fe9e0fb14cd6adb5ad98a3fa70333e7afa230", "8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793"},
		{two, nil, "ef70a74db9c3a5af931b5fe73ed8e1a53464133654fd55e7a66f8570b8e33c3b", "171cb88b1b3c1db25add599712e36245d75bc65a1a5c9e18d76f9f2b1eab4012"},
		{two, []uint32{0}, "0b78a3226f915c082bf118f83618a618ab6dec793752624cbeb622acb562862d", "1559eb2bbec5790b0c65d8693e4d0875b1747f4970ae8b650486ed7470845635"},
		{two, []uint32{0, 2147483647}, "138f0b2551bcafeca6ff2aa88ba8ed0ed8de070841f0c4ef0165df8181eaad7f", "ea4f5bfe8694d8bb74b7b59404632fd5968b774ed545e810de9c32a4fb4192f4"},
		{two, []uint32{0, 2147483647, 1}, "73bd9fff1cfbde33a1b846c27085f711c0fe2d66fd32e139d3ebc28e5a4a6b90", "3757c7577170179c7868353ada796c839135b3d30554bbb74a4b1e4a5a58505c"},
		{two, []uint32{0, 2147483647, 1, 2147483646}, "0902fe8a29f9140480a00ef244bd183e8a13288e4412d8389d140aac1794825a", "5837736c89570de861ebc173b1086da4f505d4adb387c6a1b1342d5e4ac9ec72"},
		{two, []uint32{0, 2147483647, 1, 2147483646, 2}, "5d70af781f3a37b829f0d060924d5e960bdc02e85423494afc0b1a41bbe196d4", "551d333177df541ad876a60ea71f00447931c0a9da16f227c11ea080d7391b8d"},
	} {
		key, code := signer.SLIP10(unhex(t, v.seed), v.path...)
		if hex.EncodeToString(key[:]) != v.key || hex.EncodeToString(code[:]) != v.code {
			t.Errorf("%v of %.8s…: key %x, code %x", v.path, v.seed, key, code)
		}
	}
}

// TestPathsAreFrozen derives m/44'/60'/1'/0/i a second time, by the formulas of BIP-32:
// a changed path would be money that nobody finds again.
func TestPathsAreFrozen(t *testing.T) {
	t.Parallel()
	child := func(key, code []byte, index uint32) (k, c []byte) {
		data := append([]byte{0}, key...)
		if index < hdkeychain.HardenedKeyStart {
			_, pub := btcec.PrivKeyFromBytes(key)
			data = pub.SerializeCompressed()
		}
		mac := hmac.New(sha512.New, code)
		mac.Write(binary.BigEndian.AppendUint32(data, index))
		sum := mac.Sum(nil)
		n := new(big.Int).Add(new(big.Int).SetBytes(sum[:32]), new(big.Int).SetBytes(key))
		return n.Mod(n, btcec.S256().N).FillBytes(make([]byte, 32)), sum[32:]
	}
	mac := hmac.New(sha512.New, []byte("Bitcoin seed"))
	mac.Write(bip39.NewSeed(about, ""))
	sum := mac.Sum(nil)
	key, code := sum[:32], sum[32:]
	for _, i := range []uint32{44 + 1<<31, 60 + 1<<31, 1 + 1<<31, 0} {
		key, code = child(key, code, i)
	}
	for _, i := range []uint32{0, 1, 2, 1000, 1<<31 - 1} {
		k, _ := child(key, code, i)
		private, err := crypto.ToECDSA(k)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ToLower(crypto.PubkeyToAddress(private.PublicKey).Hex())
		got, err := aboutRing().Address(t.Context(), ether, depositKey(i))
		if err != nil || got.Text() != want {
			t.Errorf("deposit address %d is %s and not %s, %v", i, got.Text(), want, err)
		}
	}
}

// TestSignaturesDoNotDependOnChance: C07. The same message has the same signature, and
// no two messages share the part that would give the key away.
func TestSignaturesDoNotDependOnChance(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const many = 10_000
	seen := make(map[string]bool, many)
	for i := range many {
		tx := evmTx()
		tx.Nonce = uint64(i)
		p := evmPaper(r, tx)
		raw, err := r.ring.Sign(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		R := signatureR(t, raw)
		if seen[R] {
			t.Fatalf("two signatures share r after %d", i)
		}
		seen[R] = true
		if i%1000 == 0 {
			if again, err := r.ring.Sign(t.Context(), p); err != nil || string(again) != string(raw) {
				t.Fatalf("the same paper has two signatures: %v", err)
			}
		}
	}
}

func signatureR(t *testing.T, raw []byte) string {
	t.Helper()
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(raw); err != nil {
		t.Fatal(err)
	}
	_, r, _ := tx.RawSignatureValues()
	return r.String()
}
