package solana

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	sol "github.com/gagliardetto/solana-go"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/system"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// gain is what came to one of our own accounts by a transaction.
type gain struct {
	chain.Deposit
	reason Reason // why it is not credited; empty is good
}

// home looks for a payment straight into our own account that says whom it is for: by
// the reference of an order among the accounts that it names. It counts only where
// exactly one order is named, and where nobody lost anything of the asset who did not
// sign for it: else whoever names an order could have what others pay us by the same
// transaction credited to it.
func (g gleaner) home(w *wireTx, out *gleaned) error {
	keys := w.Transaction.AccountKeys
	if !g.touched(w) || g.ours[keys[0].Pubkey] {
		return nil
	}
	var named []chain.Address
	for i := range keys {
		body, ok := read(keys[i].Pubkey)
		if to := chain.Reference(body).In(chain.Solana); ok && g.to.Has(to) {
			named = append(named, to)
		}
	}
	if len(named) == 0 {
		return nil
	}
	gains, err := g.gains(w, named[0])
	if err != nil {
		return err
	}
	for _, x := range gains {
		if len(named) == 1 {
			g.put(x.Deposit, x.reason, out)
			continue
		}
		for _, to := range named {
			x.To = to
			g.put(x.Deposit, SeveralOrders, out)
		}
	}
	return nil
}

// touched reports whether a transaction names an account of ours or one of its tokens.
func (g gleaner) touched(w *wireTx) bool {
	for i := range w.Transaction.AccountKeys {
		if g.ours[w.Transaction.AccountKeys[i].Pubkey] {
			return true
		}
	}
	return slices.ContainsFunc(w.Meta.PostTokenBalances, func(t wireToken) bool { return g.ours[t.Owner] })
}

// gains are what a transaction brought to accounts of ours, each judged.
func (g gleaner) gains(w *wireTx, to chain.Address) (all []gain, err error) {
	m, keys := w.Meta, w.Transaction.AccountKeys
	for i := range keys {
		if !g.ours[keys[i].Pubkey] || m.PostBalances[i] <= m.PreBalances[i] {
			continue
		}
		x := gain{Deposit: g.deposit(w, to, keys[i].Pubkey, g.id.Native())}
		x.Amount = money.FromUint64(m.PostBalances[i] - m.PreBalances[i])
		switch {
		case m.failed():
			x.reason = Failed
		case !w.lamportsSigned():
			x.reason = NotSigned
		}
		all = append(all, x)
	}
	for i := range m.PostTokenBalances {
		t := &m.PostTokenBalances[i]
		if !g.ours[t.Owner] {
			continue
		}
		x, err := g.unitsHome(w, t, to)
		if err != nil {
			return nil, err
		}
		if !x.Amount.IsZero() {
			all = append(all, x)
		}
	}
	return all, nil
}

// unitsHome judges what a transaction brought to a token account of ours.
func (g gleaner) unitsHome(w *wireTx, t *wireToken, to chain.Address) (gain, error) {
	account := w.Transaction.AccountKeys[t.AccountIndex].Pubkey
	x := gain{Deposit: g.deposit(w, to, account, chain.Asset{Chain: g.id, Ref: t.Mint})}
	post, err := strconv.ParseUint(t.Amount.Units, 10, 64)
	if err != nil {
		return x, fmt.Errorf("%w: an amount of a token", errTorn)
	}
	pre, before, err := earlier(w.Meta.PreTokenBalances, t)
	if err != nil || post <= pre {
		return x, err
	}
	x.Amount = money.FromUint64(post - pre)
	signed, err := w.unitsSigned(t.Mint)
	if err != nil {
		return x, err
	}
	x.reason = g.mint(t, chain.CanonicalAddress(chain.Solana, t.Owner), account)
	switch {
	case w.Meta.failed():
		x.reason = Failed
	case x.reason != "":
	case before != "" && before != t.Owner:
		x.reason = OwnerChanged
	case !signed:
		x.reason = NotSigned
	}
	return x, nil
}

// lamportsSigned reports whether whoever has fewer lamports has signed for it.
func (w *wireTx) lamportsSigned() bool {
	for i, k := range w.Transaction.AccountKeys {
		if w.Meta.PostBalances[i] < w.Meta.PreBalances[i] && !k.Signer {
			return false
		}
	}
	return true
}

