package signer

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
)

// evmShelf is the keys of one EVM chain: m/44'/60'/account'/0/index.
type evmShelf struct {
	branches branches
	number   uint64
}

func newEVMShelf(seed []byte, id chain.ID) (shelf, error) {
	number, err := evmNumber(id)
	if err != nil {
		return nil, err
	}
	b, err := newBranches(seed, 44, 60)
	return &evmShelf{branches: b, number: number}, err
}

// evmNumber is the number of a chain, which stands in each of its transactions.
func evmNumber(id chain.ID) (uint64, error) {
	text, ok := strings.CutPrefix(string(id), "eip155:")
	n, err := strconv.ParseUint(text, 10, 64)
	if !ok || err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return 0, fmt.Errorf("%q is no EVM chain; its name is eip155: and its number", id)
	}
	return n, nil
}

func (s *evmShelf) key(k chain.Key) (*ecdsa.PrivateKey, error) {
	key, err := s.branches.key(k)
	if err != nil {
		return nil, err
	}
	return crypto.ToECDSA(key.Serialize())
}

func (s *evmShelf) address(k chain.Key) (chain.Address, error) {
	key, err := s.key(k)
	if err != nil {
		return chain.Address{}, err
	}
	return evmAddress(crypto.PubkeyToAddress(key.PublicKey)), nil
}

// evmAddress is the canonical form: lower case, since the checksum is for people.
func evmAddress(a common.Address) chain.Address {
	return chain.CanonicalAddress(chain.EVM, "0x"+hex.EncodeToString(a[:]))
}

// readEVM reads a typed transaction without signatures, in its only encoding.
func readEVM(unsigned []byte, number uint64) (*types.Transaction, error) {
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(unsigned); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if tx.Type() != types.DynamicFeeTxType && tx.Type() != types.SetCodeTxType {
		return nil, fmt.Errorf("%w: a transaction of type %d", ErrUnreadable, tx.Type())
	}
	if tx.ChainId().Cmp(new(big.Int).SetUint64(number)) != 0 {
		return nil, fmt.Errorf("%w: it is for chain %s and not for %d", ErrUnreadable, tx.ChainId(), number)
	}
	if v, r, s := tx.RawSignatureValues(); v.Sign() != 0 || r.Sign() != 0 || s.Sign() != 0 {
		return nil, fmt.Errorf("%w: it is signed already", ErrUnreadable)
	}
	for _, a := range tx.SetCodeAuthorizations() {
		if a.V != 0 || !a.R.IsZero() || !a.S.IsZero() {
			return nil, fmt.Errorf("%w: an authorization is signed already", ErrUnreadable)
		}
	}
	if again, err := tx.MarshalBinary(); err != nil || !bytes.Equal(again, unsigned) {
		return nil, fmt.Errorf("%w: it is not in its only encoding", ErrUnreadable)
	}
	return tx, nil
}

func (s *evmShelf) sign(unsigned []byte, keys []chain.Key) ([]byte, error) {
	tx, err := readEVM(unsigned, s.number)
	if err != nil {
		return nil, err
	}
	auths := tx.SetCodeAuthorizations()
	if len(keys) != 1+len(auths) {
		return nil, fmt.Errorf("%w: %d keys for a sender and %d authorizations", ErrUnreadable, len(keys), len(auths))
	}
	if tx.Type() == types.SetCodeTxType {
		if tx, err = s.authorise(tx, keys[1:]); err != nil {
			return nil, err
		}
	}
	key, err := s.key(keys[0])
	if err != nil {
		return nil, err
	}
	signed, err := types.SignTx(tx, types.LatestSignerForChainID(tx.ChainId()), key)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return signed.MarshalBinary()
}

// authorise gives each authorization the signature of its key.
func (s *evmShelf) authorise(tx *types.Transaction, keys []chain.Key) (*types.Transaction, error) {
	auths := tx.SetCodeAuthorizations()
	signed := make([]types.SetCodeAuthorization, len(auths))
	for i, a := range auths {
		key, err := s.key(keys[i])
		if err != nil {
			return nil, err
		}
		if signed[i], err = types.SignSetCode(key, a); err != nil {
			return nil, fmt.Errorf("sign authorization %d: %w", i, err)
		}
	}
	return types.NewTx(&types.SetCodeTx{
		ChainID: uint256.NewInt(s.number), Nonce: tx.Nonce(), Gas: tx.Gas(), To: *tx.To(), Data: tx.Data(),
		GasTipCap: uint256.MustFromBig(tx.GasTipCap()), GasFeeCap: uint256.MustFromBig(tx.GasFeeCap()),
		Value: uint256.MustFromBig(tx.Value()), AccessList: tx.AccessList(), AuthList: signed,
	}), nil
}
