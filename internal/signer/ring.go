package signer

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"ferry/internal/chain"
)

// Hot is the account that pays; the other one is chain.DepositKeys.
const Hot chain.Account = "hot"

// Net is what keys and addresses depend on.
type Net struct {
	Family chain.Family
	// Network is one of Bitcoin's: mainnet, testnet, signet or regtest. It is empty
	// for the other families.
	Network string
}

// Errors of a Ring.
var (
	// ErrUnknownKey: there is no such chain, account or index.
	ErrUnknownKey = errors.New("signer: no such key")
	// ErrUnreadable: a paper is not a transaction of its family, whole and without
	// signatures, or its keys are not those that must sign it.
	ErrUnreadable = errors.New("signer: the paper cannot be read")
)

// Ring is all keys that a seed gives on some chains. It signs without judging. It is
// safe for concurrent use.
type Ring struct{ shelves map[chain.ID]shelf }

// shelf is the keys on one chain.
type shelf interface {
	// address is that of a key, in its family's canonical form.
	address(k chain.Key) (chain.Address, error)
	// sign signs an unsigned transaction with keys in the family's order.
	sign(unsigned []byte, keys []chain.Key) ([]byte, error)
	// judge reads a paper again and refuses what its wish does not ask for.
	judge(m matter) (verdict, error)
	// tokens are what a signed transaction uses up.
	tokens(raw []byte) ([]string, error)
}

// NewRing makes the ring of a BIP-39 seed. The seed is not kept.
func NewRing(seed []byte, nets map[chain.ID]Net) (*Ring, error) {
	r := &Ring{shelves: make(map[chain.ID]shelf, len(nets))}
	for id, n := range nets {
		s, err := newShelf(seed, id, n)
		if err != nil {
			return nil, fmt.Errorf("signer: keys of %s: %w", id, err)
		}
		r.shelves[id] = s
	}
	return r, nil
}

func newShelf(seed []byte, id chain.ID, n Net) (shelf, error) {
	if n.Family != chain.Bitcoin && n.Network != "" {
		return nil, fmt.Errorf("a chain of family %q has no network %q", n.Family, n.Network)
	}
	switch n.Family {
	case chain.EVM:
		return newEVMShelf(seed, id)
	case chain.Bitcoin:
		return newBitcoinShelf(seed, n.Network)
	case chain.Solana:
		return newSolanaShelf(seed), nil
	default:
		return nil, fmt.Errorf("no keys for the family %q", n.Family)
	}
}

// Address is the address of a key.
func (r *Ring) Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error) {
	if err := ctx.Err(); err != nil {
		return chain.Address{}, err
	}
	s, ok := r.shelves[id]
	if !ok {
		return chain.Address{}, fmt.Errorf("chain %s: %w", id, ErrUnknownKey)
	}
	return s.address(k)
}

// Sign signs a paper and gives the transaction's bytes as the network takes them.
func (r *Ring) Sign(ctx context.Context, p chain.Paper) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, ok := r.shelves[p.Chain]
	if !ok {
		return nil, fmt.Errorf("chain %s: %w", p.Chain, ErrUnknownKey)
	}
	return s.sign(p.Unsigned, p.Keys)
}

// Format hides the keys from every verb of fmt.
func (r *Ring) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[keys]")) }

// place is where a key hangs: below which branch, and at which index.
func place(k chain.Key) (account, index uint32, err error) {
	switch {
	case k.Account == Hot && k.Index == 0:
		return 0, 0, nil
	case k.Account == chain.DepositKeys && k.Index < hardened:
		return 1, k.Index, nil
	default:
		return 0, 0, fmt.Errorf("key %q %d: %w", k.Account, k.Index, ErrUnknownKey)
	}
}

// branches are the two nodes of secp256k1 keys below which all keys of a chain hang:
// m/purpose'/coin'/account'/0 for the hot account 0 and the deposits' account 1. The
// hot key is in nearly every paper and is derived once.
type branches struct {
	nodes [2]*hdkeychain.ExtendedKey
	hot   *btcec.PrivateKey
}

func newBranches(seed []byte, purpose, coin uint32) (b branches, err error) {
	// The parameters only colour the text of extended keys, which is never written.
	master, err := hdkeychain.NewMaster(seed, &chaincfg.MainNetParams)
	if err != nil {
		return b, fmt.Errorf("master key: %w", err)
	}
	for account := range b.nodes {
		n := master
		for _, i := range []uint32{purpose | hardened, coin | hardened, uint32(account) | hardened, 0} { //nolint:gosec // 0 or 1
			if n, err = n.Derive(i); err != nil {
				return b, fmt.Errorf("branch key: %w", err)
			}
		}
		// The library computes a node's public key when it is first needed and keeps
		// it without a lock: it is made here, before several callers derive from it.
		if _, err = n.ECPubKey(); err != nil {
			return b, fmt.Errorf("branch key: %w", err)
		}
		b.nodes[account] = n
	}
	b.hot, err = b.derive(0, 0)
	return b, err
}

func (b branches) key(k chain.Key) (*btcec.PrivateKey, error) {
	account, index, err := place(k)
	if err != nil || account == 0 {
		return b.hot, err
	}
	return b.derive(account, index)
}

func (b branches) derive(account, index uint32) (*btcec.PrivateKey, error) {
	n, err := b.nodes[account].Derive(index)
	if err != nil {
		return nil, fmt.Errorf("key %d/%d: %w", account, index, err)
	}
	return n.ECPrivKey()
}
