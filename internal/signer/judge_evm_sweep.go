package signer

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// sweepMethod is the one method of the sweeper: a token, or the zero address for the
// chain's own coin, then deposit addresses and what is taken from each.
const sweepMethod = "sweep(address,address[],uint256[])"

// judgeSweep is one call of the sweeper's own method that names what was wished, with
// authorizations of named deposit addresses to that sweeper and to nobody else.
func (s *evmShelf) judgeSweep(m matter, tx *types.Transaction) error {
	switch {
	case m.sweeper.IsZero():
		return refuse(Method, "no sweeper is configured for %s", m.paper.Chain)
	case evmAddress(*tx.To()) != m.sweeper:
		return refuse(Recipient, "it calls %s and not the sweeper", evmAddress(*tx.To()).Text())
	case tx.Value().Sign() != 0:
		return refuse(Amount, "it sends %s of the chain's own coin along", tx.Value())
	}
	want, err := sweepCall(m.wish.Call)
	if err != nil {
		return err
	}
	if !bytes.Equal(tx.Data(), want) {
		return refuse(Method, "it does not sweep what was wished")
	}
	auths, keys := tx.SetCodeAuthorizations(), m.paper.Keys[1:]
	if len(auths) != len(keys) {
		return refuse(WrongKeys, "%d keys for %d authorizations", len(keys), len(auths))
	}
	for i, a := range auths {
		_, named := m.source(keys[i])
		switch {
		case !named || slices.Contains(keys[:i], keys[i]):
			return refuse(WrongKeys, "the sweep does not name the key %q %d, or it signs twice", keys[i].Account, keys[i].Index)
		case evmAddress(a.Address) != m.sweeper:
			return refuse(Method, "it authorises %s and not the sweeper", evmAddress(a.Address).Text())
		case !a.ChainID.IsUint64() || a.ChainID.Uint64() != s.number:
			return refuse(WrongChain, "it authorises on the chain %s", a.ChainID.String()) // 0 would be every chain
		}
	}
	return nil
}

// sweepCall writes the call that a sweep must be, by the rules of the ABI.
func sweepCall(c chain.Call) ([]byte, error) {
	token := make([]byte, 20)
	if !c.Asset.IsNative() {
		var err error
		if token, err = evmBytes(c.Asset.Ref); err != nil {
			return nil, refuse(Method, "there is no token %s", c.Asset.Ref)
		}
	}
	n := uint64(len(c.Sources))
	out := crypto.Keccak256([]byte(sweepMethod))[:4]
	out = append(out, word(token)...)
	out = append(out, number(3*32)...)          // where the addresses begin
	out = append(out, number(3*32+(1+n)*32)...) // where the amounts begin
	out = append(out, number(n)...)
	for _, src := range c.Sources {
		from, err := evmBytes(src.Address.Text())
		if err != nil {
			return nil, refuse(WrongKeys, "the source %s is no account", src.Address.Text())
		}
		out = append(out, word(from)...)
	}
	out = append(out, number(n)...)
	for _, src := range c.Sources {
		out = append(out, amountWord(src.Amount)...)
	}
	return out, nil
}

func evmBytes(text string) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil || len(b) != 20 || len(text) != 42 {
		return nil, fmt.Errorf("%q is no account", text)
	}
	return b, nil
}

// word fills bytes up from the left.
func word(b []byte) []byte { return append(make([]byte, 32-len(b)), b...) }

func number(n uint64) []byte { return word(binary.BigEndian.AppendUint64(nil, n)) }

func amountWord(a money.Amount) []byte {
	n, _ := new(big.Int).SetString(a.String(), 10) // an amount is always a number
	return word(n.Bytes())
}
