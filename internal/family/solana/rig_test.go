package solana_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	sol "github.com/gagliardetto/solana-go"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"
	budget "github.com/gagliardetto/solana-go/programs/compute-budget"
	"github.com/gagliardetto/solana-go/programs/token"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/family/rpc"
	"ferry/internal/family/solana"
	"ferry/internal/money"
	"ferry/internal/signer"
)

const (
	testID   chain.ID      = "solana:test"
	hot      chain.Account = "hot"
	depth                  = 3
	nodes                  = 3
	need                   = 2
	going                  = 10_000 // the priority price
	oneSOL   uint64        = 1_000_000_000
	ordinary               = oneSOL / 10
)

var opened atomic.Int64

// object is one of JSON.
type object = map[string]any

// rig is a local chain with our keys, strangers, and nodes that can be broken.
type rig struct {
	t       testing.TB
	net     *devnet.Chain
	ring    *signer.Ring
	chain   *solana.Chain
	nodes   []*node
	genesis string
	noticed *suspects
	gold    sol.PublicKey // a listed mint
	salt    atomic.Uint64
	// deposits are addresses whose keys the test has, as a thief would.
	deposits map[sol.PublicKey]sol.PrivateKey
}

// suspects are what was noticed.
type suspects struct {
	ch chan solana.Suspect
}

func (s *suspects) drain() (out []solana.Suspect) {
	for {
		select {
		case x := <-s.ch:
			out = append(out, x)
		default:
			return out
		}
	}
}

// newRig opens a chain on which the hot account has SOL and gold, all of it final.
func newRig(t testing.TB, more ...solana.Token) *rig {
	t.Helper()
	r := &rig{t: t, noticed: &suspects{make(chan solana.Suspect, 4096)}}
	name := fmt.Sprintf("solana-%d", opened.Add(1))
	var err error
	r.net, err = devnettest.Host(t).Open(t.Context(), name, "solana", false, object{"depth": depth, "price": going})
	r.ok(err)
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		if err := r.net.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	seed := sha256.Sum256([]byte(name))
	r.ring, err = signer.NewRing(seed[:], map[chain.ID]signer.Net{testID: {Family: chain.Solana}})
	r.ok(err)
	r.ask(&r.genesis, "getGenesisHash")
	r.gold = r.newToken("gold", 6)
	for range nodes {
		r.nodes = append(r.nodes, newNode(t, r.net.RPC))
	}
	r.chain = r.open(more...)
	own := r.chain.Own(hot)
	r.do("fund", object{"address": own.Text(), "amount": 200 * oneSOL}, nil)
	r.do("mint", object{"mint": r.gold.String(), "owner": own.Text(), "amount": 1_000_000_000_000}, nil)
	r.mine(depth + 2)
	return r
}

// open makes a chain over the nodes, as a process that starts does.
func (r *rig) open(more ...solana.Token) *solana.Chain {
	r.t.Helper()
	cfg := solana.Config{
		ID: testID, Genesis: r.genesis, Accounts: []chain.Account{hot}, MaxPrice: 50_000_000,
		Tokens:  append([]solana.Token{{Mint: r.gold.String(), Decimals: 6}}, more...),
		Pool:    rpc.Config{Need: need, Rest: time.Nanosecond, Grace: 2 * time.Second},
		Noticed: func(s solana.Suspect) { r.noticed.ch <- s },
	}
	for _, n := range r.nodes {
		cfg.Pool.URLs = append(cfg.Pool.URLs, n.url())
	}
	c, err := solana.New(r.t.Context(), cfg, r.ring)
	r.ok(err)
	return c
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) do(op string, in, out any) {
	r.t.Helper()
	r.ok(r.net.Do(r.t.Context(), op, in, out))
}

func (r *rig) mine(n int) { r.t.Helper(); r.do("mine", object{"n": n}, nil) }

// settle makes the present tip final.
func (r *rig) settle() { r.t.Helper(); r.mine(depth) }

