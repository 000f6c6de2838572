package opbridge

import (
	"context"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
)

// oracle is an L2OutputOracle: one proposer tells every so many blocks, and what it told
// is believed after a time.
type oracle struct {
	ask    asker
	at     common.Address
	portal common.Address
}

// told is an output as the oracle has it.
type told struct {
	OutputRoot    [32]byte
	Timestamp     *big.Int
	L2BlockNumber *big.Int
}

// number asks the oracle for one number.
func (o *oracle) number(ctx context.Context, at chain.Block, method string, args ...any) (uint64, error) {
	v, err := o.ask.ask(ctx, at, oracleABI, o.at, method, args...)
	if err != nil {
		return 0, err
	}
	return number(v[0])
}

func (o *oracle) output(ctx context.Context, at chain.Block, index uint64) (told, error) {
	v, err := o.ask.ask(ctx, at, oracleABI, o.at, "getL2Output", new(big.Int).SetUint64(index))
	if err != nil {
		return told{}, err
	}
	t, ok := abi.ConvertType(v[0], new(told)).(*told)
	if !ok || !t.L2BlockNumber.IsUint64() {
		return told{}, ErrAnswer
	}
	return *t, nil
}

func (o *oracle) covering(ctx context.Context, at chain.Block, height uint64) ([]claim, error) {
	count, err := o.number(ctx, at, "nextOutputIndex")
	if err != nil || count == 0 {
		return nil, err
	}
	newest, err := o.number(ctx, at, "latestBlockNumber")
	if err != nil || newest < height {
		return nil, err
	}
	index, err := o.number(ctx, at, "getL2OutputIndexAfter", new(big.Int).SetUint64(height))
	if err != nil {
		return nil, err
	}
	t, err := o.output(ctx, at, index)
	if err != nil {
		return nil, err
	}
	return []claim{{index: new(big.Int).SetUint64(index), root: t.OutputRoot, height: t.L2BlockNumber.Uint64()}}, nil
}

// usable: whatever is disputed is taken back by the oracle itself.
func (o *oracle) usable(context.Context, chain.Block, claim) (bool, error) { return true, nil }

// due: outputs are told of every so many blocks, soon after the last of them is made.
func (o *oracle) due(ctx context.Context, h chain.Head, b chain.Block) (time.Time, error) {
	var n [3]uint64
	for i, method := range []string{"latestBlockNumber", "submissionInterval", "l2BlockTime"} {
		var err error
		if n[i], err = o.number(ctx, h.Final, method); err != nil {
			return time.Time{}, err
		}
	}
	newest, every, pace := n[0], max(n[1], 1), n[2]
	missing := every
	if b.Height > newest {
		missing = (every - (b.Height-newest)%every) % every
	}
	at := b.Time.Add(span(missing * pace))
	if at.Before(h.Tip.Time) { // the proposer is late, or its chain was slower
		at = h.Tip.Time.Add(span(every * pace))
	}
	return at, nil
}

// span is so many seconds, as far as they are believable.
func span(seconds uint64) time.Duration {
	const year = 365 * 24 * 3600
	return time.Duration(min(seconds, year)) * time.Second //nolint:gosec // a year fits
}

func (o *oracle) proven(ctx context.Context, at chain.Block, w Withdrawal) (*proven, error) {
	v, err := o.ask.ask(ctx, at, portalABI, o.portal, "provenWithdrawals", w.Hash)
	if err != nil {
		return nil, err
	}
	proof, err := seconds(v[1])
	if err != nil || proof == 0 {
		return nil, err
	}
	index, err := number(v[2])
	if err != nil {
		return nil, err
	}
	// What it was proven by may have been disputed, and then it is to be proven again.
	count, err := o.number(ctx, at, "nextOutputIndex")
	if err != nil || index >= count {
		return nil, err
	}
	t, err := o.output(ctx, at, index)
	if err != nil || t.OutputRoot != v[0].([32]byte) {
		return nil, err
	}
	output, err := seconds(t.Timestamp)
	if err != nil {
		return nil, err
	}
	period, err := o.number(ctx, at, "finalizationPeriodSeconds")
	if err != nil {
		return nil, err
	}
	// Not when the time is over, but after it.
	return &proven{ready: when(max(proof, output)).Add(span(period) + time.Second)}, nil
}

func (o *oracle) finalize(w Withdrawal, _ common.Address) ([]byte, error) {
	return portalABI.Pack("finalizeWithdrawalTransaction", w.wire)
}
