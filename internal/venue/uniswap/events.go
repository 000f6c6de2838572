package uniswap

import (
	"fmt"
	"slices"

	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/venue/uniswap/amm"
)

// topics are the events by which pools change.
var topics = []chain.Word{topicSync, topicInit, topicSwap, topicMint, topicBurn}

// after is the state of a pool after what it said. States are shared, so a changed one
// is a new one.
func (s state) after(l *chain.Log) (state, error) {
	if len(l.Topics) == 0 {
		return s, nil
	}
	bad := func(err error) (state, error) {
		return s, fmt.Errorf("log %d of block %d: %w", l.Index, l.Block.Height, err)
	}
	if s.pair != nil {
		if l.Topics[0] != topicSync {
			return s, nil
		}
		w, err := words(l.Data, 2)
		if err != nil {
			return bad(err)
		}
		p := *s.pair
		p.Zero, p.One = w[0], w[1]
		return state{pair: &p}, nil
	}
	p := *s.pool
	p.Ticks = slices.Clone(p.Ticks)
	var err error
	switch l.Topics[0] {
	case topicInit:
		err = initialized(&p, l)
	case topicSwap:
		err = swapped(&p, l)
	case topicMint:
		err = changed(&p, l, 1, false)
	case topicBurn:
		err = changed(&p, l, 0, true)
	default:
		return s, nil
	}
	if err != nil {
		return bad(err)
	}
	return state{pool: &p}, nil
}

func initialized(p *amm.Pool, l *chain.Log) error {
	w, err := words(l.Data, 2)
	if err != nil {
		return err
	}
	p.Root, p.Tick = w[0], signed24(&w[1])
	return nil
}

func swapped(p *amm.Pool, l *chain.Log) error {
	w, err := words(l.Data, 5)
	if err != nil {
		return err
	}
	p.Root, p.Liquidity, p.Tick = w[2], w[3], signed24(&w[4])
	return nil
}

// changed is liquidity that came or went; the amount stands at a place of the data.
func changed(p *amm.Pool, l *chain.Log, at int, less bool) error {
	w, err := words(l.Data, at+1)
	if err != nil {
		return err
	}
	if len(l.Topics) != 4 {
		return fmt.Errorf("%d topics, want 4", len(l.Topics))
	}
	var low, high uint256.Int
	low.SetBytes32(l.Topics[2][:])
	high.SetBytes32(l.Topics[3][:])
	return p.Add(signed24(&low), signed24(&high), &w[at], less)
}
