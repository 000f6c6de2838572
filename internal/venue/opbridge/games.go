package opbridge

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
)

// games is a DisputeGameFactory: anybody tells, each time in a game of its own that
// others may win, and the portal believes games that the teller won.
type games struct {
	ask    asker
	at     common.Address
	portal common.Address
	// registry is where it is kept which games are never believed.
	registry common.Address
	// truth reports whether what is claimed is what our nodes above have.
	truth func(ctx context.Context, c claim) (bool, error)
}

// How far is looked: at so many games, and at so many proofs of a withdrawal from either
// end of their list.
const (
	newestGames = 64
	someProofs  = 16
)

// How a game stands.
const (
	challengerWins = 1
	defenderWins   = 2
)

// found is a game as the factory tells it.
type found struct {
	Index     *big.Int
	Metadata  [32]byte
	Timestamp uint64
	RootClaim [32]byte
	ExtraData []byte
}

// height is the block of the rollup that a game is about.
func (f found) height() (uint64, bool) {
	if len(f.ExtraData) < 32 {
		return 0, false
	}
	n := new(big.Int).SetBytes(f.ExtraData[:32])
	return n.Uint64(), n.IsUint64()
}

// proxy is where the game itself stands: the last twenty bytes of its name.
func (f found) proxy() common.Address { return common.BytesToAddress(f.Metadata[12:]) }

// newest are the last games of the kind that the portal believes, the newest first.
func (g *games) newest(ctx context.Context, at chain.Block) ([]found, error) {
	kind, err := g.ask.ask(ctx, at, portal2ABI, g.portal, "respectedGameType")
	if err != nil {
		return nil, err
	}
	v, err := g.ask.ask(ctx, at, factoryABI, g.at, "gameCount")
	if err != nil {
		return nil, err
	}
	count, err := number(v[0])
	if err != nil || count == 0 {
		return nil, err
	}
	v, err = g.ask.ask(ctx, at, factoryABI, g.at, "findLatestGames", kind[0], new(big.Int).SetUint64(count-1), big.NewInt(newestGames))
	if err != nil {
		return nil, err
	}
	list, ok := abi.ConvertType(v[0], new([]found)).(*[]found)
	if !ok {
		return nil, ErrAnswer
	}
	return *list, nil
}

// covering: the oldest game that has the height is over first.
func (g *games) covering(ctx context.Context, at chain.Block, height uint64) ([]claim, error) {
	list, err := g.newest(ctx, at)
	if err != nil {
		return nil, err
	}
	var out []claim
	for i := len(list) - 1; i >= 0; i-- {
		if n, ok := list[i].height(); ok && n >= height {
			out = append(out, claim{index: list[i].Index, root: list[i].RootClaim, height: n, game: list[i].proxy()})
		}
	}
	return out, nil
}

func (g *games) usable(ctx context.Context, at chain.Block, c claim) (bool, error) {
	lost, err := g.lost(ctx, at, c.game)
	return !lost, err
}

// lost reports whether a game can never let anything be paid.
func (g *games) lost(ctx context.Context, at chain.Block, game common.Address) (bool, error) {
	v, err := g.ask.ask(ctx, at, gameABI, game, "status")
	if err != nil {
		return false, err
	}
	if v[0].(uint8) == challengerWins {
		return true, nil
	}
	if v, err = g.ask.ask(ctx, at, registryABI, g.registry, "disputeGameBlacklist", game); err != nil || v[0].(bool) {
		return true, err
	}
	// Games that began before the portal was told what to believe are not believed.
	since, err := g.times(ctx, at, portal2ABI, g.portal, "respectedGameTypeUpdatedAt")
	if err != nil {
		return false, err
	}
	began, err := g.times(ctx, at, gameABI, game, "createdAt")
	if err != nil {
		return false, err
	}
	return began[0] <= since[0], nil
}

// due: the next game is begun about as long after the last as that after the one before.
func (g *games) due(ctx context.Context, h chain.Head, _ chain.Block) (time.Time, error) {
	list, err := g.newest(ctx, h.Final)
	if err != nil {
		return time.Time{}, err
	}
	const usual = 3600
	pace := uint64(usual)
	if len(list) > 1 && list[0].Timestamp > list[1].Timestamp {
		pace = list[0].Timestamp - list[1].Timestamp
	}
	at := h.Tip.Time.Add(span(pace))
	if len(list) > 0 {
		last, err := seconds(list[0].Timestamp)
		if err != nil {
			return time.Time{}, err
		}
		if next := when(last).Add(span(pace)); next.After(h.Tip.Time) {
			at = next
		}
	}
	return at, nil
}

