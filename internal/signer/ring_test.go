package signer_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"testing"

	"github.com/tyler-smith/go-bip39"

	"ferry/internal/chain"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/evm"
	"ferry/internal/family/solana"
	"ferry/internal/signer"
)

const (
	ether   chain.ID = "eip155:1"
	coins   chain.ID = "bip122:000000000019d6689c085ae165831e93"
	regtest chain.ID = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328"
	cluster chain.ID = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"

	// about is the mnemonic with which BIP-84 and wallets publish what they derive.
	about = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
	// junk is the one whose accounts every Ethereum developer has seen.
	junk = "test test test test test test test test test test test junk"
)

var nets = map[chain.ID]signer.Net{
	ether: {Family: chain.EVM}, coins: {Family: chain.Bitcoin, Network: "mainnet"},
	regtest: {Family: chain.Bitcoin, Network: "regtest"}, cluster: {Family: chain.Solana},
}

func hotKey() chain.Key             { return chain.Key{Account: signer.Hot} }
func depositKey(i uint32) chain.Key { return chain.Key{Account: chain.DepositKeys, Index: i} }
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ringOf(t *testing.T, mnemonic string) *signer.Ring {
	t.Helper()
	r, err := signer.NewRing(bip39.NewSeed(mnemonic, ""), nets)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAddresses compares with what BIP-84 and other wallets publish.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, mnemonic string
		id             chain.ID
		key            chain.Key
		want           string
	}{
		{"bip84 first", about, coins, hotKey(), "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		{"ethereum first", junk, ether, hotKey(), "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"},
		{"ethereum about", about, ether, hotKey(), "0x9858effd232b4033e47d90003d41ec34ecaeda94"},
		{"solana first", about, cluster, hotKey(), "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk"},
		{"solana deposits", about, cluster, depositKey(0), "Hh8QwFUA6MtVu1qAoq12ucvFHNwCcVTV7hpWjeY1Hztb"},
		{"bip84 testnet coin", about, regtest, hotKey(), "bcrt1q6rz28mcfaxtmd6v789l9rrlrusdprr9pz3cppk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := ringOf(t, c.mnemonic).Address(t.Context(), c.id, c.key)
			if err != nil || got.Text() != c.want {
				t.Errorf("address %q, %v; want %q", got.Text(), err, c.want)
			}
		})
	}
}

// TestCanonical: an address of the ring is the one that the family's codec makes of
// its own text, or the books would know one place by two names.
func TestCanonical(t *testing.T) {
	t.Parallel()
	mainnet, err := bitcoin.NewCodec(bitcoin.Mainnet)
	if err != nil {
		t.Fatal(err)
	}
	local, err := bitcoin.NewCodec(bitcoin.Regtest)
	if err != nil {
		t.Fatal(err)
	}
	ring := ringOf(t, about)
	for id, codec := range map[chain.ID]interface {
		Parse(s string) (chain.Address, error)
		Kind(a chain.Address) string
	}{ether: evm.Codec{}, coins: mainnet, regtest: local, cluster: solana.Codec{}} {
		seen := map[chain.Address]bool{}
		for i := range uint32(50) {
			k := depositKey(i)
			if i == 49 {
				k = hotKey()
			}
			got, err := ring.Address(t.Context(), id, k)
			if err != nil {
				t.Fatal(err)
			}
			same, err := codec.Parse(got.Text())
			if err != nil || same != got || seen[got] {
				t.Fatalf("%s key %v: address %q; the codec makes %q (%v); seen before: %v", id, k, got.Text(), same.Text(), err, seen[got])
			}
			if kind := codec.Kind(got); kind != "account" && kind != bitcoin.P2WPKH {
				t.Fatalf("%s: address %q is a %q", id, got.Text(), kind)
			}
			seen[got] = true
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, about)
	for _, c := range []struct {
		id  chain.ID
		key chain.Key
	}{
		{"eip155:2", hotKey()},
		{ether, chain.Key{Account: "cold"}},
		{ether, chain.Key{Account: signer.Hot, Index: 1}},
		{ether, chain.Key{}},
		{coins, depositKey(1 << 31)},
		{cluster, depositKey(1<<32 - 1)},
	} {
		if a, err := ring.Address(context.Background(), c.id, c.key); err == nil {
			t.Errorf("%s key %v has the address %q", c.id, c.key, a.Text())
		}
	}
	for id, n := range map[chain.ID]signer.Net{
		"eip155:x": {Family: chain.EVM}, "eip155:0": {Family: chain.EVM}, "bip122:1": {Family: chain.EVM},
		"bip122:2": {Family: chain.Bitcoin}, "bip122:3": {Family: chain.Bitcoin, Network: "main"},
		"solana:1": {Family: chain.Solana, Network: "mainnet"}, "sim:1": {Family: chain.Other}, "sim:2": {},
	} {
		if _, err := signer.NewRing(bytes.Repeat([]byte{1}, 64), map[chain.ID]signer.Net{id: n}); err == nil {
			t.Errorf("a ring was made for %s %v", id, n)
		}
	}
}
