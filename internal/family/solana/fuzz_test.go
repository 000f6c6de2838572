package solana_test

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	sol "github.com/gagliardetto/solana-go"

	"ferry/internal/chain"
	"ferry/internal/family/solana"
)

// FuzzBlock reads whatever a node may answer as a block: it never falls over, and what
// it finds is ours, listed, worth something, and there once.
func FuzzBlock(f *testing.F) {
	ours, mint := key("ours").PublicKey(), key("mint").PublicKey()
	home, _, err := sol.FindAssociatedTokenAddress(ours, mint)
	if err != nil {
		f.Fatal(err)
	}
	units := func(i int, amount string) object {
		return object{"accountIndex": i, "mint": mint.String(), "owner": ours.String(), "programId": sol.TokenProgramID.String(), "uiTokenAmount": object{"amount": amount}}
	}
	block := func(txs ...object) []byte {
		text, err := json.Marshal(object{"blockhash": "h", "previousBlockhash": "p", "parentSlot": 1, "blockHeight": 1, "blockTime": 1, "transactions": txs})
		if err != nil {
			f.Fatal(err)
		}
		return text
	}
	tx := func(failed any) object {
		return object{
			"transaction": object{"signatures": []string{"sig"}, "accountKeys": []object{{"pubkey": "payer"}, {"pubkey": ours.String()}, {"pubkey": home.String()}}},
			"meta": object{
				"err": failed, "preBalances": []int{5, 0, 0}, "postBalances": []int{1, 2_000_000, 3},
				"preTokenBalances": []object{units(2, "5")}, "postTokenBalances": []object{units(2, "7")},
			},
		}
	}
	good := block(tx(nil))
	f.Add(good)
	f.Add(block())
	f.Add(block(tx(nil), tx(nil)))
	f.Add(block(tx("AccountInUse")))
	f.Add([]byte(strings.ReplaceAll(string(good), `"accountIndex":2`, `"accountIndex":-1`)))
	f.Add([]byte(strings.ReplaceAll(string(good), `"7"`, `"18446744073709551616"`)))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"blockhash":"h","transactions":[{}]}`))
	at := chain.Block{Height: 7, Hash: "h"}
	set := everyone{addr(ours): true}
	if found, _, err := solana.Gleaned(good, at, set, mint, sol.TokenProgramID); err != nil || len(found) != 2 {
		f.Fatalf("in a good block there is %v, %v", found, err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, suspects, err := solana.Gleaned(text, at, set, mint, sol.TokenProgramID)
		if err != nil {
			if len(found)+len(suspects) > 0 {
				t.Fatalf("%v, and yet %v %v", err, found, suspects)
			}
			return
		}
		seen := map[chain.DepositID]bool{}
		for _, d := range found {
			if d.To != addr(ours) || d.Amount.IsZero() || d.Block != at || seen[d.ID] || (d.Asset.Ref != "" && d.Asset.Ref != mint.String()) {
				t.Fatalf("found %v", d)
			}
			seen[d.ID] = true
		}
	})
}

// FuzzMint reads whatever an account that is called a mint may hold.
func FuzzMint(f *testing.F) {
	plain := make([]byte, 82)
	plain[44], plain[45] = 6, 1
	f.Add(plain)
	f.Add(withExtensions(plain, 1, 14))
	f.Add(withExtensions(plain, 999))
	f.Add(withExtensions(plain, 12)[:170])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		decimals, names, ok := solana.ReadMint(sol.Token2022ProgramID, data)
		if ok && (len(data) < 82 || decimals > 255 || (len(data) > 82 && len(data) < 166)) {
			t.Fatalf("%x is a mint with %d decimals and %q", data, decimals, names)
		}
		if first, _, ok := solana.ReadMint(sol.TokenProgramID, data); ok && len(data) != 82 {
			t.Fatalf("%x is a mint of the first program with %d decimals", data, first)
		}
	})
}

// withExtensions is a mint with extensions of some bytes each.
func withExtensions(plain []byte, kinds ...uint16) []byte {
	data := make([]byte, 166)
	copy(data, plain)
	data[165] = 1
	for _, k := range kinds {
		data = binary.LittleEndian.AppendUint16(data, k)
		data = binary.LittleEndian.AppendUint16(data, 8)
		data = append(data, make([]byte, 8)...)
	}
	return data
}

func TestEveryExtensionOfAMintIsSeen(t *testing.T) {
	t.Parallel()
	plain := make([]byte, 82)
	plain[44], plain[45] = 6, 1
	all := solana.MintExtensions()
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		for _, row := range [][]uint16{{kind}, {kind, 19}, {18, kind}} {
			_, names, ok := solana.ReadMint(sol.Token2022ProgramID, withExtensions(plain, row...))
			if !ok || !slices.Contains(strings.Fields(names), all[kind]) {
				t.Errorf("extensions %v are read as %q", row, names)
			}
		}
	}
	if _, names, ok := solana.ReadMint(sol.Token2022ProgramID, withExtensions(plain, 77)); !ok || names != "number_77" {
		t.Errorf("an unknown extension is read as %q", names)
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "too short": plain[:81], "not made yet": make([]byte, 82),
		"an account and no mint": func() []byte { d := withExtensions(plain); d[165] = 2; return d }(),
		"cut off":                withExtensions(plain, 12)[:172],
	} {
		if _, names, ok := solana.ReadMint(sol.Token2022ProgramID, data); ok {
			t.Errorf("%s is a mint with %q", name, names)
		}
	}
}