// ask asks the node itself, not through the family.
func (r *rig) ask(out any, method string, params ...any) {
	r.t.Helper()
	if params == nil {
		params = []any{}
	}
	text, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	r.ok(err)
	resp, err := http.Post(r.net.RPC, "application/json", bytes.NewReader(text))
	r.ok(err)
	defer func() { _ = resp.Body.Close() }()
	var a struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	r.ok(json.NewDecoder(resp.Body).Decode(&a))
	if a.Error != nil {
		r.t.Fatalf("%s: %s", method, a.Error)
	}
	if out != nil {
		r.ok(json.Unmarshal(a.Result, out))
	}
}

var newest = object{"commitment": "confirmed"}

// newToken makes a mint of the first token program, of which the faucet gives.
func (r *rig) newToken(name string, decimals int) sol.PublicKey {
	r.t.Helper()
	var out struct{ Mint string }
	r.do("token", object{"name": name, "decimals": decimals}, &out)
	return sol.MustPublicKeyFromBase58(out.Mint)
}

// key is the key of a stranger.
func key(name string) sol.PrivateKey {
	seed := sha256.Sum256([]byte("stranger " + name))
	return sol.PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
}

// fund gives somebody SOL in the next block.
func (r *rig) fund(to sol.PublicKey, lamports uint64) {
	r.t.Helper()
	r.do("fund", object{"address": to.String(), "amount": lamports}, nil)
}

// give gives somebody units of a mint that the faucet made, in the next block.
func (r *rig) give(mint, to sol.PublicKey, units uint64) {
	r.t.Helper()
	r.do("mint", object{"mint": mint.String(), "owner": to.String(), "amount": units}, nil)
}

// transaction signs instructions; the first key pays.
func (r *rig) transaction(keys []sol.PrivateKey, steps ...sol.Instruction) []byte {
	r.t.Helper()
	var h struct{ Value struct{ Blockhash string } }
	r.ask(&h, "getLatestBlockhash", newest)
	steps = append([]sol.Instruction{budget.NewSetComputeUnitPriceInstruction(r.salt.Add(1)).Build()}, steps...)
	tx, err := sol.NewTransaction(steps, sol.MustHashFromBase58(h.Value.Blockhash), sol.TransactionPayer(keys[0].PublicKey()))
	r.ok(err)
	_, err = tx.Sign(func(k sol.PublicKey) *sol.PrivateKey {
		for i := range keys {
			if keys[i].PublicKey() == k {
				return &keys[i]
			}
		}
		return nil
	})
	r.ok(err)
	raw, err := tx.MarshalBinary()
	r.ok(err)
	return raw
}

// submit lets a transaction of strangers wait for the next block, untried.
func (r *rig) submit(keys []sol.PrivateKey, steps ...sol.Instruction) chain.TxID {
	r.t.Helper()
	return r.submitRaw(r.transaction(keys, steps...))
}

func (r *rig) submitRaw(raw []byte) chain.TxID {
	r.t.Helper()
	r.do("submit", object{"raws": [][]byte{raw}}, nil)
	tx, err := sol.TransactionFromBytes(raw)
	r.ok(err)
	return chain.TxID(tx.Signatures[0].String())
}

// hotSigns signs instructions that the hot account pays for, without the family.
func (r *rig) hotSigns(steps ...sol.Instruction) []byte {
	r.t.Helper()
	var h struct{ Value struct{ Blockhash string } }
	r.ask(&h, "getLatestBlockhash", newest)
	steps = append([]sol.Instruction{budget.NewSetComputeUnitPriceInstruction(r.salt.Add(1)).Build()}, steps...)
	tx, err := sol.NewTransaction(steps, sol.MustHashFromBase58(h.Value.Blockhash), sol.TransactionPayer(r.own()))
	r.ok(err)
	tx.Signatures = make([]sol.Signature, 1)
	unsigned, err := tx.MarshalBinary()
	r.ok(err)
	raw, err := r.ring.Sign(r.t.Context(), chain.Paper{Chain: testID, Unsigned: unsigned, Keys: []chain.Key{{Account: hot}}})
	r.ok(err)
	return raw
}

func (r *rig) own() sol.PublicKey { return pub(r.chain.Own(hot)) }

func pub(a chain.Address) sol.PublicKey { return sol.MustPublicKeyFromBase58(a.Text()) }

func addr(k sol.PublicKey) chain.Address { return chain.CanonicalAddress(chain.Solana, k.String()) }

