package signer

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"ferry/internal/chain"
)

// solanaShelf is the keys of one Solana cluster. The hot account has the path that
// wallets give their first one, m/44'/501'/0'/0'; deposits have m/44'/501'/1'/index'.
type solanaShelf struct{ branches [2]edNode }

func newSolanaShelf(seed []byte) shelf {
	coin := edMaster(seed).at(44, 501)
	return &solanaShelf{branches: [2]edNode{coin.child(0), coin.child(1)}}
}

func (s *solanaShelf) key(k chain.Key) (ed25519.PrivateKey, error) {
	account, index, err := place(k)
	if err != nil {
		return nil, err
	}
	return s.branches[account].child(index).private(), nil
}

func (s *solanaShelf) address(k chain.Key) (chain.Address, error) {
	key, err := s.key(k)
	if err != nil {
		return chain.Address{}, err
	}
	return chain.CanonicalAddress(chain.Solana, solanaKey(key).String()), nil
}

func solanaKey(key ed25519.PrivateKey) solana.PublicKey {
	return solana.PublicKeyFromBytes(key.Public().(ed25519.PublicKey))
}

// readSolana reads a transaction with empty signatures, in its only encoding, and
// gives the bytes of its message, which are what is signed.
func readSolana(unsigned []byte) (*solana.Transaction, []byte, error) {
	tx, err := solana.TransactionFromBytes(unsigned)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if v := tx.Message.GetVersion(); v != solana.MessageVersionLegacy && v != solana.MessageVersionV0 {
		return nil, nil, fmt.Errorf("%w: a message of an unknown version", ErrUnreadable)
	}
	if len(tx.Signatures) != int(tx.Message.Header.NumRequiredSignatures) || len(tx.Signatures) > len(tx.Message.AccountKeys) {
		return nil, nil, fmt.Errorf("%w: %d places for %d signatures", ErrUnreadable, len(tx.Signatures), tx.Message.Header.NumRequiredSignatures)
	}
	for _, sig := range tx.Signatures {
		if !sig.IsZero() {
			return nil, nil, fmt.Errorf("%w: it is signed already", ErrUnreadable)
		}
	}
	if again, err := tx.MarshalBinary(); err != nil || !bytes.Equal(again, unsigned) {
		return nil, nil, fmt.Errorf("%w: it is not in its only encoding", ErrUnreadable)
	}
	message, err := tx.Message.MarshalBinary()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return tx, message, nil
}

func (s *solanaShelf) sign(unsigned []byte, keys []chain.Key) ([]byte, error) {
	tx, message, err := readSolana(unsigned)
	if err != nil {
		return nil, err
	}
	if len(keys) != len(tx.Signatures) {
		return nil, fmt.Errorf("%w: %d keys for %d signatures", ErrUnreadable, len(keys), len(tx.Signatures))
	}
	for i, k := range keys {
		key, err := s.key(k)
		if err != nil {
			return nil, err
		}
		if solanaKey(key) != tx.Message.AccountKeys[i] {
			return nil, fmt.Errorf("%w: signature %d does not belong to the key %q %d", ErrUnreadable, i, k.Account, k.Index)
		}
		tx.Signatures[i] = solana.SignatureFromBytes(ed25519.Sign(key, message))
	}
	return tx.MarshalBinary()
}
