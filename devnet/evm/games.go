package evm

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"ferry/devnet/evm/rollup"
)

// forgotten is after how many times the time of a game nobody looks at it again.
const forgotten = 10

// games is what is to be said where the state of a rollup is told in games: those whose
// time is over are ended, and new ones are begun.
func (u *above) games(ctx context.Context, n *Node) ([]wish, error) {
	count, err := u.asked(ctx, u.at.Games, rollup.AskGames())
	if err != nil {
		return nil, err
	}
	ends, err := u.ends(ctx, n, count.Uint64())
	if err != nil {
		return nil, err
	}
	next, err := u.nextGame(ctx, n, count.Uint64())
	if err != nil {
		return nil, err
	}
	return append(ends, u.each(n, next, func(h *types.Header) wish { return wish{To: &u.at.Games, Data: rollup.Begin(h)} })...), nil
}

// nextGame is of which block the next game is. Anybody may begin one, of whatever block,
// so only those count that are true.
func (u *above) nextGame(ctx context.Context, n *Node, count uint64) (uint64, error) {
	for i := count; i > 0 && i+maxOutputs > count; i-- {
		_, game, err := u.game(ctx, i-1)
		if err != nil {
			return 0, err
		}
		height, ok, err := u.fair(ctx, n, game)
		if err != nil || ok {
			return height + u.terms.Every, err
		}
	}
	if final := n.eth.BlockChain().CurrentFinalBlock(); count > 0 && final != nil {
		return max(final.Number.Uint64(), u.terms.Every), nil
	}
	return u.terms.Every, nil
}

// fair is of which block a game is, and whether it tells the truth.
func (u *above) fair(ctx context.Context, n *Node, game common.Address) (height uint64, ok bool, err error) {
	at, err := u.asked(ctx, game, rollup.AskHeight())
	if err != nil {
		return 0, false, err
	}
	root, err := u.asked(ctx, game, rollup.AskRoot())
	if err != nil || !at.IsUint64() {
		return 0, false, err
	}
	h := n.eth.BlockChain().GetHeaderByNumber(at.Uint64())
	return at.Uint64(), h != nil && rollup.Output(h) == common.BigToHash(root), nil
}

// ends ends games in which nobody moved. One that is not true, since the rollup left the
// block that it is about, is left alone: where others play, they would win it.
func (u *above) ends(ctx context.Context, n *Node, count uint64) (out []wish, err error) {
	now := u.base.eth.BlockChain().CurrentBlock().Time
	for i := u.over; i < count && len(out) < maxOutputs; i++ {
		began, game, err := u.game(ctx, i)
		if err != nil {
			return nil, err
		}
		if now < began+u.terms.Challenge {
			break
		}
		status, err := u.asked(ctx, game, rollup.AskStatus())
		if err != nil {
			return nil, err
		}
		_, ok, err := u.fair(ctx, n, game)
		if err != nil {
			return nil, err
		}
		if ok && status.Sign() == 0 {
			for _, data := range rollup.Resolve() {
				out = append(out, wish{To: &game, Data: data})
			}
		} else if len(out) == 0 && now > began+forgotten*u.terms.Challenge {
			u.over = i + 1 // so late nothing below is orphaned any more
		}
	}
	return out, nil
}

// game is when a game began, and where it stands.
func (u *above) game(ctx context.Context, index uint64) (uint64, common.Address, error) {
	answer, err := u.base.call(ctx, u.at.Games, rollup.AskGame(index))
	if err != nil {
		return 0, common.Address{}, err
	}
	return rollup.ReadGame(answer)
}

// asked asks a contract below for one number.
func (u *above) asked(ctx context.Context, of common.Address, question []byte) (*big.Int, error) {
	answer, err := u.base.call(ctx, of, question)
	return new(big.Int).SetBytes(answer), err
}
