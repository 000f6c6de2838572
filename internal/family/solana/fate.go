package solana

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	sol "github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

// Broadcast offers a transaction to every node. One that was executed before is no error.
func (c *Chain) Broadcast(ctx context.Context, raw []byte) error {
	if _, err := whole(raw); err != nil {
		return fmt.Errorf("broadcast: %w", err)
	}
	text := base64.StdEncoding.EncodeToString(raw)
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (string, error) {
		var tx string
		err := typed(n.Call(ctx, &tx, "sendTransaction", text, options{"encoding": "base64", "preflightCommitment": confirmed}))
		if errors.Is(err, errKnown) {
			return "", nil
		}
		return tx, err
	})
	if err := quorum.Heard(c.pool.Rule(), answers); err != nil {
		return fmt.Errorf("broadcast: %w", err)
	}
	return nil
}

// standing is where a transaction stands.
type standing struct {
	known  bool
	slot   uint64
	failed bool
}

// level is how sure a node is of a standing.
type level uint8

const (
	processed level = iota + 1
	voted
	rooted
)

var levels = map[string]level{"processed": processed, confirmed: voted, finalized: rooted}

// testimony is what one node says of a transaction.
type testimony struct {
	standing
	level level
	// expired: when it did not find the transaction, all blocks in which that could
	// have landed were final to it, and it still had them.
	expired bool
}

// Fate is what became of an attempt.
func (c *Chain) Fate(ctx context.Context, a chain.Attempt) (chain.Status, error) {
	tx, err := decode(a)
	if err != nil {
		return chain.Status{}, err
	}
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (testimony, error) { return testify(ctx, n, a) })
	best, err := quorum.Agree(c.pool.Rule(), answers, func(a, b testimony) bool { return a.standing == b.standing })
	if err != nil {
		return chain.Status{}, fmt.Errorf("fate of %s: %w", a.Tx, err)
	}
	enough := func(good func(t testimony) bool) bool {
		n := 0
		for _, x := range answers {
			if x.Err == nil && x.Value.standing == best.standing && good(x.Value) {
				n++
			}
		}
		return n >= c.pool.Rule().Need()
	}
	switch {
	case !best.known && enough(func(t testimony) bool { return t.expired }):
		return chain.Status{Fate: chain.Dead}, nil
	case !best.known:
		return chain.Status{Fate: chain.Missing}, nil
	case !enough(func(t testimony) bool { return t.level >= voted }):
		return chain.Status{Fate: chain.Pending}, nil // one fork has it
	}
	st, err := c.landed(ctx, tx, best.standing)
	if err != nil {
		return chain.Status{}, fmt.Errorf("fate of %s: %w", a.Tx, err)
	}
	switch {
	case !enough(func(t testimony) bool { return t.level >= rooted }):
		st.Fate = chain.Included
	case best.failed:
		st.Fate = chain.Reverted
	default:
		st.Fate = chain.Final
	}
	return st, nil
}

// testify asks one node. The order matters: only what it does not find after it had
// everything up to the end can never land.
func testify(ctx context.Context, n *rpc.Node, a chain.Attempt) (testimony, error) {
	var height uint64
	if err := n.Call(ctx, &height, "getBlockHeight", options{"commitment": finalized}); err != nil {
		return testimony{}, typed(err)
	}
	over := a.Expires > 0 && height >= a.Expires
	if over {
		if has, err := hasFrom(ctx, n, a.Expires-maxAge); err != nil {
			return testimony{}, err
		} else if !has {
			over = false
		}
	}
	var w struct {
		Value []*struct {
			Slot   uint64          `json:"slot"`
			Err    json.RawMessage `json:"err"`
			Status string          `json:"confirmationStatus"`
		} `json:"value"`
	}
	if err := n.Call(ctx, &w, "getSignatureStatuses", []string{string(a.Tx)}, options{"searchTransactionHistory": true}); err != nil {
		return testimony{}, typed(err)
	}
	if len(w.Value) != 1 {
		return testimony{}, fmt.Errorf("%w: a status", errTorn)
	}
	s := w.Value[0]
	if s == nil {
		return testimony{expired: over}, nil
	}
	l, ok := levels[s.Status]
	if !ok {
		return testimony{}, fmt.Errorf("%w: a status", errTorn)
	}
	return testimony{standing: standing{true, s.Slot, len(s.Err) > 0 && string(s.Err) != "null"}, level: l}, nil
}