// depositAddress is that of one of our keys.
func (r *rig) depositAddress(i uint32) chain.Address {
	r.t.Helper()
	a, err := r.ring.Address(r.t.Context(), testID, chain.Key{Account: chain.DepositKeys, Index: i})
	r.ok(err)
	return a
}

// moveUnits pays units of a mint from a stranger's account to whoever's, and makes that.
func moveUnits(from sol.PrivateKey, mint, to sol.PublicKey, units uint64) []sol.Instruction {
	own, _, _ := sol.FindAssociatedTokenAddress(from.PublicKey(), mint)
	home, _, _ := sol.FindAssociatedTokenAddress(to, mint)
	return []sol.Instruction{
		ata.NewCreateIdempotentInstruction(from.PublicKey(), to, mint).Build(),
		token.NewTransferCheckedInstruction(units, 6, own, mint, home, from.PublicKey(), nil).Build(),
	}
}

func (r *rig) lamports(k sol.PublicKey) uint64 {
	r.t.Helper()
	var out struct{ Value uint64 }
	r.ask(&out, "getBalance", k.String(), newest)
	return out.Value
}

// units is what somebody has of a mint, in the account derived from him.
func (r *rig) units(mint, owner sol.PublicKey) uint64 {
	r.t.Helper()
	home, _, err := sol.FindAssociatedTokenAddress(owner, mint)
	r.ok(err)
	var out struct{ Value *struct{ Data []string } }
	r.ask(&out, "getAccountInfo", home.String(), object{"commitment": "confirmed", "encoding": "base64"})
	if out.Value == nil {
		return 0
	}
	var bal struct{ Value struct{ Amount string } }
	r.ask(&bal, "getTokenAccountBalance", home.String(), newest)
	return mustUint(r.t, bal.Value.Amount)
}

func mustUint(t testing.TB, s string) uint64 {
	t.Helper()
	a, err := money.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	n, ok := a.Uint64()
	if !ok {
		t.Fatalf("%s is too much", s)
	}
	return n
}

// everyone is a set of addresses.
type everyone map[chain.Address]bool

func (e everyone) Has(a chain.Address) bool { return e[a] }

// found are the payments to addresses in all blocks.
func (r *rig) found(to ...chain.Address) (out []chain.Deposit) {
	r.t.Helper()
	set := everyone{}
	for _, a := range to {
		set[a] = true
	}
	for from := uint64(0); ; {
		b, err := r.chain.Next(r.t.Context(), from)
		if err != nil {
			return out
		}
		list, err := r.chain.Deposits(r.t.Context(), b, set)
		r.ok(err)
		out = append(out, list...)
		from = b.Height + 1
	}
}

// block is a block as the node itself shows it.
func (r *rig) block(slot uint64) chain.Block {
	r.t.Helper()
	var w struct {
		Blockhash, PreviousBlockhash string
		BlockTime                    int64
	}
	r.ask(&w, "getBlock", slot, object{"commitment": "confirmed", "transactionDetails": "none", "rewards": false})
	return chain.Block{Height: slot, Hash: w.Blockhash, Parent: w.PreviousBlockhash, Time: time.Unix(w.BlockTime, 0).UTC()}
}

// newDeposit is an address that is watched, and whose key the test has.
func (r *rig) newDeposit(i uint32) sol.PublicKey {
	r.t.Helper()
	k := key(fmt.Sprintf("deposit %d of %s", i, r.t.Name()))
	if r.deposits == nil {
		r.deposits = map[sol.PublicKey]sol.PrivateKey{}
	}
	r.deposits[k.PublicKey()] = k
	return k.PublicKey()
}

// lands drafts a call, sends it and sees it final.
func (r *rig) lands(c chain.Call) (chain.Attempt, chain.Status) {
	r.t.Helper()
	ctx := r.t.Context()
	a, err := r.chain.Draft(ctx, c, nil, money.FromUint64(50_000_000))
	r.ok(err)
	r.ok(r.chain.Broadcast(ctx, a.Raw))
	r.mine(1)
	r.settle()
	st, err := r.chain.Fate(ctx, a)
	r.ok(err)
	if st.Fate != chain.Final {
		r.t.Fatalf("it is %v", st.Fate)
	}
	return a, st
}
