package kyber

import (
	"bytes"
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/venue/contract"
)

// done reads from the receipt of a swap what really moved.
func (v *Venue) done(ctx context.Context, r *run, c *quote.Sent) (quote.Move, error) {
	got, err := v.chain.Receipt(ctx, c.Tx)
	if err != nil {
		return nil, fmt.Errorf("kyber: %w", err)
	}
	if !got.Fate.Settled() {
		return quote.Wait{For: v.cfg.Poll, Why: "the receipt of the swap is not final yet"}, nil
	}
	if got.Fate != chain.Final || got.Tx != c.Tx || got.From != v.cfg.Own || got.To != v.cfg.Router || !bytes.Equal(got.Data, c.Call.Data) {
		return nil, fmt.Errorf("kyber: the receipt of %s, %s, is not that of our swap", c.Tx, got.Fate)
	}
	in, out := got.Value, money.Amount{}
	if !r.step.In.IsNative() {
		if in, err = flow(got.Logs, contract.Address(r.in), 1, v.own); err != nil {
			return nil, fmt.Errorf("kyber: receipt of %s: %w", c.Tx, err)
		}
	}
	if r.step.Out.IsNative() {
		out, err = v.coinsOut(r, got.Logs)
	} else {
		out, err = flow(got.Logs, contract.Address(r.out), 2, v.own)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("kyber: receipt of %s: %w", c.Tx, err)
	case r.known.In.Less(in):
		return nil, fmt.Errorf("kyber: swap %s took %s, more than the %s it was given", c.Tx, in, r.known.In)
	case in.IsZero() || out.IsZero():
		return nil, fmt.Errorf("kyber: swap %s took %s and brought %s", c.Tx, in, out)
	}
	return quote.Done{In: in, Out: out}, nil
}

// coinsOut is what came to us in the chain's own coin, which leaves no log of its own:
// the router says by how much our balance grew while it swapped.
func (v *Venue) coinsOut(r *run, logs []chain.Log) (out money.Amount, err error) {
	found := 0
	for i := range logs {
		l := &logs[i]
		if l.Address != v.cfg.Router || len(l.Topics) != 1 || l.Topics[0] != topicSwapped {
			continue
		}
		said, err := protocol.Events["Swapped"].Inputs.Unpack(l.Data)
		if err != nil {
			return out, fmt.Errorf("log %d: %w", l.Index, err)
		}
		if said[0] != v.own || said[1] != r.in || said[2] != r.out || said[3] != v.own {
			continue
		}
		found++
		out = toAmount(said[5].(*big.Int))
	}
	if found != 1 {
		return money.Amount{}, fmt.Errorf("the router tells of %d swaps of ours and not of one", found)
	}
	return out, nil
}

// flow is what moved from us (1) or to us (2), less what moved the other way.
func flow(logs []chain.Log, token chain.Address, place int, own common.Address) (money.Amount, error) {
	there, err := sum(logs, token, place, own)
	if err != nil {
		return there, err
	}
	back, err := sum(logs, token, 3-place, own)
	if err != nil {
		return there, err
	}
	return there.Sub(back)
}

// sum adds what a token says that it moved from (1) or to (2) somebody.
func sum(logs []chain.Log, token chain.Address, place int, who common.Address) (total money.Amount, err error) {
	for i := range logs {
		l := &logs[i]
		if l.Address != token || len(l.Topics) != 3 || l.Topics[0] != topicTransfer || common.Hash(l.Topics[place]) != common.BytesToHash(who[:]) {
			continue
		}
		n, err := word(l.Data)
		if err != nil {
			return total, fmt.Errorf("log %d: %w", l.Index, err)
		}
		if total, err = total.Add(n); err != nil {
			return total, err
		}
	}
	return total, nil
}
