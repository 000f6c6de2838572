package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	sol "github.com/gagliardetto/solana-go"
	fastjson "github.com/go-json-experiment/json"

	"ferry/internal/chain"
	"ferry/internal/family/rpc"
	"ferry/internal/family/solana"
	"ferry/internal/watch"
)

// Blocks as full as Solana's of a busy day: half of their transactions move SOL, half a
// token through a market with a dozen accounts, and a handful pay us.
const (
	solanaBlocks   = 6
	solanaTxs      = 2000
	solanaDeposits = 5
)

const solanaChain chain.ID = "solana:bench"

const (
	solanaGenesis = "bench"
	solanaBegun   = 1_700_000_000 // the time of the first block
)

// runScanSolana measures how fast deposits are found in blocks of strangers, beside a
// client that only downloads and decodes the same.
func runScanSolana(ctx context.Context, o options) error {
	progress("scan-solana: making %d blocks of %d transactions", solanaBlocks, solanaTxs)
	s, err := newSolanaNode()
	if err != nil {
		return err
	}
	defer s.server.Close()
	sets := map[int]*watch.AddressSet{}
	for _, n := range []int{watchedFew, watchedUsual, watchedMany} {
		sets[n] = newSolanaSet(n)
	}
	ours := func(n int) side {
		return func(int, int) (int, time.Duration, error) { return s.ours(ctx, sets[n]) }
	}
	for _, n := range []int{watchedFew, watchedUsual, watchedMany} {
		name := fmt.Sprintf("%d watched addresses beside download and decode", n)
		d, err := interleave("scan-solana: "+name, o.rounds, pace, [2]side{
			ours(n), func(int, int) (int, time.Duration, error) { return s.bare(ctx) },
		})
		if err != nil {
			return err
		}
		o.report.add(result{Bench: "scan-solana", Name: name, Unit: "tx/s", AtLeast: scanGoal}.judged(d))
	}
	d, err := interleave("scan-solana: flat", o.rounds, pace, [2]side{ours(watchedMany), ours(watchedFew)})
	if err != nil {
		return err
	}
	o.report.add(result{Bench: "scan-solana", Name: "1000000 and 1000 watched addresses", Unit: "tx/s", AtLeast: scanFlat}.judged(d))
	return nil
}

// solanaName is an address that belongs to a word and a number.
func solanaName(kind string, i int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(kind), uint64(i))) //nolint:gosec // a small number
	return sol.PublicKey(sum).String()
}

func newSolanaSet(n int) *watch.AddressSet {
	s := watch.NewAddressSet()
	for i := range n {
		s.Add(chain.CanonicalAddress(chain.Solana, solanaName("watched", i)))
	}
	return s
}

// solanaNode answers what a scan asks, as quickly as it can.
type solanaNode struct {
	server *httptest.Server
	mint   string
	blocks []chain.Block
	raw    [][]byte // the answer to getBlock, by slot
}

type object = map[string]any

func newSolanaNode() (*solanaNode, error) {
	s := &solanaNode{mint: solanaName("mint", 0)}
	for slot := range solanaBlocks {
		b := chain.Block{Height: uint64(slot), Hash: fmt.Sprint("block ", slot), Parent: fmt.Sprint("block ", slot-1), Time: time.Unix(solanaBegun+int64(slot), 0).UTC()}
		txs := make([]object, solanaTxs)
		for i := range txs {
			txs[i] = s.stranger(slot*solanaTxs+i, i < solanaDeposits)
		}
		text, err := json.Marshal(object{"jsonrpc": "2.0", "id": 0, "result": object{
			"blockhash": b.Hash, "previousBlockhash": b.Parent, "parentSlot": max(slot-1, 0), "blockHeight": slot, "blockTime": b.Time.Unix(), "transactions": txs,
		}})
		if err != nil {
			return nil, err
		}
		s.blocks, s.raw = append(s.blocks, b), append(s.raw, text)
	}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s, nil
}

// stranger is a transaction between strangers; or, if paysUs, one that pays us SOL.
func (s *solanaNode) stranger(i int, paysUs bool) object {
	accounts := 4
	if i%2 == 1 {
		accounts = 14
	}
	var keys, before, after []object
	var pre, post []uint64
	for j := range accounts {
		name := solanaName("account", i*16+j)
		if paysUs && j == 1 {
			name = solanaName("watched", i%solanaDeposits)
		}
		keys = append(keys, object{"pubkey": name, "signer": j == 0, "source": "transaction", "writable": j < accounts/2})
		pre, post = append(pre, uint64(1_000_000_000+j)), append(post, uint64(1_000_000_000+2*j)) //nolint:gosec // small numbers
	}
	for j := range 4 * (i % 2) {
		balance := func(units int) object {
			return object{
				"accountIndex": j + 2, "mint": s.mint, "owner": solanaName("owner", i*16+j), "programId": sol.TokenProgramID.String(),
				"uiTokenAmount": object{"amount": fmt.Sprint(units), "decimals": 6, "uiAmount": float64(units) / 1e6, "uiAmountString": fmt.Sprint(float64(units) / 1e6)},
			}
		}
		before, after = append(before, balance(1_000_000)), append(after, balance(2_000_000))
	}
	sum := sha256.Sum256([]byte(solanaName("tx", i)))
	return object{
		"transaction": object{"accountKeys": keys, "signatures": []string{sol.SignatureFromBytes(append(sum[:], sum[:]...)).String()}},
		"meta": object{
			"err": nil, "status": object{"Ok": nil}, "fee": 5000, "preBalances": pre, "postBalances": post,
			"preTokenBalances": before, "postTokenBalances": after,
		},
		"version": "legacy",
	}
}

