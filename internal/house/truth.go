package house

import (
	"context"
	"errors"
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/treasury"
)

// truth is a net as the treasury's own audit looks at it, without the nodes that may
// fail: whatever it finds is the books' fault.
type truth struct{ net *sim.Net }

// Head implements treasury.View.
func (v truth) Head(context.Context) (chain.Head, error) {
	return chain.Head{Tip: v.net.Tip(), Final: v.net.Final()}, nil
}

// errOrphan: the block that was asked about is on no branch that counts.
var errOrphan = errors.New("house: the block was orphaned")

// Balances implements treasury.View.
func (v truth) Balances(_ context.Context, spots []chain.Spot, at chain.Block) ([]money.Amount, error) {
	if !v.net.OnBranch(at.Hash) {
		return nil, errOrphan
	}
	out := make([]money.Amount, len(spots))
	for i, s := range spots {
		var err error
		if out[i], err = v.net.BalanceAt(at.Hash, s.Address, s.Asset); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Fate implements treasury.View.
func (v truth) Fate(_ context.Context, a chain.Attempt) (chain.Status, error) {
	l, landed := v.net.Landed(a.Tx)
	s := chain.Status{Fate: chain.Missing}
	if !landed {
		return s, nil
	}
	s = chain.Status{Fate: chain.Included, Block: l.Block, Fee: l.Fee}
	if l.Block.Height <= v.net.Final().Height {
		s.Fate = chain.Final
		if l.Reverted {
			s.Fate = chain.Reverted
		}
	}
	return s, nil
}

// Own implements treasury.View.
func (v truth) Own(from chain.Account) chain.Address { return v.net.Own(from) }

// checkTreasury lets the treasury's own audit find what this one finds.
func (r *round) checkTreasury() error {
	var all []treasury.Audited
	for _, n := range r.h.Nets {
		c := treasury.Audited{ID: n.ID(), View: truth{n}}
		for _, a := range r.h.Assets {
			if a.Chain == n.ID() {
				c.Assets = append(c.Assets, a)
			}
		}
		all = append(all, c)
	}
	for _, c := range all {
		auditor, err := treasury.NewAuditor(order.HotWallet, r.h.DB, c)
		if err != nil {
			return err
		}
		found, err := auditor.Audit(r.ctx)
		switch {
		case errors.Is(err, treasury.ErrUnread), errors.Is(err, errOrphan), errors.Is(err, sim.ErrTooDeep):
			r.out.Unread++ // a watcher that is behind, or a branch that it does not know yet
		case err != nil:
			return fmt.Errorf("audit of the treasury: %w", err)
		}
		for _, f := range found {
			r.out.Compared++
			if why := f.Missing() + f.Surplus(); why != "" {
				r.trouble("the treasury finds on %s at height %d: %s; %+v", f.Chain, f.At.Height, why, f.Lines)
			}
		}
	}
	return nil
}
