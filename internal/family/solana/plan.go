package solana

import (
	"context"
	"fmt"

	sol "github.com/gagliardetto/solana-go"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// plan is what a call comes to: instructions without prices, and what they need.
type plan struct {
	payer  sol.PublicKey
	steps  []sol.Instruction
	keys   map[sol.PublicKey]chain.Key // who signs
	units  uint64                      // of computing, at most
	rent   uint64                      // for accounts that are made
	spends uint64                      // lamports of the payer beyond fee and rent
	holds  *listing                    // the token that the payer must have, if it is one
	needs  uint64                      // how much of it
}

// What instructions cost in units of computing, with head-room. The real virtual
// machine takes 150 for a transfer and for each price that is set, some 6,200 for a
// checked token transfer, and some 25,000 to make an account, which looks for its address.
const (
	unitsBase     = 1_000
	unitsTransfer = 300
	unitsToken    = 12_000
	unitsMake     = 70_000
)

func refused(why string, args ...any) error {
	return fmt.Errorf("%w: %s", send.ErrRefused, fmt.Sprintf(why, args...))
}

// plan judges a call and turns it into instructions. A cancel pays nobody.
func (c *Chain) plan(ctx context.Context, call chain.Call, cancel bool) (*plan, error) {
	own, ok := c.own[call.From]
	switch {
	case call.Chain != c.cfg.ID || call.Asset.Chain != c.cfg.ID:
		return nil, refused("it is for another chain")
	case !ok:
		return nil, refused("the account is not ours")
	case len(call.Data) > 0:
		return nil, refused("programs are not called from here")
	}
	p := &plan{payer: own, keys: map[sol.PublicKey]chain.Key{own: {Account: call.From}}, units: unitsBase}
	to, err := pubkey(call.To)
	if err != nil {
		return nil, refused("the recipient is no Solana address")
	}
	amount, fits := call.Amount.Uint64()
	switch {
	case !fits:
		return nil, refused("there is not so much of anything")
	case len(call.Sources) > 0:
		return p, c.planSweep(ctx, p, call, to)
	case cancel:
		if to != own || amount != 0 {
			return nil, refused("a cancel pays nobody")
		}
		p.add(system.NewTransferInstruction(0, own, own).Build(), unitsTransfer)
		return p, nil
	case amount == 0:
		return nil, refused("it would pay nothing")
	case call.Asset.IsNative():
		return p, c.planSOL(ctx, p, to, amount)
	}
	l, err := c.listed(ctx, call.Asset)
	if err != nil {
		return nil, err
	}
	return p, c.planToken(ctx, p, l, to, amount)
}

func (p *plan) add(i sol.Instruction, units uint64) {
	p.steps, p.units = append(p.steps, i), p.units+units
}

func (c *Chain) planSOL(ctx context.Context, p *plan, to sol.PublicKey, amount uint64) error {
	if err := c.wallet(ctx, to); err != nil {
		return err
	}
	rent, err := c.rent(ctx, 0)
	if err != nil {
		return err
	}
	if amount < rent { // then it depends on what is there already
		has, err := c.lamports(ctx, to)
		if err != nil {
			return err
		}
		if has < rent-amount {
			return refused("the recipient would have less than the %d lamports that an account needs", rent)
		}
	}
	p.spends = amount
	p.add(system.NewTransferInstruction(amount, p.payer, to).Build(), unitsTransfer)
	return nil
}

func (c *Chain) planToken(ctx context.Context, p *plan, l listing, to sol.PublicKey, amount uint64) error {
	if err := c.wallet(ctx, to); err != nil {
		return err
	}
	if to == p.payer {
		return refused("it would pay ourselves")
	}
	home, err := c.makeHome(ctx, p, l, to)
	if err != nil {
		return err
	}
	from, err := l.account(p.payer)
	if err != nil {
		return err
	}
	p.holds, p.needs = &l, amount
	p.add(transferUnits(l, amount, from, home, p.payer), unitsToken)
	return nil
}

// makeHome makes sure that somebody has an account of a token. It is no error if
// another makes it first.
func (c *Chain) makeHome(ctx context.Context, p *plan, l listing, owner sol.PublicKey) (sol.PublicKey, error) {
	home, missing, err := c.tokenHome(ctx, l, owner)
	if err != nil || !missing {
		return home, err
	}
	rent, err := c.rent(ctx, l.size())
	if err != nil {
		return home, err
	}
	p.rent += rent
	p.add(ata.NewCreateIdempotentInstructionWithTokenProgram(p.payer, owner, l.mint, l.program).Build(), unitsMake)
	return home, nil
}

// transferUnits names mint and decimals too, so that nothing else can be moved by it.
func transferUnits(l listing, amount uint64, from, to, owner sol.PublicKey) sol.Instruction {
	i := token.NewTransferCheckedInstruction(amount, uint8(l.Decimals), from, l.mint, to, owner, nil).Build() //nolint:gosec // checked when it was listed
	if l.program == sol.TokenProgramID {
		return i
	}
	data, err := i.Data()
	if err != nil { // an instruction that was built has data
		return i
	}
	return sol.NewInstruction(l.program, i.Accounts(), data)
}

// affords is an error if the account cannot pay for the plan at a fee.
func (c *Chain) affords(ctx context.Context, p *plan, fee money.Amount) error {
	n, fits := fee.Uint64() // with the rent
	need := p.spends + n
	if !fits || need < n {
		return send.ErrNoFunds
	}
	has, err := c.spendable(ctx, p.payer)
	if err != nil {
		return err
	}
	if has < need {
		return fmt.Errorf("%w: %d lamports can be spent, and %d are needed", send.ErrNoFunds, has, need)
	}
	if p.holds == nil {
		return nil
	}
	units, err := c.units(ctx, *p.holds, p.payer)
	if err != nil {
		return err
	}
	if units < p.needs {
		return fmt.Errorf("%w: there are %d units, and %d are needed", send.ErrNoFunds, units, p.needs)
	}
	return nil
}
