package solana

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	sol "github.com/gagliardetto/solana-go"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/send"
)

// rent is the least that an account of a size must have to stay. It is a rule of the
// cluster and is asked for once.
func (c *Chain) rent(ctx context.Context, size uint64) (uint64, error) {
	c.mu.Lock()
	known, ok := c.rents[size]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	v, err := quorum.Same(c.pool.Rule(), rpc.All[uint64](ctx, c.pool, "getMinimumBalanceForRentExemption", size))
	if err != nil {
		return 0, fmt.Errorf("rent of %d bytes: %w", size, err)
	}
	c.mu.Lock()
	c.rents[size] = v
	c.mu.Unlock()
	return v, nil
}

// lamports is what an address has at least, as enough nodes say: the less of what is
// final and what is left of it now.
func (c *Chain) lamports(ctx context.Context, key sol.PublicKey) (uint64, error) {
	final, now, err := c.balances(ctx, key)
	return min(final, now), err
}

// balances are what an address has that is final, and what it has now.
func (c *Chain) balances(ctx context.Context, key sol.PublicKey) (final, now uint64, err error) {
	return c.both(ctx, func(ctx context.Context, n *rpc.Node, commitment string) (uint64, error) {
		var w struct {
			Value *uint64 `json:"value"`
		}
		if err := typed(n.Call(ctx, &w, "getBalance", key.String(), options{"commitment": commitment})); err != nil {
			return 0, err
		}
		if w.Value == nil {
			return 0, fmt.Errorf("%w: a balance", errTorn)
		}
		return *w.Value, nil
	})
}

// units is what a token account has at least, likewise; one that is not there has none.
func (c *Chain) units(ctx context.Context, l listing, owner sol.PublicKey) (uint64, error) {
	key, err := l.account(owner)
	if err != nil {
		return 0, err
	}
	final, now, err := c.both(ctx, func(ctx context.Context, n *rpc.Node, commitment string) (uint64, error) {
		w, data, err := accountOf(ctx, n, key, commitment)
		if err != nil || w == nil {
			return 0, err
		}
		t, ok := readToken(w, data)
		if !ok || !t.belongs(l, owner) {
			return 0, nil // what lies there is not ours to spend
		}
		return t.units, nil
	})
	return min(final, now), err
}

// both asks for what is final and for what is there now, as enough nodes say.
func (c *Chain) both(ctx context.Context, ask func(ctx context.Context, n *rpc.Node, commitment string) (uint64, error)) (final, now uint64, err error) {
	for commitment, v := range map[string]*uint64{finalized: &final, confirmed: &now} {
		*v, err = quorum.Reached(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (uint64, error) {
			return ask(ctx, n, commitment)
		}))
		if err != nil {
			return 0, 0, fmt.Errorf("balance at %s: %w", commitment, err)
		}
	}
	return final, now, nil
}

// Funds is what an account of ours can spend of an asset: what is final, without the
// rent that keeps the account.
func (c *Chain) Funds(ctx context.Context, from chain.Account, a chain.Asset) (money.Amount, error) {
	own, ok := c.own[from]
	if !ok || a.Chain != c.cfg.ID {
		return money.Amount{}, fmt.Errorf("%w: the account is not ours", send.ErrRefused)
	}
	if !a.IsNative() {
		l, err := c.listed(ctx, a)
		if err != nil {
			return money.Amount{}, err
		}
		n, err := c.units(ctx, l, own)
		return money.FromUint64(n), err
	}
	n, err := c.spendable(ctx, own)
	return money.FromUint64(n), err
}

func (c *Chain) spendable(ctx context.Context, own sol.PublicKey) (uint64, error) {
	rent, err := c.rent(ctx, 0)
	if err != nil {
		return 0, err
	}
	n, err := c.lamports(ctx, own)
	return n - min(n, rent), err
}