// proven is, of those who proved it, the one whose proof can be used first. Anybody may
// prove it again and again, so the oldest are looked at too: newer ones wait longer.
func (g *games) proven(ctx context.Context, at chain.Block, w Withdrawal) (*proven, error) {
	v, err := g.ask.ask(ctx, at, portal2ABI, g.portal, "numProofSubmitters", w.Hash)
	if err != nil {
		return nil, err
	}
	count, err := number(v[0])
	if err != nil {
		return nil, err
	}
	var best *proven
	known := map[common.Address]bool{}
	for i := uint64(0); i < count; i++ {
		if i == someProofs && count > 2*someProofs {
			i = count - someProofs
		}
		if v, err = g.ask.ask(ctx, at, portal2ABI, g.portal, "proofSubmitters", w.Hash, new(big.Int).SetUint64(i)); err != nil {
			return nil, err
		}
		who := v[0].(common.Address)
		if known[who] {
			continue
		}
		known[who] = true
		p, err := g.by(ctx, at, w, who)
		if err != nil {
			return nil, err
		}
		if p != nil && (best == nil || p.ready.Before(best.ready)) {
			best = p
		}
	}
	return best, nil
}

// by is the proof of one who proved it; nil where it can never be used.
func (g *games) by(ctx context.Context, at chain.Block, w Withdrawal, prover common.Address) (*proven, error) {
	v, err := g.ask.ask(ctx, at, portal2ABI, g.portal, "provenWithdrawals", w.Hash, prover)
	if err != nil {
		return nil, err
	}
	game := v[0].(common.Address)
	proof, err := seconds(v[1])
	if err != nil || proof == 0 {
		return nil, err
	}
	if lost, err := g.lost(ctx, at, game); err != nil || lost {
		return nil, err
	}
	delays, err := g.times(ctx, at, portal2ABI, g.portal, "proofMaturityDelaySeconds", "disputeGameFinalityDelaySeconds")
	if err != nil {
		return nil, err
	}
	is, err := g.times(ctx, at, gameABI, game, "createdAt", "resolvedAt", "maxClockDuration")
	if err != nil {
		return nil, err
	}
	status, err := g.ask.ask(ctx, at, gameABI, game, "status")
	if err != nil {
		return nil, err
	}
	p := &proven{prover: prover, held: status[0].(uint8) != defenderWins}
	if p.held {
		// Somebody will win a game that is not true, and then the proof is worth nothing.
		if ok, err := g.fair(ctx, at, game); err != nil || !ok {
			return nil, err
		}
	}
	over := is[1]
	if p.held || over == 0 { // nobody may dispute it any more when a clock has run out
		over = is[0] + is[2]
	}
	p.ready = when(max(proof+delays[0], over+delays[1]) + 1)
	return p, nil
}

// fair reports whether a game tells the truth.
func (g *games) fair(ctx context.Context, at chain.Block, game common.Address) (bool, error) {
	root, err := g.ask.ask(ctx, at, gameABI, game, "rootClaim")
	if err != nil {
		return false, err
	}
	v, err := g.ask.ask(ctx, at, gameABI, game, "l2BlockNumber")
	if err != nil {
		return false, err
	}
	height, err := number(v[0])
	if err != nil {
		return false, err
	}
	return g.truth(ctx, claim{root: root[0].([32]byte), height: height})
}

// times asks a contract for moments and spans.
func (g *games) times(ctx context.Context, at chain.Block, c abi.ABI, of common.Address, methods ...string) ([]int64, error) {
	out := make([]int64, len(methods))
	for i, m := range methods {
		v, err := g.ask.ask(ctx, at, c, of, m)
		if err != nil {
			return nil, err
		}
		if out[i], err = seconds(v[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
	}
	return out, nil
}

func (g *games) finalize(w Withdrawal, prover common.Address) ([]byte, error) {
	if prover == (common.Address{}) {
		return nil, fmt.Errorf("withdrawal %x: nobody's proof is named", w.Hash)
	}
	return portal2ABI.Pack("finalizeWithdrawalTransactionExternalProof", w.wire, prover)
}
