package solana

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	sol "github.com/gagliardetto/solana-go"
	budget "github.com/gagliardetto/solana-go/programs/compute-budget"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/send"
)

const (
	// signatureFee is what each signature costs.
	signatureFee = 5_000
	// maxAge is for how many blocks above its own a blockhash is good.
	maxAge = 150
	// Two transactions of equal calls differ in how much they would compute and pay for
	// it: by less than these, which costs next to nothing.
	unitsSalt = 1 << 14
	priceSalt = 1 << 10
	millionth = 1_000_000
)

// Cost is what a call would cost now, with the rent of an account that it makes.
func (c *Chain) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	p, err := c.plan(ctx, call, false)
	if err != nil {
		return money.Amount{}, err
	}
	price, err := c.price(ctx, p)
	if err != nil {
		return money.Amount{}, err
	}
	return p.fee(price), nil
}

// fee is the most that a plan costs at a price.
func (p *plan) fee(price uint64) money.Amount {
	priority, err := money.FromUint64(price+priceSalt).MulDiv(money.FromUint64(p.units+unitsSalt), money.FromUint64(millionth), money.Up)
	if err == nil {
		var sum money.Amount
		if sum, err = money.Sum(priority, money.FromUint64(signatureFee*uint64(len(p.keys))), money.FromUint64(p.rent)); err == nil {
			return sum
		}
	}
	return money.FromUint64(^uint64(0))
}

// price is the going one for the accounts that a plan writes to: what a quarter of the
// blocks asked more than, by the middle of the nodes, within our bounds.
func (c *Chain) price(ctx context.Context, p *plan) (uint64, error) {
	type asked struct {
		Fee uint64 `json:"prioritizationFee"`
	}
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (uint64, error) {
		var all []asked
		if err := n.Call(ctx, &all, "getRecentPrioritizationFees", []string{p.payer.String()}); err != nil {
			return 0, typed(err)
		}
		if len(all) == 0 {
			return 0, nil
		}
		slices.SortFunc(all, func(a, b asked) int { return cmp.Compare(a.Fee, b.Fee) })
		return all[len(all)*3/4].Fee, nil
	})
	n, err := quorum.Middle(c.pool.Rule(), answers, func(a, b uint64) int { return cmp.Compare(a, b) })
	if err != nil {
		return 0, fmt.Errorf("priority price: %w", err)
	}
	return min(max(n, c.cfg.MinPrice), c.cfg.MaxPrice), nil
}

// Draft signs an attempt. Nothing is held by one, so any number can stand side by side.
func (c *Chain) Draft(ctx context.Context, call chain.Call, _ send.Held, most money.Amount) (chain.Attempt, error) {
	return c.attempt(ctx, call, most, false)
}

// Redraft signs another attempt once it is proven that the one before can never land.
func (c *Chain) Redraft(ctx context.Context, call chain.Call, prev chain.Attempt, most money.Amount) (chain.Attempt, error) {
	if _, err := decode(prev); err != nil {
		return chain.Attempt{}, err
	}
	height, err := c.number(ctx, "getBlockHeight", finalized)
	if err != nil {
		return chain.Attempt{}, err
	}
	if prev.Expires == 0 || height < prev.Expires {
		return chain.Attempt{}, send.ErrLive
	}
	st, err := c.Fate(ctx, prev) // after its time was over, and not before
	if err != nil {
		return chain.Attempt{}, err
	}
	if st.Fate != chain.Dead {
		return chain.Attempt{}, fmt.Errorf("%w: it is %v", send.ErrLive, st.Fate)
	}
	return c.attempt(ctx, call, most, call.Amount.IsZero())
}

func (c *Chain) attempt(ctx context.Context, call chain.Call, most money.Amount, cancel bool) (chain.Attempt, error) {
	p, err := c.plan(ctx, call, cancel)
	if err != nil {
		return chain.Attempt{}, err
	}
	price, err := c.price(ctx, p)
	if err != nil {
		return chain.Attempt{}, err
	}
	fee := p.fee(price)
	if most.Less(fee) {
		return chain.Attempt{}, fmt.Errorf("%w: %s lamports of %s", send.ErrTooDear, fee, most)
	}
	if err := c.affords(ctx, p, fee); err != nil {
		return chain.Attempt{}, err
	}
	// The height up to which it can land is counted from a block that enough nodes
	// show: one that lied about it could make us pay again while it still lands.
	tip, err := c.tip(ctx)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("recent block: %w", err)
	}
	a := chain.Attempt{Fee: fee, Expires: tip.height + maxAge + 1}
	for range 8 {
		if err := c.sign(ctx, &a, draft{p, price, tip.hash, call.For, cancel}); err != nil {
			return chain.Attempt{}, err
		}
		if c.recent.add(a.Tx) {
			return a, nil
		}
	}
	return chain.Attempt{}, errors.New("solana: no transaction could be made that was not made before")
}