// listed is a token that is dealt in.
func (c *Chain) listed(ctx context.Context, a chain.Asset) (listing, error) {
	mint, err := sol.PublicKeyFromBase58(a.Ref)
	if err != nil {
		return listing{}, fmt.Errorf("%w: the token is not listed", send.ErrRefused)
	}
	if _, ok := c.mints[mint]; !ok {
		return listing{}, fmt.Errorf("%w: the token is not listed", send.ErrRefused)
	}
	all, err := c.judged(ctx)
	if err != nil {
		return listing{}, err
	}
	l := all[mint]
	if l.refused != nil {
		return listing{}, fmt.Errorf("%w: %w", send.ErrRefused, l.refused)
	}
	return l, nil
}

// tokenAccount is an account of a token.
type tokenAccount struct {
	program, mint, owner sol.PublicKey
	units                uint64
	usable               bool // it is neither frozen nor empty of meaning
}

// Where things stand in a token account's bytes.
const (
	ownerAt = 32
	unitsAt = 64
	stateAt = 108
)

func readToken(w *wireAccount, data []byte) (tokenAccount, bool) {
	program, err := sol.PublicKeyFromBase58(w.Owner)
	if err != nil || len(data) < tokenAccountSize {
		return tokenAccount{}, false
	}
	return tokenAccount{
		program: program, mint: sol.PublicKeyFromBytes(data[:ownerAt]), owner: sol.PublicKeyFromBytes(data[ownerAt:unitsAt]),
		units: binary.LittleEndian.Uint64(data[unitsAt:]), usable: data[stateAt] == 1,
	}, true
}

func (t tokenAccount) belongs(l listing, owner sol.PublicKey) bool {
	return t.program == l.program && t.mint == l.mint && t.owner == owner && t.usable
}

// recipient is what a payment finds at its destination.
type recipient struct {
	exists, payable bool
}

// wallet looks at an address that is to be paid: nobody's yet, or one that somebody
// holds with a key. What programs keep their things in is refused, since what is sent
// there may never come out.
func (c *Chain) wallet(ctx context.Context, to sol.PublicKey) error {
	r, err := c.look(ctx, to, func(w *wireAccount, data []byte) bool {
		return w.Owner == sol.SystemProgramID.String() && len(data) == 0
	})
	if err == nil && !r.payable {
		err = fmt.Errorf("%w: the recipient is not an account that can be paid", send.ErrRefused)
	}
	return err
}

// tokenHome looks at where a wallet has units of a mint, and says whether it must be made.
func (c *Chain) tokenHome(ctx context.Context, l listing, owner sol.PublicKey) (account sol.PublicKey, missing bool, err error) {
	account, err = l.account(owner)
	if err != nil {
		return account, false, fmt.Errorf("%w: the recipient can have no account of the token", send.ErrRefused)
	}
	r, err := c.look(ctx, account, func(w *wireAccount, data []byte) bool {
		t, ok := readToken(w, data)
		// Anybody can send lamports to an account that is not made yet.
		return (ok && t.belongs(l, owner)) || (w.Owner == sol.SystemProgramID.String() && len(data) == 0)
	})
	if err == nil && !r.payable {
		err = fmt.Errorf("%w: the recipient's account of the token is frozen or not his", send.ErrRefused)
	}
	return account, err == nil && !r.exists, err
}

func (c *Chain) look(ctx context.Context, key sol.PublicKey, good func(w *wireAccount, data []byte) bool) (recipient, error) {
	r, err := quorum.Same(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (recipient, error) {
		w, data, err := accountOf(ctx, n, key, confirmed)
		switch {
		case err != nil:
			return recipient{}, err
		case w == nil || w.Lamports == 0:
			return recipient{payable: true}, nil
		}
		made := len(data) > 0 || w.Owner != sol.SystemProgramID.String()
		return recipient{exists: made, payable: good(w, data)}, nil
	}))
	if errors.Is(err, quorum.ErrUnknown) {
		return r, fmt.Errorf("the recipient: %w", err)
	}
	return r, err
}
