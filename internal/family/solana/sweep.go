package solana

import (
	"context"
	"fmt"

	sol "github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"

	"ferry/internal/chain"
	"ferry/internal/send"
)

// mostBytes is how long a transaction can be.
const mostBytes = 1232

// How many deposit addresses fit into one transaction: each signs.
const (
	maxSources      = 8
	maxTokenSources = 6
)

// MaxSources is how many deposit addresses can be emptied of an asset at a time.
func (c *Chain) MaxSources(a chain.Asset) int {
	if a.IsNative() {
		return maxSources
	}
	return maxTokenSources
}

// Whole reports whether an address is emptied whole or not at all: one with SOL may
// keep nothing of it that is too little to stay.
func (c *Chain) Whole(a chain.Asset) bool { return a.IsNative() }

// planSweep empties deposit addresses into the account, which pays for it: no address
// needs SOL of its own.
//
// Accounts of tokens stay open: one that is closed takes the whole sweep with it when
// anybody sends a unit there before it lands.
func (c *Chain) planSweep(ctx context.Context, p *plan, call chain.Call, to sol.PublicKey) error {
	if to != p.payer {
		return refused("what is brought home goes to the account itself")
	}
	if most := c.MaxSources(call.Asset); len(call.Sources) > most {
		return refused("%d deposit addresses do not fit into a transaction; %d do", len(call.Sources), most)
	}
	amounts, err := c.sources(ctx, p, call)
	if err != nil {
		return err
	}
	if call.Asset.IsNative() {
		return c.sweepSOL(ctx, p, amounts)
	}
	l, err := c.listed(ctx, call.Asset)
	if err != nil {
		return err
	}
	home, err := c.makeHome(ctx, p, l, p.payer)
	if err != nil {
		return err
	}
	for _, s := range amounts {
		has, err := c.units(ctx, l, s.key)
		if err != nil {
			return err
		}
		if has < s.amount {
			return refused("a deposit address has %d final units, and not %d", has, s.amount)
		}
		from, err := l.account(s.key)
		if err != nil {
			return err
		}
		p.add(transferUnits(l, s.amount, from, home, s.key), unitsToken)
	}
	return nil
}

// source is a deposit address with what is taken from it.
type source struct {
	key    sol.PublicKey
	amount uint64
}

// sources checks that every address is ours and once there, and that the sum is right.
func (c *Chain) sources(ctx context.Context, p *plan, call chain.Call) ([]source, error) {
	out := make([]source, 0, len(call.Sources))
	var sum uint64
	for _, s := range call.Sources {
		k := chain.Key{Account: chain.DepositKeys, Index: s.Index}
		addr, err := c.signer.Address(ctx, c.cfg.ID, k)
		if err != nil {
			return nil, fmt.Errorf("deposit address %d: %w", s.Index, err)
		}
		amount, fits := s.Amount.Uint64()
		key, err := pubkey(addr)
		if err != nil || addr != s.Address || !fits || amount == 0 {
			return nil, refused("a source is not the deposit address of its key, or has nothing")
		}
		if _, twice := p.keys[key]; twice {
			return nil, refused("a deposit address is there twice")
		}
		p.keys[key] = k
		out = append(out, source{key, amount})
		if sum += amount; sum < amount {
			return nil, refused("there is not so much of anything")
		}
	}
	if total, fits := call.Amount.Uint64(); !fits || total != sum {
		return nil, refused("the sources are not the sum")
	}
	return out, nil
}

// sweepSOL leaves an address either nothing, which closes it, or enough to stay. What is
// left is counted with what is not final yet: a lamport that came a moment ago has the
// chain refuse the transaction all the same.
func (c *Chain) sweepSOL(ctx context.Context, p *plan, all []source) error {
	rent, err := c.rent(ctx, 0)
	if err != nil {
		return err
	}
	for _, s := range all {
		final, now, err := c.balances(ctx, s.key)
		if err != nil {
			return err
		}
		switch left := now - min(now, s.amount); {
		case min(final, now) < s.amount:
			return refused("a deposit address has %d final lamports, and not %d", min(final, now), s.amount)
		case left > 0 && left < rent:
			return refused("a deposit address would keep %d lamports, which is less than it needs to stay; they must be brought home too", left)
		}
		p.add(system.NewTransferInstruction(s.amount, s.key, p.payer).Build(), unitsTransfer)
	}
	return nil
}

// fits is an error for a transaction that no node takes.
func fits(raw []byte) error {
	if len(raw) > mostBytes {
		return fmt.Errorf("%w: it has %d bytes, and %d are the most", send.ErrRefused, len(raw), mostBytes)
	}
	return nil
}
