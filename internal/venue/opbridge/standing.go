package opbridge

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/venue/contract"
)

// Stage is how far a withdrawal is.
type Stage uint8

// The stages of a withdrawal that began for good.
const (
	WaitingToProve    Stage = iota // no state of the rollup that has it and is true was told below
	ReadyToProve                   // it can be proven now
	WaitingToFinalize              // it is proven and may still be disputed
	ReadyToFinalize                // it can be finalized now
	Finalized                      // it was finalized, for good
)

var stages = [...]string{"waiting to prove", "ready to prove", "waiting to finalize", "ready to finalize", "finalized"}

func (s Stage) String() string {
	if int(s) < len(stages) {
		return stages[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// Standing is where a withdrawal stands below, by the last final block there.
type Standing struct {
	Stage Stage
	// ReadyAt is when the next step is expected to be possible; zero if it is now, or
	// if there is none.
	ReadyAt time.Time
	// OK is, once it is Finalized, that the bridge paid it out. Where it did not, the
	// messenger may be asked to try again.
	OK bool
	// Prover is whose proof stands, where that matters.
	Prover chain.Address
}

// claim is a state of the rollup that was told below.
type claim struct {
	index  *big.Int
	root   common.Hash
	height uint64
	game   common.Address // in which it was told, if it was
}

// proven is a proof of a withdrawal that stands.
type proven struct {
	ready  time.Time // from when it may be used, as far as is known
	held   bool      // something else than time is missing yet
	prover common.Address
}

// roots is how the state of a rollup is told below.
type roots interface {
	// covering are states that have a height of the rollup, the best first.
	covering(ctx context.Context, at chain.Block, height uint64) ([]claim, error)
	// usable reports whether the portal takes a proof by a state.
	usable(ctx context.Context, at chain.Block, c claim) (bool, error)
	// due is when one is expected that has a block.
	due(ctx context.Context, h chain.Head, b chain.Block) (time.Time, error)
	// proven is the proof of a withdrawal that stands; nil is none.
	proven(ctx context.Context, at chain.Block, w Withdrawal) (*proven, error)
	// finalize is the call that uses a proof.
	finalize(w Withdrawal, prover common.Address) ([]byte, error)
}

// Where is where a withdrawal stands. What was done in blocks that are not final is not
// seen yet: whoever has just proven it is told that it can be proven.
func (b *Bridge) Where(ctx context.Context, w Withdrawal) (Standing, error) {
	s, err := b.where(ctx, w)
	if err != nil {
		return Standing{}, fmt.Errorf("withdrawal %x: %w", w.Hash, err)
	}
	return s, nil
}

func (b *Bridge) where(ctx context.Context, w Withdrawal) (Standing, error) {
	head, err := b.below.Head(ctx)
	if err != nil {
		return Standing{}, err
	}
	done, err := ask(ctx, b.below, head.Final, question{portalABI, b.portal, "finalizedWithdrawals", []any{w.Hash}})
	if err != nil {
		return Standing{}, err
	}
	if done[0].(bool) {
		ok, err := relayed(ctx, b.below, head.Final, b.messenger, common.Hash(w.Message))
		return Standing{Stage: Finalized, OK: ok}, err
	}
	p, err := b.roots.proven(ctx, head.Final, w)
	if err != nil {
		return Standing{}, err
	}
	if p != nil {
		s := Standing{Stage: WaitingToFinalize, ReadyAt: p.ready}
		if p.prover != (common.Address{}) {
			s.Prover = contract.Address(p.prover)
		}
		// A block that is made now is later than the tip.
		if !p.held && !head.Tip.Time.Before(p.ready) {
			s.Stage, s.ReadyAt = ReadyToFinalize, time.Time{}
		}
		return s, nil
	}
	switch _, _, err := b.best(ctx, head.Final, w); {
	case err == nil:
		return Standing{Stage: ReadyToProve}, nil
	case !errors.Is(err, ErrNoOutput) && !errors.Is(err, ErrOutput):
		return Standing{}, err
	}
	due, err := b.roots.due(ctx, head, w.Block)
	return Standing{Stage: WaitingToProve, ReadyAt: due}, err
}

// Prove is the call that proves a withdrawal, made of what is told below now. What was
// told is first held against the state that our own nodes have.
func (b *Bridge) Prove(ctx context.Context, w Withdrawal) (chain.Call, error) {
	head, err := b.below.Head(ctx)
	if err != nil {
		return chain.Call{}, fmt.Errorf("prove %x: %w", w.Hash, err)
	}
	c, p, err := b.best(ctx, head.Final, w)
	if err != nil {
		return chain.Call{}, fmt.Errorf("prove %x: %w", w.Hash, err)
	}
	if p.Value != (chain.Word{31: 1}) {
		return chain.Call{}, fmt.Errorf("prove %x: %w: block %d does not have it", w.Hash, ErrForeign, c.height)
	}
	data, err := portalABI.Pack("proveWithdrawalTransaction", w.wire, c.index, rootOf(p), p.Nodes)
	return b.plain(data), err
}

// best is the best state that was told below, is true and has the withdrawal.
func (b *Bridge) best(ctx context.Context, at chain.Block, w Withdrawal) (claim, chain.Proof, error) {
	claims, err := b.roots.covering(ctx, at, w.Block.Height)
	if err != nil {
		return claim{}, chain.Proof{}, err
	}
	head, err := b.above.Head(ctx)
	if err != nil {
		return claim{}, chain.Proof{}, err
	}
	err = ErrNoOutput
	for _, c := range claims {
		if c.height > head.Final.Height { // anybody may tell of blocks that are not there
			continue
		}
		p, failed := b.holds(ctx, at, w, c)
		if failed == nil {
			return c, p, nil
		}
		err = failed
	}
	return claim{}, chain.Proof{}, err
}

// holds proves a withdrawal by a state, if the portal takes that and it is true.
func (b *Bridge) holds(ctx context.Context, at chain.Block, w Withdrawal, c claim) (chain.Proof, error) {
	ok, err := b.roots.usable(ctx, at, c)
	if err != nil {
		return chain.Proof{}, err
	}
	if !ok {
		return chain.Proof{}, ErrNoOutput
	}
	p, err := b.above.Proof(ctx, contract.Address(passerAbove), w.slot(), c.height)
	if err != nil {
		return chain.Proof{}, err
	}
	if rootOf(p).hash() != c.root {
		return chain.Proof{}, fmt.Errorf("%w: of block %d", ErrOutput, c.height)
	}
	return p, nil
}

// root is what is told of a block of the rollup, before it is hashed.
type root struct{ Version, StateRoot, MessagePasserStorageRoot, LatestBlockhash [32]byte }

func rootOf(p chain.Proof) root {
	return root{StateRoot: p.State, MessagePasserStorageRoot: p.Storage, LatestBlockhash: common.HexToHash(p.Block.Hash)}
}

func (r root) hash() common.Hash {
	return crypto.Keccak256Hash(r.Version[:], r.StateRoot[:], r.MessagePasserStorageRoot[:], r.LatestBlockhash[:])
}

// truth reports whether what was told of the rollup is what our nodes have. Of a block
// that is not there nothing is true: anybody may tell of it.
func (b *Bridge) truth(ctx context.Context, c claim) (bool, error) {
	head, err := b.above.Head(ctx)
	if err != nil || c.height > head.Tip.Height {
		return false, err
	}
	p, err := b.above.Proof(ctx, contract.Address(passerAbove), chain.Word{}, c.height)
	if err != nil {
		return false, err
	}
	return rootOf(p).hash() == c.root, nil
}

// Finalize is the call that pays a withdrawal out, once it is ready for that.
func (b *Bridge) Finalize(w Withdrawal, s Standing) (chain.Call, error) {
	if s.Stage != ReadyToFinalize {
		return chain.Call{}, fmt.Errorf("withdrawal %x is %s, and not ready to be finalized", w.Hash, s.Stage)
	}
	var prover common.Address
	if !s.Prover.IsZero() {
		prover = common.HexToAddress(s.Prover.Text())
	}
	data, err := b.roots.finalize(w, prover)
	if err != nil {
		return chain.Call{}, err
	}
	return b.plain(data), nil
}