func (s *solanaNode) serve(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		http.Error(w, "no question", http.StatusBadRequest)
		return
	}
	said := []byte(`{"jsonrpc":"2.0","id":0,"result":"` + solanaGenesis + `"}`)
	switch q.Method {
	case "getMinimumBalanceForRentExemption":
		said = []byte(`{"jsonrpc":"2.0","id":0,"result":890880}`)
	case "getAccountInfo":
		mint := make([]byte, 82)
		mint[44], mint[45] = 6, 1 // its decimals, and that it is one
		said = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,"result":{"value":{"lamports":1,"owner":%q,"data":[%q,"base64"]}}}`,
			sol.TokenProgramID, base64.StdEncoding.EncodeToString(mint))
	case "getBlock":
		slot := 0
		if len(q.Params) == 0 || json.Unmarshal(q.Params[0], &slot) != nil || slot < 0 || slot >= len(s.raw) {
			http.Error(w, "no such slot", http.StatusBadRequest)
			return
		}
		said = s.raw[slot]
	}
	_, _ = w.Write(said)
}

// noSolanaKeys is a signer for who only reads.
type noSolanaKeys struct{}

func (noSolanaKeys) Sign(context.Context, chain.Paper) ([]byte, error) {
	return nil, errors.New("nobody signs here")
}

func (noSolanaKeys) Address(context.Context, chain.ID, chain.Key) (chain.Address, error) {
	return solana.Codec{}.Parse(sol.NewWallet().PublicKey().String())
}

// ours reads every block once, with an adapter that has seen none of them.
func (s *solanaNode) ours(ctx context.Context, to *watch.AddressSet) (int, time.Duration, error) {
	c, err := solana.New(ctx, solana.Config{
		ID: solanaChain, Genesis: solanaGenesis, Accounts: []chain.Account{"hot"}, MaxPrice: 1, Noticed: func(solana.Suspect) {},
		Tokens: []solana.Token{{Mint: s.mint, Decimals: 6}}, Pool: rpc.Config{URLs: []string{s.server.URL}, Need: 1},
	}, noSolanaKeys{})
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	for _, b := range s.blocks {
		found, err := c.Deposits(ctx, b, to)
		if err != nil {
			return 0, 0, err
		}
		if len(found) != solanaDeposits {
			return 0, 0, fmt.Errorf("found %d payments, want %d", len(found), solanaDeposits)
		}
	}
	return solanaBlocks * solanaTxs, time.Since(start), nil
}

// bareSolana is of a block what any scan must know: who was there and what it did to
// them.
type bareSolana struct {
	Blockhash    string `json:"blockhash"`
	Transactions []struct {
		Transaction struct {
			AccountKeys []struct {
				Pubkey string `json:"pubkey"`
			} `json:"accountKeys"`
			Signatures []string `json:"signatures"`
		} `json:"transaction"`
		Meta struct {
			Err               any               `json:"err"`
			PreBalances       []uint64          `json:"preBalances"`
			PostBalances      []uint64          `json:"postBalances"`
			PreTokenBalances  []bareSolanaToken `json:"preTokenBalances"`
			PostTokenBalances []bareSolanaToken `json:"postTokenBalances"`
		} `json:"meta"`
	} `json:"transactions"`
}

type bareSolanaToken struct {
	AccountIndex int    `json:"accountIndex"`
	Mint         string `json:"mint"`
	Owner        string `json:"owner"`
	ProgramID    string `json:"programId"`
	Amount       struct {
		Units string `json:"amount"`
	} `json:"uiTokenAmount"`
}

// UnmarshalJSON reads it by the quickest decoder there is for it, which is ours too.
func (b *bareSolana) UnmarshalJSON(text []byte) error {
	type plain bareSolana
	return fastjson.Unmarshal(text, (*plain)(b))
}

// bare downloads and decodes every block by the same client, and believes whatever it
// gets.
func (s *solanaNode) bare(ctx context.Context) (int, time.Duration, error) {
	pool, err := rpc.New(rpc.Config{URLs: []string{s.server.URL}, Need: 1})
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	for _, b := range s.blocks {
		var block bareSolana
		if err := pool.Nodes()[0].Call(ctx, &block, "getBlock", b.Height, object{"transactionDetails": "accounts"}); err != nil {
			return 0, 0, err
		}
		if block.Blockhash != b.Hash || len(block.Transactions) != solanaTxs {
			return 0, 0, fmt.Errorf("slot %d has %d transactions", b.Height, len(block.Transactions))
		}
	}
	return solanaBlocks * solanaTxs, time.Since(start), nil
}