// draft is a plan with what makes it a transaction.
type draft struct {
	*plan
	price  uint64
	hash   string
	wish   string
	cancel bool
}

// sign makes the transaction, has it signed, and looks at what came back.
func (c *Chain) sign(ctx context.Context, a *chain.Attempt, d draft) error {
	var salt [4]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return fmt.Errorf("randomness: %w", err)
	}
	tx, err := d.build(binary.LittleEndian.Uint32(salt[:]))
	if err != nil {
		return err
	}
	unsigned, err := tx.MarshalBinary()
	if err != nil {
		return fmt.Errorf("write the transaction: %w", err)
	}
	if err := fits(unsigned); err != nil {
		return err
	}
	paper := chain.Paper{Chain: c.cfg.ID, For: d.wish, Cancel: d.cancel, Unsigned: unsigned}
	for _, key := range tx.Message.AccountKeys[:tx.Message.Header.NumRequiredSignatures] {
		k, ok := d.keys[key]
		if !ok {
			return fmt.Errorf("solana: %s would have to sign", key)
		}
		paper.Keys = append(paper.Keys, k)
	}
	raw, err := c.signer.Sign(ctx, paper)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	signed, err := whole(raw)
	if err != nil {
		return fmt.Errorf("signed transaction: %w", err)
	}
	want, err := tx.Message.MarshalBinary()
	if err != nil {
		return err
	}
	if got, err := signed.Message.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
		return errors.New("solana: the signer signed something else")
	}
	a.Tx, a.Raw = chain.TxID(signed.Signatures[0].String()), raw
	return nil
}

// build makes the transaction with its price, and empty places for the signatures.
func (d draft) build(salt uint32) (*sol.Transaction, error) {
	hash, err := sol.HashFromBase58(d.hash)
	if err != nil {
		return nil, fmt.Errorf("blockhash: %w", err)
	}
	units := uint32(d.units) + salt%unitsSalt //nolint:gosec // some hundred thousand at most
	price := d.price + uint64(salt/unitsSalt%priceSalt)
	steps := append([]sol.Instruction{
		budget.NewSetComputeUnitLimitInstruction(units).Build(),
		budget.NewSetComputeUnitPriceInstruction(price).Build(),
	}, d.steps...)
	tx, err := sol.NewTransaction(steps, hash, sol.TransactionPayer(d.payer))
	if err != nil {
		return nil, fmt.Errorf("make the transaction: %w", err)
	}
	tx.Signatures = make([]sol.Signature, tx.Message.Header.NumRequiredSignatures)
	return tx, nil
}

// whole reads a signed transaction in its only encoding.
func whole(raw []byte) (*sol.Transaction, error) {
	tx, err := sol.TransactionFromBytes(raw)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if again, err := tx.MarshalBinary(); err != nil || !bytes.Equal(again, raw) {
		return nil, errors.New("it is not in its only encoding")
	}
	if len(tx.Signatures) == 0 || len(tx.Signatures) != int(tx.Message.Header.NumRequiredSignatures) {
		return nil, errors.New("signatures are missing")
	}
	if err := tx.VerifySignatures(); err != nil {
		return nil, fmt.Errorf("its signatures: %w", err)
	}
	return tx, nil
}

// decode reads the transaction of an attempt.
func decode(a chain.Attempt) (*sol.Transaction, error) {
	tx, err := whole(a.Raw)
	if err != nil {
		return nil, fmt.Errorf("attempt %s: %w", a.Tx, err)
	}
	if tx.Signatures[0].String() != string(a.Tx) {
		return nil, fmt.Errorf("attempt %s: its bytes are another transaction", a.Tx)
	}
	return tx, nil
}

// recent remembers what was signed last: two wishes must never share a transaction.
type recent struct {
	mu   sync.Mutex
	seen map[chain.TxID]bool
	ring []chain.TxID
	next int
}

const remembered = 1 << 12

func newRecent() *recent {
	return &recent{seen: map[chain.TxID]bool{}, ring: make([]chain.TxID, remembered)}
}

func (r *recent) add(tx chain.TxID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[tx] {
		return false
	}
	delete(r.seen, r.ring[r.next])
	r.ring[r.next], r.seen[tx] = tx, true
	r.next = (r.next + 1) % remembered
	return true
}