// hasFrom reports whether a node still has every block from a height on. One that threw
// old ones away does not find what landed in them.
func hasFrom(ctx context.Context, n *rpc.Node, height uint64) (bool, error) {
	var first uint64
	if err := n.Call(ctx, &first, "getFirstAvailableBlock"); err != nil {
		return false, typed(err)
	}
	if first == 0 {
		return true, nil
	}
	h, err := blockOf(ctx, n, first, finalized)
	if err != nil {
		return false, err
	}
	return !h.skipped && h.height <= height, nil
}

// receipt is what a transaction cost.
type receipt struct {
	standing
	cost uint64
}

// landed is where a transaction stands and what it cost: what the payer has less than
// before, beside what was paid. That is the fee with its priority, and the rent of
// accounts that were made.
func (c *Chain) landed(ctx context.Context, tx *sol.Transaction, at standing) (chain.Status, error) {
	sig := tx.Signatures[0].String()
	out, in, err := moved(tx)
	if err != nil {
		return chain.Status{}, err
	}
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (receipt, error) {
		var w *struct {
			Slot uint64    `json:"slot"`
			Meta *wireMeta `json:"meta"`
		}
		if err := typed(n.Call(ctx, &w, "getTransaction", sig, options{
			"commitment": confirmed, "encoding": "json", "maxSupportedTransactionVersion": newestVersion,
		})); err != nil {
			return receipt{}, err
		}
		if w == nil || w.Meta == nil || len(w.Meta.PreBalances) == 0 || len(w.Meta.PostBalances) == 0 {
			return receipt{}, fmt.Errorf("%w: a transaction", errTorn)
		}
		r := receipt{standing: standing{true, w.Slot, w.Meta.failed()}}
		had, has := w.Meta.PreBalances[0], w.Meta.PostBalances[0]
		if !r.failed {
			had, has = had+in, has+out
		}
		if had < has {
			return receipt{}, fmt.Errorf("%w: a transaction that paid for itself", errTorn)
		}
		r.cost = had - has
		return r, nil
	})
	r, err := quorum.Same(c.pool.Rule(), answers)
	if err != nil {
		return chain.Status{}, err
	}
	if r.standing != at {
		return chain.Status{}, fmt.Errorf("%w: it was in slot %d and is in %d", quorum.ErrUnknown, at.slot, r.slot)
	}
	h, err := c.header(ctx, at.slot, confirmed)
	if err != nil {
		return chain.Status{}, err
	}
	if h.skipped {
		return chain.Status{}, fmt.Errorf("%w: it stands in slot %d, which has no block", quorum.ErrUnknown, at.slot)
	}
	return chain.Status{Block: h.block(), Fee: money.FromUint64(r.cost)}, nil
}

// moved is how many lamports a transaction of ours takes from its payer and gives to
// him by its transfers.
func moved(tx *sol.Transaction) (out, in uint64, err error) {
	payer := tx.Message.AccountKeys[0]
	for _, i := range tx.Message.Instructions {
		program, err := tx.Message.Program(i.ProgramIDIndex)
		if err != nil {
			return 0, 0, fmt.Errorf("instruction of an attempt: %w", err)
		}
		if program != sol.SystemProgramID {
			continue
		}
		accounts, err := i.ResolveInstructionAccounts(&tx.Message)
		if err != nil {
			return 0, 0, fmt.Errorf("instruction of an attempt: %w", err)
		}
		step, err := system.DecodeInstruction(accounts, i.Data)
		if err != nil {
			return 0, 0, fmt.Errorf("instruction of an attempt: %w", err)
		}
		t, ok := step.Impl.(*system.Transfer)
		if !ok {
			return 0, 0, errors.New("an attempt does what none of ours does")
		}
		from, to := t.GetFundingAccount().PublicKey, t.GetRecipientAccount().PublicKey
		if from == payer {
			out += *t.Lamports
		}
		if to == payer {
			in += *t.Lamports
		}
	}
	return out, in, nil
}
