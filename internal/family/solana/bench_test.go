package solana_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sol "github.com/gagliardetto/solana-go"

	"ferry/internal/chain"
	"ferry/internal/family/rpc"
	"ferry/internal/family/solana"
	"ferry/internal/signer"
)

// bulk is how many transactions the block of the benchmark has, as on a busy day.
const bulk = 2_000

// stuffed is a block of other people's transactions: half of them move SOL, half a token
// through a market with a dozen accounts.
func stuffed(mint string) []byte {
	name := func(kind string, i int) string {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(kind), uint64(i)))
		return sol.PublicKey(sum).String()
	}
	txs := make([]object, bulk)
	for i := range txs {
		accounts := 4
		if i%2 == 1 {
			accounts = 14
		}
		var keys []object
		var pre, post []uint64
		for j := range accounts {
			keys = append(keys, object{"pubkey": name("account", i*16+j), "signer": j == 0, "source": "transaction", "writable": j < accounts/2})
			pre, post = append(pre, uint64(1_000_000_000+j)), append(post, uint64(1_000_000_000+2*j))
		}
		var before, after []object
		if i%2 == 1 {
			for j := range 4 {
				balance := func(units int) object {
					return object{
						"accountIndex": j + 2, "mint": mint, "owner": name("owner", i*16+j), "programId": sol.TokenProgramID.String(),
						"uiTokenAmount": object{"amount": fmt.Sprint(units), "decimals": 6, "uiAmount": float64(units) / 1e6, "uiAmountString": fmt.Sprint(float64(units) / 1e6)},
					}
				}
				before, after = append(before, balance(1_000_000)), append(after, balance(2_000_000))
			}
		}
		sum := sha256.Sum256([]byte(name("tx", i)))
		txs[i] = object{
			"transaction": object{"accountKeys": keys, "signatures": []string{sol.SignatureFromBytes(append(sum[:], sum[:]...)).String()}},
			"meta": object{
				"err": nil, "status": object{"Ok": nil}, "fee": 5000, "preBalances": pre, "postBalances": post,
				"preTokenBalances": before, "postTokenBalances": after,
			},
			"version": "legacy",
		}
	}
	text, err := json.Marshal(object{"jsonrpc": "2.0", "id": 0, "result": object{
		"blockhash": "bench", "previousBlockhash": "before", "parentSlot": 6, "blockHeight": 7, "blockTime": 1_700_000_000, "transactions": txs,
	}})
	if err != nil {
		panic(err)
	}
	return text
}

// crowd is many addresses as the watcher keeps them.
type crowd struct {
	seed maphash.Seed
	set  map[uint64]struct{}
}

func (c crowd) Has(a chain.Address) bool {
	_, ok := c.set[maphash.String(c.seed, a.Text())]
	return ok
}

// watched are so many addresses of ours, of which none is paid.
func watched(n int) crowd {
	c := crowd{maphash.MakeSeed(), make(map[uint64]struct{}, n)}
	for i := range n {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("ours"), uint64(i)))
		c.set[maphash.String(c.seed, sol.PublicKey(sum).String())] = struct{}{}
	}
	return c
}

// BenchmarkScan reads blocks full of other people's transactions, beside a bare client
// that only downloads and decodes the same blocks with the same decoder.
func BenchmarkScan(b *testing.B) {
	mint := key("mint").PublicKey()
	block := stuffed(mint.String())
	data := make([]byte, 82)
	data[44], data[45] = 6, 1
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q wire
		if json.NewDecoder(r.Body).Decode(&q) != nil {
			return
		}
		said := block
		switch q.Method {
		case "getGenesisHash":
			said = []byte(`{"jsonrpc":"2.0","id":0,"result":"bench"}`)
		case "getMinimumBalanceForRentExemption":
			said = []byte(`{"jsonrpc":"2.0","id":0,"result":890880}`)
		case "getAccountInfo":
			said, _ = json.Marshal(object{"jsonrpc": "2.0", "id": 0, "result": object{"value": object{
				"lamports": 1, "owner": sol.TokenProgramID.String(), "data": []any{data, "base64"},
			}}})
		}
		_, _ = w.Write(said)
	}))
	defer node.Close()
	b.Run("bare", func(b *testing.B) {
		b.SetBytes(int64(len(block)))
		for b.Loop() {
			resp, err := http.Post(node.URL, "application/json", bytes.NewReader([]byte(`{"method":"getBlock"}`)))
			if err != nil {
				b.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil {
				b.Fatal(err)
			}
			if n, err := solana.Decoded(text); err != nil || n != bulk {
				b.Fatal(n, err)
			}
		}
		b.ReportMetric(bulk*float64(b.N)/b.Elapsed().Seconds(), "tx/s")
	})
	seed := sha256.Sum256([]byte("bench"))
	ring, err := signer.NewRing(seed[:], map[chain.ID]signer.Net{testID: {Family: chain.Solana}})
	if err != nil {
		b.Fatal(err)
	}
	c, err := solana.New(b.Context(), solana.Config{
		ID: testID, Genesis: "bench", Accounts: []chain.Account{hot}, MaxPrice: 1,
		Tokens: []solana.Token{{Mint: mint.String(), Decimals: 6}}, Pool: rpc.Config{URLs: []string{node.URL}, Need: 1},
	}, ring)
	if err != nil {
		b.Fatal(err)
	}
	at := chain.Block{Height: 7, Hash: "bench", Parent: "before", Time: time.Unix(1_700_000_000, 0).UTC()}
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("watched=%d", n), func(b *testing.B) {
			to := watched(n)
			b.SetBytes(int64(len(block)))
			b.ResetTimer()
			for b.Loop() {
				if found, err := c.Deposits(b.Context(), at, to); err != nil || len(found) != 0 {
					b.Fatal(found, err)
				}
			}
			b.ReportMetric(bulk*float64(b.N)/b.Elapsed().Seconds(), "tx/s")
		})
	}
}