// unitsSigned reports whether whoever has fewer units of a mint has signed for it, and
// none were made.
func (w *wireTx) unitsSigned(mint string) (bool, error) {
	signed := map[string]bool{}
	for _, k := range w.Transaction.AccountKeys {
		signed[k.Pubkey] = k.Signer
	}
	now, sum := map[int]uint64{}, new(big.Int)
	for i := range w.Meta.PostTokenBalances {
		t := &w.Meta.PostTokenBalances[i]
		if t.Mint != mint {
			continue
		}
		n, err := strconv.ParseUint(t.Amount.Units, 10, 64)
		if err != nil {
			return false, fmt.Errorf("%w: an amount of a token", errTorn)
		}
		now[t.AccountIndex] = n
		sum.Add(sum, new(big.Int).SetUint64(n))
	}
	for i := range w.Meta.PreTokenBalances {
		t := &w.Meta.PreTokenBalances[i]
		if t.Mint != mint {
			continue
		}
		n, err := strconv.ParseUint(t.Amount.Units, 10, 64)
		if err != nil {
			return false, fmt.Errorf("%w: an amount of a token", errTorn)
		}
		if now[t.AccountIndex] < n && !signed[t.Owner] {
			return false, nil
		}
		sum.Sub(sum, new(big.Int).SetUint64(n))
	}
	return sum.Sign() <= 0, nil
}

// Fund makes the transaction by which somebody pays straight into our account: a
// transfer that names the reference of the order beside what it needs. It has no
// signatures, and lands only while its blockhash is young.
func (c *Chain) Fund(ctx context.Context, due chain.Due) (chain.Funding, error) {
	from, err := pubkey(due.From)
	amount, whole := due.Amount.Uint64()
	if err != nil || !whole || amount == 0 || due.Asset.Chain != c.cfg.ID || c.ours[from.String()] {
		return chain.Funding{}, errors.New("solana: nobody pays, or nothing, or on another chain")
	}
	own, ok := c.own[hotAccount]
	if !ok {
		return chain.Funding{}, fmt.Errorf("%s: no account takes payments", c.cfg.ID)
	}
	p := &plan{payer: from, keys: map[sol.PublicKey]chain.Key{from: {}}, units: unitsBase}
	pay := sol.Instruction(system.NewTransferInstruction(amount, from, own).Build())
	units := uint64(unitsTransfer)
	if !due.Asset.IsNative() {
		if pay, err = c.payUnits(ctx, p, due.Asset, own, amount); err != nil {
			return chain.Funding{}, err
		}
		units = unitsToken
	}
	data, err := pay.Data()
	if err != nil {
		return chain.Funding{}, err
	}
	p.add(sol.NewInstruction(pay.ProgramID(), append(pay.Accounts(), sol.Meta(sol.PublicKey(due.For))), data), units)
	price, err := c.price(ctx, p)
	if err != nil {
		return chain.Funding{}, err
	}
	tip, err := c.tip(ctx)
	if err != nil {
		return chain.Funding{}, fmt.Errorf("recent block: %w", err)
	}
	tx, err := draft{plan: p, price: price, hash: tip.hash}.build(0)
	if err != nil {
		return chain.Funding{}, err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return chain.Funding{}, fmt.Errorf("write the transaction: %w", err)
	}
	return chain.Funding{Pay: chain.Request{Serialized: raw, ValidTo: tip.height + maxAge}}, fits(raw)
}

// hotAccount is the one that takes payments.
const hotAccount chain.Account = "hot"

// payUnits is a transfer of units to our account of a token, which is made where it is
// missing.
func (c *Chain) payUnits(ctx context.Context, p *plan, a chain.Asset, own sol.PublicKey, amount uint64) (sol.Instruction, error) {
	l, err := c.listed(ctx, a)
	if err != nil {
		return nil, err
	}
	home, missing, err := c.tokenHome(ctx, l, own)
	if err != nil {
		return nil, err
	}
	if missing {
		p.add(ata.NewCreateIdempotentInstructionWithTokenProgram(p.payer, own, l.mint, l.program).Build(), unitsMake)
	}
	from, err := l.account(p.payer)
	if err != nil {
		return nil, err
	}
	return transferUnits(l, amount, from, home, p.payer), nil
}
