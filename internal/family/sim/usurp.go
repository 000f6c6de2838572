package sim

import (
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Usurp is somebody else with our key, such as an operator's script: it uses up
// the nonce or the coins of an attempt by a transaction that we never made, at a
// price that wins over the attempt. On Expiring there is nothing to use up.
func (n *Net) Usurp(a chain.Attempt) (chain.TxID, error) {
	b, _, _, err := decode(a.Raw)
	if err != nil {
		return "", err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	k, known := n.keys[b.from]
	if !known {
		return "", fmt.Errorf("%w: nobody has its key", ErrBytes)
	}
	theirs := &body{chain: b.chain, from: b.from, nonce: b.nonce, ins: b.ins}
	switch n.cfg.Shape {
	case Nonces:
		theirs.price = money.Max(times(b.price, 2), n.going)
		theirs.outs = []output{{to: b.from}}
		return n.fundAndOffer(k, theirs)
	case Coins:
		var total money.Amount
		for _, in := range b.ins {
			total = plus(total, in.amount)
		}
		weight := coinBase + coinIn*uint64(len(b.ins)) + coinOut
		fee := plus(times(a.Fee, 3), times(n.going, weight))
		theirs.outs = []output{{to: b.from, amount: total.Less0(fee)}}
		return n.offerBody(k, theirs)
	}
	return "", fmt.Errorf("sim: %v have nothing to usurp", n.cfg.Shape)
}
