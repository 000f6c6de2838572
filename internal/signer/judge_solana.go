package signer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"ferry/internal/chain"
	"ferry/internal/money"
)

func (s *solanaShelf) tokens(raw []byte) ([]string, error) {
	tx, err := solana.TransactionFromBytes(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	message, err := tx.Message.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return solanaTokens(message), nil
}

// solanaTokens: a transaction uses up nothing but itself, and any two may both land.
func solanaTokens(message []byte) []string {
	sum := sha256.Sum256(message)
	return []string{"message:" + hex.EncodeToString(sum[:])}
}

func (s *solanaShelf) judge(m matter) (verdict, error) {
	tx, message, err := readSolana(m.paper.Unsigned)
	if err != nil {
		return verdict{}, err
	}
	if m.act == cancel {
		return verdict{}, refuse(Method, "nothing can be used up here; an attempt ends by its time")
	}
	if err := s.signers(m, tx); err != nil {
		return verdict{}, err
	}
	deed, err := readDeed(&tx.Message)
	if err != nil {
		return verdict{}, err
	}
	if err := s.deed(m, deed); err != nil {
		return verdict{}, err
	}
	fee, err := deed.fee(len(tx.Signatures))
	return verdict{fee: money.FromUint64(fee), tokens: solanaTokens(message)}, err
}

// signers: the hot account pays the fee; beside it only named deposit addresses sign.
func (s *solanaShelf) signers(m matter, tx *solana.Transaction) error {
	if len(m.paper.Keys) != len(tx.Signatures) {
		return refuse(WrongKeys, "%d keys for %d signatures", len(m.paper.Keys), len(tx.Signatures))
	}
	for i, k := range m.paper.Keys {
		a, err := s.address(k)
		if err != nil {
			return err
		}
		_, named := m.source(k)
		switch {
		case a.Text() != tx.Message.AccountKeys[i].String():
			return refuse(WrongKeys, "signature %d does not belong to the key %q %d", i, k.Account, k.Index)
		case (i == 0) != (k.Account == Hot), i > 0 && (m.act != sweep || !named):
			return refuse(WrongKeys, "the key %q %d may not be signature %d", k.Account, k.Index, i)
		}
	}
	return nil
}

// deed compares what a transaction does with what was wished.
func (s *solanaShelf) deed(m matter, d solDeed) error {
	call := m.wish.Call
	hot, to, err := s.points(m)
	if err != nil {
		return err
	}
	wanted := []solWant{{from: hot, to: to, amount: call.Amount}}
	if m.act == sweep {
		wanted = nil
		for _, src := range call.Sources {
			from, err := solana.PublicKeyFromBase58(src.Address.Text())
			if err != nil {
				return refuse(WrongKeys, "the source %s is no account", src.Address.Text())
			}
			wanted = append(wanted, solWant{from: from, to: hot, amount: src.Amount})
		}
	}
	if len(d.moves) != len(wanted) {
		return refuse(Amount, "it moves something %d times and not %d times", len(d.moves), len(wanted))
	}
	if call.Asset.IsNative() {
		if len(d.makes)+len(d.shuts) != 0 {
			return refuse(Method, "it opens or closes accounts of tokens")
		}
		return coinsMoved(d.moves, wanted)
	}
	mint, err := solana.PublicKeyFromBase58(call.Asset.Ref)
	if err != nil {
		return refuse(Method, "there is no token %s", call.Asset.Ref)
	}
	return tokensMoved(d, wanted, mint, hot)
}

// points are our account and the recipient as keys.
func (s *solanaShelf) points(m matter) (hot, to solana.PublicKey, err error) {
	if hot, err = solana.PublicKeyFromBase58(m.hot.Text()); err != nil {
		return hot, to, err
	}
	if to, err = solana.PublicKeyFromBase58(m.wish.Call.To.Text()); err != nil || m.wish.Call.To.Family() != chain.Solana {
		return hot, to, refuse(Recipient, "%s is no account", m.wish.Call.To.Text())
	}
	return hot, to, nil
}

// solWant is one movement that was wished, between wallets.
type solWant struct {
	from, to solana.PublicKey
	amount   money.Amount
}

func (w solWant) same(amount uint64) error {
	if money.FromUint64(amount) != w.amount {
		return refuse(Amount, "it moves %d and not %s", amount, w.amount)
	}
	return nil
}

// coinsMoved: each wished movement of SOL is there once, and nothing else.
func coinsMoved(moves []solMove, wanted []solWant) error {
	for _, w := range wanted {
		i := slices.IndexFunc(moves, func(m solMove) bool { return m.mint.IsZero() && m.program.IsZero() && m.from == w.from })
		switch {
		case i < 0:
			return refuse(WrongKeys, "it moves nothing from %s", w.from)
		case moves[i].to != w.to:
			return refuse(Recipient, "it pays %s and not %s", moves[i].to, w.to)
		}
		if err := w.same(moves[i].amount); err != nil {
			return err
		}
	}
	return nil
}

// tokensMoved: each wished movement of the token is there once, between the wallets'
// own token accounts; accounts are opened only for who is paid, and closed only when
// they were emptied into ours.
func tokensMoved(d solDeed, wanted []solWant, mint, hot solana.PublicKey) error {
	program := d.moves[0].program
	from, to := map[solana.PublicKey]solana.PublicKey{}, wanted[0].to
	for _, w := range wanted {
		source, err := tokenAccount(w.from, mint, program)
		if err != nil {
			return err
		}
		target, err := tokenAccount(w.to, mint, program)
		if err != nil {
			return err
		}
		from[source] = w.from
		i := slices.IndexFunc(d.moves, func(m solMove) bool { return m.from == source })
		switch {
		case i < 0:
			return refuse(WrongKeys, "it moves nothing from the token account of %s", w.from)
		case d.moves[i].mint != mint || d.moves[i].program != program || program.IsZero():
			return refuse(Method, "it moves another token")
		case d.moves[i].authority != w.from:
			return refuse(WrongKeys, "it is not %s who moves its token", w.from)
		case d.moves[i].to != target:
			return refuse(Recipient, "it pays the token account %s and not that of %s", d.moves[i].to, w.to)
		}
		if err := w.same(d.moves[i].amount); err != nil {
			return err
		}
	}
	for i, mk := range d.makes {
		account, err := tokenAccount(to, mint, program)
		if err != nil {
			return err
		}
		if i > 0 || mk != (solMake{payer: hot, account: account, owner: to, mint: mint, program: program}) {
			return refuse(Method, "it opens an account that nobody is paid to")
		}
	}
	for _, sh := range d.shuts {
		owner, emptied := from[sh.account]
		if !emptied || owner == hot || sh.owner != owner || sh.to != hot || sh.program != program {
			return refuse(Method, "it closes an account that was not emptied for us")
		}
	}
	return nil
}
