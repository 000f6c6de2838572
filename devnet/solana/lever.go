package solana

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	sol "github.com/gagliardetto/solana-go"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"
	budget "github.com/gagliardetto/solana-go/programs/compute-budget"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"
)

type funding struct {
	Address string
	Amount  uint64
}

type minting struct {
	Mint, Owner string
	Amount      uint64
}

// wish is what a lever is moved by; each lever reads what it needs.
type wish struct {
	Address  string   `json:"address"`
	Mint     string   `json:"mint"`
	Owner    string   `json:"owner"`
	N        int      `json:"n"`
	Empty    bool     `json:"empty"`
	Tx       string   `json:"tx"`
	Raws     [][]byte `json:"raws"`
	First    bool     `json:"first"`
	Price    uint64   `json:"price"`
	Every    int      `json:"every"`
	Name     string   `json:"name"`
	Decimals uint8    `json:"decimals"`
	Amount   uint64   `json:"amount"`
}

// Do moves a lever:
//
//	mine   {n, empty}               seals blocks with what waits, or without it
//	skip   {n}                      leaves out slots
//	expire                          seals blocks until no blockhash given out so far is good, and that is final
//	fund   {address, amount}        pays lamports from the faucet in the next block
//	token  {name, decimals}         makes a token of which the faucet is the mint's authority; says its mint
//	mint   {mint, owner, amount}    pays units of such a token in the next block
//	submit {raws, first}            lets transactions wait without trying them
//	evict  {tx}                     forgets a waiting transaction
//	waiting                         says what waits
//	price  {price}                  sets the going priority price
//	auto   {every}                  seals a block every so many milliseconds; zero stops that
//	head                            says slot, height and final height
func (n *Node) Do(ctx context.Context, op string, in json.RawMessage) (any, error) {
	var w wish
	if len(in) > 0 {
		if err := json.Unmarshal(in, &w); err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	if op == "auto" {
		n.auto(w.Every)
		return object{}, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	ctx = context.WithoutCancel(ctx) // a block is sealed whole
	switch op {
	case "mine":
		err := n.mine(ctx, w.N, w.Empty)
		return n.head(), err
	case "skip":
		return object{}, n.travel(ctx, n.slot+uint64(max(w.N, 0)))
	case "expire":
		err := n.mine(ctx, 151+n.spec.Depth, true)
		return n.head(), err
	case "fund":
		sig, err := n.fund(funding{w.Address, w.Amount})
		return object{"tx": sig}, err
	case "token":
		return n.token(ctx, w.Name, w.Decimals)
	case "mint":
		sig, err := n.mint(minting{w.Mint, w.Owner, w.Amount})
		return object{"tx": sig}, err
	case "submit":
		return object{}, n.submit(w.Raws, w.First)
	case "evict":
		was := len(n.queue)
		n.queue = slices.DeleteFunc(n.queue, func(x waiting) bool { return x.sig == w.Tx })
		return object{"evicted": was - len(n.queue)}, nil
	case "waiting":
		raws := make([][]byte, 0, len(n.queue))
		for _, x := range n.queue {
			raws = append(raws, x.raw)
		}
		return object{"raws": raws}, nil
	case "price":
		n.price = w.Price
		return object{}, nil
	case "head":
		return n.head(), nil
	}
	return nil, fmt.Errorf("no lever %q", op)
}

func (n *Node) head() object {
	v := n.ledger.view(0, n.spec.Depth)
	tip, final := n.ledger.blocks[v.tip], n.ledger.blocks[v.final]
	return object{"slot": tip.Slot, "height": tip.Height, "final": final.Slot, "finalHeight": final.Height}
}

func (n *Node) submit(raws [][]byte, first bool) error {
	for _, raw := range raws {
		tx, err := sol.TransactionFromBytes(raw)
		if err != nil || len(tx.Signatures) == 0 {
			return errors.Join(errors.New("that is no transaction"), err)
		}
		n.enqueue(waiting{tx.Signatures[0].String(), raw}, first)
	}
	return nil
}

// pay signs instructions with the faucet's key, and others, and lets them wait. No two
// of them are the same transaction.
func (n *Node) pay(keys []sol.PrivateKey, all ...sol.Instruction) (string, error) {
	keys = append(keys, n.faucet)
	hash, err := sol.HashFromBase58(n.ledger.last().Hash)
	if err != nil {
		return "", err
	}
	all = append([]sol.Instruction{budget.NewSetComputeUnitPriceInstruction(uint64(len(n.queue))).Build()}, all...)
	tx, err := sol.NewTransaction(all, hash, sol.TransactionPayer(n.faucet.PublicKey()))
	if err != nil {
		return "", err
	}
	if _, err := tx.Sign(func(k sol.PublicKey) *sol.PrivateKey {
		for i := range keys {
			if keys[i].PublicKey() == k {
				return &keys[i]
			}
		}
		return nil
	}); err != nil {
		return "", err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return "", err
	}
	sig := tx.Signatures[0].String()
	n.enqueue(waiting{sig, raw}, false)
	return sig, nil
}

func (n *Node) fund(f funding) (string, error) {
	to, err := sol.PublicKeyFromBase58(f.Address)
	if err != nil {
		return "", err
	}
	return n.pay(nil, system.NewTransferInstruction(f.Amount, n.faucet.PublicKey(), to).Build())
}

// token makes a token; its name decides its mint, so that it is made once.
func (n *Node) token(ctx context.Context, name string, decimals uint8) (any, error) {
	seed := sha256.Sum256([]byte("token " + name))
	key := sol.PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
	mint, faucet := key.PublicKey(), n.faucet.PublicKey()
	var there struct{ Value json.RawMessage }
	if err := n.svm.call(ctx, &there, "getAccountInfo", mint.String(), object{"encoding": "base64", "commitment": "processed"}); err != nil {
		return nil, err
	}
	if string(there.Value) != "null" {
		return object{"mint": mint.String()}, nil
	}
	const size, rent = 82, 1_461_600
	_, err := n.pay([]sol.PrivateKey{key},
		system.NewCreateAccountInstruction(rent, size, sol.TokenProgramID, faucet, mint).Build(),
		token.NewInitializeMint2InstructionBuilder().SetDecimals(decimals).SetMintAuthority(faucet).SetMintAccount(mint).Build())
	return object{"mint": mint.String()}, err
}

func (n *Node) mint(m minting) (string, error) {
	mint, err := sol.PublicKeyFromBase58(m.Mint)
	if err != nil {
		return "", err
	}
	owner, err := sol.PublicKeyFromBase58(m.Owner)
	if err != nil {
		return "", err
	}
	faucet := n.faucet.PublicKey()
	account, _, err := sol.FindAssociatedTokenAddress(owner, mint)
	if err != nil {
		return "", err
	}
	return n.pay(nil,
		ata.NewCreateIdempotentInstruction(faucet, owner, mint).Build(),
		token.NewMintToInstruction(m.Amount, mint, account, faucet, nil).Build())
}
